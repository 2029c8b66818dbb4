/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The integer steps of a program over a batch. Loops have no branch on data, so that compilers turn
 * them into vector code.
 */
#include "internal.h"

#define RESTRICT __restrict__
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Constants of a format that a loop is specialised for. */
struct traits {
	bool posit;
	uint32_t sign;
	uint32_t inf;
	uint32_t nan_from;       /* IEEE: magnitudes from here on are NaN */
	unsigned constant_shift; /* of a decision's constant */
	uint32_t over;           /* IEEE: what a magnitude of inf becomes, */
	bool over_signed;        /* with its sign */
};

static ALWAYS_INLINE struct traits
traits_of(const struct netfc_step *step, bool posit, unsigned width)
{
	const uint32_t inf = (uint32_t)step->imm;
	const bool saturates = width == 8 && (step->rules & NETFC_RULE_SATURATES);
	const bool no_infinity = width == 8 && (step->rules & NETFC_RULE_NO_INFINITY);

	return (struct traits){
		.posit = posit,
		.sign = UINT32_C(1) << (width - 1),
		.inf = inf,
		.nan_from = inf + !no_infinity,
		.constant_shift = width > 16 ? width - 16 : 0,
		.over = inf - saturates,
		.over_signed = saturates || !no_infinity,
	};
}

static inline uint32_t
negate_bits(uint32_t bits, struct traits traits)
{
	return traits.posit ? -bits & 0xffff : bits ^ traits.sign;
}

static inline uint32_t
magnitude_bits(uint32_t bits, struct traits traits)
{
	uint32_t negative = -(uint32_t)((bits & traits.sign) != 0);

	return (traits.posit ? (bits ^ negative) - negative : bits) & (traits.sign - 1);
}

static inline uint32_t
class_bits(uint32_t bits, uint32_t magnitude, struct traits traits)
{
	if (traits.posit)
		return (magnitude != 0) + 3 * (uint32_t)(bits == 0x8000);
	return (uint32_t)(magnitude != 0) + (magnitude >= traits.inf) +
		(magnitude >= traits.nan_from);
}

/* A choice that is compiled without a branch. */
static inline uint32_t
choose(bool condition, uint32_t yes, uint32_t no)
{
	uint32_t mask = -(uint32_t)condition;

	return (yes & mask) | (no & ~mask);
}

static ALWAYS_INLINE void
unpack(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count,
	struct traits traits)
{
	const uint32_t *RESTRICT x = lanes->field[NETFC_X], *RESTRICT y = lanes->field[NETFC_Y];
	const uint32_t *RESTRICT op = lanes->field[NETFC_OP];
	uint32_t *RESTRICT y_signed = lanes->field[step->dst];
	uint32_t *RESTRICT magnitude_x = lanes->field[step->dst + 1];
	uint32_t *RESTRICT magnitude_y = lanes->field[step->dst + 2];
	uint32_t *RESTRICT key = lanes->field[step->dst + 3];

	for (unsigned l = 0; l < count; l++) {
		uint32_t minus_y = negate_bits(y[l], traits);
		uint32_t ys = choose(op[l] == NETFC_SUB - NETFC_ADD, minus_y, y[l]);
		uint32_t mx = magnitude_bits(x[l], traits);
		uint32_t my = magnitude_bits(ys, traits);
		uint32_t compare = 2 * (uint32_t)(mx > my) + (mx == my);

		y_signed[l] = ys;
		magnitude_x[l] = mx;
		magnitude_y[l] = my;
		key[l] = netfc_decide_key(op[l], class_bits(x[l], mx, traits),
			class_bits(ys, my, traits), (x[l] & traits.sign) != 0,
			(ys & traits.sign) != 0, compare);
	}
}

/* `is_signed`: what is computed has its sign; else the decision says it. */
static ALWAYS_INLINE void
select_result(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count,
	struct traits traits, bool is_signed)
{
	const uint32_t *RESTRICT x = lanes->field[NETFC_X];
	const uint32_t *RESTRICT decision = lanes->field[step->a];
	const uint32_t *RESTRICT y = lanes->field[step->b];
	const uint32_t *RESTRICT computed = lanes->field[step->c];
	uint32_t *RESTRICT z = lanes->field[NETFC_Z], *RESTRICT flags = lanes->field[NETFC_FLAGS];

	for (unsigned l = 0; l < count; l++) {
		uint32_t word = decision[l], source = netfc_decide_source(word);
		uint32_t value = computed[l];
		uint32_t e = is_signed ? magnitude_bits(value, traits) : value;
		uint32_t constant = netfc_decide_constant(word) << traits.constant_shift;
		bool over = e == traits.inf, sign = netfc_decide_sign(word);
		uint32_t flag =
			choose(e == 0, NETFC_UNDERFLOW, 0) | choose(over, NETFC_OVERFLOW, 0);

		if (!is_signed)
			value = choose(sign, negate_bits(e, traits), e);
		if (traits.over != traits.inf || !traits.over_signed)
			value = choose(over,
				traits.over ^ (sign && traits.over_signed ? traits.sign : 0),
				value);
		value = choose(source == NETFC_FROM_X, x[l], value);
		value = choose(source == NETFC_FROM_Y, y[l], value);
		value = choose(source == NETFC_FROM_CONSTANT, constant, value);
		z[l] = value;
		flags[l] = choose(source == NETFC_FROM_STAGES, flag, netfc_decide_flags(word));
	}
}

/* All ones where the sign bit is set. */
static inline uint32_t
sign_mask(uint32_t word)
{
	return -(word >> 31);
}

/* dst = the expression, of a, b and imm; dst may be the field of either. */
#define STEP(name, expression)                                                                   \
	static ALWAYS_INLINE void name(                                                          \
		const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)        \
	{                                                                                        \
		const uint32_t *from_a = lanes->field[step->a], *from_b = lanes->field[step->b]; \
		const uint32_t imm = (uint32_t)step->imm;                                        \
		uint32_t *dst = lanes->field[step->dst];                                         \
                                                                                                 \
		(void)imm;                                                                       \
		for (unsigned l = 0; l < count; l++) {                                           \
			const uint32_t a = from_a[l], b = from_b[l];                             \
                                                                                                 \
			dst[l] = (expression);                                                   \
		}                                                                                \
	}

STEP(add_saturating, (uint16_t)saturate(log_word(a) + log_word(b)))
STEP(subtract_saturating, (uint16_t)saturate(log_word(a) - log_word(b)))
STEP(page_key, netfc_decide_page(a) << 16 | b)
STEP(add, (a + b) & imm)
STEP(subtract, (a - b) & imm)
STEP(distance, a > b ? a - b : b - a)
STEP(shift_left, a << (b & 31))
STEP(apply_sign, (a ^ sign_mask(b)) - sign_mask(b))

static ALWAYS_INLINE void
apply_guard(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t no_result = NETFC_UNDERFLOW << 24 | NETFC_FROM_CONSTANT << 16;
	const int32_t guard = step->imm;
	const uint32_t *RESTRICT theta = lanes->field[step->b];
	const uint32_t *RESTRICT m = lanes->field[step->c];
	uint32_t *RESTRICT decision = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++) {
		uint32_t word = decision[l], ml = m[l], guarded;
		int32_t difference = log_word(theta[l]);

		guarded = choose(ml == NETFC_NO_RESULT, no_result, word);
		guarded = choose(difference > guard, NETFC_FROM_Y << 16, guarded);
		guarded = choose(difference < -guard, NETFC_FROM_X << 16, guarded);
		decision[l] = choose(netfc_decide_source(word) == NETFC_FROM_STAGES, guarded, word);
	}
}

/* A log word is never INT16_MIN, so that its negative is a log word, too. */
static ALWAYS_INLINE void
negate_for_division(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *RESTRICT a = lanes->field[step->a];
	const uint32_t *RESTRICT op = lanes->field[NETFC_OP];
	uint32_t *RESTRICT dst = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++)
		dst[l] = choose(op[l] == NETFC_DIV - NETFC_ADD, -a[l] & 0xffff, a[l]);
}

/* A part's bits at their position in the key. */
static inline uint32_t
place(uint32_t word, struct netfc_part part)
{
	return (word >> part.low & ((UINT32_C(1) << part.width) - 1)) << part.at;
}

static ALWAYS_INLINE void
join_part(struct netfc_part part, struct netfc_lanes *lanes, uint32_t *RESTRICT dst, unsigned count)
{
	const uint32_t *RESTRICT field = lanes->field[part.field];
	const uint32_t mask = ((UINT32_C(1) << part.width) - 1) << part.low;

	if (part.test != NETFC_PART_BITS) {
		const uint32_t none = part.test == NETFC_PART_NONE;

		for (unsigned l = 0; l < count; l++)
			dst[l] |= ((uint32_t)((field[l] & mask) != 0) ^ none) << part.at;
	} else {
		for (unsigned l = 0; l < count; l++)
			dst[l] |= place(field[l], part);
	}
}

static ALWAYS_INLINE void
join(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	uint32_t *dst = lanes->field[step->dst];
	const uint32_t constant = (uint32_t)step->imm;

	for (unsigned l = 0; l < count; l++)
		dst[l] = constant;
	for (unsigned p = 0; p < step->part_count; p++)
		join_part(step->part[p], lanes, dst, count);
}

static ALWAYS_INLINE void
sort(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *RESTRICT a = lanes->field[step->a], *RESTRICT b = lanes->field[step->b];
	uint32_t *RESTRICT larger = lanes->field[step->dst];
	uint32_t *RESTRICT smaller = lanes->field[step->dst + 1];

	for (unsigned l = 0; l < count; l++) {
		larger[l] = a[l] > b[l] ? a[l] : b[l];
		smaller[l] = a[l] > b[l] ? b[l] : a[l];
	}
}

static ALWAYS_INLINE void
add_or_subtract(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *RESTRICT a = lanes->field[step->a], *RESTRICT b = lanes->field[step->b];
	const uint32_t *RESTRICT decision = lanes->field[step->c];
	uint32_t *RESTRICT dst = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++) {
		uint32_t negative = -(uint32_t)(netfc_decide_page(decision[l]) != 0);

		dst[l] = a[l] + ((b[l] ^ negative) - negative);
	}
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
choose_by_sign(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	const uint32_t *a = lanes->field[step->a], *b = lanes->field[step->b];
	const uint32_t *c = lanes->field[step->c];
	uint32_t *dst = lanes->field[step->dst];

	for (unsigned l = 0; l < count; l++) {
		uint32_t negative = sign_mask(c[l]);

		dst[l] = (a[l] & ~negative) | (b[l] & negative);
	}
}

/*
 * One body, compiled for the vector units of several processors; the loader chooses. lib/vector
 * compiles this file again for each instruction set, under another name: its user may rule some
 * out.
 */
#ifdef NETFC_STEP_RUN
void NETFC_STEP_RUN(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);
#else
#define NETFC_STEP_RUN netfc_step_run
#ifdef HAVE_TARGET_CLONES
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#endif
void
NETFC_STEP_RUN(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count)
{
	switch (step->kind) {
	case NETFC_STEP_UNPACK_IEEE:
		if (step->width == 8)
			unpack(step, lanes, count, traits_of(step, false, 8));
		else if (step->width == 32)
			unpack(step, lanes, count, traits_of(step, false, 32));
		else
			unpack(step, lanes, count, traits_of(step, false, 16));
		break;
	case NETFC_STEP_UNPACK_POSIT:
		unpack(step, lanes, count, traits_of(step, true, 16));
		break;
	case NETFC_STEP_ADD_SAT:
		add_saturating(step, lanes, count);
		break;
	case NETFC_STEP_SUB_SAT:
		subtract_saturating(step, lanes, count);
		break;
	case NETFC_STEP_PAGE_KEY:
		page_key(step, lanes, count);
		break;
	case NETFC_STEP_NEGATE_DIV:
		negate_for_division(step, lanes, count);
		break;
	case NETFC_STEP_GUARD:
		apply_guard(step, lanes, count);
		break;
	case NETFC_STEP_SELECT_IEEE:
		if (step->width == 8)
			select_result(step, lanes, count, traits_of(step, false, 8), false);
		else
			select_result(step, lanes, count, traits_of(step, false, 16), false);
		break;
	case NETFC_STEP_SELECT_POSIT:
		select_result(step, lanes, count, traits_of(step, true, 16), false);
		break;
	case NETFC_STEP_JOIN:
		join(step, lanes, count);
		break;
	case NETFC_STEP_ADD:
		add(step, lanes, count);
		break;
	case NETFC_STEP_SUB:
		subtract(step, lanes, count);
		break;
	case NETFC_STEP_DISTANCE:
		distance(step, lanes, count);
		break;
	case NETFC_STEP_SORT:
		sort(step, lanes, count);
		break;
	case NETFC_STEP_ADD_OR_SUB:
		add_or_subtract(step, lanes, count);
		break;
	case NETFC_STEP_SELECT_SIGNED:
		if (step->width == 32)
			select_result(step, lanes, count, traits_of(step, false, 32), true);
		else
			select_result(step, lanes, count, traits_of(step, false, 16), true);
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
		choose_by_sign(step, lanes, count);
		break;
	case NETFC_STEP_LOOKUP:
		break;
	}
}
