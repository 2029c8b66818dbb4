/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "aggregate_tag.h"
#include "aggregate_wire.h"
#include "option_value.h"
#include "options/aggregate_options.h"
#include "program.h"

/* Of values in a chunk's packet, see AGGREGATE_KEYS. */
#define MAX_BYTES 8948u
/* What stands before them, at the most. */
#define HEADERS_BYTES                                                     \
	(sizeof(struct rte_ether_hdr) + 2 * sizeof(struct rte_vlan_hdr) + \
		sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_udp_hdr) + AGGREGATE_HEADER_BYTES)

static const struct key {
	const char *name;
	size_t offset; /* in struct aggregate_options */
	uint32_t value, least, greatest;
	const char *meaning;
} keys[] = {
#define KEY_(key, value, least, greatest, meaning) \
	{#key, offsetof(struct aggregate_options, key), value, least, greatest, meaning},
	AGGREGATE_KEYS(KEY_)
#undef KEY_
};

static uint32_t *
value_of(const struct key *key, struct aggregate_options *options)
{
	return (uint32_t *)((char *)options + key->offset);
}

void
aggregate_options_default(struct aggregate_options *options)
{
	options->on = false;
	options->key_file[0] = '\0';
	for (unsigned int k = 0; k < RTE_DIM(keys); k++)
		*value_of(&keys[k], options) = keys[k].value;
}

void
aggregate_options_print_usage(FILE *out)
{
	fprintf(out,
		"  --aggregate [KEY=VALUE[,...]]\n"
		"                           add up what many workers send (libnetfc-allreduce);\n"
		"                           needs an --address. Keys:\n");
	for (unsigned int k = 0; k < RTE_DIM(keys); k++)
		fprintf(out, "                             %-11s %s (default %u)\n", keys[k].name,
			keys[k].meaning, keys[k].value);
	fprintf(out, "                             %-11s %s\n", "key",
		"file of the cluster's key, 32 bytes: packets have tags (default: none)");
}

static int
refuse_key(const char *name, FILE *errors)
{
	fprintf(errors, PROGRAM ": --aggregate '%s': there is no such key; the keys are", name);
	for (unsigned int k = 0; k < RTE_DIM(keys); k++)
		fprintf(errors, " %s,", keys[k].name);
	fprintf(errors, " key\n");
	return -1;
}

static int
take_key_file(const char *path, struct aggregate_options *options, FILE *errors)
{
	if (path[0] != '\0' && strlen(path) < sizeof(options->key_file)) {
		strcpy(options->key_file, path);
		return 0;
	}
	fprintf(errors, PROGRAM ": --aggregate key=: give the path of a file\n");
	return -1;
}

static int
take_key(char *key, char *value, void *options, FILE *errors)
{
	char option[32];

	if (strcmp(key, "key") == 0)
		return take_key_file(value, options, errors);
	for (unsigned int k = 0; k < RTE_DIM(keys); k++) {
		if (strcmp(key, keys[k].name) != 0)
			continue;
		snprintf(option, sizeof(option), "aggregate %s", keys[k].name);
		return option_u32(errors, option, value, keys[k].least, keys[k].greatest,
			value_of(&keys[k], options));
	}
	return refuse_key(key, errors);
}

int
aggregate_options_take(const char *text, struct aggregate_options *options, FILE *errors)
{
	options->on = true;
	return text == NULL ? 0 : option_pairs(errors, "aggregate", text, take_key, options);
}

uint32_t
aggregate_options_packet_bytes(const struct aggregate_options *options)
{
	return options->on ? HEADERS_BYTES + options->bytes + AGGREGATE_TAG_BYTES : 0;
}

int
aggregate_options_check(const struct aggregate_options *options, uint16_t netfc_port,
	bool has_address, FILE *errors)
{
	uint32_t shards = RTE_MAX(options->shards, 1u);

	if (!options->on)
		return 0;
	if (!has_address) {
		fprintf(errors,
			PROGRAM ": --aggregate: the switch needs an address that workers "
				"send to (--address IP)\n");
		return -1;
	}
	if (options->key_file[0] != '\0' && options->bytes > MAX_BYTES - AGGREGATE_TAG_BYTES) {
		fprintf(errors,
			PROGRAM ": --aggregate bytes=%u: with a key, a packet has room for %u (the "
				"tag takes %d)\n",
			options->bytes, MAX_BYTES - AGGREGATE_TAG_BYTES, AGGREGATE_TAG_BYTES);
		return -1;
	}
	if (options->port + shards - 1 > UINT16_MAX) {
		fprintf(errors,
			PROGRAM ": --aggregate: %u shards from UDP port %u on: the last port is "
				"%u\n",
			shards, options->port, UINT16_MAX);
		return -1;
	}
	if (netfc_port >= options->port && netfc_port < options->port + shards) {
		fprintf(errors,
			PROGRAM ": --aggregate: UDP port %u is that of requests (--port); choose "
				"another (port=N)\n",
			netfc_port);
		return -1;
	}
	return 0;
}
