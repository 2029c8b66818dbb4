/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of tables, as text and as JSON. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "set/set.h"

/* The paper's table of the same name, section III.C: fp16, k = 1024. */
static const struct {
	const char *table;
	unsigned bits;
} paper[] = {
	{"log", 15},
	{"mi0", 15},
	{"mi1", 15},
	{"mi2", 15},
	{"exp", 16},
};

#define PAPER_TABLES (sizeof(paper) / sizeof(paper[0]))
/* Two logTables, three miTables, one expTable. */
#define PAPER_KB 448.0

/* Bytes of a value in the paper's tables. */
#define PAPER_ENTRY_BYTES 2

static double
kilobytes(uint64_t bytes)
{
	return (double)bytes / 1024;
}

static double
saved_percent(uint64_t plain, uint64_t compressed)
{
	return plain == 0 ? 0 : 100 * (1 - (double)compressed / (double)plain);
}

static struct size_entries
times(unsigned factor, const struct size_entries *entries)
{
	return (struct size_entries){factor * entries->slots, factor * entries->plain,
		factor * entries->merged, factor * entries->optimal};
}

static void
print_counts(const char *name, const struct size_entries *entries, const struct size_entries *bytes)
{
	char plain[GROUPED_SIZE], merged[GROUPED_SIZE], optimal[GROUPED_SIZE];

	printf("%-10s %9s %7.1f   %9s %7.1f %6.1f %%   %9s %7.1f %6.1f %%\n", name,
		grouped(entries->plain, plain), kilobytes(bytes->plain),
		grouped(entries->merged, merged), kilobytes(bytes->merged),
		saved_percent(bytes->plain, bytes->merged), grouped(entries->optimal, optimal),
		kilobytes(bytes->optimal), saved_percent(bytes->plain, bytes->optimal));
}

static void
print_tables(const struct size_report *report)
{
	struct size_entries entries, bytes;
	char name[32];

	printf("%-10s %17s   %26s   %26s\n", "", "plain", "merged prefixes", "optimal prefixes");
	printf("%-10s %9s %7s   %9s %7s %8s   %9s %7s %8s\n", "table", "entries", "KB", "entries",
		"KB", "saved", "entries", "KB", "saved");
	for (unsigned r = 0; r < report->row_count; r++) {
		const struct size_row *row = &report->row[r];

		snprintf(name, sizeof(name), row->copies > 1 ? "%s x %u" : "%s", row->name,
			row->copies);
		entries = times(row->copies, &row->entries);
		bytes = times(row->copies * row->entry_bytes, &row->entries);
		print_counts(name, &entries, &bytes);
	}
	print_counts("all", &report->total, &report->bytes);
}

static void
print_rules(void)
{
	puts("\nplain: one entry for each key that can occur, as an exact match needs it.\n"
	     "merged: equal neighbours share an aligned prefix, as in the paper (saves about\n"
	     "25 %). optimal: the fewest prefixes of which the longest match decides. Prefixes\n"
	     "may match keys that cannot occur, too.\n"
	     "KB: bytes of the values without the keys / 1,024. A table counts as often as one\n"
	     "pass looks it up. Not counted, in no column: keys of the expTable beyond the\n"
	     "format's range, which two comparisons decide, and the decision table.");
}

static int
paper_bits(const char *table)
{
	for (size_t p = 0; p < PAPER_TABLES; p++) {
		if (strcmp(paper[p].table, table) == 0)
			return (int)paper[p].bits;
	}
	return -1;
}

/* Whether the paper has all of the set's tables: it has no other family. */
static bool
is_papers(const struct size_report *report)
{
	for (unsigned r = 0; r < report->row_count; r++) {
		if (paper_bits(report->row[r].name) < 0)
			return false;
	}
	return report->row_count == PAPER_TABLES;
}

static void
print_account_line(const struct size_row *row, unsigned copy)
{
	int bits = paper_bits(row->name);
	char name[32], slots[GROUPED_SIZE], plain[GROUPED_SIZE];

	snprintf(name, sizeof(name), row->copies > 1 ? "%s, copy %u" : "%s", row->name, copy + 1);
	printf("%-14s 2^%-2d %7.1f   2^%-2u %8s %7.1f   %9s %7.1f\n", name, bits,
		kilobytes((uint64_t)PAPER_ENTRY_BYTES << bits), row->bits,
		grouped(row->entries.slots, slots),
		kilobytes(row->entry_bytes * row->entries.slots),
		grouped(row->entries.plain, plain),
		kilobytes(row->entry_bytes * row->entries.plain));
}

static void
print_account_total(const char *name, uint64_t bytes)
{
	double kb = kilobytes(bytes), less = 100 * (1 - kb / PAPER_KB);

	if (less >= -0.05 && less <= 0.05)
		printf("  %-26s %7.1f KB, as much as the paper's\n", name, kb);
	else
		printf("  %-26s %7.1f KB, %.1f %% %s\n", name, kb, less < 0 ? -less : less,
			less < 0 ? "more" : "less");
}

static void
print_account(const struct size_report *report)
{
	char slots[GROUPED_SIZE], plain[GROUPED_SIZE];

	printf("\nThe paper's 448 KB (fp16, k = 1024) and %s, line by line\n\n",
		netfc_set_name(report->set));
	printf("%-14s %12s   %21s   %17s\n", "", "the paper", "all slots", "keys that occur");
	printf("%-14s %4s %7s   %4s %8s %7s   %9s %7s\n", "table", "slots", "KB", "", "slots", "KB",
		"entries", "KB");
	for (unsigned r = 0; r < report->row_count; r++) {
		for (unsigned copy = 0; copy < report->row[r].copies; copy++)
			print_account_line(&report->row[r], copy);
	}
	printf("%-14s %12.1f   %13s %7.1f   %9s %7.1f\n\n", "all", PAPER_KB,
		grouped(report->total.slots, slots), kilobytes(report->bytes.slots),
		grouped(report->total.plain, plain), kilobytes(report->bytes.plain));
	puts("slots: 2^n entries, n being the bits that keys need: theta is -g*k to g*k (g: the\n"
	     "guard), 16 bits at most. Of these, mi1 needs theta <= 0 only, mi2 theta >= 0.\n");
}

static void
print_beside(const struct size_report *report)
{
	puts("Compared with the paper's 448 KB:");
	print_account_total("all slots", report->bytes.slots);
	if (!is_papers(report))
		print_account_total("all slots, no copies", report->single_bytes);
	print_account_total("keys that occur", report->bytes.plain);
	print_account_total("merged prefixes", report->bytes.merged);
	print_account_total("optimal prefixes", report->bytes.optimal);
}

static void
print_slots(const struct size_report *report)
{
	char name[32], power[8], slots[GROUPED_SIZE];

	printf("\n%-14s %4s %9s %6s %9s\n", "table", "", "slots", "bytes", "KB");
	for (unsigned r = 0; r < report->row_count; r++) {
		const struct size_row *row = &report->row[r];

		snprintf(name, sizeof(name), row->copies > 1 ? "%s x %u" : "%s", row->name,
			row->copies);
		snprintf(power, sizeof(power), "2^%u", row->bits);
		printf("%-14s %-4s %9s %6u %9.1f\n", name,
			row->entries.slots == UINT64_C(1) << row->bits ? power : "",
			grouped(row->copies * row->entries.slots, slots), row->entry_bytes,
			kilobytes(row->copies * row->entry_bytes * row->entries.slots));
	}
	printf("%-14s %14s %6s %9.1f\n\nslots: 2^n entries, n being the bits that keys need;\n"
	       "of a sparse table, whose default is 0, the others.\n\n",
		"all", grouped(report->total.slots, slots), "", kilobytes(report->bytes.slots));
}

void
print_sizes(const struct size_report *report)
{
	unsigned scale = netfc_set_scale(report->set);

	printf("%s, %s", netfc_set_name(report->set),
		netfc_format_title(netfc_set_format(report->set)));
	printf(scale != 0 ? ", k = %u\n\n" : "\n\n", scale);
	print_tables(report);
	print_rules();
	if (is_papers(report))
		print_account(report);
	else
		print_slots(report);
	print_beside(report);
}

static json_t *
count_json(uint64_t entries, uint64_t bytes, uint64_t plain_bytes)
{
	return json_pack("{s:I, s:I, s:f}", "entries", (json_int_t)entries, "bytes",
		(json_int_t)bytes, "saved_percent", saved_percent(plain_bytes, bytes));
}

static json_t *
entries_json(const struct size_entries *entries, const struct size_entries *bytes)
{
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "slots", (json_int_t)entries->slots,
		"slot_bytes", (json_int_t)bytes->slots, "plain",
		count_json(entries->plain, bytes->plain, bytes->plain), "merged",
		count_json(entries->merged, bytes->merged, bytes->plain), "optimal",
		count_json(entries->optimal, bytes->optimal, bytes->plain));
}

static json_t *
row_json(const struct size_row *row)
{
	int bits = paper_bits(row->name);
	struct size_entries bytes = times(row->entry_bytes, &row->entries);
	json_t *object = json_pack("{s:s, s:i, s:i}", "table", row->name, "copies",
		(int)row->copies, "key_bits", (int)row->bits);

	json_object_update_new(object, entries_json(&row->entries, &bytes));
	if (bits >= 0)
		json_object_set_new(object, "paper_bytes",
			json_integer(PAPER_ENTRY_BYTES * (INT64_C(1) << bits)));
	return object;
}

json_t *
sizes_json(const struct size_report *report)
{
	json_t *rows = json_array();

	for (unsigned r = 0; r < report->row_count; r++)
		json_array_append_new(rows, row_json(&report->row[r]));
	return json_pack("{s:s, s:o, s:o, s:I, s:i}", "set", netfc_set_name(report->set), "tables",
		rows, "total", entries_json(&report->total, &report->bytes), "single_bytes",
		(json_int_t)report->single_bytes, "paper_bytes", (int)(PAPER_KB * 1024));
}
