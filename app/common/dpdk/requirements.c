/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dpdk/requirements.h"

#define SYSFS_DIR "/sys/kernel/mm/hugepages"

static unsigned long
free_pages_of(const char *size)
{
	char path[512];
	unsigned long pages = 0;
	FILE *file;

	snprintf(path, sizeof(path), SYSFS_DIR "/%s/free_hugepages", size);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages;
}

static unsigned long
free_pages(void)
{
	unsigned long pages = 0;
	struct dirent *entry;
	DIR *dir = opendir(SYSFS_DIR);

	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, "hugepages-", strlen("hugepages-")) == 0)
			pages += free_pages_of(entry->d_name);
	}
	closedir(dir);
	return pages;
}

/* Whether some hugetlbfs is mounted where we may write. */
static bool
have_mount(void)
{
	FILE *mounts = setmntent("/proc/mounts", "r");
	struct mntent *mount;
	bool found = false;

	if (mounts == NULL)
		return false;
	while (!found && (mount = getmntent(mounts)) != NULL)
		found = strcmp(mount->mnt_type, "hugetlbfs") == 0 &&
			access(mount->mnt_dir, W_OK) == 0;
	endmntent(mounts);
	return found;
}

static enum exit_status
check_hugepages(int eal_argc, char **eal_argv)
{
	const char *program = program_invocation_short_name;

	if (free_pages() == 0) {
		REPORT("no free hugepages\n"
		       "Reserve 1 GiB of them, as root:\n"
		       "  sysctl -w vm.nr_hugepages=512\n"
		       "or run without them, more slowly:\n"
		       "  %s --no-huge -m 512 ... -- ...\n",
			program);
		return exit_status_later();
	}
	if (eal_has_option(eal_argc, eal_argv, "in-memory") ||
		eal_has_option(eal_argc, eal_argv, "huge-dir") || have_mount())
		return EXIT_DONE;
	REPORT("no hugetlbfs is mounted where this user may write\n"
	       "Mount one, as root:\n"
	       "  mount -t hugetlbfs nodev /dev/hugepages\n"
	       "or need none, with memory shared with no other process:\n"
	       "  %s --in-memory ... -- ...\n"
	       "or run without hugepages, more slowly:\n"
	       "  %s --no-huge -m 512 ... -- ...\n",
		program, program);
	return EXIT_CONFIGURATION;
}

enum exit_status
requirements_check(int eal_argc, char **eal_argv)
{
	if (eal_has_option(eal_argc, eal_argv, "no-huge"))
		return requirements_check_limit(eal_argc, eal_argv) == 0 ? EXIT_DONE
									 : EXIT_CONFIGURATION;
	return check_hugepages(eal_argc, eal_argv);
}
