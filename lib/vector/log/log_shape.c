/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "log/log.h"

/* A step of the programs that this shape is found in; 0 stands for any field. */
struct pattern {
	enum netfc_step_kind kind;
	unsigned int dst, a, b, c;
};

/* Names of fields, given when a pattern writes them. */
enum name {
	ANY = 0,
	X = 1 + NETFC_X,
	Y = 1 + NETFC_Y,
	Z = 1 + NETFC_Z,
	Y_SIGNED = 1 + NETFC_COMMON_FIELDS,
	MAGNITUDE_X,
	MAGNITUDE_Y,
	KEY,
	DECISION,
	I,
	J,
	THETA,
	MI_KEY,
	M,
	N,
	E,
	NAMES,
};

static const struct pattern additive[] = {
	{NETFC_STEP_UNPACK_IEEE, Y_SIGNED, ANY, ANY, ANY},
	{NETFC_STEP_LOOKUP, DECISION, KEY, ANY, ANY},
	{NETFC_STEP_LOOKUP, I, MAGNITUDE_X, ANY, ANY},
	{NETFC_STEP_LOOKUP, J, MAGNITUDE_Y, ANY, ANY},
	{NETFC_STEP_SUB_SAT, THETA, J, I, ANY},
	{NETFC_STEP_PAGE_KEY, MI_KEY, DECISION, THETA, ANY},
	{NETFC_STEP_LOOKUP, M, MI_KEY, ANY, ANY},
	{NETFC_STEP_ADD_SAT, N, I, M, ANY},
	{NETFC_STEP_LOOKUP, E, N, ANY, ANY},
	{NETFC_STEP_GUARD, DECISION, ANY, THETA, M},
	{NETFC_STEP_SELECT_IEEE, Z, DECISION, Y_SIGNED, E},
};

static const struct pattern multiplicative[] = {
	{NETFC_STEP_UNPACK_IEEE, Y_SIGNED, ANY, ANY, ANY},
	{NETFC_STEP_LOOKUP, DECISION, KEY, ANY, ANY},
	{NETFC_STEP_LOOKUP, I, MAGNITUDE_X, ANY, ANY},
	{NETFC_STEP_LOOKUP, J, MAGNITUDE_Y, ANY, ANY},
	{NETFC_STEP_NEGATE_DIV, M, J, ANY, ANY},
	{NETFC_STEP_ADD_SAT, N, I, M, ANY},
	{NETFC_STEP_LOOKUP, E, N, ANY, ANY},
	{NETFC_STEP_SELECT_IEEE, Z, DECISION, Y_SIGNED, E},
};

/* A posit's steps stand where an IEEE format's do. */
static enum netfc_step_kind
kind_of(enum netfc_step_kind kind, bool posit)
{
	if (kind == NETFC_STEP_UNPACK_IEEE && posit)
		return NETFC_STEP_UNPACK_POSIT;
	if (kind == NETFC_STEP_SELECT_IEEE && posit)
		return NETFC_STEP_SELECT_POSIT;
	return kind;
}

static void
name_fields(unsigned int *field, const struct pattern *pattern, const struct netfc_step *step)
{
	field[pattern->dst] = step->dst;
	if (pattern->dst != Y_SIGNED)
		return;
	field[MAGNITUDE_X] = step->dst + 1u;
	field[MAGNITUDE_Y] = step->dst + 2u;
	field[KEY] = step->dst + 3u;
}

static bool
matches(const struct netfc_program *program, const struct pattern *pattern, unsigned int steps,
	bool posit)
{
	unsigned int field[NAMES] = {[X] = NETFC_X, [Y] = NETFC_Y, [Z] = NETFC_Z};

	if (program->step_count != steps)
		return false;
	for (unsigned int s = 0; s < steps; s++) {
		const struct netfc_step *step = &program->step[s];

		if (step->kind != kind_of(pattern[s].kind, posit))
			return false;
		if ((pattern[s].a != ANY && step->a != field[pattern[s].a]) ||
			(pattern[s].b != ANY && step->b != field[pattern[s].b]) ||
			(pattern[s].c != ANY && step->c != field[pattern[s].c]))
			return false;
		name_fields(field, &pattern[s], step);
	}
	return true;
}

/* The table of a program's look-up, if it has keys and values of these widths. */
static const struct netfc_table *
table_of(const struct netfc_set *set, enum netfc_branch branch, unsigned int step,
	unsigned int key_bits, unsigned int value_bits)
{
	const struct netfc_program *program = netfc_set_program(set, branch);
	const struct netfc_table *table = netfc_set_table(set, program->step[step].table);

	if (table == NULL || netfc_table_index_bits(table) != key_bits ||
		netfc_table_value_bits(table) > value_bits)
		return NULL;
	return table;
}

/* The same tables in both programs, each where the steps want it. */
static bool
find_tables(struct log_shape *shape, const struct netfc_table **mi)
{
	const struct netfc_set *set = shape->set;
	const struct netfc_step *steps = netfc_set_program(set, NETFC_ADDITIVE)->step;
	const struct netfc_table *log = table_of(set, NETFC_ADDITIVE, 2, 15, 16);
	const struct netfc_table *exp = table_of(set, NETFC_ADDITIVE, 8, 16, 16);

	*mi = table_of(set, NETFC_ADDITIVE, 6, 18, 16);
	if (log == NULL || exp == NULL || *mi == NULL || netfc_table_pages(*mi) != 3)
		return false;
	if (log != table_of(set, NETFC_ADDITIVE, 3, 15, 16) ||
		log != table_of(set, NETFC_MULTIPLICATIVE, 2, 15, 16) ||
		log != table_of(set, NETFC_MULTIPLICATIVE, 3, 15, 16) ||
		exp != table_of(set, NETFC_MULTIPLICATIVE, 6, 16, 16))
		return false;
	shape->log = netfc_table_entries(log);
	shape->exp = netfc_table_entries(exp);
	shape->log_table = steps[2].table;
	shape->mi_table = steps[6].table;
	shape->exp_table = steps[8].table;
	return true;
}

/* Whether the operand of the greater magnitude has the greater log word. */
static bool
logs_are_ordered(const struct log_shape *shape)
{
	for (uint32_t magnitude = 2; magnitude < shape->finite; magnitude++) {
		if ((int16_t)shape->log[magnitude] < (int16_t)shape->log[magnitude - 1])
			return false;
	}
	return true;
}

/* Whether an entry for theta = -d and one for theta = d are log a + value with one value. */
static bool
folds(uint32_t low, uint32_t high, int32_t d)
{
	if (low == NETFC_NO_RESULT || high == NETFC_NO_RESULT)
		return low == high;
	return (int16_t)low + d == (int16_t)high;
}

static bool
fold_mi(struct log_shape *shape, const struct netfc_table *mi)
{
	const uint32_t *mi0 = netfc_table_entries(mi), *mi1 = mi0 + 0x10000, *mi2 = mi1 + 0x10000;
	int32_t last = 0;

	for (int32_t d = 0; d <= shape->guard; d++) {
		uint16_t low = (uint16_t)-d, high = (uint16_t)d;

		if (!folds(mi0[low], mi0[high], d) || !folds(mi1[low], mi2[high], d))
			return false;
		/* No program takes NETFC_NO_RESULT for a sum. */
		if (mi0[low] == NETFC_NO_RESULT)
			return false;
		shape->sum[d] = (int16_t)mi0[low];
		shape->difference[d] = (int16_t)mi1[low];
		shape->no_result |= mi1[low] == NETFC_NO_RESULT;
		if (d > 0 &&
			(shape->sum[d] != shape->sum[d - 1] ||
				shape->difference[d] != shape->difference[d - 1]))
			last = d;
	}
	shape->entries = (uint32_t)last + 1;
	return true;
}

static bool
fold(struct log_shape *shape, const struct netfc_table *mi)
{
	int32_t farthest = (int16_t)shape->log[shape->finite - 1] - (int16_t)shape->log[1];

	if (!logs_are_ordered(shape))
		return false;
	shape->guard = RTE_MIN(shape->guard_words, farthest);
	/* Saturated, a d beyond the guard still is; another would not be the same. */
	return shape->guard >= 0 && shape->guard <= INT16_MAX && fold_mi(shape, mi);
}

int
log_shape_find(const struct netfc_set *set, struct log_shape *shape)
{
	const struct netfc_program *add = netfc_set_program(set, NETFC_ADDITIVE);
	const struct netfc_program *mul = netfc_set_program(set, NETFC_MULTIPLICATIVE);
	const struct netfc_format *format = netfc_set_format(set);
	const struct netfc_table *mi;

	*shape = (struct log_shape){
		.set = set,
		.format = format,
		.posit = netfc_format_is_posit(format),
		.inf = netfc_inf_magnitude(format),
		.finite = netfc_inf_magnitude(format),
	};
	if (!matches(add, additive, RTE_DIM(additive), shape->posit) ||
		!matches(mul, multiplicative, RTE_DIM(multiplicative), shape->posit))
		return -ENOTSUP;
	shape->guard_words = add->step[9].imm;
	if (!find_tables(shape, &mi))
		return -ENOTSUP;
	shape->folded = fold(shape, mi);
	return 0;
}

/* Encodings of every class, of either sign, so that magnitudes compare in all ways. */
static unsigned int
probes(const struct log_shape *shape, uint16_t *probe)
{
	const uint32_t magnitudes[] = {0, 1, 2, 3, shape->finite / 32, shape->finite / 2,
		shape->finite / 2 + 1, shape->finite - 2, shape->finite - 1, shape->inf,
		shape->inf + 1, shape->inf + 2, 0x7fff};
	unsigned int count = 0;

	for (unsigned int m = 0; m < RTE_DIM(magnitudes); m++) {
		uint16_t bits = (uint16_t)(magnitudes[m] & 0x7fff);

		probe[count++] = bits;
		probe[count++] = netfc_with_sign(shape->format, bits, true);
	}
	probe[count++] = 0x8000;
	return count;
}

bool
log_shape_decides(const struct log_shape *shape, const struct vector_kernel *kernel)
{
	uint16_t probe[32];
	unsigned int count = probes(shape, probe);

	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		for (unsigned int i = 0; i < count * count; i++) {
			uint16_t x = probe[i / count], y = probe[i % count], z, expected;
			uint16_t x_slot = rte_cpu_to_be_16(x), y_slot = rte_cpu_to_be_16(y);
			uint8_t flags;

			vector_run_lanes(kernel, op,
				&(struct vector_lanes){&x_slot, &y_slot, &z, &flags, NULL, 1});
			if (flags != netfc_compute(shape->set, op, &x, &y, &expected, NULL, 1) ||
				rte_be_to_cpu_16(z) != expected)
				return false;
		}
	}
	return true;
}
