/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See fpu.h; compiled for each instruction set.
 *
 * Rounding to nearest, no flushing of subnormals: so threads start.
 */
#include "fpu/fpu.h"
#include "isa.h"
#include "lanes/floats.h"

#ifndef __AVX512BW__
#ifdef __aarch64__
#define BLOCK_NEON
#endif
#include "lanes/blocks.h"
#endif

INLINE vec16
operate(enum netfc_op op, bool bf16, vec16 x, vec16 y)
{
	struct floats a, b, z;

#ifdef __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
	if (!bf16)
		return (vec16)VECTOR_OPERATE(op, (float16x8_t)x, (float16x8_t)y);
#endif
	a = bf16 ? from_bf16((native)x) : from_fp16((native)x);
	b = bf16 ? from_bf16((native)y) : from_fp16((native)y);
	z = (struct floats){VECTOR_OPERATE(op, a.low, b.low), VECTOR_OPERATE(op, a.high, b.high)};
	return (vec16)(bf16 ? to_bf16(z) : to_fp16(z));
}

INLINE bool
is_product(enum netfc_op op)
{
	return op == NETFC_MUL || op == NETFC_DIV;
}

/*
 * What is at least least_suspect() where z may raise a flag: it is an infinity or a NaN, or the
 * zero of a product, which becomes greater than anything. A sum that is zero is exact.
 */
INLINE vec16
suspect(enum netfc_op op, vec16 z)
{
	return magnitudes(z) - all_words(is_product(op));
}

INLINE uint16_t
least_suspect(enum netfc_op op, const struct fpu_kernel *kernel)
{
	return (uint16_t)(kernel->inf - is_product(op));
}

INLINE struct flags
exception_flags(enum netfc_op op, vec16 inf, vec16 x, vec16 y, vec16 z)
{
	const vec16 mx = magnitudes(x), my = magnitudes(y), mz = magnitudes(z);
	const vec16 most = MAX_UNSIGNED(mx, my);
	const mask16 nan = GREATER(most, inf), infinite = EQUAL(most, inf);
	const mask16 zero_x = EQUAL(mx, all_words(0)), zero_y = EQUAL(my, all_words(0));
	const mask16 zero_z = EQUAL(mz, all_words(0));
	struct flags flags = {
		.invalid = GREATER(mz, inf) & ~nan,
		.overflow = EQUAL(mz, inf) & ~infinite,
	};

	if (op == NETFC_MUL)
		flags.underflow = zero_z & ~(zero_x | zero_y);
	if (op == NETFC_DIV) {
		flags.divbyzero = zero_y & ~(zero_x | infinite | nan);
		flags.overflow &= ~zero_y;
		flags.underflow = zero_z & ~(zero_x | infinite);
	}
	return flags;
}

/* The format's NaN for any. */
INLINE vec16
one_nan(const struct fpu_kernel *kernel, vec16 z)
{
	return choose(GREATER(magnitudes(z), all_words(kernel->inf)), all_words(kernel->nan), z);
}

#ifdef __AVX512BW__
/* What is computed of a group. */
struct operation {
	const struct fpu_kernel *kernel;
	enum netfc_op op;
	bool bf16;
};

INLINE native
compute(const void *context, const struct lanes *lanes, const struct group *group,
	struct flags *flags)
{
	const struct operation *operation = context;
	const struct fpu_kernel *kernel = operation->kernel;
	const enum netfc_op op = operation->op;
	const struct words in = load_words(group, false);
	const vec16 z = operate(op, operation->bf16, (vec16)in.x, (vec16)in.y);
	const native least = (native)all_words(least_suspect(op, kernel));

	(void)lanes;
	if (_mm512_mask_cmpge_epu16_mask(group->lanes, (native)suspect(op, z), least) == 0)
		return (native)z;
	*flags = exception_flags(op, all_words(kernel->inf), (vec16)in.x, (vec16)in.y, z);
	return (native)one_nan(kernel, z);
}

INLINE void
run_op(enum netfc_op op, const struct vector_kernel *kernel, bool bf16,
	struct vector_packet *packets, unsigned int count, const struct vector_lanes *gathered)
{
	const struct operation operation = {(const struct fpu_kernel *)kernel, op, bf16};

	run_groups(compute, &operation, packets, count, gathered);
}

INLINE void
run(const struct vector_kernel *kernel, unsigned int op, bool bf16, struct vector_packet *packets,
	unsigned int count, const struct vector_lanes *gathered)
{
	VECTOR_BY_OP(run_op, op, kernel, bf16, packets, count, gathered)
}

#define FUNCTIONS(name, is_bf16) GROUP_FUNCTIONS(name, run, is_bf16)
#else
_Static_assert(BLOCK_STEP % VEC_LANES == 0, "steps are whole registers");

/*
 * All results first, as subnormal ones interrupt x86 processors, which takes longer beside other
 * work. Then a step at a time: its registers are asked together whether one of them raises a flag.
 */
INLINE void
run(enum netfc_op op, const struct vector_kernel *base, bool bf16, struct block *block,
	unsigned int count)
{
	const struct fpu_kernel *kernel = (const struct fpu_kernel *)base;
	const vec16 least = all_words(least_suspect(op, kernel));

	for (unsigned int l = 0; l < block_steps(count); l += VEC_LANES)
		vec_store(block->z + l,
			operate(op, bf16, vec_load(block->x + l), vec_load(block->y + l)));
	for (unsigned int first = 0; first < count; first += BLOCK_STEP) {
		vec16 most = all_words(0);

		for (unsigned int l = first; l < first + BLOCK_STEP; l += VEC_LANES) {
			most = MAX_UNSIGNED(most, suspect(op, vec_load(block->z + l)));
			vec_store(block->flags + l, all_words(0));
		}
		if (!ANY(MAX_UNSIGNED(most, least) == most))
			continue;
		for (unsigned int l = first; l < first + BLOCK_STEP; l += VEC_LANES) {
			const vec16 z = vec_load(block->z + l);
			const struct flags flags = exception_flags(op, all_words(kernel->inf),
				vec_load(block->x + l), vec_load(block->y + l), z);

			vec_store(block->z + l, one_nan(kernel, z));
			vec_store(block->flags + l, flag_words(&flags));
		}
	}
}

INLINE void
compute(const struct vector_kernel *kernel, enum netfc_op op, bool bf16, struct block *block,
	unsigned int count)
{
	block_pad(block, count);
	VECTOR_BY_OP(run, op, kernel, bf16, block, count)
}

#define FUNCTIONS(name, is_bf16)                                                         \
	INLINE void compute_##name(const struct vector_kernel *kernel, enum netfc_op op, \
		struct block *block, unsigned int count)                                 \
	{                                                                                \
		compute(kernel, op, is_bf16, block, count);                              \
	}                                                                                \
	BLOCK_FUNCTIONS(name, compute_##name)
#endif

FUNCTIONS(fp16, false)
FUNCTIONS(bf16, true)

bool
VECTOR_NAME(fpu_use)(struct fpu_kernel *kernel)
{
	const enum netfc_format_id id = netfc_format_id(kernel->format);

	kernel->kernel.run = id == NETFC_FP16 ? fp16 : bf16;
	return id == NETFC_FP16 || id == NETFC_BF16;
}
