/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netfc_allreduce.h>

#define MAX_MEMBERS (PLACES_MAX_WORKERS * PLACES_MAX_WORKERS)
#define NOBODY UINT_MAX
#define TEXT_(number) #number
#define TEXT(number) TEXT_(number)
#define PORT_TEXT TEXT(NETFC_ALLREDUCE_PORT)
#define FNV_START UINT64_C(14695981039346656037)
#define FNV_FACTOR UINT64_C(1099511628211)

static unsigned int
member_of_node(const struct places *places, const struct place_record *records, uint64_t node)
{
	for (unsigned int m = 0; m < places->members; m++) {
		if (records[places->member[m].rank].node == node)
			return m;
	}
	return NOBODY;
}

static unsigned int
leaf_of(struct places *places, const struct place_record *records, uint64_t switches)
{
	for (unsigned int m = 0; m < places->members; m++) {
		if (records[places->member[m].rank].switches == switches)
			return places->member[m].leaf;
	}
	return places->leaves;
}

static bool
add_member(struct places *places, const struct place_record *records, int rank)
{
	unsigned int leaf = leaf_of(places, records, records[rank].switches);

	if (leaf >= PLACES_MAX_WORKERS || places->workers[leaf] == PLACES_MAX_WORKERS)
		return false;
	places->leaves += leaf == places->leaves;
	places->member[places->members++] = (struct place_member){
		.leaf = leaf, .worker = places->workers[leaf]++, .rank = rank};
	return true;
}

enum places_status
places_find(struct places **found, const struct place_record *records, int ranks, bool by_nodes)
{
	struct places *places =
		calloc(1, sizeof(*places) + (size_t)ranks * sizeof(places->of_rank[0]));

	*found = places;
	if (places == NULL)
		return PLACES_NO_MEMORY;
	for (int rank = 0; rank < ranks; rank++) {
		unsigned int member =
			by_nodes ? member_of_node(places, records, records[rank].node) : NOBODY;

		if (member == NOBODY && !add_member(places, records, rank))
			return PLACES_TOO_MANY;
		if (member == NOBODY)
			member = places->members - 1;
		places->of_rank[rank] = member;
		places->member[member].ranks++;
	}
	return PLACES_OK;
}

void
places_name(const struct places *places, int ranks, unsigned int leaf, unsigned int worker,
	char *text, size_t bytes)
{
	static const char more[] = ", ...";
	size_t length = 0;
	char name[32];

	for (int rank = 0; rank < ranks; rank++) {
		const struct place_member *member = &places->member[places->of_rank[rank]];

		if (member->leaf != leaf || member->worker != worker)
			continue;
		if (length == 0)
			snprintf(name, sizeof(name), "rank%s %d", member->ranks > 1 ? "s" : "",
				rank);
		else
			snprintf(name, sizeof(name), ", %d", rank);
		if (length + strlen(name) + sizeof(more) > bytes) {
			snprintf(text + length, bytes - length, "%s", more);
			return;
		}
		length += (size_t)snprintf(text + length, bytes - length, "%s", name);
	}
}

static uint64_t
mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * FNV_FACTOR;
	return hash;
}

/* The usual port says nothing: after an IPv4 address or a name, or after brackets. */
static size_t
without_port(const char *name, size_t bytes)
{
	static const char port[] = ":" PORT_TEXT;
	const char *colon = memchr(name, ':', bytes);
	bool has_port = colon != NULL &&
		(name[0] == '[' ||
			memchr(colon + 1, ':', bytes - (size_t)(colon + 1 - name)) == NULL);

	if (!has_port || bytes < sizeof(port) ||
		memcmp(name + bytes - sizeof(port) + 1, port, sizeof(port) - 1) != 0)
		return bytes;
	return bytes - sizeof(port) + 1;
}

uint64_t
places_switches(const char *addresses)
{
	uint64_t hash = FNV_START;

	for (const char *name = addresses + strspn(addresses, ", "); *name != '\0';
		name += strspn(name, ", ")) {
		size_t bytes = strcspn(name, ", ");

		hash = mix(mix(hash, name, without_port(name, bytes)), ",", 1);
		name += bytes;
	}
	return hash != 0 ? hash : 1;
}

/* ---- who shares a node ---- */

#define ALONE (UINT64_C(1) << 63)

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
