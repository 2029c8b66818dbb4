/* SPDX-License-Identifier: BSD-3-Clause */
/* Minimisation of ternary tables. */
#include <stdlib.h>
#include <string.h>

#include "export/p4_table.h"

static bool
same_outcome(const struct p4_entry *a, const struct p4_entry *b)
{
	return a->action == b->action && memcmp(a->arg, b->arg, sizeof(a->arg)) == 0;
}

/* Whether some packet matches both. */
static bool
overlap(const struct p4_entry *a, const struct p4_entry *b)
{
	for (unsigned k = 0; k < P4_MAX_KEYS; k++) {
		if (((a->value[k] ^ b->value[k]) & a->mask[k] & b->mask[k]) != 0)
			return false;
	}
	return true;
}

/* Whether every packet that matches `inner` matches `outer`. */
static bool
covers(const struct p4_entry *outer, const struct p4_entry *inner)
{
	for (unsigned k = 0; k < P4_MAX_KEYS; k++) {
		if ((outer->mask[k] & ~inner->mask[k]) != 0 ||
			((outer->value[k] ^ inner->value[k]) & outer->mask[k]) != 0)
			return false;
	}
	return true;
}

/* Join b into a if their matches differ in at most one bit. */
static bool
join(struct p4_entry *a, const struct p4_entry *b)
{
	unsigned bits = 0, key = 0;

	if (a->priority != b->priority || !same_outcome(a, b) ||
		memcmp(a->mask, b->mask, sizeof(a->mask)) != 0)
		return false;
	for (unsigned k = 0; k < P4_MAX_KEYS; k++) {
		if (a->value[k] != b->value[k]) {
			bits += (unsigned)__builtin_popcount(a->value[k] ^ b->value[k]);
			key = k;
		}
	}
	if (bits > 1)
		return false;
	if (bits == 1) {
		uint32_t bit = a->value[key] ^ b->value[key];

		a->mask[key] &= ~bit;
		a->value[key] &= ~bit;
	}
	return true;
}

static void
drop(struct p4_table *table, size_t at)
{
	table->count--;
	memmove(&table->entries[at], &table->entries[at + 1],
		(table->count - at) * sizeof(table->entries[0]));
}

static bool
join_any(struct p4_table *table)
{
	bool joined = false;

	for (size_t a = 0; a < table->count; a++) {
		for (size_t b = a + 1; b < table->count; b++) {
			if (!join(&table->entries[a], &table->entries[b]))
				continue;
			drop(table, b--);
			joined = true;
		}
	}
	return joined;
}

/* Whether packets that match entry `at` would have the same outcome without it. */
static bool
is_needless(const struct p4_table *table, size_t at)
{
	const struct p4_entry *entry = &table->entries[at];

	for (size_t b = at + 1; b < table->count; b++) {
		const struct p4_entry *below = &table->entries[b];

		if (!overlap(entry, below))
			continue;
		if (!same_outcome(entry, below))
			return false;
		if (covers(below, entry))
			return true;
	}
	return false;
}

static int
by_priority(const void *a, const void *b)
{
	const struct p4_entry *first = a, *second = b;

	return (int)first->priority - (int)second->priority;
}

void
p4_minimise(struct p4_table *table)
{
	if (table->count == 0)
		return;
	qsort(table->entries, table->count, sizeof(table->entries[0]), by_priority);
	while (join_any(table))
		;
	for (size_t e = table->count; e-- > 0;) {
		if (is_needless(table, e))
			drop(table, e);
	}
	for (size_t e = 0; e < table->count; e++)
		table->entries[e].priority = (uint16_t)e;
}
