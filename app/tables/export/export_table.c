/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of a P4 program in memory. */
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

#define FIRST_CAPACITY 64
/* The control of p4/include/netfc.p4 in every program. */
#define NETFC_CONTROL "IngressPipe.netfc"

const struct netfc_table *
p4_source_table(const struct netfc_set *set, const char *name)
{
	const struct netfc_table *table = NULL;

	for (unsigned t = 0; t < netfc_set_table_count(set); t++) {
		if (strcmp(netfc_table_name(netfc_set_table(set, t)), name) == 0)
			table = netfc_set_table(set, t);
	}
	return table;
}

struct p4_table *
p4_add_table(struct p4_program *program, const struct p4_table *shape)
{
	struct p4_table *table = &program->table[program->table_count++];

	*table = *shape;
	return table;
}

void
p4_add_entry(struct p4_table *table, const struct p4_entry *entry)
{
	size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : 2 * table->capacity;
	struct p4_entry *entries;

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

void
p4_add_word(struct p4_table *table, uint32_t key, uint32_t word)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {key}, .mask = {p4_low_bits(table->key[0].bits)}, .arg = {word}});
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
p4_cover_range(uint32_t first, uint32_t last, unsigned bits,
	void (*prefix)(void *arg, uint32_t value, uint32_t mask), void *arg)
{
	uint64_t at = first;

	while (at <= last) {
		uint64_t size = UINT64_C(1) << bits;

		while ((at & (size - 1)) != 0 || at + size - 1 > last)
			size /= 2;
		prefix(arg, (uint32_t)at, p4_low_bits(bits) & ~(uint32_t)(size - 1));
		at += size;
	}
}

/* Every table is in one place at the least. */
static unsigned
places(const struct p4_table *table)
{
	unsigned count = 1;

	while (count < P4_MAX_INSTANCES && table->instance[count] != NULL)
		count++;
	return count;
}

unsigned
p4_instance_count(const struct p4_table *table, unsigned lanes)
{
	return table->shared ? places(table) : lanes * places(table);
}

void
p4_instance_name(const struct p4_table *table, unsigned instance, char *control, char *name)
{
	const char *path = table->instance[instance % places(table)];
	const char *dot = strrchr(path, '.');
	int length = dot != NULL ? (int)(dot - path) : 0;

	if (table->shared)
		snprintf(control, P4_NAME_SIZE, NETFC_CONTROL "%s%.*s", dot != NULL ? "." : "",
			length, path);
	else
		snprintf(control, P4_NAME_SIZE, NETFC_CONTROL ".lane%u%s%.*s",
			instance / places(table), dot != NULL ? "." : "", length, path);
	snprintf(name, P4_NAME_SIZE, "%s", dot != NULL ? dot + 1 : path);
}

size_t
p4_entry_count(const struct p4_program *program, unsigned lanes)
{
	size_t count = 0;

	for (unsigned t = 0; t < program->table_count; t++)
		count += program->table[t].count * p4_instance_count(&program->table[t], lanes);
	return count;
}
