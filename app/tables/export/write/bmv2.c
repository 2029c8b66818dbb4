/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries as commands of BMv2's simple_switch_CLI. */
#include "export/write/write.h"

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
write_entry(FILE *stream, const struct p4_instance *instance, const struct p4_entry *entry)
{
	const struct p4_table *table = instance->table;
	const struct p4_action *action = &table->action[entry->action];

	fprintf(stream, "table_add %s.%s %s.%s", instance->control, instance->name,
		instance->control, action->name);
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
write_bmv2(FILE *stream, const struct p4_program *program, const struct write_options *options)
{
	struct p4_instance instance = {0};

	while (p4_next_instance(program, options->lanes, &instance)) {
		for (size_t e = 0; e < instance.table->count; e++)
			write_entry(stream, &instance, &instance.table->entries[e]);
	}
}
