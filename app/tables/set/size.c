/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables size: entries and bytes of tables, plain and compressed. */
#include <stdlib.h>

#include "command.h"
#include "show/show.h"
#include "set/set.h"

static const char usage[] =
	"Usage: netfc-tables size [OPTION...] SET\n"
	"Count the entries and bytes of a set's tables: plain, with equal neighbours merged\n"
	"into prefixes, and with the fewest prefixes that do; then account for the NetFC\n"
	"paper's 448 KB line by line. SET is a name, or a file: then it ends in .netfc or has\n"
	"a / in it.\n\n";
static const char notes[] =
	"Plain counts one entry for each key that can occur. Bytes are those of the values,\n"
	"2 per entry in the paper's tables; 1 KB is 1,024 bytes.\n";

/* Whether a prefix matches a key of the domain. */
static bool
is_needed(const struct domain *domain, const struct netfc_prefix *prefix)
{
	uint32_t last_key = prefix->key | domain->mask >> prefix->length;

	return prefix->key <= (uint32_t)domain->last ||
		last_key >= ((uint32_t)domain->first & domain->mask);
}

static int
count_cover(const struct netfc_table *table, unsigned page, enum netfc_cover cover, uint64_t *count)
{
	struct netfc_prefix *prefixes;
	struct domain domain;
	size_t prefix_count;
	int error = netfc_table_cover(table, (int)page, cover, &prefixes, &prefix_count);

	if (error != NETFC_OK)
		return error;
	*count = prefix_count;
	if (is_exp_table(table)) {
		domain = exp_table_domain(table);
		for (size_t p = 0; p < prefix_count; p++)
			*count -= !is_needed(&domain, &prefixes[p]);
	}
	free(prefixes);
	return NETFC_OK;
}

static int
count_row(const struct netfc_set *set, const struct netfc_table *table, unsigned page,
	struct size_row *row)
{
	struct slots slots = count_slots(set, table, page);
	struct size_entries *entries = &row->entries;
	int error;

	row->name = netfc_table_page_name(table, page);
	row->copies = netfc_table_copies(table);
	row->entry_bytes = slots.entry_bytes;
	row->bits = slots.bits;
	entries->plain = slots.plain;
	entries->slots = slots.slots;
	error = count_cover(table, page, NETFC_COVER_MERGED, &entries->merged);
	if (error == NETFC_OK)
		error = count_cover(table, page, NETFC_COVER_OPTIMAL, &entries->optimal);
	/* The optimal cover of all keys need not be optimal for the domain: merged may be less. */
	if (entries->optimal > entries->merged)
		entries->optimal = entries->merged;
	return error;
}

static void
add_times(struct size_entries *total, unsigned times, const struct size_entries *entries)
{
	total->slots += times * entries->slots;
	total->plain += times * entries->plain;
	total->merged += times * entries->merged;
	total->optimal += times * entries->optimal;
}

static void
add_to_total(struct size_report *report, const struct size_row *row)
{
	add_times(&report->total, row->copies, &row->entries);
	add_times(&report->bytes, row->copies * row->entry_bytes, &row->entries);
	report->single_bytes += row->entry_bytes * row->entries.slots;
}

/* Gives 0 or an error of the library. */
static int
count_entries(const struct netfc_set *set, struct size_report *report)
{
	const struct netfc_table *table;

	*report = (struct size_report){.set = set};
	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		for (unsigned page = 0; page < netfc_table_pages(table); page++) {
			struct size_row *row = &report->row[report->row_count];
			int error;

			if (!netfc_table_is_match(table) || report->row_count == MAX_SIZE_ROWS)
				continue;
			error = count_row(set, table, page, row);
			if (error != NETFC_OK)
				return error;
			add_to_total(report, row);
			report->row_count++;
		}
	}
	return NETFC_OK;
}

static int
report_sizes(const struct netfc_set *set, bool json)
{
	struct size_report report;
	int error = count_entries(set, &report);

	if (error != NETFC_OK)
		return report_error(STATUS_FAILED, "cannot compress %s: %s", netfc_set_name(set),
			netfc_strerror(error));
	if (json)
		return print_json(sizes_json(&report));
	print_sizes(&report);
	return STATUS_DONE;
}

static int
run_size(void *options, char **operands, int count)
{
	const struct json_option *option = options;
	struct netfc_set *set;
	int status;

	if (count != 1)
		return wrong_operands(&size_command, "name one table set or file");
	status = open_set(operands[0], &set);
	if (status != STATUS_DONE)
		return status;
	status = report_sizes(set, option->json);
	netfc_set_free(set);
	return status;
}

const struct command size_command = {
	.name = "size",
	.summary = "count entries and bytes, plain and compressed, against the paper's 448 KB",
	.usage = usage,
	.notes = notes,
	COMMAND_OPTIONS(json_option_rows, struct json_option),
	.run = run_size,
};
