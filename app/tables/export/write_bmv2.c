/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries as commands of BMv2's simple_switch_CLI. */
#include "export/export.h"

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
write_entry(FILE *stream, const struct p4_table *table, const struct p4_entry *entry,
	const char *control, const char *name)
{
	const struct p4_action *action = &table->action[entry->action];

	fprintf(stream, "table_add %s.%s %s.%s", control, name, control, action->name);
	for (unsigned k = 0; k < table->key_count; k++)
		write_key(stream, table, entry, k);
	fputs(" =>", stream);
	for (unsigned p = 0; p < action->param_count; p++)
		fprintf(stream, " 0x%x", entry->arg[p]);
	if (p4_has_priority(table))
		fprintf(stream, " %d", entry->priority + FIRST_PRIORITY);
	fputc('\n', stream);
}

void
write_bmv2(FILE *stream, const struct p4_program *program, const struct export_options *options)
{
	char control[P4_NAME_SIZE], name[P4_NAME_SIZE];

	for (unsigned t = 0; t < program->table_count; t++) {
		const struct p4_table *table = &program->table[t];

		for (unsigned i = 0; i < p4_instance_count(table, options->lanes); i++) {
			p4_instance_name(table, i, control, name);
			for (size_t e = 0; e < table->count; e++)
				write_entry(stream, table, &table->entries[e], control, name);
		}
	}
}
