/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels against the oracle, in each instruction set. The argument is a format, or two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "block.h"
#include "cases.h"
#include "exact.h"

#define FOREACH_OP(op)                                                   \
	for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MAX; op++) \
		if (aggregate_has_format(op, format))
#define FOREACH_ISA(isa) \
	for (enum aggregate_isa isa = AGGREGATE_PLAIN; isa <= aggregate_isa_best(); isa++)

static unsigned int format, of_values;
static struct block *block;

static void
fill(enum data_kind kind, unsigned int workers, uint32_t count, uint64_t *seed)
{
	block->format = format;
	block->workers = workers;
	block->count = count;
	for (uint32_t i = 0; i < count; i++)
		data_fill(kind, format, block->values[i], workers, seed);
	block_pack(block);
}

static void
check_all(void)
{
	FOREACH_OP(op)
	{
		block_expect(block, op);
		FOREACH_ISA(isa)
		assert_int_equal(block_check(block, isa, op), 0);
	}
}

TEST(full_packets_of_each_kind_and_each_number_of_workers)
{
	uint64_t seed = 1;

	for (enum data_kind kind = 0; kind < DATA_KINDS; kind++)
		for (unsigned int workers = 1; workers <= AGGREGATE_MAX_WORKERS;
			workers += workers < 10 ? 1 : 9) {
			fill(kind, workers, block_most(format), &seed);
			check_all();
		}
}

TEST(each_number_of_lanes)
{
	uint64_t seed = 2;

	for (uint32_t count = 1; count <= 100; count++) {
		fill(DATA_SPECIAL, 3, count, &seed);
		check_all();
		fill(DATA_GRADIENTS, 2, count, &seed);
		check_all();
	}
}

/* One lane: its flags are not hidden by those of others. */
TEST(flags_of_single_lanes)
{
	uint64_t seed = 3;

	for (unsigned int i = 0; i < 2000; i++) {
		fill(i % DATA_KINDS, 1 + i % 5, 1, &seed);
		check_all();
	}
}

TEST(any_order_gives_the_same_bits)
{
	uint64_t seed = 4;

	fill(DATA_SPECIAL, 8, 180, &seed);
	for (uint32_t i = 0; i < 100; i++)
		data_fill(i % 2 ? DATA_ANY : DATA_CANCEL, format, block->values[i], 8, &seed);
	FOREACH_OP(op)
	{
		block_expect(block, op);
		for (unsigned int i = 0; i < 100; i++) {
			for (uint32_t lane = 0; lane < block->count; lane++)
				data_shuffle(block->values[lane], block->workers, &seed);
			block_pack(block);
			FOREACH_ISA(isa)
			assert_int_equal(block_check(block, isa, op), 0);
		}
	}
}

/* Reduce the block with the last worker's values where the results go. */
static void
check_in_place(enum aggregate_isa isa, unsigned int op)
{
	const struct aggregate_kernel *kernel = aggregate_kernel(isa, op, format);
	const uint32_t bytes = block->count * aggregate_value_bytes(format);
	const unsigned int last = block->workers - 1;
	const uint8_t *packets[AGGREGATE_MAX_WORKERS];
	uint8_t place[BLOCK_BYTES], flags;

	for (unsigned int w = 0; w < block->workers; w++)
		packets[w] = block->packets[w];
	flags = aggregate_reduce(
		kernel, block->lanes, packets, block->workers, block->count, block->result);
	memcpy(place, packets[last], bytes);
	packets[last] = place;
	assert_int_equal(aggregate_reduce(kernel, block->lanes, packets, block->workers,
				 block->count, place),
		flags);
	assert_memory_equal(place, block->result, bytes);
}

TEST(results_may_take_the_place_of_the_last_worker_s_values)
{
	uint64_t seed = 5;

	if (aggregate_result_value_bytes(format) != aggregate_value_bytes(format))
		return;
	for (enum data_kind kind = 0; kind < DATA_KINDS; kind++)
		for (unsigned int workers = 1; workers <= 4; workers++) {
			fill(kind, workers, block_most(format), &seed);
			FOREACH_OP(op)
			FOREACH_ISA(isa)
			check_in_place(isa, op);
		}
}

/* What a value of a chunk whose values are of similar size is drawn from. */
struct sizes {
	unsigned int fraction_bits;
	uint32_t least, greatest; /* biased exponents */
	uint64_t sign;
};

/*
 * Either bounds of short cuts: fp16 below 2, bf16 and fp32 with 32 exponents in one integer, fp64
 * with 56 in a window.
 */
static struct sizes
sizes_of_bin(unsigned int bin)
{
	switch (of_values) {
	case AGGREGATE_FP16:
		return (struct sizes){10, 0, 15, 0x8000};
	case AGGREGATE_BF16:
		return (struct sizes){7, 32 * bin, 32 * bin + 31, 0x8000};
	case AGGREGATE_FP64:
		return (struct sizes){52, 284 * bin, 284 * bin + 52 + bin, UINT64_C(1) << 63};
	default:
		return (struct sizes){23, 32 * bin, 32 * bin + 31, 0x80000000};
	}
}

/* Often at a bound, or one of few values of which many cancel. */
static uint64_t
draw_value(const struct sizes *sizes, bool one_sign, uint64_t *seed)
{
	const uint64_t all = (UINT64_C(1) << sizes->fraction_bits) - 1;
	const uint64_t random = next_random(seed);
	const uint32_t exponents[4] = {sizes->least, sizes->greatest, sizes->greatest,
		sizes->least + (uint32_t)(random >> 32) % (sizes->greatest - sizes->least + 1)};
	const uint64_t fractions[4] = {0, all, all, next_random(seed) & all};
	uint64_t bits = (uint64_t)exponents[random & 3] << sizes->fraction_bits |
		fractions[random >> 2 & 3];

	if (random >> 4 & 1 && !one_sign)
		bits |= sizes->sign;
	return (random >> 5 & 7) == 0 ? bits & sizes->sign : bits;
}

/* Short cuts for values of similar size, at their bounds, taken and left by any worker. */
TEST(values_of_similar_size)
{
	uint64_t seed = 6;

	if (of_values != AGGREGATE_FP16 && of_values != AGGREGATE_BF16 &&
		of_values != AGGREGATE_FP32 && of_values != AGGREGATE_FP64)
		return;
	for (unsigned int i = 0; i < 400; i++) {
		const struct sizes sizes = sizes_of_bin(i % 8);
		const unsigned int workers = i % 5 == 0 ? AGGREGATE_MAX_WORKERS : 1 + i % 9;

		block->format = format;
		block->workers = workers;
		block->count = 1 + (uint32_t)(next_random(&seed) % 100);
		for (uint32_t lane = 0; lane < block->count; lane++)
			for (unsigned int w = 0; w < workers; w++)
				block->values[lane][w] = draw_value(&sizes, i / 8 % 2 == 0, &seed);
		if (i % 3 == 0)
			data_fill(DATA_SPECIAL, format,
				&block->values[i % block->count][i % workers], 1, &seed);
		block_pack(block);
		check_all();
	}
}

static uint64_t
encode(double value)
{
	const float single = (float)value;
	uint64_t wide;
	uint32_t bits;

	memcpy(&wide, &value, sizeof(wide));
	if (format == AGGREGATE_FP64)
		return wide;
	memcpy(&bits, &single, sizeof(bits));
	return of_values == AGGREGATE_BF16 ? bits >> 16 : bits;
}

/* Two values with a mean half-way between two numbers, a third that is far less, and zeros. */
static void
draw_middle(uint64_t *values, unsigned int workers, int unit, uint64_t *seed)
{
	const unsigned int significand_bits = format == AGGREGATE_BF16 ? 8
		: format == AGGREGATE_FP32                             ? 24
								       : 53;
	const uint64_t random = next_random(seed);
	const uint64_t all = (UINT64_C(1) << significand_bits) - 1;
	const uint64_t odd = (all + 1) | (next_random(seed) & all) | 1;
	const uint64_t sum = odd * workers, low = sum & all;
	const int below = 1 + (int)(random >> 48) % 40;
	const double sign = random >> 60 & 1 ? -1 : 1, rest = (int)(random >> 61 & 3) - 1;

	memset(values, 0, workers * sizeof(*values));
	values[0] = encode(sign * ldexp((double)(sum - low), unit));
	values[1] = encode(sign * ldexp((double)low, unit));
	values[2] = encode(rest * ldexp(1, unit - below));
}

/* One of some sizes, or what takes back another worker's. */
static uint64_t
draw_size(
	const uint64_t *before, unsigned int worker, unsigned int sizes, int apart, uint64_t *seed)
{
	const uint64_t random = next_random(seed), fraction = next_random(seed) >> 40;
	const uint64_t sign = encode(-0.0);
	const int unit = 100 - apart * (int)((random >> 8) % sizes);

	if (worker > 0 && random % 4 == 0)
		return before[(random >> 16) % worker] ^ sign;
	return encode(ldexp((double)(fraction | 1 << 23), unit - 24)) ^
		(random >> 4 & 1 ? sign : 0);
}

/* Sums of few bits and of any number, from the first worker on or from a later one. */
TEST(values_of_so_many_sizes)
{
	uint64_t seed = 9;

	if (format != AGGREGATE_BF16 && format != AGGREGATE_FP32 && format != AGGREGATE_FP64 &&
		of_values != AGGREGATE_BF16)
		return;
	for (unsigned int i = 0; i < 1500; i++) {
		const unsigned int workers = 1 + i % 9,
				   alike = (unsigned int)next_random(&seed) % 9;
		const int apart = 15 + (int)(next_random(&seed) % 70);

		block->format = format;
		block->workers = workers;
		block->count = 1 + (uint32_t)(next_random(&seed) % 60);
		for (uint32_t lane = 0; lane < block->count; lane++)
			for (unsigned int w = 0; w < workers; w++)
				block->values[lane][w] = draw_size(block->values[lane], w,
					w < alike ? 1 : 1 + i / 9 % 4, apart, &seed);
		block_pack(block);
		check_all();
	}
}

/*
 * A sum that is zero, of two numbers that cancel, when another lane makes all go on in bins: it is
 * +0, whatever the sign of the first of them.
 */
TEST(sums_that_cancel_while_others_need_more)
{
	static const double cancel[] = {0x1p60, 1, -0x1p60, -1},
			    more[] = {0x1p100, 0x1p20, 0x1p-60, 1};
	uint64_t seed = 10;

	if (of_values != AGGREGATE_BF16 && of_values != AGGREGATE_FP32)
		return;
	block->format = format;
	block->count = 9;
	for (unsigned int i = 0; i < 400; i++) {
		block->workers = 4 + i % 3;
		for (uint32_t lane = 0; lane < block->count; lane++) {
			for (unsigned int w = 0; w < block->workers; w++)
				block->values[lane][w] = encode(w >= 4 ? -0.0
						: lane % 2 == 0        ? cancel[w]
								       : more[w]);
			data_shuffle(block->values[lane], block->workers, &seed);
		}
		block_pack(block);
		check_all();
	}
}

/* Lanes of a block have the same or not. */
static int
draw_unit(bool same, int unit, uint64_t *seed)
{
	return same ? unit : (int)(next_random(seed) % 180) - 90;
}

/* Means on either side of where rounding changes, and there, wherever short cuts begin and end. */
TEST(means_half_way_between_two_numbers)
{
	uint64_t seed = 7;

	if (format != AGGREGATE_BF16 && format != AGGREGATE_FP32 && format != AGGREGATE_FP64)
		return;
	for (unsigned int workers = 3; workers <= AGGREGATE_MAX_WORKERS; workers++)
		for (int unit = -90; unit < 90; unit += 9) {
			block->format = format;
			block->workers = workers;
			block->count = 100;
			for (uint32_t lane = 0; lane < block->count; lane++)
				draw_middle(block->values[lane], workers,
					draw_unit(unit % 2 == 0, unit, &seed), &seed);
			block_pack(block);
			check_all();
		}
}

/* The greatest magnitude that there is, from all workers there can be. */
TEST(as_many_workers_with_the_greatest_values_as_there_can_be)
{
	static const uint64_t greatest[AGGREGATE_FORMAT_END] = {
		[AGGREGATE_FP16] = 0x7bff,
		[AGGREGATE_POSIT16] = 0x7fff,
		[AGGREGATE_BF16] = 0x7f7f,
		[AGGREGATE_POSIT16_ES2] = 0x7fff,
		[AGGREGATE_FP32] = 0x7f7fffff,
		[AGGREGATE_INT32] = 0x7fffffff,
		[AGGREGATE_FP64] = 0x7fefffffffffffff,
		[AGGREGATE_FP8_E4M3] = 0x7e,
		[AGGREGATE_FP8_E5M2] = 0x7b,
		[AGGREGATE_INT64] = 0x7fffffffffffffff,
	};
	static const uint64_t least[AGGREGATE_FORMAT_END] = {
		[AGGREGATE_FP16] = 0xfbff,
		[AGGREGATE_POSIT16] = 0x8001,
		[AGGREGATE_BF16] = 0xff7f,
		[AGGREGATE_POSIT16_ES2] = 0x8001,
		[AGGREGATE_FP32] = 0xff7fffff,
		[AGGREGATE_INT32] = 0x80000000,
		[AGGREGATE_FP64] = 0xffefffffffffffff,
		[AGGREGATE_FP8_E4M3] = 0xfe,
		[AGGREGATE_FP8_E5M2] = 0xfb,
		[AGGREGATE_INT64] = 0x8000000000000000,
	};

	block->format = format;
	block->workers = AGGREGATE_MAX_WORKERS;
	block->count = 40;
	for (uint32_t lane = 0; lane < block->count; lane++)
		for (unsigned int w = 0; w < block->workers; w++)
			block->values[lane][w] =
				lane % 2 == 0 || w < lane ? greatest[of_values] : least[of_values];
	block_pack(block);
	check_all();
}

/* Of 8 bits: one lane at a time where flags are, so that none hides another's. */
TEST(all_pairs_of_encodings)
{
	if (aggregate_value_bytes(format) != 1)
		return;
	block->format = format;
	block->workers = 2;
	for (uint32_t x = 0; x < 256; x++) {
		block->count = 256;
		for (uint32_t y = 0; y < 256; y++) {
			block->values[y][0] = x;
			block->values[y][1] = y;
		}
		block_pack(block);
		check_all();
		block->count = 1;
		for (uint32_t y = 0; y < 256; y++) {
			block->values[0][1] = y;
			block_pack(block);
			check_all();
		}
	}
}

/* What a thread may have changed: subnormal numbers are zeros, or the processor rounds otherwise.
 */
enum arithmetic {
	ARITHMETIC_USUAL,
	ARITHMETIC_FLUSHES,
	ARITHMETIC_UP,
	ARITHMETIC_DOWN,
	ARITHMETIC_TO_ZERO,
	ARITHMETICS
};

static void
use_arithmetic(enum arithmetic arithmetic)
{
#if defined(__SSE2__)
	static const unsigned int modes[ARITHMETICS] = {0,
		_MM_FLUSH_ZERO_ON | 0x40 /* denormals are zeros */, _MM_ROUND_UP, _MM_ROUND_DOWN,
		_MM_ROUND_TOWARD_ZERO};

	_mm_setcsr(_MM_MASK_MASK | modes[arithmetic]);
#elif defined(__aarch64__)
	/* FZ and FZ16; RMode */
	static const uint64_t modes[ARITHMETICS] = {
		0, 1 << 24 | 1 << 19, 1 << 22, 2 << 22, 3 << 22};

	__asm__ volatile("msr fpcr, %0" : : "r"(modes[arithmetic]) : "memory");
#else
	(void)arithmetic;
#endif
}

/* As torch.set_flush_denormal(), fesetround() and programs compiled with -ffast-math have it. */
TEST(arithmetic_of_the_thread_does_not_matter)
{
	const bool binary = of_values == AGGREGATE_BF16 || of_values == AGGREGATE_FP32;
	uint64_t seed = 8;

	for (unsigned int i = 0; i < 200; i++) {
		const struct sizes sizes = sizes_of_bin(0);

		fill(DATA_ANY, 1 + i % 9, 1 + (uint32_t)(next_random(&seed) % 40), &seed);
		for (uint32_t lane = 0; binary && lane < block->count; lane += 1 + i % 2)
			for (unsigned int w = 0; w < block->workers; w++)
				block->values[lane][w] = draw_value(&sizes, i % 3 == 0, &seed);
		block_pack(block);
		FOREACH_OP(op)
		{
			block_expect(block, op);
			FOREACH_ISA(isa)
			{
				uint32_t wrong;

				use_arithmetic(i % ARITHMETICS);
				wrong = block_check(block, isa, op);
				use_arithmetic(ARITHMETIC_USUAL);
				assert_int_equal(wrong, 0);
			}
		}
	}
}

/* A page, and after it one that can't be touched. */
static uint8_t *
guarded_page(size_t page)
{
	uint8_t *memory =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	return memory;
}

TEST(nothing_behind_values_and_results_is_touched)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *values = guarded_page(page), *results = guarded_page(page);

	memset(values, 0x3c, page);
	for (uint32_t count = 1; count <= 70; count++) {
		size_t bytes = count * aggregate_value_bytes(format);
		size_t result_bytes = count * aggregate_result_value_bytes(format);
		const uint8_t *const packets[] = {
			values + page - bytes, values + page - bytes, values + page - bytes};

		FOREACH_OP(op)
		FOREACH_ISA(isa)
		aggregate_reduce(aggregate_kernel(isa, op, format), block->lanes, packets, 3, count,
			results + page - result_bytes);
	}
	munmap(values, 2 * page);
	munmap(results, 2 * page);
}

static int
set_up(void **state)
{
	(void)state;
	block = block_new();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	block_free(block);
	return 0;
}

int
main(int argc, char **argv)
{
	format = argc > 1 ? aggregate_format_by_name(argv[1]) : 0;
	of_values = aggregate_values_format(format);
	if (format == 0) {
		fprintf(stderr, "usage: %s FORMAT\n", argv[0]);
		return 1;
	}
	return tests_run(set_up, tear_down);
}
