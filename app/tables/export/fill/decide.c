/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Special values and the guard as ternary entries. They come from the set's decision table: first
 * one entry for each combination of operation, classes and signs, then the fewest entries with the
 * same effect (p4_minimise()).
 */
#include <string.h>

#include "export/fill/fill.h"

/* The table's keys. */
enum decide_key {
	KEY_OP,
	KEY_X,
	KEY_Y,
	KEY_DIFFERENCE, /* |x| - |y|, 16 bits */
	KEY_THETA,
	DECIDE_KEYS
};

/* The table's actions. */
enum decide_action {
	ACTION_COMPUTE, /* in the stages that follow, with this sign */
	ACTION_TAKE_X,
	ACTION_TAKE_Y,
	ACTION_TAKE_MINUS_Y,
	ACTION_CONSTANT,
	DECIDE_ACTIONS
};

static const struct p4_table pattern = {
	.instance = {"decide"},
	.key = {[KEY_OP] = {"op", 8, P4_TERNARY},
		[KEY_X] = {"x", 16, P4_TERNARY},
		[KEY_Y] = {"y", 16, P4_TERNARY},
		[KEY_DIFFERENCE] = {"difference", 16, P4_TERNARY},
		[KEY_THETA] = {"theta", 16, P4_TERNARY}},
	.action = {[ACTION_COMPUTE] = {"compute", {{"sign", 1}}},
		[ACTION_TAKE_X] = {.name = "take_x"},
		[ACTION_TAKE_Y] = {.name = "take_y"},
		[ACTION_TAKE_MINUS_Y] = {.name = "take_minus_y"},
		[ACTION_CONSTANT] = {"constant", {{"value", 16}, {"flags", 4}}}},
};

#define SIGN 0x8000u
#define ALL_BITS 0xffffu
/* Widths of operands, and of what the decision table has for all of them. */
#define WIDE_BITS 32
#define WORD_BITS 16

/* The entry of a class matches its encodings, and else only encodings of classes of lower rank. */
static unsigned class_rank(enum netfc_class class)
{
	return class == NETFC_FINITE ? 2 : class == NETFC_NAN ? 1 : 0;
}

/* Order of the entries for the same two classes. */
enum decide_order {
	ORDER_EQUAL,
	ORDER_NO_RESULT,
	ORDER_GUARD,
	ORDER_LESS,
	ORDER_ANY,
	ORDERS
};

/* What the entries are computed from. */
struct decider {
	const struct netfc_format *format;
	const uint32_t *words, *mi;
	int32_t guard;
	unsigned below; /* bits of an operand below those that the decision table's values have */
	bool posit;
	bool exact;   /* correctly rounded: no theta and no comparison; z has its sign already */
	bool ordered; /* theta <= 0, the larger operand first */
	struct p4_table *table;
};

/* The combination of operands that an entry is for. */
struct operands {
	unsigned op; /* enum netfc_op */
	enum netfc_class class_x, class_y;
	unsigned sign_x, sign_y; /* as in the packet */
};

static void
match_class(const struct decider *d, enum netfc_class class, uint32_t *value, uint32_t *mask)
{
	uint32_t inf = netfc_inf_magnitude(d->format);
	uint32_t all = p4_low_bits(WORD_BITS + d->below), magnitude = all >> 1;

	*value = 0;
	*mask = 0;
	if (class == NETFC_ZERO) {
		*mask = d->posit ? all : magnitude;
	} else if (class == NETFC_INF) {
		*mask = magnitude;
		*value = inf;
	} else if (class == NETFC_NAN) {
		*mask = d->posit ? all : inf;
		*value = inf;
	}
}

static void
match_operand(const struct decider *d, struct p4_entry *entry, enum decide_key key,
	enum netfc_class class, unsigned sign)
{
	const uint32_t sign_bit = SIGN << d->below;

	match_class(d, class, &entry->value[key], &entry->mask[key]);
	if ((entry->mask[key] & sign_bit) == 0) {
		entry->mask[key] |= sign_bit;
		entry->value[key] |= sign != 0 ? sign_bit : 0;
	}
}

static uint16_t
priority_of(const struct operands *o, enum decide_order order)
{
	return (uint16_t)((class_rank(o->class_x) + class_rank(o->class_y)) * ORDERS + order);
}

static struct p4_entry
entry_for(const struct decider *d, const struct operands *o, enum decide_order order)
{
	struct p4_entry entry = {
		.value = {[KEY_OP] = o->op},
		.mask = {[KEY_OP] = 0xff},
		.priority = priority_of(o, order),
	};

	match_operand(d, &entry, KEY_X, o->class_x, o->sign_x);
	match_operand(d, &entry, KEY_Y, o->class_y, o->sign_y);
	return entry;
}

static void
take_y(struct p4_entry *entry, unsigned op)
{
	entry->action = op == NETFC_SUB ? ACTION_TAKE_MINUS_Y : ACTION_TAKE_Y;
}

/* Set the action for a word of the decision table. */
static void
act(const struct decider *d, struct p4_entry *entry, unsigned op, uint32_t word)
{
	switch (netfc_decide_source(word)) {
	case NETFC_FROM_X:
		entry->action = ACTION_TAKE_X;
		break;
	case NETFC_FROM_Y:
		take_y(entry, op);
		break;
	case NETFC_FROM_CONSTANT:
		entry->action = ACTION_CONSTANT;
		entry->arg[0] = (uint32_t)netfc_decide_constant(word) << d->below;
		entry->arg[1] = netfc_decide_flags(word);
		break;
	case NETFC_FROM_STAGES:
	default:
		entry->action = ACTION_COMPUTE;
		entry->arg[0] = d->exact ? 0 : netfc_decide_sign(word);
		break;
	}
}

/* The decision's word. For sub it is that of the addition of -y. */
static uint32_t
word_for(const struct decider *d, const struct operands *o, enum netfc_compare compare)
{
	bool unsigned_y = d->posit && o->class_y != NETFC_FINITE;
	unsigned flip = o->op == NETFC_SUB && !unsigned_y ? 1 : 0;

	return d->words[netfc_decide_key(
		o->op - NETFC_ADD, o->class_x, o->class_y, o->sign_x, o->sign_y ^ flip, compare)];
}

static void
add_decision(const struct decider *d, const struct operands *o, enum decide_order order,
	uint32_t mask, uint32_t value, uint32_t word)
{
	struct p4_entry entry = entry_for(d, o, order);

	entry.mask[KEY_DIFFERENCE] = mask;
	entry.value[KEY_DIFFERENCE] = value;
	act(d, &entry, o->op, word);
	p4_add_entry(d->table, &entry);
}

static void
add_decisions(const struct decider *d, const struct operands *o)
{
	uint32_t less = word_for(d, o, NETFC_LESS), equal = word_for(d, o, NETFC_EQUAL),
		 greater = word_for(d, o, NETFC_GREATER);

	if (d->exact)
		less = equal = greater;
	if (equal != greater)
		add_decision(d, o, ORDER_EQUAL, ALL_BITS, 0, equal);
	if (less != greater)
		add_decision(d, o, ORDER_LESS, SIGN, SIGN, less);
	add_decision(d, o, ORDER_ANY, 0, 0, greater);
}

/* Every theta from first to last, signed. */
static void
add_thetas(const struct decider *d, const struct p4_entry *entry, int32_t first, int32_t last)
{
	if (first <= last)
		p4_add_range(d->table, entry, KEY_THETA, (uint16_t)first, (uint16_t)last);
}

/* Logarithms that differ by more than the guard: z is the larger operand. */
static void
add_guard(const struct decider *d, const struct operands *o)
{
	struct p4_entry entry = entry_for(d, o, ORDER_GUARD);

	entry.action = ACTION_TAKE_X;
	if (d->ordered)
		entry.mask[KEY_DIFFERENCE] = SIGN;
	add_thetas(d, &entry, INT16_MIN, -d->guard - 1);
	take_y(&entry, o->op);
	if (d->ordered) {
		entry.value[KEY_DIFFERENCE] = SIGN;
		add_thetas(d, &entry, INT16_MIN, -d->guard - 1);
	} else {
		add_thetas(d, &entry, d->guard + 1, INT16_MAX);
	}
}

/* Operands that differ but have the same log word, if the set has no result for them. */
static void
add_no_result(const struct decider *d, const struct operands *o)
{
	bool differ = netfc_decide_page(word_for(d, o, NETFC_GREATER)) != 0;
	struct p4_entry entry;

	if (!differ || d->mi[1u << 16] != NETFC_NO_RESULT)
		return;
	entry = entry_for(d, o, ORDER_NO_RESULT);
	entry.action = ACTION_CONSTANT;
	entry.arg[1] = NETFC_UNDERFLOW;
	add_thetas(d, &entry, 0, 0);
}

static void
add_operands(const struct decider *d, const struct operands *o)
{
	add_decisions(d, o);
	if (!d->exact && o->class_x == NETFC_FINITE && o->class_y == NETFC_FINITE &&
		o->op <= NETFC_SUB) {
		add_guard(d, o);
		add_no_result(d, o);
	}
}

static void
add_classes(
	const struct decider *d, unsigned op, enum netfc_class class_x, enum netfc_class class_y)
{
	if (d->posit && (class_x == NETFC_INF || class_y == NETFC_INF))
		return;
	for (unsigned signs = 0; signs < 4; signs++) {
		struct operands o = {op, class_x, class_y, signs >> 1, signs & 1};

		if (d->posit && class_x != NETFC_FINITE && o.sign_x != (class_x == NETFC_NAN))
			continue;
		if (d->posit && class_y != NETFC_FINITE && o.sign_y != (class_y == NETFC_NAN))
			continue;
		add_operands(d, &o);
	}
}

void
p4_decide_table(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	const struct netfc_format *format = netfc_set_format(set);
	struct decider d = {
		.format = format,
		.words = netfc_table_entries(netfc_set_find_table(set, "decide")),
		.guard = netfc_format_guard(format) * (int32_t)netfc_set_scale(set),
		.below = netfc_format_width(format) - WORD_BITS,
		.posit = netfc_format_is_posit(format),
		.exact = netfc_set_family(set) == NETFC_FAMILY_EXACT,
		.ordered = layout == P4_COMPACT,
		.table = p4_add_table(program, &pattern),
	};

	if (netfc_format_width(format) == WIDE_BITS) {
		d.table->key[KEY_X].bits = d.table->key[KEY_Y].bits = WIDE_BITS;
		d.table->action[ACTION_CONSTANT].param[0].bits = WIDE_BITS;
	}
	if (d.exact) {
		d.table->key_count = KEY_DIFFERENCE;
		d.table->action[ACTION_COMPUTE].param[0].name = NULL;
	} else {
		d.mi = netfc_table_entries(netfc_set_find_table(set, "mi"));
	}
	for (unsigned op = NETFC_ADD; op <= NETFC_DIV; op++) {
		for (unsigned classes = 0; classes < 16; classes++)
			add_classes(&d, op, classes >> 2, classes & 3);
	}
	p4_minimise(d.table);
}
