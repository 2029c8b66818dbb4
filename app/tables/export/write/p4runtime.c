/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries as a P4Runtime WriteRequest in protobuf's text format (P4Runtime specification 1.4,
 * section 12). Numbers of tables and actions are those that p4c derives from their names; keys and
 * parameters are numbered from 1.
 */
#include <string.h>

#include "export/write/write.h"

/* Kinds of objects in a number's top byte (p4/config/v1/p4info.proto, P4Ids). */
#define ID_ACTION 0x01u
#define ID_TABLE 0x02u

/* p4c numbers objects by a hash of their names: Jenkins, "one at a time". */
static uint32_t
object_id(uint32_t kind, const char *control, const char *name)
{
	char path[2 * P4_NAME_SIZE];
	uint32_t hash = 0;

	snprintf(path, sizeof(path), "%s.%s", control, name);
	for (const char *at = path; *at != '\0'; at++) {
		hash += (uint8_t)*at;
		hash += hash << 10;
		hash ^= hash >> 6;
	}
	hash += hash << 3;
	hash ^= hash >> 11;
	hash += hash << 15;
	return kind << 24 | (hash & 0xffffff);
}

/* A number in as few bytes as it takes, most significant first (section 8.4). */
static void
write_bytes(FILE *stream, uint32_t number)
{
	int shift = 24;

	while (shift > 0 && number >> shift == 0)
		shift -= 8;
	for (; shift >= 0; shift -= 8)
		fprintf(stream, "\\x%02x", number >> shift & 0xff);
}

/* A field that matches anything must be left out (section 9.1.1). */
static void
write_match(FILE *stream, const struct p4_table *table, const struct p4_entry *entry, unsigned k)
{
	static const char *const kinds[] = {
		[P4_EXACT] = "exact", [P4_LPM] = "lpm", [P4_TERNARY] = "ternary"};
	enum p4_match match = table->key[k].match;

	if (match != P4_EXACT && entry->mask[k] == 0)
		return;
	fprintf(stream, " match { field_id: %u %s { value: \"", k + 1, kinds[match]);
	write_bytes(stream, entry->value[k]);
	fputc('"', stream);
	if (match == P4_LPM)
		fprintf(stream, " prefix_len: %u", p4_prefix_length(entry, k));
	if (match == P4_TERNARY) {
		fputs(" mask: \"", stream);
		write_bytes(stream, entry->mask[k]);
		fputc('"', stream);
	}
	fputs(" } }", stream);
}

static void
write_action(FILE *stream, const struct p4_table *table, const struct p4_entry *entry,
	const char *control)
{
	const struct p4_action *action = &table->action[entry->action];

	fprintf(stream, " action { action { action_id: %u",
		object_id(ID_ACTION, control, action->name));
	for (unsigned p = 0; p < action->param_count; p++) {
		fprintf(stream, " params { param_id: %u value: \"", p + 1);
		write_bytes(stream, entry->arg[p]);
		fputs("\" }", stream);
	}
	fputs(" } }", stream);
}

static void
write_entry(FILE *stream, const struct p4_instance *instance, const struct p4_entry *entry)
{
	const struct p4_table *table = instance->table;

	fprintf(stream, "updates { type: INSERT entity { table_entry { table_id: %u",
		object_id(ID_TABLE, instance->control, instance->name));
	for (unsigned k = 0; k < table->key_count; k++)
		write_match(stream, table, entry, k);
	write_action(stream, table, entry, instance->control);
	/* Here the highest value wins, and 0 means no priority. */
	if (p4_has_priority(table))
		fprintf(stream, " priority: %d", P4_MAX_PRIORITY - entry->priority);
	fputs(" } } }\n", stream);
}

void
write_p4runtime(FILE *stream, const struct p4_program *program, const struct write_options *options)
{
	struct p4_instance instance = {0};

	while (p4_next_instance(program, options->lanes, &instance)) {
		fprintf(stream, "# %s.%s\n", instance.control, instance.name);
		for (size_t e = 0; e < instance.table->count; e++)
			write_entry(stream, &instance, &instance.table->entries[e]);
	}
}
