/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show SET TABLE [KEY...]: entries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command.h"
#include "encoding.h"
#include "show/show.h"

/* A page of a table. */
struct page {
	const struct netfc_set *set;
	const struct netfc_table *table;
	unsigned number, bits;
};

static bool
find_page(const struct netfc_set *set, const char *name, struct page *page)
{
	const struct netfc_table *table;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		for (unsigned p = 0; p < netfc_table_pages(table); p++) {
			if (strcmp(netfc_table_page_name(table, p), name) != 0)
				continue;
			*page = (struct page){set, table, p, netfc_table_key_bits(table)};
			return true;
		}
	}
	return false;
}

bool
has_table(const struct netfc_set *set, const char *name)
{
	struct page page;

	return find_page(set, name, &page);
}

static int
no_such_page(const struct netfc_set *set, const char *name)
{
	const struct netfc_table *table;

	report_error(STATUS_INPUT, "show: %s has no table '%s'; it has", netfc_set_name(set), name);
	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		for (unsigned p = 0; p < netfc_table_pages(table); p++)
			fprintf(stderr, "  %s\n", netfc_table_page_name(table, p));
	}
	return STATUS_INPUT;
}

static uint32_t
index_of(const struct page *page, uint32_t key)
{
	return page->number << page->bits | key;
}

static uint32_t
value_of(const struct page *page, uint32_t key)
{
	return netfc_table_entries(page->table)[index_of(page, key)];
}

static bool
occurs(const struct page *page, uint32_t key)
{
	return netfc_table_reachable(page->table, index_of(page, key));
}

/* The n-th key by value. */
static uint32_t
nth_key(const struct page *page, uint32_t n)
{
	return netfc_table_key_signed(page->table) ? n ^ UINT32_C(1) << (page->bits - 1) : n;
}

static int
hex_digits(unsigned bits)
{
	return (int)(bits + 3) / 4;
}

/* Consecutive keys that may share a line. */
struct range {
	uint32_t first, last;
};

/* The headings of a page's columns, and the width of its key columns. */
struct heading {
	const char *page, *key, *value;
	int width;
};

static struct heading
heading_of(const struct page *page)
{
	static const struct heading headings[] = {
		{"log", "MAGNITUDE OF x", "i = k*log2|x|", 32},
		{"mi0", "THETA", "m = k*log2(1 + 2^(theta/k))", 50},
		{"mi1", "THETA", "m = k*log2(1 - 2^(theta/k))", 50},
		{"mi2", "THETA", "m = k*log2(2^(theta/k) - 1)", 50},
		{"exp", "n", "MAGNITUDE OF 2^(n/k)", 50},
		{"decide", "OPERATION, OPERANDS (y': y, -y for sub)", "DECISION", 44},
	};
	const char *name = netfc_table_page_name(page->table, page->number);

	for (size_t h = 0; h < sizeof(headings) / sizeof(headings[0]); h++) {
		if (strcmp(name, headings[h].page) == 0)
			return headings[h];
	}
	return (struct heading){name, "", "VALUE", 0};
}

static void
print_heading(const struct page *page)
{
	struct heading heading = heading_of(page);

	printf("%-16s  %-*s  %s\n", "KEY", heading.width, heading.key, heading.value);
}

static void
print_value(const struct page *page, uint32_t key)
{
	uint32_t word = value_of(page, key);
	enum meaning meaning = value_meaning(page->table, index_of(page, key));
	char text[MEANING_SIZE];

	printf("0x%0*x  %s", hex_digits(netfc_table_value_bits(page->table)), (unsigned)word,
		meaning_text(page->set, meaning, word, text));
}

static void
print_range(const struct page *page, struct range range)
{
	char keys[32], text[2 * MEANING_SIZE + 8], first[MEANING_SIZE], last[MEANING_SIZE];
	int digits = hex_digits(page->bits);
	bool one = range.first == range.last;

	snprintf(keys, sizeof(keys), one ? "0x%0*x" : "0x%0*x .. 0x%0*x", digits,
		(unsigned)range.first, digits, (unsigned)range.last);
	meaning_text(page->set, key_meaning(page->table), range.first, first);
	meaning_text(page->set, key_meaning(page->table), range.last, last);
	snprintf(text, sizeof(text), "%s%s%s", first, one ? "" : " .. ", one ? "" : last);
	printf("%-16s  %-*s  ", keys, heading_of(page).width, text);
	/* Keys that cannot occur share a line whatever their values. */
	if (occurs(page, range.first) || one)
		print_value(page, range.first);
	puts(occurs(page, range.first) ? "" : one ? " (never looked up)" : "never looked up");
}

static bool
share_a_line(const struct page *page, uint32_t a, uint32_t b)
{
	if (!occurs(page, a) || !occurs(page, b))
		return occurs(page, a) == occurs(page, b);
	return value_of(page, a) == value_of(page, b);
}

static void
print_ranges(const struct page *page)
{
	uint32_t keys = UINT32_C(1) << page->bits, first = 0;

	print_heading(page);
	for (uint32_t n = 1; n <= keys; n++) {
		if (n < keys && share_a_line(page, nth_key(page, n - 1), nth_key(page, n)))
			continue;
		print_range(page, (struct range){nth_key(page, first), nth_key(page, n - 1)});
		first = n;
	}
}

static json_int_t
as_number(uint32_t word, unsigned bits, bool is_signed)
{
	return is_signed ? as_signed(word, bits) : (json_int_t)word;
}

static json_t *
entry_json(const struct page *page, uint32_t key)
{
	const struct netfc_table *table = page->table;
	uint32_t value = value_of(page, key);
	unsigned bits = netfc_table_value_bits(table);

	return json_pack("{s:I, s:o, s:I, s:o, s:b}", "key",
		as_number(key, page->bits, netfc_table_key_signed(table)), "key_means",
		meaning_json(page->set, key_meaning(table), key), "value",
		as_number(value, bits, netfc_table_value_signed(table)), "value_means",
		meaning_json(page->set, value_meaning(table, index_of(page, key)), value), "occurs",
		occurs(page, key));
}

static int
print_entries_json(const struct page *page, json_t *entries)
{
	return print_json(json_pack("{s:s, s:s, s:i, s:i, s:o}", "set", netfc_set_name(page->set),
		"table", netfc_table_page_name(page->table, page->number), "key_bits",
		(int)page->bits, "value_bits", (int)netfc_table_value_bits(page->table), "entries",
		entries));
}

/* ---- the decision table as text ---------------------------------------------------------------
 */

/* Operations whose decisions are shown. sub is add with y negated. */
static const struct {
	enum netfc_op op;
	const char *what;
} branches[] = {
	{NETFC_ADD, "x + y (and x - y, y being negated first)"},
	{NETFC_MUL, "x * y"},
	{NETFC_DIV, "x / y"},
};

/* The fields of a key. */
struct row {
	unsigned class_x, class_y, sign_x, sign_y, compare;
};

static uint32_t
word_of(const struct netfc_table *decide, enum netfc_op op, struct row row)
{
	return netfc_table_entries(decide)[netfc_decide_key(
		op - NETFC_ADD, row.class_x, row.class_y, row.sign_x, row.sign_y, row.compare)];
}

static const char *
decided(const struct netfc_format *format, uint32_t word, char *text)
{
	static const char *const flags[] = {
		[NETFC_INVALID] = " invalid", [NETFC_DIVBYZERO] = " div by 0"};
	unsigned flag = netfc_decide_flags(word);
	char number[NUMBER_SIZE];

	switch (netfc_decide_source(word)) {
	case NETFC_FROM_X:
		return "x";
	case NETFC_FROM_Y:
		return "y";
	case NETFC_FROM_CONSTANT:
		encoding_text(format, decided_encoding(format, word), number);
		snprintf(text, MEANING_SIZE, "%s%s", number,
			flag == NETFC_INVALID || flag == NETFC_DIVBYZERO ? flags[flag] : "");
		return text;
	default:
		return "computed";
	}
}

static void
print_finite_row(const struct netfc_table *decide, struct row row)
{
	static const char *const tables[] = {"mi0[theta] = k*log2(1 + 2^(theta/k))",
		"mi1[theta] = k*log2(1 - 2^(theta/k))", "mi2[theta] = k*log2(2^(theta/k) - 1)", ""};
	uint32_t word = word_of(decide, NETFC_ADD, row);

	printf("  %-6s %-6s %-10s %-37s %c2^((i + m)/k)\n", row.sign_x ? "no" : "yes",
		row.sign_y ? "no" : "yes", row.compare == NETFC_GREATER ? "yes" : "no",
		tables[netfc_decide_page(word)], netfc_decide_sign(word) ? '-' : '+');
}

/* The paper's table I. */
static void
print_finite_rows(const struct netfc_format *format, const struct netfc_table *decide)
{
	const struct row cancel = {NETFC_FINITE, NETFC_FINITE, 0, 1, NETFC_EQUAL};
	char text[MEANING_SIZE];

	printf("Finite operands: %s\n", branches[0].what);
	printf("  %-6s %-6s %-10s %-37s %s\n", "x > 0", "y > 0", "|x| > |y|", "m", "z");
	for (unsigned n = 0; n < 8; n++)
		print_finite_row(decide,
			(struct row){NETFC_FINITE, NETFC_FINITE, n >> 2 & 1, n >> 1 & 1,
				n & 1 ? NETFC_LESS : NETFC_GREATER});
	printf("  Operands that cancel, x = -y: z = %s.\n",
		decided(format, word_of(decide, NETFC_ADD, cancel), text));
	printf("\nFinite operands: %s, %s\n", branches[1].what, branches[2].what);
	printf("  z = 2^((i + j)/k) or 2^((i - j)/k), negative where the signs differ.\n");
}

/* Posits have one zero, without a sign, and one NaR. */
static bool
has_sign(const struct netfc_format *format, unsigned class, unsigned sign)
{
	if (!netfc_format_is_posit(format))
		return true;
	if (class == NETFC_ZERO)
		return sign == 0;
	return class != NETFC_NAN || sign == 1;
}

static bool
has_class(const struct netfc_format *format, unsigned class)
{
	return class != NETFC_INF || !netfc_format_is_posit(format);
}

static void
print_special_row(const struct netfc_format *format, const struct netfc_table *decide,
	enum netfc_op op, unsigned class_x, unsigned class_y)
{
	/* How the magnitudes compare: not both are finite. */
	const unsigned compare = class_x == class_y ? NETFC_EQUAL
		: class_x > class_y                 ? NETFC_GREATER
						    : NETFC_LESS;
	char text[MEANING_SIZE];

	printf("  %-7s %-6s", class_name(format, class_x), class_name(format, class_y));
	for (unsigned signs = 0; signs < 4; signs++) {
		unsigned sign_x = signs >> 1, sign_y = signs & 1;
		struct row row = {class_x, class_y, sign_x, sign_y, compare};
		bool possible =
			has_sign(format, class_x, sign_x) && has_sign(format, class_y, sign_y);

		printf(signs < 3 ? " %-14s" : " %s",
			possible ? decided(format, word_of(decide, op, row), text) : ".");
	}
	putchar('\n');
}

static void
print_special_rows(
	const struct netfc_format *format, const struct netfc_table *decide, enum netfc_op op)
{
	printf("  %-7s %-6s %-14s %-14s %-14s %s\n", "x", "y", "+x, +y", "+x, -y", "-x, +y",
		"-x, -y");
	for (unsigned class_x = NETFC_ZERO; class_x < NETFC_NAN; class_x++) {
		for (unsigned class_y = NETFC_ZERO; class_y < NETFC_NAN; class_y++) {
			if ((class_x == NETFC_FINITE && class_y == NETFC_FINITE) ||
				!has_class(format, class_x) || !has_class(format, class_y))
				continue;
			print_special_row(format, decide, op, class_x, class_y);
		}
	}
}

static int
show_decisions(const struct netfc_set *set, const struct netfc_table *decide)
{
	const struct netfc_format *format = netfc_set_format(set);
	const char *nan = class_name(format, NETFC_NAN);

	if (netfc_set_family(set) == NETFC_FAMILY_LOG) {
		puts("i = logTable[|x|], j = logTable[|y|], theta = j - i\n");
		print_finite_rows(format, decide);
	} else {
		puts("Finite operands: z is what the stages compute; if x = -y it is 0.");
	}
	printf("\nSpecial values: z by the signs of x and y. An operand that is %s makes z %s.\n",
		nan, nan);
	if (netfc_format_is_posit(format))
		puts("A dot stands where there is no such operand: zero has no sign.");
	for (size_t b = 0; b < sizeof(branches) / sizeof(branches[0]); b++) {
		printf("\n%s\n", branches[b].what);
		print_special_rows(format, decide, branches[b].op);
	}
	return STATUS_DONE;
}

/* ---- all entries, or some ---------------------------------------------------------------------
 */

int
show_table(const struct netfc_set *set, const char *name, bool json)
{
	struct page page;
	json_t *entries;

	if (!find_page(set, name, &page))
		return no_such_page(set, name);
	if (!json && strcmp(name, "decide") == 0)
		return show_decisions(set, page.table);
	if (!json) {
		print_ranges(&page);
		return STATUS_DONE;
	}
	entries = json_array();
	for (uint32_t n = 0; n < UINT32_C(1) << page.bits; n++)
		json_array_append_new(entries, entry_json(&page, nth_key(&page, n)));
	return print_entries_json(&page, entries);
}

/* Hexadecimal text is the key's bits, decimal text its value. */
static bool
parse_key(const struct page *page, const char *text, uint32_t *key)
{
	bool hex = strncasecmp(text, "0x", 2) == 0;
	bool is_signed = netfc_table_key_signed(page->table) && !hex;
	long long end = 1ll << (is_signed ? page->bits - 1 : page->bits);
	long long number;
	char *rest;

	errno = 0;
	number = strtoll(text, &rest, hex ? 16 : 10);
	*key = (uint32_t)number & (uint32_t)((1ull << page->bits) - 1);
	return rest != text && *rest == '\0' && errno == 0 && number < end &&
		number >= (is_signed ? -end : 0);
}

static int
no_such_key(const struct page *page, const char *text)
{
	long long end = 1ll << page->bits;
	bool is_signed = netfc_table_key_signed(page->table);

	return report_error(STATUS_INPUT,
		"show: '%s' is not a key of %s; keys are %lld to %lld, or 0x0 to 0x%llx", text,
		netfc_table_page_name(page->table, page->number), is_signed ? -end / 2 : 0,
		is_signed ? end / 2 - 1 : end - 1, end - 1);
}

int
show_keys(const struct netfc_set *set, const char *name, char **keys, int count, bool json)
{
	struct page page;
	json_t *entries;
	uint32_t key;

	if (!find_page(set, name, &page))
		return no_such_page(set, name);
	for (int k = 0; k < count; k++) {
		if (!parse_key(&page, keys[k], &key))
			return no_such_key(&page, keys[k]);
	}
	if (!json)
		print_heading(&page);
	entries = json_array();
	for (int k = 0; k < count; k++) {
		parse_key(&page, keys[k], &key);
		if (json)
			json_array_append_new(entries, entry_json(&page, key));
		else
			print_range(&page, (struct range){key, key});
	}
	if (json)
		return print_entries_json(&page, entries);
	json_decref(entries);
	return STATUS_DONE;
}
