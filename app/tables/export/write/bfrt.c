/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries for Tofino's runtime: a Python program for the shell bfrt_python, or JSON. */
#include "export/write/write.h"

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
	for (unsigned p = 0; p < action->param_count; p++)
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
	for (unsigned p = 0; p < table->action[entry->action].param_count; p++)
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

/* ---- JSON ------------------------------------------------------------------------------------ */

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
	for (unsigned p = 0; p < action->param_count; p++)
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
