/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpdk/requirements.h"
#include "option.h"

#define CGROUP_DIR "/sys/fs/cgroup"
#define MEGABYTE (UINT64_C(1) << 20)

/* memory.max of one group; UINT64_MAX: none. */
static uint64_t
limit_of(const char *group)
{
	char path[PATH_MAX + sizeof(CGROUP_DIR "/memory.max")];
	uint64_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), CGROUP_DIR "%s/memory.max", group);
	file = fopen(path, "r");
	if (file == NULL)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &bytes) != 1)
		bytes = UINT64_MAX;
	fclose(file);
	return bytes;
}

/* The least limit of a group and those above it; the path is cut off after the one that has it. */
static uint64_t
least_limit(char *group)
{
	uint64_t least = limit_of("");
	size_t found = 0;

	for (size_t end = strlen(group); end > 0; end--) {
		char next = group[end];
		uint64_t limit;

		if (next != '\0' && next != '/')
			continue;
		group[end] = '\0';
		limit = limit_of(group);
		group[end] = next;
		if (limit < least) {
			least = limit;
			found = end;
		}
	}
	group[found] = '\0';
	return least;
}

/* This process's group in the hierarchy of version 2. */
static bool
own_group(char group[PATH_MAX])
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	char line[PATH_MAX + 8];
	bool found = false;

	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = sscanf(line, "0::%4095[^\n]", group) == 1;
	fclose(file);
	if (found && strcmp(group, "/") == 0)
		group[0] = '\0';
	return found;
}

/* The megabytes of -m; without hugepages the EAL takes all of them at once. 0: not given. */
static uint64_t
megabytes_asked(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "-m", 2) != 0)
			continue;
		if (argv[i][2] != '\0')
			return strtoull(argv[i] + 2, NULL, 10);
		return i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
	}
	return 0;
}

int
requirements_check_limit(int eal_argc, char **eal_argv)
{
	uint64_t asked = megabytes_asked(eal_argc, eal_argv), limit;
	char group[PATH_MAX];

	if (!own_group(group))
		return 0;
	limit = least_limit(group);
	if (limit / MEGABYTE >= asked)
		return 0;
	return REPORT("-m %" PRIu64 ": the control group %s may use %" PRIu64
		      " MB, and the kernel would end the program; raise its memory.max (a "
		      "service's MemoryMax=)\n",
		asked, group[0] != '\0' ? group : "/", limit / MEGABYTE);
}
