/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables for the division in p4/include/slowloris.p4: logarithms of 32-bit integers, powers. */
#include <stdlib.h>

#include "export/fill/fill.h"

/* As lib/slowloris divides: bits below the leading one, bits of a logarithm, and the powers' set.
 */
#define BELOW 13
#define LOG_BITS 15
#define POWERS "fp16_k1024"

static int
add_logarithms(struct p4_program *program)
{
	static const struct p4_table pattern = {
		.instance = {"slowloris.divide.log_connections.log",
			"slowloris.divide.log_bytes.log"},
		.shared = true,
		.key = {{"integer", 32, P4_LPM}},
		.action = {{"set", {{"logarithm", 32}}}},
	};
	struct p4_table *table = p4_add_table(program, &pattern);
	struct netfc_prefix *prefixes;
	size_t count;
	int error = netfc_log2_prefixes(BELOW, LOG_BITS, &prefixes, &count);

	if (error != NETFC_OK)
		return error;
	for (size_t p = 0; p < count; p++)
		p4_add_entry(table,
			&(struct p4_entry){
				.value = {prefixes[p].key},
				.mask = {~p4_low_bits(32 - prefixes[p].length)},
				.arg = {prefixes[p].value},
			});
	free(prefixes);
	return NETFC_OK;
}

static int
add_powers(struct p4_program *program)
{
	static const struct p4_table pattern = {
		.instance = {"slowloris.divide.exp"},
		.shared = true,
		.key = {{"n", 16, P4_EXACT}},
		.action = {{"set", {{"word", 16}}}},
	};
	struct p4_table *table = p4_add_table(program, &pattern);
	const uint32_t *entries;
	struct netfc_set *set;
	int error = netfc_set_build(POWERS, &set);

	if (error != NETFC_OK)
		return error;
	entries = netfc_table_entries(netfc_set_find_table(set, "exp"));
	for (uint32_t n = 0; n <= p4_low_bits(pattern.key[0].bits); n++)
		p4_add_word(table, n, entries[n]);
	netfc_set_free(set);
	return NETFC_OK;
}

const char *
p4_slowloris_tables(const struct netfc_set *set, struct p4_program *program)
{
	if (netfc_format_id(netfc_set_format(set)) != NETFC_FP16)
		return "queries are answered in fp16: --slowloris needs a set of that format";
	if (add_logarithms(program) != NETFC_OK || add_powers(program) != NETFC_OK)
		return "out of memory";
	return NULL;
}
