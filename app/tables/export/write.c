/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "export/p4_table.h"

/* ---- Tofino's runtime: a program for the shell bfrt_python ----------------------------------- */

static const char prologue[] = "# Entries of %s for the P4 program %s; run it in Tofino's shell:\n"
			       "# bfshell -b FILE\n"
			       "import time\n"
			       "\n"
			       "started, entries = time.monotonic(), 0\n"
			       "\n"
			       "\n"
			       "def node(path):\n"
			       "    at = bfrt.%s.pipe\n"
			       "    for name in path.split('.'):\n"
			       "        at = getattr(at, name)\n"
			       "    return at\n"
			       "\n"
			       "\n"
			       "def fill(path, action, names, rows):\n"
			       "    global entries\n"
			       "    add = getattr(node(path), 'add_with_' + action)\n"
			       "    bfrt.batch_begin()\n"
			       "    for row in rows:\n"
			       "        add(**dict(zip(names, row)))\n"
			       "    bfrt.batch_end()\n"
			       "    entries += len(rows)\n"
			       "\n"
			       "\n";

static const char epilogue[] =
	"bfrt.complete_operations()\n"
	"print('%d entries in %.1f s' % (entries, time.monotonic() - started))\n";

/* The names of an entry's arguments, as add_with_ACTION() takes them. */
static void
write_names(FILE *stream, const struct p4_table *table, const struct p4_action *action)
{
	for (unsigned k = 0; k < table->key_count; k++) {
		const struct p4_key *key = &table->key[k];

		fprintf(stream, "'%s', ", key->name);
		if (key->match == P4_TERNARY)
			fprintf(stream, "'%s_mask', ", key->name);
		if (key->match == P4_LPM)
			fprintf(stream, "'%s_p_length', ", key->name);
	}
	if (p4_has_priority(table))
		fputs("'match_priority', ", stream);
	for (unsigned p = 0; p < p4_param_count(action); p++)
		fprintf(stream, "'%s', ", action->param[p].name);
}

static void
write_row(FILE *stream, const struct p4_table *table, const struct p4_entry *entry)
{
	fputs("    (", stream);
	for (unsigned k = 0; k < table->key_count; k++) {
		fprintf(stream, "0x%x, ", entry->value[k]);
		if (table->key[k].match == P4_TERNARY)
			fprintf(stream, "0x%x, ", entry->mask[k]);
		if (table->key[k].match == P4_LPM)
			fprintf(stream, "%u, ", p4_prefix_length(entry, k));
	}
	if (p4_has_priority(table))
		fprintf(stream, "%u, ", entry->priority);
	for (unsigned p = 0; p < p4_param_count(&table->action[entry->action]); p++)
		fprintf(stream, "0x%x, ", entry->arg[p]);
	fputs("),\n", stream);
}

/* A call for each run of entries with the same action. */
static void
write_fills(FILE *stream, const struct p4_instance *instance)
{
	const struct p4_table *table = instance->table;

	for (size_t e = 0; e < table->count; e++) {
		const struct p4_entry *entry = &table->entries[e];

		if (e == 0 || entry->action != entry[-1].action) {
			fprintf(stream, "%sfill('%s.%s', '%s', (", e == 0 ? "" : "])\n",
				instance->control, instance->name,
				table->action[entry->action].name);
			write_names(stream, table, &table->action[entry->action]);
			fputs("), [\n", stream);
		}
		write_row(stream, table, entry);
	}
	if (table->count > 0)
		fputs("])\n", stream);
}

void
write_bfrt(FILE *stream, const struct p4_program *program, const struct write_options *options)
{
	struct p4_instance instance = {0};

	fprintf(stream, prologue, options->set_name, options->program, options->program);
	while (p4_next_instance(program, options->lanes, &instance))
		write_fills(stream, &instance);
	fputs(epilogue, stream);
}

/* ---- Tofino's runtime: JSON ------------------------------------------------------------------ */

static void
write_json_key(FILE *stream, const struct p4_table *table, const struct p4_entry *entry)
{
	for (unsigned k = 0; k < table->key_count; k++) {
		fprintf(stream, "%s\"%s\": {\"value\": %u", k == 0 ? "" : ", ", table->key[k].name,
			entry->value[k]);
		if (table->key[k].match == P4_TERNARY)
			fprintf(stream, ", \"mask\": %u", entry->mask[k]);
		if (table->key[k].match == P4_LPM)
			fprintf(stream, ", \"prefix_len\": %u", p4_prefix_length(entry, k));
		fputc('}', stream);
	}
	if (p4_has_priority(table))
		fprintf(stream, ", \"$MATCH_PRIORITY\": {\"value\": %u}", entry->priority);
}

static void
write_json_entry(FILE *stream, const struct p4_instance *instance, const struct p4_entry *entry)
{
	const struct p4_table *table = instance->table;
	const struct p4_action *action = &table->action[entry->action];

	fprintf(stream, "{\"table_name\": \"pipe.%s.%s\", \"action\": \"%s.%s\", \"key\": {",
		instance->control, instance->name, instance->control, action->name);
	write_json_key(stream, table, entry);
	fputs("}, \"data\": {", stream);
	for (unsigned p = 0; p < p4_param_count(action); p++)
		fprintf(stream, "%s\"%s\": %u", p == 0 ? "" : ", ", action->param[p].name,
			entry->arg[p]);
	fputs("}}", stream);
}

void
write_bfrt_json(FILE *stream, const struct p4_program *program, const struct write_options *options)
{
	struct p4_instance instance = {0};
	const char *separator = "[\n";

	while (p4_next_instance(program, options->lanes, &instance)) {
		for (size_t e = 0; e < instance.table->count; e++) {
			fputs(separator, stream);
			write_json_entry(stream, &instance, &instance.table->entries[e]);
			separator = ",\n";
		}
	}
	fputs("\n]\n", stream);
}

/* ---- commands of BMv2's simple_switch_CLI ---------------------------------------------------- */

/* BMv2 has no priority 0 in some versions. */
#define FIRST_PRIORITY 1

static void
write_key(FILE *stream, const struct p4_table *table, const struct p4_entry *entry, unsigned k)
{
	fprintf(stream, " 0x%x", entry->value[k]);
	if (table->key[k].match == P4_TERNARY)
		fprintf(stream, "&&&0x%x", entry->mask[k]);
	else if (table->key[k].match == P4_LPM)
		fprintf(stream, "/%u", p4_prefix_length(entry, k));
}

static void
write_command(FILE *stream, const struct p4_instance *instance, const struct p4_entry *entry)
{
	const struct p4_table *table = instance->table;
	const struct p4_action *action = &table->action[entry->action];

	fprintf(stream, "table_add %s.%s %s.%s", instance->control, instance->name,
		instance->control, action->name);
	for (unsigned k = 0; k < table->key_count; k++)
		write_key(stream, table, entry, k);
	fputs(" =>", stream);
	for (unsigned p = 0; p < p4_param_count(action); p++)
		fprintf(stream, " 0x%x", entry->arg[p]);
	if (p4_has_priority(table))
		fprintf(stream, " %d", entry->priority + FIRST_PRIORITY);
	fputc('\n', stream);
}

void
write_bmv2(FILE *stream, const struct p4_program *program, const struct write_options *options)
{
	struct p4_instance instance = {0};

	while (p4_next_instance(program, options->lanes, &instance)) {
		for (size_t e = 0; e < instance.table->count; e++)
			write_command(stream, &instance, &instance.table->entries[e]);
	}
}

/* ---- P4Runtime ------------------------------------------------------------------------------- */

/*
 * Entries as a P4Runtime WriteRequest in protobuf's text format (P4Runtime specification 1.4,
 * section 12). Numbers of tables and actions are those that p4c derives from their names; keys and
 * parameters are numbered from 1.
 */

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
	for (unsigned p = 0; p < p4_param_count(action); p++) {
		fprintf(stream, " params { param_id: %u value: \"", p + 1);
		write_bytes(stream, entry->arg[p]);
		fputs("\" }", stream);
	}
	fputs(" } }", stream);
}

static void
write_update(FILE *stream, const struct p4_instance *instance, const struct p4_entry *entry)
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
			write_update(stream, &instance, &instance.table->entries[e]);
	}
}
