/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/p4_table.h"

#define FIRST_CAPACITY 64
/* Where every program has the control of p4/include/netfc.p4. */
#define NETFC_CONTROL "IngressPipe.netfc"

struct p4_table *
p4_add_table(struct p4_program *program, const struct p4_table *pattern)
{
	struct p4_table *table = &program->table[program->table_count++];

	*table = *pattern;
	for (unsigned k = 0; k < P4_MAX_KEYS && table->key[k].name != NULL; k++)
		table->key_count++;
	return table;
}

void
p4_add_entry(struct p4_table *table, const struct p4_entry *entry)
{
	size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : 2 * table->capacity;
	struct p4_entry *entries;

	/* What is not complete is not written; see p4_complete(). */
	if (table->out_of_memory)
		return;
	if (table->count == table->capacity) {
		entries = reallocarray(table->entries, capacity, sizeof(*entries));
		if (entries == NULL) {
			table->out_of_memory = true;
			return;
		}
		table->entries = entries;
		table->capacity = capacity;
	}
	table->entries[table->count++] = *entry;
}

unsigned
p4_param_count(const struct p4_action *action)
{
	unsigned count = 0;

	while (count < P4_MAX_PARAMS && action->param[count].name != NULL)
		count++;
	return count;
}

void
p4_match(struct p4_entry *entry, const struct p4_table *pattern, unsigned key, uint32_t value)
{
	entry->value[key] = value;
	entry->mask[key] = p4_low_bits(pattern->key[key].bits);
}

void
p4_add_exact(struct p4_table *table, const uint32_t *value, const uint32_t *arg)
{
	struct p4_entry entry = {0};

	for (unsigned k = 0; k < table->key_count; k++)
		p4_match(&entry, table, k, value[k]);
	for (unsigned p = 0; p < p4_param_count(&table->action[0]); p++)
		entry.arg[p] = arg[p];
	p4_add_entry(table, &entry);
}

void
p4_add_word(struct p4_table *table, uint32_t key, uint32_t word)
{
	p4_add_exact(table, &key, &word);
}

bool
p4_complete(const struct p4_program *program)
{
	for (unsigned t = 0; t < program->table_count; t++) {
		if (program->table[t].out_of_memory)
			return false;
	}
	return true;
}

void
p4_free(struct p4_program *program)
{
	for (unsigned t = 0; t < program->table_count; t++)
		free(program->table[t].entries);
}

uint32_t
p4_low_bits(unsigned bits)
{
	return bits < 32 ? (UINT32_C(1) << bits) - 1 : UINT32_MAX;
}

bool
p4_has_priority(const struct p4_table *table)
{
	for (unsigned k = 0; k < table->key_count; k++) {
		if (table->key[k].match == P4_TERNARY)
			return true;
	}
	return false;
}

unsigned
p4_prefix_length(const struct p4_entry *entry, unsigned key)
{
	return (unsigned)__builtin_popcount(entry->mask[key]);
}

void
p4_add_range(struct p4_table *table, const struct p4_entry *entry, unsigned key, uint32_t first,
	uint32_t last)
{
	const unsigned bits = table->key[key].bits;
	struct p4_entry copy = *entry;
	uint64_t at = first;

	while (at <= last) {
		uint64_t size = UINT64_C(1) << bits;

		while ((at & (size - 1)) != 0 || at + size - 1 > last)
			size /= 2;
		copy.value[key] = (uint32_t)at;
		copy.mask[key] = p4_low_bits(bits) & ~(uint32_t)(size - 1);
		p4_add_entry(table, &copy);
		at += size;
	}
}

struct p4_table *
p4_copy_table(const struct netfc_set *set, const char *name, const struct p4_table *pattern,
	const struct p4_bits *slices, struct p4_program *program)
{
	static const struct p4_bits whole = {0, 32};
	const struct netfc_table *from = netfc_set_find_table(set, name);
	struct p4_table *table = p4_add_table(program, pattern);

	for (uint32_t index = 0; index < netfc_table_size(from); index++) {
		uint32_t value[P4_MAX_KEYS], arg[P4_MAX_PARAMS];
		unsigned low = 0;

		for (unsigned k = table->key_count; k-- > 0;) {
			value[k] = p4_slice(index, low, table->key[k].bits);
			low += table->key[k].bits;
		}
		for (unsigned p = 0; p < p4_param_count(&table->action[0]); p++) {
			const struct p4_bits *bits = slices != NULL ? &slices[p] : &whole;

			arg[p] = p4_slice(netfc_table_entries(from)[index], bits->low, bits->count);
		}
		if (netfc_table_reachable(from, index) && index >> low == 0)
			p4_add_exact(table, value, arg);
	}
	return table;
}

/* Paths of the table: one at least. */
static unsigned
count_paths(const struct p4_table *table)
{
	unsigned count = 1;

	while (count < P4_MAX_INSTANCES && table->instance[count] != NULL)
		count++;
	return count;
}

static unsigned
count_instances(const struct p4_table *table, unsigned lanes)
{
	const unsigned controls = table->lanes > 1 ? lanes / table->lanes : lanes;

	return table->shared ? count_paths(table) : controls * count_paths(table);
}

static void
name_instance(struct p4_instance *instance, const struct p4_table *table, unsigned number)
{
	const char *path = table->instance[number % count_paths(table)];
	const char *dot = strrchr(path, '.');
	const char *outer = table->outer != NULL ? table->outer : NETFC_CONTROL;
	int length = dot != NULL ? (int)(dot - path) : 0;

	if (table->shared)
		snprintf(instance->control, P4_NAME_SIZE, "%s%s%.*s", outer, dot != NULL ? "." : "",
			length, path);
	else
		snprintf(instance->control, P4_NAME_SIZE, "%s.%s%u%s%.*s", outer,
			table->control != NULL ? table->control : "lane",
			number / count_paths(table), dot != NULL ? "." : "", length, path);
	snprintf(instance->name, P4_NAME_SIZE, "%s", dot != NULL ? dot + 1 : path);
	instance->table = table;
}

bool
p4_next_instance(const struct p4_program *program, unsigned lanes, struct p4_instance *instance)
{
	while (instance->next_table < program->table_count) {
		const struct p4_table *table = &program->table[instance->next_table];

		if (instance->next_number < count_instances(table, lanes)) {
			name_instance(instance, table, instance->next_number++);
			return true;
		}
		instance->next_table++;
		instance->next_number = 0;
	}
	return false;
}

size_t
p4_entry_count(const struct p4_program *program, unsigned lanes, unsigned *tables)
{
	struct p4_instance instance = {0};
	size_t count = 0;

	*tables = 0;
	while (p4_next_instance(program, lanes, &instance)) {
		count += instance.table->count;
		++*tables;
	}
	return count;
}

/* Minimisation of ternary tables. */

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
