/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "aggregate_format.h"
#include "aggregate_tag.h"
#include "aggregate_wire.h"
#include "options/options.h"
#include "program.h"

/*
 * Of values in a chunk's packet, which lies in one buffer that is made as large as that takes. They
 * fill a packet of 9,000 bytes, the usual MTU of jumbo frames, over IPv4.
 */
#define MAX_BYTES 8948u
/* What stands before them, at most. */
#define HEADERS_BYTES                                                     \
	(sizeof(struct rte_ether_hdr) + 2 * sizeof(struct rte_vlan_hdr) + \
		sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_udp_hdr) + AGGREGATE_HEADER_BYTES)

#define PARENT_EXPECTED "IP or IP:PORT, for IPv6 [IP]:PORT"

/* The UDP port behind the last colon; true, and the default, where there is none. */
static bool
take_port(char *text, uint16_t *port)
{
	char *colon = strrchr(text, ':'), *end;
	bool has_port =
		colon != NULL && (text[0] == '[' ? colon[-1] == ']' : strchr(text, ':') == colon);
	unsigned long number;

	*port = AGGREGATE_UDP_PORT;
	if (!has_port)
		return true;
	*colon++ = '\0';
	number = strtoul(colon, &end, 10);
	*port = (uint16_t)number;
	return colon[0] >= '0' && colon[0] <= '9' && *end == '\0' && number >= 1 &&
		number <= UINT16_MAX;
}

static int
parse_parent(FILE *errors, const char *option, const char *text, void *field)
{
	struct parent_option *parent = field;
	char copy[80], *ip = copy;
	size_t length = strlen(text);

	if (length >= sizeof(copy))
		return option_refuse(errors, option, text, PARENT_EXPECTED);
	memcpy(copy, text, length + 1);
	if (!take_port(copy, &parent->port))
		return option_refuse(errors, option, text, PARENT_EXPECTED);
	length = strlen(copy);
	if (copy[0] == '[' && copy[length - 1] == ']') {
		copy[length - 1] = '\0';
		ip++;
	}
	if (!address_read(ip, &parent->address))
		return option_refuse(errors, option, text, PARENT_EXPECTED);
	return 0;
}

#define FIELD(field) OPTION_FIELD(struct aggregate_options, field)

#define FORMAT_NAMES(usual) \
	OPTION_NAMED_BY(aggregate_format_name, AGGREGATE_FP16, AGGREGATE_FORMAT_END, usual)

const struct option_row aggregate_keys[AGGREGATE_KEY_COUNT] = {
	{"jobs", FIELD(jobs), OPTION_RANGE(1, 1024, 128), .meaning = "concurrent jobs"},
	{"slots", FIELD(slots), OPTION_RANGE(1, 32768, 512),
		.meaning = "slots of all jobs together"},
	{"workers", FIELD(workers), OPTION_RANGE(1, 64, 64), .meaning = "workers of a job"},
	{"per_address", FIELD(per_address), OPTION_RANGE(1, 1024, 8),
		.meaning = "incomplete jobs that one address may have"},
	{"bytes", FIELD(bytes), OPTION_RANGE(4, MAX_BYTES, 1448),
		.meaning = "bytes of values in a chunk"},
	{"idle", FIELD(idle), OPTION_RANGE(1, 1000000, 60),
		.meaning = "seconds of silence after which a job ends"},
	{"stall", FIELD(stall), OPTION_RANGE(1, 1000000, 10),
		.meaning = "seconds after which a chunk's missing worker is named"},
	{"port", FIELD(port), OPTION_RANGE(1, 65535, 20040), .meaning = "first UDP port"},
	{"shards", FIELD(shards), OPTION_RANGE(0, 64, 0),
		.meaning = "lcores that aggregate, each with a UDP port; 0: all lcores"},
	{"key", FIELD(key),
		.meaning =
			"file of the cluster's key, 32 bytes: packets carry tags (default none)"},
	{"formats", FIELD(formats), .several = true, FORMAT_NAMES(AGGREGATE_ALL_FORMATS),
		.meaning = "formats of values; fewer formats take less memory per slot"},
	{"digits", FIELD(digits), .several = true, FORMAT_NAMES(0),
		.meaning = "formats whose exact sums members may send, as leaves of a tree do; "
			   "each takes memory"},
	{"parent", FIELD(parent), .value = "IP[:PORT]", .parse = parse_parent,
		.meaning = "make this switch a leaf that sends its sums to this parent; UDP port "
			   "20040 unless given"},
};

uint32_t
aggregate_options_packet_bytes(const struct aggregate_options *options)
{
	return options->on ? HEADERS_BYTES + options->bytes + AGGREGATE_TAG_BYTES : 0;
}

/* Where the parent is, can anything be sent there? */
static int
check_parent(const struct aggregate_options *options, const struct addresses *own,
	const struct address *gateway, FILE *errors)
{
	const struct address *parent = &options->parent.address;
	char text[64];

	if (parent->family == 0 && gateway->family == 0)
		return 0;
	if (parent->family == 0)
		return REPORT_TO(errors,
			"--gateway is the way to the parent of an aggregation; there is "
			"none (--aggregate parent=IP)\n");
	address_print(parent, text, sizeof(text));
	if (gateway->family != 0 && gateway->family != parent->family)
		return REPORT_TO(errors,
			"--gateway: expected an IPv%u address, as that of the parent "
			"(%s)\n",
			parent->family, text);
	for (unsigned int a = 0; a < own->count; a++) {
		if (!addresses_same_host(&own->address[a], parent))
			continue;
		return REPORT_TO(errors,
			"--aggregate parent=%s: this is an address of the switch "
			"itself\n",
			text);
	}
	if (addresses_towards(own, parent) != NULL)
		return 0;
	return REPORT_TO(errors,
		"--aggregate parent=%s: the switch needs an IPv%u address, too "
		"(--address IP)\n",
		text, parent->family);
}

int
aggregate_options_check_ports(
	const struct aggregate_options *options, uint32_t shards, uint16_t netfc_port, FILE *errors)
{
	if (options->port + shards - 1 > UINT16_MAX)
		return REPORT_TO(errors,
			"--aggregate: %u shards from UDP port %u on: the last port is "
			"%u\n",
			shards, options->port, UINT16_MAX);
	if (netfc_port >= options->port && netfc_port < options->port + shards)
		return REPORT_TO(errors,
			"--aggregate: UDP port %u is that of requests (--port); choose "
			"another (port=N)\n",
			netfc_port);
	return 0;
}

int
aggregate_options_check(const struct aggregate_options *options, uint16_t netfc_port,
	const struct addresses *own, const struct address *gateway, FILE *errors)
{
	if (check_parent(options, own, gateway, errors) != 0)
		return -1;
	if (!options->on)
		return 0;
	if (own->count == 0)
		return REPORT_TO(errors,
			"--aggregate: the switch needs an address that workers "
			"send to (--address IP)\n");
	if (options->digits != AGGREGATE_ALL_FORMATS && (options->digits & ~options->formats) != 0)
		return REPORT_TO(errors,
			"--aggregate digits=: a format that is not among those of "
			"formats=\n");
	if (options->key[0] != '\0' && options->bytes > MAX_BYTES - AGGREGATE_TAG_BYTES)
		return REPORT_TO(errors,
			"--aggregate bytes=%u: with a key, a packet has room for %u (the "
			"tag takes %d)\n",
			options->bytes, MAX_BYTES - AGGREGATE_TAG_BYTES, AGGREGATE_TAG_BYTES);
	return aggregate_options_check_ports(
		options, RTE_MAX(options->shards, 1u), netfc_port, errors);
}
