/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations through the tables, for the page: step by step, and many at once with their errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoding.h"
#include "page.h"
#include "set/set.h"
#include "show/show.h"

/* A walk, and the lane's fields before the step. */
struct walk {
	const struct netfc_set *set;
	enum netfc_branch branch;
	uint32_t before[NETFC_MAX_FIELDS];
};

static enum page_kind
kind_of(const struct netfc_set *set, const struct netfc_step *step)
{
	switch (step->kind) {
	case NETFC_STEP_LOOKUP:
		return netfc_table_is_match(netfc_set_table(set, step->table)) ? PAGE_LOOKUP
									       : PAGE_DECISION;
	case NETFC_STEP_SELECT_IEEE:
	case NETFC_STEP_SELECT_POSIT:
	case NETFC_STEP_SELECT_SIGNED:
		return PAGE_SELECTION;
	default:
		return PAGE_INTEGERS;
	}
}

static void
show_step(const struct walk *walk, const struct netfc_step *step)
{
	const struct netfc_table *table;
	uint32_t key;
	unsigned bits;

	if (step->kind != NETFC_STEP_LOOKUP) {
		page_step(kind_of(walk->set, step), step->what, NULL, 0);
		return;
	}
	table = netfc_set_table(walk->set, step->table);
	bits = netfc_table_key_bits(table);
	key = walk->before[step->a];
	page_step(kind_of(walk->set, step), step->what, netfc_table_page_name(table, key >> bits),
		key & ((UINT32_C(1) << bits) - 1));
}

static void
take_step(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	struct walk *walk = arg;
	uint8_t written[NETFC_STEP_WRITES];
	unsigned count = netfc_step_writes(step, written);

	show_step(walk, step);
	for (unsigned n = 0; n < count; n++) {
		uint32_t word = lanes->field[written[n]][0];
		enum meaning meaning = field_meaning(walk->set, walk->branch, written[n]);
		char text[MEANING_SIZE];

		page_field(program->field_name[written[n]], word,
			(uint32_t)meaning_digits(walk->set, meaning),
			meaning_text(walk->set, meaning, word, text));
	}
	for (unsigned field = 0; field < program->field_count; field++)
		walk->before[field] = lanes->field[field][0];
}

/* Calls the page for every step. Gives z in the low 16 bits, and the flags above it. */
uint32_t
PAGE_EXPORT(page_walk)(const struct netfc_set *set, enum netfc_op op, uint16_t x, uint16_t y)
{
	struct walk walk = {.set = set, .branch = netfc_op_branch(op), .before = {x, y}};
	struct netfc_result result = netfc_walk(set, op, x, y, take_step, &walk);

	return result.z | (uint32_t)result.flags << 16;
}

/* The position of a number among all, in order; both zeros have the same. */
static int32_t
position(const struct netfc_format *format, uint16_t bits)
{
	int32_t magnitude = netfc_magnitude(format, bits);

	return netfc_is_negative(format, bits) ? -magnitude : magnitude;
}

/* How many units in the last place z is from what is exact; -1 where one of them is no number. */
static int32_t
units_apart(const struct netfc_format *format, uint16_t z, uint16_t exact)
{
	enum netfc_class class = netfc_classify(format, z);
	enum netfc_class exact_class = netfc_classify(format, exact);

	if (class == NETFC_NAN || exact_class == NETFC_NAN)
		return class == exact_class ? 0 : -1;
	if ((class == NETFC_INF || exact_class == NETFC_INF) && z != exact)
		return -1;
	return abs(position(format, z) - position(format, exact));
}

/*
 * Operands at x and y to results, correctly rounded results and their distances in units in the
 * last place, -1 where a distance makes no sense; `count` words each. Gives the exception flags of
 * all exact results in bits 8 to 15, those of the set's in bits 0 to 7.
 */
uint32_t
PAGE_EXPORT(page_compare)(const struct netfc_set *set, enum netfc_op op, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint16_t *exact, int32_t *units, uint32_t count)
{
	const struct netfc_format *format = netfc_set_format(set);
	uint32_t flags = netfc_compute(set, op, x, y, z, NULL, count);

	flags |= (uint32_t)netfc_exact_lanes(format, op, x, y, exact, NULL, count) << 8;
	for (uint32_t lane = 0; lane < count; lane++)
		units[lane] = units_apart(format, z[lane], exact[lane]);
	return flags;
}

/* The operand that the text names, or -1. */
int32_t
PAGE_EXPORT(page_parse)(const struct netfc_format *format, const char *text)
{
	uint32_t bits;

	return parse_encoding(format, text, false, &bits) ? (int32_t)bits : -1;
}

/* The number that the text names, which can still be rounded to a float; NaN where it names none.
 */
double
PAGE_EXPORT(page_number)(const char *text)
{
	double number;

	return decimal_read(text, &number) ? number : NAN;
}

/* Bytes of a set's match stages: all slots, as the paper counts them, or the keys that occur. */
uint32_t
PAGE_EXPORT(page_memory)(const struct netfc_set *set, uint32_t only_keys_that_occur)
{
	const struct netfc_table *table;
	uint64_t bytes = 0;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		if (!netfc_table_is_match(table))
			continue;
		for (unsigned page = 0; page < netfc_table_pages(table); page++) {
			struct slots slots = count_slots(set, table, page);

			bytes += netfc_table_copies(table) * slots.entry_bytes *
				(only_keys_that_occur ? slots.plain : slots.slots);
		}
	}
	return (uint32_t)bytes;
}
