/* SPDX-License-Identifier: BSD-3-Clause */
/* What the families write their programs with. */
#include "internal.h"

#include <string.h>

void
netfc_append(struct netfc_program *program, struct netfc_step step)
{
	program->step[program->step_count++] = step;
}

void
netfc_append_lookup(
	struct netfc_program *program, unsigned dst, unsigned table, unsigned key, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_LOOKUP,
			.dst = (uint8_t)dst,
			.a = (uint8_t)key,
			.table = (uint8_t)table,
			.what = what});
}

void
netfc_append_step(struct netfc_program *program, enum netfc_step_kind kind, unsigned dst,
	unsigned a, unsigned b, unsigned c, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = kind,
			.dst = (uint8_t)dst,
			.a = (uint8_t)a,
			.b = (uint8_t)b,
			.c = (uint8_t)c,
			.what = what});
}

void
netfc_append_alu(struct netfc_program *program, enum netfc_step_kind kind, unsigned dst, unsigned a,
	unsigned b, unsigned bits, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = kind,
			.dst = (uint8_t)dst,
			.a = (uint8_t)a,
			.b = (uint8_t)b,
			.imm = (int32_t)(UINT32_MAX >> (32 - bits)),
			.what = what});
}

static const char *const common_names[FIELD_FAMILY] = {
	"x", "y", "op", "z", "flags", "y'", "|x|", "|y|", "key", "decision"};

static enum netfc_step_kind
unpack_kind(const struct netfc_format *format)
{
	return format->posit ? NETFC_STEP_UNPACK_POSIT : NETFC_STEP_UNPACK_IEEE;
}

static uint8_t
step_rules(const struct netfc_format *format)
{
	return (format->no_infinity ? NETFC_RULE_NO_INFINITY : 0) |
		(format->saturates ? NETFC_RULE_SATURATES : 0);
}

void
netfc_program_start(struct netfc_program *program, const struct netfc_format *format,
	unsigned decide_table, const char *const *names, unsigned field_count)
{
	program->field_count = field_count;
	for (unsigned f = 0; f < field_count; f++)
		program->field_name[f] =
			f < FIELD_FAMILY ? common_names[f] : names[f - FIELD_FAMILY];
	netfc_append(program,
		(struct netfc_step){.kind = unpack_kind(format),
			.dst = FIELD_Y_SIGNED,
			.imm = format->inf,
			.width = (uint8_t)format->width,
			.rules = step_rules(format),
			.what = "operands to magnitudes and the decision's key"});
	netfc_append_lookup(program, FIELD_DECISION, decide_table, FIELD_DECIDE_KEY,
		"decide: how to go on and with which sign, or a special value");
}

static void
append_last(struct netfc_program *program, enum netfc_step_kind kind,
	const struct netfc_format *format, unsigned from, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = kind,
			.dst = NETFC_Z,
			.a = FIELD_DECISION,
			.b = FIELD_Y_SIGNED,
			.c = (uint8_t)from,
			.imm = (int32_t)format->inf,
			.width = (uint8_t)format->width,
			.rules = step_rules(format),
			.what = what});
}

void
netfc_append_select(
	struct netfc_program *program, const struct netfc_format *format, unsigned magnitude)
{
	append_last(program, format->posit ? NETFC_STEP_SELECT_POSIT : NETFC_STEP_SELECT_IEEE,
		format, magnitude, "z: |z| with the decided sign, or the decided value");
}

void
netfc_append_select_signed(
	struct netfc_program *program, const struct netfc_format *format, unsigned word)
{
	append_last(program, NETFC_STEP_SELECT_SIGNED, format, word,
		"z: the word, or the decided value");
}

/* Whole programs in plain C: look-ups by index, a batch at a time. */

static void
look_up(const struct netfc_set *set, const struct netfc_step *step, struct netfc_lanes *lanes,
	unsigned count)
{
	const struct netfc_table *table = &set->table[step->table];
	const uint32_t size = netfc_table_size(table);

	for (unsigned l = 0; l < count; l++) {
		uint32_t key = lanes->field[step->a][l];

		lanes->field[step->dst][l] = key < size ? table->entries[key] : 0;
	}
}

void
netfc_run_step(const struct netfc_set *set, const struct netfc_step *step,
	struct netfc_lanes *lanes, unsigned count)
{
	if (step->kind == NETFC_STEP_LOOKUP)
		look_up(set, step, lanes, count);
	else
		netfc_step_run(step, lanes, count);
}

/* Operands from `first` on. */
static void
fill_lanes(struct netfc_lanes *lanes, const struct netfc_format *format, enum netfc_op op,
	const void *x, const void *y, uint32_t first, unsigned count)
{
	for (unsigned l = 0; l < count; l++) {
		lanes->field[NETFC_X][l] = encoding_at(format, x, first + l);
		lanes->field[NETFC_Y][l] = encoding_at(format, y, first + l);
		lanes->field[NETFC_OP][l] = op - NETFC_ADD;
	}
}

uint8_t
netfc_compute(const struct netfc_set *set, enum netfc_op op, const void *x, const void *y, void *z,
	uint8_t *flags, uint32_t count)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);
	const struct netfc_format *format = set->id.format;
	struct netfc_lanes lanes;
	uint8_t all = 0;

	for (uint32_t first = 0, batch; first < count; first += batch) {
		batch = count - first < NETFC_BATCH ? count - first : NETFC_BATCH;
		fill_lanes(&lanes, format, op, x, y, first, batch);
		for (unsigned s = 0; s < program->step_count; s++)
			netfc_run_step(set, &program->step[s], &lanes, batch);
		for (unsigned l = 0; l < batch; l++) {
			/* NOLINTNEXTLINE(clang-analyzer-core.*) programs write z and flags */
			put_encoding(format, z, first + l, lanes.field[NETFC_Z][l]);
			all |= (uint8_t)lanes.field[NETFC_FLAGS][l];
			if (flags != NULL)
				flags[first + l] = (uint8_t)lanes.field[NETFC_FLAGS][l];
		}
	}
	return all;
}

unsigned
netfc_step_writes(const struct netfc_step *step, uint8_t fields[NETFC_STEP_WRITES])
{
	unsigned count = 1;

	switch (step->kind) {
	case NETFC_STEP_SELECT_IEEE:
	case NETFC_STEP_SELECT_POSIT:
	case NETFC_STEP_SELECT_SIGNED:
		fields[0] = NETFC_Z;
		fields[1] = NETFC_FLAGS;
		return 2;
	case NETFC_STEP_UNPACK_IEEE:
	case NETFC_STEP_UNPACK_POSIT:
		count = NETFC_STEP_WRITES;
		break;
	case NETFC_STEP_SORT:
	case NETFC_STEP_SHIFT_RIGHT:
		count = 2;
		break;
	default:
		break;
	}
	for (unsigned n = 0; n < count; n++)
		fields[n] = (uint8_t)(step->dst + n);
	return count;
}

static struct netfc_result
walk(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y,
	struct netfc_lanes *lanes, netfc_walk_fn fn, void *arg)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);

	lanes->field[NETFC_X][0] = x;
	lanes->field[NETFC_Y][0] = y;
	lanes->field[NETFC_OP][0] = op - NETFC_ADD;
	for (unsigned s = 0; s < program->step_count; s++) {
		netfc_run_step(set, &program->step[s], lanes, 1);
		if (fn != NULL)
			fn(program, &program->step[s], lanes, arg);
	}
	return (struct netfc_result){
		lanes->field[NETFC_Z][0], (uint8_t)lanes->field[NETFC_FLAGS][0]};
}

struct netfc_result
netfc_walk(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y, netfc_walk_fn fn,
	void *arg)
{
	struct netfc_lanes lanes;

	/* Fields that are not written yet are shown, too. */
	memset(&lanes, 0, sizeof(lanes));
	return walk(set, op, x, y, &lanes, fn, arg);
}

struct netfc_result
netfc_compute_one(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y)
{
	struct netfc_lanes lanes;

	return walk(set, op, x, y, &lanes, NULL, NULL);
}
