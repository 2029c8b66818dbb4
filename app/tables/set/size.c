/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables size: entries and bytes of tables, plain and compressed. */
#include <stdlib.h>
#include <string.h>

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
	"2 an entry in the paper's tables; 1 KB is 1,024 bytes.\n";

/* ---- memory of a match table, uncompressed: slots, and entries of keys that occur ------------ */

/* A range of signed keys: first <= 0 <= last. */
struct domain {
	int32_t first, last;
	uint32_t mask; /* of a key's bits */
};

/* A page's memory. */
struct slots {
	unsigned bits;        /* width of keys */
	unsigned entry_bytes; /* of a value */
	uint64_t plain;       /* one for each key that occurs */
	uint64_t slots;       /* one for each combination of bits; sparse tables: as plain */
};

/* Whether a table of exact keys needs this entry. */
static bool
is_stored(const struct netfc_table *table, uint32_t index)
{
	return netfc_table_reachable(table, index) &&
		(!netfc_table_is_sparse(table) || netfc_table_entries(table)[index] != 0);
}

static uint32_t
count_stored(const struct netfc_table *table, unsigned page)
{
	unsigned bits = netfc_table_key_bits(table);
	uint32_t count = 0;

	for (uint32_t key = 0; key < UINT32_C(1) << bits; key++)
		count += is_stored(table, page << bits | key);
	return count;
}

/*
 * The expTable's keys without the runs at both ends that have the value of the first or the last
 * key: zero or infinity, the least or the greatest posit. Two comparisons replace these keys, as in
 * the paper's algorithm 2.
 */
static struct domain
exp_table_domain(const struct netfc_table *table)
{
	const uint32_t *entries = netfc_table_entries(table);
	int32_t end = INT32_C(1) << (netfc_table_key_bits(table) - 1);
	uint32_t mask = 2 * (uint32_t)end - 1;
	struct domain domain = {-end, end - 1, mask};

	while (domain.first < 0 && entries[(uint32_t)domain.first & mask] == entries[end])
		domain.first++;
	while (domain.last > 0 && entries[domain.last] == entries[end - 1])
		domain.last--;
	return domain;
}

/* Width of a key for every theta that can occur: -g*k to g*k. */
static unsigned
theta_bits(const struct netfc_set *set)
{
	uint64_t thetas =
		2ull * (unsigned)netfc_format_guard(netfc_set_format(set)) * netfc_set_scale(set) +
		1;
	unsigned bits = 0;

	while (bits < 16 && UINT64_C(1) << bits < thetas)
		bits++;
	return bits;
}

/* Whether it is the expTable, whose keys are counted as exp_table_domain() has them. */
static bool
is_exp_table(const struct netfc_table *table)
{
	return strcmp(netfc_table_name(table), "exp") == 0;
}

static uint64_t
count_plain(const struct netfc_table *table, unsigned page)
{
	struct domain domain;

	if (!is_exp_table(table))
		return count_stored(table, page);
	domain = exp_table_domain(table);
	return (uint64_t)(domain.last - domain.first + 1);
}

/* Count the slots of a page of a table of match stages. */
static struct slots
count_slots(const struct netfc_set *set, const struct netfc_table *table, unsigned page)
{
	struct slots slots = {
		.bits = netfc_table_key_bits(table),
		.entry_bytes = (netfc_table_value_bits(table) + 7) / 8,
		.plain = count_plain(table, page),
	};

	if (strcmp(netfc_table_name(table), "mi") == 0)
		slots.bits = theta_bits(set);
	slots.slots = netfc_table_is_sparse(table) ? slots.plain : UINT64_C(1) << slots.bits;
	return slots;
}

/* ---- and compressed -------------------------------------------------------------------------- */

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
	.summary = "count entries and bytes, plain and compressed, beside the paper's 448 KB",
	.usage = usage,
	.notes = notes,
	COMMAND_OPTIONS(json_option_rows, struct json_option),
	.run = run_size,
};
