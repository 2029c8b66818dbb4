/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that only programs of binary32 have, over a batch; without a branch on data. */
#include "fp32/fp32_family.h"

#define RESTRICT __restrict__
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* All ones where the sign bit is set. */
static inline uint32_t
sign_mask(uint32_t word)
{
	return -(word >> 31);
}

/* A choice that is compiled without a branch. */
static inline uint32_t
choose_word(bool condition, uint32_t yes, uint32_t no)
{
	uint32_t mask = -(uint32_t)condition;

	return (yes & mask) | (no & ~mask);
}

static inline uint32_t
class_bits(uint32_t magnitude)
{
	return (uint32_t)(magnitude != 0) + (magnitude >= NETFC_FP32_INF) +
		(magnitude > NETFC_FP32_INF);
}

static ALWAYS_INLINE void
unpack(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *RESTRICT x = lanes->field[NETFC_X], *RESTRICT y = lanes->field[NETFC_Y];
	const uint32_t *RESTRICT op = lanes->field[NETFC_OP];
	uint32_t *RESTRICT y_signed = lanes->field[step->dst];
	uint32_t *RESTRICT magnitude_x = lanes->field[step->dst + 1];
	uint32_t *RESTRICT magnitude_y = lanes->field[step->dst + 2];
	uint32_t *RESTRICT key = lanes->field[step->dst + 3];

	for (unsigned l = 0; l < count; l++) {
		uint32_t sub = op[l] == NETFC_SUB - NETFC_ADD;
		uint32_t ys = y[l] ^ sub << 31;
		uint32_t mx = x[l] & ~NETFC_FP32_SIGN, my = ys & ~NETFC_FP32_SIGN;
		uint32_t compare = 2 * (uint32_t)(mx > my) + (mx == my);

		y_signed[l] = ys;
		magnitude_x[l] = mx;
		magnitude_y[l] = my;
		key[l] = netfc_decide_key(
			op[l], class_bits(mx), class_bits(my), x[l] >> 31, ys >> 31, compare);
	}
}

static ALWAYS_INLINE void
shift_left(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *a = lanes->field[step->a], *b = lanes->field[step->b];
	uint32_t *dst = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++)
		dst[l] = a[l] << (b[l] & 31);
}

static ALWAYS_INLINE void
shift_right(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *a = lanes->field[step->a], *b = lanes->field[step->b];
	uint32_t *dst = lanes->field[step->dst], *lost = lanes->field[step->dst + 1];

	for (unsigned l = 0; l < count; l++) {
		uint32_t word = a[l], places = b[l] & 31;

		dst[l] = word >> places;
		lost[l] = word & low_mask(places);
	}
}

static ALWAYS_INLINE void
apply_sign(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *a = lanes->field[step->a], *b = lanes->field[step->b];
	uint32_t *dst = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++) {
		uint32_t negative = sign_mask(b[l]);

		dst[l] = (a[l] ^ negative) - negative;
	}
}

static ALWAYS_INLINE void
choose(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *a = lanes->field[step->a], *b = lanes->field[step->b];
	const uint32_t *c = lanes->field[step->c];
	uint32_t *dst = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++) {
		uint32_t negative = sign_mask(c[l]);

		dst[l] = (a[l] & ~negative) | (b[l] & negative);
	}
}

static ALWAYS_INLINE void
select_word(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *RESTRICT x = lanes->field[NETFC_X];
	const uint32_t *RESTRICT decision = lanes->field[step->a];
	const uint32_t *RESTRICT y = lanes->field[step->b];
	const uint32_t *RESTRICT word = lanes->field[step->c];
	uint32_t *RESTRICT z = lanes->field[NETFC_Z], *RESTRICT flags = lanes->field[NETFC_FLAGS];

	for (unsigned l = 0; l < count; l++) {
		uint32_t d = decision[l], source = netfc_decide_source(d), value = word[l];
		uint32_t magnitude = value & ~NETFC_FP32_SIGN;
		uint32_t flag = choose_word(magnitude == 0, NETFC_UNDERFLOW, 0) |
			choose_word(magnitude == NETFC_FP32_INF, NETFC_OVERFLOW, 0);

		value = choose_word(source == NETFC_FROM_X, x[l], value);
		value = choose_word(source == NETFC_FROM_Y, y[l], value);
		value = choose_word(
			source == NETFC_FROM_CONSTANT, netfc_decide_constant(d) << 16, value);
		z[l] = value;
		flags[l] = choose_word(source == NETFC_FROM_STAGES, flag, netfc_decide_flags(d));
	}
}

/* One body, compiled for the vector units of several processors; the loader chooses. */
#ifdef HAVE_TARGET_CLONES
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void
netfc_fp32_step_run(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	switch (step->kind) {
	case NETFC_STEP_UNPACK_FP32:
		unpack(step, lanes, count);
		break;
	case NETFC_STEP_SHIFT_LEFT:
		shift_left(step, lanes, count);
		break;
	case NETFC_STEP_SHIFT_RIGHT:
		shift_right(step, lanes, count);
		break;
	case NETFC_STEP_SIGN:
		apply_sign(step, lanes, count);
		break;
	case NETFC_STEP_CHOOSE:
		choose(step, lanes, count);
		break;
	case NETFC_STEP_SELECT_FP32:
		select_word(step, lanes, count);
		break;
	default:
		break;
	}
}
