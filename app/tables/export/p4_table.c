/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/p4_table.h"

#define FIRST_CAPACITY 64
/* Where every program has the control of p4/include/netfc.p4. */
#define NETFC_CONTROL "IngressPipe.netfc"

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

void
p4_match(struct p4_entry *entry, const struct p4_table *shape, unsigned key, uint32_t value)
{
	entry->value[key] = value;
	entry->mask[key] = p4_low_bits(shape->key[key].bits);
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
	return table->shared ? count_paths(table) : lanes * count_paths(table);
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
