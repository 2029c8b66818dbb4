/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show SET decide: the decision table as text. */
#include <stdio.h>

#include "command.h"
#include "encoding.h"
#include "show/show.h"

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

/* How magnitudes of two classes, not both finite, compare. */
static unsigned
compare_classes(unsigned class_x, unsigned class_y)
{
	if (class_x == class_y)
		return NETFC_EQUAL;
	return class_x > class_y ? NETFC_GREATER : NETFC_LESS;
}

static void
print_special_row(const struct netfc_format *format, const struct netfc_table *decide,
	enum netfc_op op, unsigned class_x, unsigned class_y)
{
	char text[MEANING_SIZE];

	printf("  %-7s %-6s", class_name(format, class_x), class_name(format, class_y));
	for (unsigned signs = 0; signs < 4; signs++) {
		unsigned sign_x = signs >> 1, sign_y = signs & 1;
		struct row row = {
			class_x, class_y, sign_x, sign_y, compare_classes(class_x, class_y)};
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

int
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
