/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "divide.h"

#define LOG_BITS (DIVIDE_SCALE_BITS + DIVIDE_GUARD_BITS)

struct divider {
	struct match_stage *log; /* of 32-bit integers */
	struct match_stage *exp;
};

static int
create_log(struct divider *divider, int socket_id)
{
	struct netfc_prefix *prefixes;
	size_t count;
	int error;

	if (netfc_log2_prefixes(DIVIDE_BELOW, LOG_BITS, &prefixes, &count) != NETFC_OK)
		return -ENOMEM;
	error = match_create_prefixes(prefixes, count, socket_id, &divider->log);
	free(prefixes);
	return error;
}

static int
create_exp(struct divider *divider, enum match_kind kind, int socket_id)
{
	struct netfc_set *set;
	int error = -EINVAL;

	if (netfc_set_build(DIVIDE_SET, &set) != NETFC_OK)
		return -ENOMEM;
	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);

		if (strcmp(netfc_table_name(table), "exp") == 0)
			error = match_create(kind, table, socket_id, &divider->exp);
	}
	netfc_set_free(set);
	return error;
}

int
divider_create(enum match_kind kind, int socket_id, struct divider **result)
{
	struct divider *divider;
	int error;

	divider = rte_zmalloc_socket("divider", sizeof(*divider), 0, socket_id);
	if (divider == NULL)
		return -ENOMEM;
	error = create_log(divider, socket_id);
	if (error == 0)
		error = create_exp(divider, kind, socket_id);
	if (error != 0) {
		divider_free(divider);
		return error;
	}
	*result = divider;
	return 0;
}

void
divider_free(struct divider *divider)
{
	if (divider == NULL)
		return;
	match_free(divider->log);
	match_free(divider->exp);
	rte_free(divider);
}

/*
 * By how many bits a counter is shifted right to fit into 32 bits. Its leading one and the
 * DIVIDE_BELOW bits after it stay, as at least 16 bits do.
 */
static inline unsigned int
shift_of(uint64_t bytes)
{
	return ((bytes >> 32 != 0) + (unsigned int)(bytes >> 48 != 0)) * 16;
}

static inline int32_t
saturate(int32_t word)
{
	return RTE_MAX(RTE_MIN(word, INT16_MAX), INT16_MIN);
}

/* The log word of x / y, of logarithms with guard bits: to the nearest, as the set's own are. */
static inline int32_t
subtract_logs(uint32_t log_x, uint32_t log_y)
{
	int32_t difference = (int32_t)(log_x - log_y);

	return saturate((difference + (1 << (DIVIDE_GUARD_BITS - 1))) >> DIVIDE_GUARD_BITS);
}

/* The words of counters of which at least one was shifted. */
static void
subtract_shifts(uint32_t *words, const uint64_t *bytes, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		int32_t shift = (int32_t)(shift_of(bytes[l]) << DIVIDE_SCALE_BITS);

		words[l] = (uint16_t)saturate((int16_t)words[l] - shift);
	}
}

void
divide(const struct divider *divider, const uint32_t *connections, const uint64_t *bytes,
	uint16_t *ratio, unsigned int count)
{
	uint32_t x[DIVIDE_BULK], y[DIVIDE_BULK], i[DIVIDE_BULK], j[DIVIDE_BULK];
	uint64_t any = 0;

	if (count == 0)
		return;
	for (unsigned int l = 0; l < count; l++) {
		any |= bytes[l];
		x[l] = connections[l] + (connections[l] == 0);
		y[l] = (uint32_t)bytes[l] + (bytes[l] == 0);
	}
	if (unlikely(any >> 32 != 0)) {
		for (unsigned int l = 0; l < count; l++)
			y[l] = (uint32_t)(bytes[l] >> shift_of(bytes[l])) + (bytes[l] == 0);
	}
	match_lookup(divider->log, x, i, count);
	match_lookup(divider->log, y, j, count);
	for (unsigned int l = 0; l < count; l++)
		x[l] = (uint16_t)subtract_logs(i[l], j[l]);
	if (unlikely(any >> 32 != 0))
		subtract_shifts(x, bytes, count);
	match_lookup(divider->exp, x, y, count);
	for (unsigned int l = 0; l < count; l++)
		ratio[l] = connections[l] != 0 ? (uint16_t)y[l] : 0;
}
