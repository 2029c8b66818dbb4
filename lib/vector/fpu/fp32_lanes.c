/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary32 in plain C without a branch that depends on an operand, so that compilers turn it into
 * vector code, for each instruction set. A `float` rounds to the nearest, ties to even, as C
 * programs start (fpu.c checks that). Operands are tested as integers, of 31 bits without
 * the sign, so that vectors compare them in one instruction.
 */
#include <float.h>
#include <stdbool.h>

#include <rte_common.h>

#include "fpu/fpu.h"
#include "isa.h"
#include "lanes/float_formats.h"
#include "slots.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float is computed as float");

INLINE int32_t
magnitude_of(uint32_t bits)
{
	return (int32_t)(bits & ~NETFC_FP32_SIGN);
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
#define BLOCK_LANES 128

/*
 * Subnormal products and quotients interrupt x86 processors, and what is under way beside them
 * takes longer, too: scripts/bench lanes shows by how much. Sums do not.
 */
INLINE bool
is_interrupted(const enum netfc_op op)
{
	return op == NETFC_MUL || op == NETFC_DIV;
}

INLINE uint32_t
result_of(const enum netfc_op op, uint32_t x, uint32_t y)
{
	const float a = float_of(slot32_swap(x)), b = float_of(slot32_swap(y));

	return float_bits(VECTOR_OPERATE(op, a, b));
}

struct sums {
	uint32_t before, after, flags;
};

/* Lanes whose operands are at x and y, up to BLOCK_LANES of them where results wait. */
INLINE void
run_block(const enum netfc_op op, const slot32 *restrict x, const slot32 *restrict y,
	slot32 *restrict z, uint32_t count, struct sums *sums)
{
	uint32_t results[BLOCK_LANES];
	uint32_t before = 0, after = 0, flags = 0;

	if (is_interrupted(op))
		for (uint32_t l = 0; l < count; l++)
			results[l] = result_of(op, x[l], y[l]);
	for (uint32_t l = 0; l < count; l++) {
		const uint32_t a = slot32_swap(x[l]), b = slot32_swap(y[l]);
		const uint32_t c = is_interrupted(op) ? results[l] : result_of(op, x[l], y[l]);
		const uint32_t nan = mask_of(magnitude_of(c) > (int32_t)NETFC_FP32_INF);
		const uint32_t slot = slot32_swap((NETFC_FP32_NAN & nan) | (c & ~nan));

		flags |= flags_of(op, magnitude_of(a), magnitude_of(b), magnitude_of(c));
		before += slot_words(z[l], 32);
		after += slot_words(slot, 32);
		z[l] = slot;
	}
	sums->before += before;
	sums->after += after;
	sums->flags |= flags;
}

INLINE void
run_packet(struct vector_packet *packet, const enum netfc_op op)
{
	const uint32_t count = packet->count;
	const slot32 *x = (const slot32 *)packet->slots, *y = x + count;
	slot32 *z = (slot32 *)packet->slots + 2 * (size_t)count;
	struct sums sums = {0, 0, 0};

	for (uint32_t first = 0; first < count; first += BLOCK_LANES)
		run_block(op, x + first, y + first, z + first, RTE_MIN(count - first, BLOCK_LANES),
			&sums);
	packet->flags = (uint8_t)sums.flags;
	packet->changes = slots_changes(2 * count, sums.before, sums.after);
}

INLINE void
run_packets(const enum netfc_op op, struct vector_packet *packets, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++)
		run_packet(&packets[p], op);
}

void
VECTOR_NAME(fp32_run)(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	(void)kernel;
	VECTOR_BY_OP(run_packets, op, packets, count)
}
