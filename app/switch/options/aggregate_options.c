/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "aggregate_tag.h"
#include "aggregate_wire.h"
#include "options/aggregate_options.h"
#include "program.h"

/*
 * Of values in a chunk's packet, which lies in one buffer that is made as large as that takes. They
 * fill a packet of 9,000 bytes, the usual MTU of jumbo frames, over IPv4.
 */
#define MAX_BYTES 8948u
/* What stands before them, at the most. */
#define HEADERS_BYTES                                                     \
	(sizeof(struct rte_ether_hdr) + 2 * sizeof(struct rte_vlan_hdr) + \
		sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_udp_hdr) + AGGREGATE_HEADER_BYTES)

#define FIELD(field) OPTION_FIELD(struct aggregate_options, field)

const struct option_row aggregate_keys[AGGREGATE_KEY_COUNT] = {
	{"jobs", FIELD(jobs), OPTION_RANGE(1, 1024, 16), .meaning = "jobs at a time"},
	{"slots", FIELD(slots), OPTION_RANGE(1, 32768, 512),
		.meaning = "slots of all jobs together"},
	{"workers", FIELD(workers), OPTION_RANGE(1, 64, 64), .meaning = "workers of a job"},
	{"per_address", FIELD(per_address), OPTION_RANGE(1, 1024, 8),
		.meaning = "jobs that one address may begin and not complete"},
	{"bytes", FIELD(bytes), OPTION_RANGE(4, MAX_BYTES, 1448),
		.meaning = "bytes of values in a chunk"},
	{"idle", FIELD(idle), OPTION_RANGE(1, 1000000, 60),
		.meaning = "seconds of silence after which a job ends"},
	{"stall", FIELD(stall), OPTION_RANGE(1, 1000000, 10),
		.meaning = "seconds after which a chunk's missing worker is named"},
	{"port", FIELD(port), OPTION_RANGE(1, 65535, 20040), .meaning = "first UDP port"},
	{"shards", FIELD(shards), OPTION_RANGE(0, 64, 0),
		.meaning = "lcores that aggregate, a UDP port each; 0: as many as there are"},
	{"key", FIELD(key),
		.meaning = "file of the cluster's key, 32 bytes: packets have tags (default none)"},
};

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
	if (options->key[0] != '\0' && options->bytes > MAX_BYTES - AGGREGATE_TAG_BYTES) {
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
