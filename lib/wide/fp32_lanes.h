/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary32 by the processor, in plain C without a branch that depends on an operand, so that
 * compilers turn it into vector code; included once for each instruction set, which FP32_LANES
 * names. A `float` rounds to the nearest, ties to even, as C programs start (wide.c asks whether it
 * does). Operands are tested as integers, of 31 bits without the sign, so that vectors compare them
 * in one instruction.
 */
#include <float.h>
#include <stdbool.h>

#include <rte_common.h>

#include "float_bits.h"
#include "wide_kernels.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float is computed as float");

#define INLINE static inline __attribute__((always_inline))

INLINE float
operate(const enum netfc_op op, float x, float y)
{
	switch (op) {
	case NETFC_SUB:
		return x - y;
	case NETFC_MUL:
		return x * y;
	case NETFC_DIV:
		return x / y;
	case NETFC_ADD:
	default:
		return x + y;
	}
}

INLINE int32_t
magnitude_of(uint32_t bits)
{
	return (int32_t)(bits & ~NETFC_FP32_SIGN);
}

/* All bits, or none. */
INLINE uint32_t
mask_of(int condition)
{
	return -(uint32_t)condition;
}

/* The flags of a lane, of the magnitudes of x, y and z. A sum that is zero is exact. */
INLINE uint32_t
flags_of(const enum netfc_op op, int32_t x, int32_t y, int32_t z)
{
	const int32_t inf = (int32_t)NETFC_FP32_INF;
	const uint32_t finite = mask_of(x < inf) & mask_of(y < inf);
	const uint32_t numbers = mask_of(x <= inf) & mask_of(y <= inf);
	const uint32_t zero = mask_of(z == 0);
	uint32_t by_zero = 0, underflow = 0;

	if (op == NETFC_MUL)
		underflow = zero & mask_of(x != 0) & mask_of(y != 0);
	if (op == NETFC_DIV) {
		underflow = zero & mask_of(x != 0) & mask_of(y < inf);
		by_zero = mask_of(y == 0) & mask_of(x != 0) & mask_of(x < inf);
	}
	return (mask_of(z > inf) & numbers & NETFC_INVALID) | (by_zero & NETFC_DIVBYZERO) |
		(mask_of(z == inf) & finite & ~by_zero & NETFC_OVERFLOW) |
		(underflow & NETFC_UNDERFLOW);
}

/* Lanes that are computed before their results are looked at. */
#define WIDE_BLOCK 128

/*
 * Subnormal products and quotients interrupt x86 processors, and what is under way beside them
 * takes longer, too: scripts/wide-bench shows by how much. Sums do not.
 */
INLINE bool
is_interrupted(const enum netfc_op op)
{
	return op == NETFC_MUL || op == NETFC_DIV;
}

INLINE uint32_t
result_of(const enum netfc_op op, uint32_t x, uint32_t y)
{
	return float_bits(operate(op, float_of(wide_swap(x)), float_of(wide_swap(y))));
}

struct sums {
	uint32_t before, after, flags;
};

/* Lanes whose operands are at x and y, up to WIDE_BLOCK of them where results wait. */
INLINE void
run_block(const enum netfc_op op, const wide_slot *restrict x, const wide_slot *restrict y,
	wide_slot *restrict z, uint32_t count, struct sums *sums)
{
	uint32_t results[WIDE_BLOCK];
	uint32_t before = 0, after = 0, flags = 0;

	if (is_interrupted(op))
		for (uint32_t l = 0; l < count; l++)
			results[l] = result_of(op, x[l], y[l]);
	for (uint32_t l = 0; l < count; l++) {
		const uint32_t a = wide_swap(x[l]), b = wide_swap(y[l]);
		const uint32_t c = is_interrupted(op) ? results[l] : result_of(op, x[l], y[l]);
		const uint32_t nan = mask_of(magnitude_of(c) > (int32_t)NETFC_FP32_INF);
		const uint32_t slot = wide_swap((NETFC_FP32_NAN & nan) | (c & ~nan));

		flags |= flags_of(op, magnitude_of(a), magnitude_of(b), magnitude_of(c));
		before += wide_words(z[l]);
		after += wide_words(slot);
		z[l] = slot;
	}
	sums->before += before;
	sums->after += after;
	sums->flags |= flags;
}

INLINE void
run(struct vector_packet *packet, const enum netfc_op op)
{
	const uint32_t count = packet->count;
	const wide_slot *x = (const wide_slot *)packet->slots, *y = x + count;
	wide_slot *z = (wide_slot *)packet->slots + 2 * (size_t)count;
	struct sums sums = {0, 0, 0};

	for (uint32_t first = 0; first < count; first += WIDE_BLOCK)
		run_block(op, x + first, y + first, z + first, RTE_MIN(count - first, WIDE_BLOCK),
			&sums);
	packet->flags = (uint8_t)sums.flags;
	packet->changes = wide_changes(count, sums.before, sums.after);
}

#define RUN(name, op)                                                                       \
	static void name(const struct further_kernel *kernel, struct vector_packet *packet) \
	{                                                                                   \
		(void)kernel;                                                               \
		run(packet, op);                                                            \
	}

RUN(run_add, NETFC_ADD)
RUN(run_sub, NETFC_SUB)
RUN(run_mul, NETFC_MUL)
RUN(run_div, NETFC_DIV)

const wide_fn FP32_LANES[WIDE_OPS] = {run_add, run_sub, run_mul, run_div};
