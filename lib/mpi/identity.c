/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_FACTOR UINT64_C(1099511628211)
#define ALONE (UINT64_C(1) << 63)

static uint64_t
mix(uint64_t hash, const void *value, size_t bytes)
{
	const uint8_t *each = value;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ each[i]) * FNV_FACTOR;
	return hash;
}

static uint64_t
mix_boot(uint64_t hash)
{
	char id[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file == NULL)
		return hash;
	hash = mix(hash, id, fread(id, 1, sizeof(id), file));
	fclose(file);
	return hash;
}

static uint64_t
mix_space(uint64_t hash, const char *path)
{
	struct stat state = {0};

	if (stat(path, &state) != 0)
		return hash;
	hash = mix(hash, &state.st_dev, sizeof(state.st_dev));
	return mix(hash, &state.st_ino, sizeof(state.st_ino));
}

uint64_t
identity_of_node(void)
{
	const uid_t user = geteuid();
	uint64_t hash = mix_boot(mix(FNV_START, &user, sizeof(user)));

	hash = mix_space(hash, "/proc/self/ns/pid");
	return mix_space(hash, "/proc/self/ns/net") & ~ALONE;
}

uint64_t
identity_of_rank(int rank)
{
	return ALONE | (unsigned int)rank;
}
