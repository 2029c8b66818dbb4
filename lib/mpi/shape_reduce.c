/* SPDX-License-Identifier: BSD-3-Clause */
#include <netfc_allreduce.h>

#include "shape.h"

bool
shape_rounds(const struct shape *shape)
{
	return shape->op == NETFC_ALLREDUCE_SUM && shape->pieces == 0;
}

static bool
is_float(const struct shape *shape)
{
	return shape->format == NETFC_ALLREDUCE_FP32 || shape->format == NETFC_ALLREDUCE_FP64;
}

/*
 * For integers of some bits. Least and greatest are those of signed integers in the same order,
 * floats' included: -0 is the one before +0. NaN prevails.
 */
#define REDUCE(bits, infinity)                                                                \
	static inline int##bits##_t order_##bits(uint##bits##_t value)                        \
	{                                                                                     \
		const int##bits##_t order = (int##bits##_t)value;                             \
                                                                                              \
		return order < 0 ? order ^ INT##bits##_MAX : order;                           \
	}                                                                                     \
	static inline bool is_nan_##bits(uint##bits##_t value)                                \
	{                                                                                     \
		return (value & INT##bits##_MAX) > (infinity);                                \
	}                                                                                     \
	static void sum_##bits(uint##bits##_t *to, const uint##bits##_t *from, size_t count)  \
	{                                                                                     \
		for (size_t i = 0; i < count; i++)                                            \
			to[i] += from[i];                                                     \
	}                                                                                     \
	static void best_##bits(uint##bits##_t *to, const uint##bits##_t *from, size_t count, \
		uint##bits##_t flip, bool greatest)                                           \
	{                                                                                     \
		for (size_t i = 0; i < count; i++) {                                          \
			const int##bits##_t a = (int##bits##_t)(to[i] ^ flip);                \
			const int##bits##_t b = (int##bits##_t)(from[i] ^ flip);              \
                                                                                              \
			to[i] = (greatest ? b > a : b < a) ? from[i] : to[i];                 \
		}                                                                             \
	}                                                                                     \
	static void best_float_##bits(                                                        \
		uint##bits##_t *to, const uint##bits##_t *from, size_t count, bool greatest)  \
	{                                                                                     \
		for (size_t i = 0; i < count; i++) {                                          \
			const int##bits##_t a = order_##bits(to[i]);                          \
			const int##bits##_t b = order_##bits(from[i]);                        \
                                                                                              \
			if (!is_nan_##bits(to[i]) &&                                          \
				(is_nan_##bits(from[i]) || (greatest ? b > a : b < a)))       \
				to[i] = from[i];                                              \
		}                                                                             \
	}                                                                                     \
	static void reduce_##bits(                                                            \
		const struct shape *shape, void *to, const void *from, size_t count)          \
	{                                                                                     \
		const bool greatest = shape->op == NETFC_ALLREDUCE_MAX;                       \
                                                                                              \
		if (shape->op == NETFC_ALLREDUCE_SUM)                                         \
			sum_##bits(to, from, count);                                          \
		else if (is_float(shape))                                                     \
			best_float_##bits(to, from, count, greatest);                         \
		else                                                                          \
			best_##bits(to, from, count, (uint##bits##_t)shape->flip, greatest);  \
	}

REDUCE(32, 0x7f800000)
REDUCE(64, 0x7ff0000000000000)

void
shape_reduce(const struct shape *shape, void *values, const void *others, size_t count)
{
	if (shape->value_bytes == sizeof(uint64_t))
		reduce_64(shape, values, others, count);
	else
		reduce_32(shape, values, others, count);
}
