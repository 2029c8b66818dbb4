/* SPDX-License-Identifier: BSD-3-Clause */
#include "conversion.h"

#include <string.h>

#include <netfc_allreduce.h>

#define PIECE_BITS 16
#define PIECE_BYTES 4 /* of an int32 on the way */
#define SIGN_32 UINT64_C(0x80000000)
#define SIGN_64 UINT64_C(0x8000000000000000)

enum element {
	FLOAT_32,
	FLOAT_64,
	SIGNED_32,
	UNSIGNED_32,
	SIGNED_64,
	UNSIGNED_64,
	ELEMENTS
};

enum operation {
	SUM,
	MIN,
	MAX,
	OPERATIONS
};

#define AS_IT_IS(operation, format, bytes, flip) \
	[operation] = {NETFC_ALLREDUCE_##format, NETFC_ALLREDUCE_##operation, bytes, 0, flip}
#define LEAST_AND_GREATEST(format, bytes, flip) \
	AS_IT_IS(MIN, format, bytes, flip), AS_IT_IS(MAX, format, bytes, flip)
#define SUM_OF_PIECES(bytes) \
	[SUM] = {NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM, bytes, (bytes) * 8 / PIECE_BITS, 0}

/* Flipping the sign's bit puts integers without a sign into the order of those with one. */
static const struct conversion conversions[ELEMENTS][OPERATIONS] = {
	[FLOAT_32] = {AS_IT_IS(SUM, FP32, 4, 0), LEAST_AND_GREATEST(FP32, 4, 0)},
	[FLOAT_64] = {AS_IT_IS(SUM, FP64, 8, 0), LEAST_AND_GREATEST(FP64, 8, 0)},
	[SIGNED_32] = {SUM_OF_PIECES(4), LEAST_AND_GREATEST(INT32, 4, 0)},
	[UNSIGNED_32] = {SUM_OF_PIECES(4), LEAST_AND_GREATEST(INT32, 4, SIGN_32)},
	[SIGNED_64] = {SUM_OF_PIECES(8), LEAST_AND_GREATEST(INT64, 8, 0)},
	[UNSIGNED_64] = {SUM_OF_PIECES(8), LEAST_AND_GREATEST(INT64, 8, SIGN_64)},
};

/* MPI's types: of C, of a fixed size, of Fortran. */
static const struct {
	MPI_Datatype type;
	enum element element;
} elements[] = {
	{MPI_FLOAT, FLOAT_32},
	{MPI_REAL, FLOAT_32},
	{MPI_REAL4, FLOAT_32},
	{MPI_DOUBLE, FLOAT_64},
	{MPI_DOUBLE_PRECISION, FLOAT_64},
	{MPI_REAL8, FLOAT_64},
	{MPI_INT, SIGNED_32},
	{MPI_INT32_T, SIGNED_32},
	{MPI_INTEGER, SIGNED_32},
	{MPI_INTEGER4, SIGNED_32},
	{MPI_UNSIGNED, UNSIGNED_32},
	{MPI_UINT32_T, UNSIGNED_32},
	{MPI_LONG, sizeof(long) == 4 ? SIGNED_32 : SIGNED_64},
	{MPI_UNSIGNED_LONG, sizeof(long) == 4 ? UNSIGNED_32 : UNSIGNED_64},
	{MPI_LONG_LONG_INT, SIGNED_64},
	{MPI_UNSIGNED_LONG_LONG, UNSIGNED_64},
	{MPI_INT64_T, SIGNED_64},
	{MPI_UINT64_T, UNSIGNED_64},
	{MPI_INTEGER8, SIGNED_64},
};

enum conversion_status
conversion_find(struct conversion *conversion, MPI_Datatype type, MPI_Op op)
{
	enum operation operation = op == MPI_SUM ? SUM
		: op == MPI_MIN                  ? MIN
		: op == MPI_MAX                  ? MAX
						 : OPERATIONS;

	if (type == MPI_DATATYPE_NULL)
		return CONVERSION_NO_TYPE;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (elements[i].type != type)
			continue;
		if (operation == OPERATIONS)
			return CONVERSION_NO_OPERATION;
		*conversion = conversions[elements[i].element][operation];
		return CONVERSION_OK;
	}
	return CONVERSION_NO_TYPE;
}

bool
conversion_is_direct(const struct conversion *conversion)
{
	return conversion->pieces == 0 && conversion->flip == 0;
}

size_t
conversion_bytes(const struct conversion *conversion, size_t count)
{
	return count *
		(conversion->pieces == 0 ? conversion->value_bytes
					 : conversion->pieces * PIECE_BYTES);
}

uint64_t
conversion_count(const struct conversion *conversion, size_t count)
{
	return (uint64_t)count * (conversion->pieces == 0 ? 1 : conversion->pieces);
}

static void
flip_32(uint32_t *to, const uint32_t *from, size_t count, uint32_t bits)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] ^ bits;
}

static void
flip_64(uint64_t *to, const uint64_t *from, size_t count, uint64_t bits)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] ^ bits;
}

static void
flip(const struct conversion *conversion, void *to, const void *from, size_t count)
{
	if (conversion->flip == 0)
		memcpy(to, from, count * conversion->value_bytes);
	else if (conversion->value_bytes == sizeof(uint64_t))
		flip_64(to, from, count, conversion->flip);
	else
		flip_32(to, from, count, (uint32_t)conversion->flip);
}

static void
cut_32(uint32_t *to, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[2 * i] = values[i] & UINT16_MAX;
		to[2 * i + 1] = values[i] >> PIECE_BITS;
	}
}

static void
cut_64(uint32_t *to, const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (unsigned int piece = 0; piece < 4; piece++)
			to[4 * i + piece] = values[i] >> (piece * PIECE_BITS) & UINT16_MAX;
	}
}

void
conversion_split(const struct conversion *conversion, void *to, const void *values, size_t count)
{
	if (conversion->pieces == 2)
		cut_32(to, values, count);
	else if (conversion->pieces == 4)
		cut_64(to, values, count);
	else
		flip(conversion, to, values, count);
}

static void
join_32(uint32_t *values, const uint32_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = from[2 * i] + (from[2 * i + 1] << PIECE_BITS);
}

static void
join_64(uint64_t *values, const uint32_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		values[i] = 0;
		for (unsigned int piece = 0; piece < 4; piece++)
			values[i] += (uint64_t)from[4 * i + piece] << (piece * PIECE_BITS);
	}
}

void
conversion_join(const struct conversion *conversion, void *values, const void *from, size_t count)
{
	if (conversion->pieces == 2)
		join_32(values, from, count);
	else if (conversion->pieces == 4)
		join_64(values, from, count);
	else
		flip(conversion, values, from, count);
}

bool
conversion_rounds(const struct conversion *conversion)
{
	return conversion->op == NETFC_ALLREDUCE_SUM && conversion->pieces == 0;
}

static bool
is_float(const struct conversion *conversion)
{
	return conversion->format == NETFC_ALLREDUCE_FP32 ||
		conversion->format == NETFC_ALLREDUCE_FP64;
}

/*
 * For integers of some bits. Least and greatest are those of signed integers in the same order,
 * floats' included: -0 is the one before +0. NaN prevails.
 */
#define REDUCE(bits, infinity)                                                                    \
	static inline int##bits##_t order_##bits(uint##bits##_t value)                            \
	{                                                                                         \
		const int##bits##_t order = (int##bits##_t)value;                                 \
                                                                                                  \
		return order < 0 ? order ^ INT##bits##_MAX : order;                               \
	}                                                                                         \
	static inline bool is_nan_##bits(uint##bits##_t value)                                    \
	{                                                                                         \
		return (value & INT##bits##_MAX) > (infinity);                                    \
	}                                                                                         \
	static void sum_##bits(uint##bits##_t *to, const uint##bits##_t *from, size_t count)      \
	{                                                                                         \
		for (size_t i = 0; i < count; i++)                                                \
			to[i] += from[i];                                                         \
	}                                                                                         \
	static void best_##bits(uint##bits##_t *to, const uint##bits##_t *from, size_t count,     \
		uint##bits##_t flip, bool greatest)                                               \
	{                                                                                         \
		for (size_t i = 0; i < count; i++) {                                              \
			const int##bits##_t a = (int##bits##_t)(to[i] ^ flip);                    \
			const int##bits##_t b = (int##bits##_t)(from[i] ^ flip);                  \
                                                                                                  \
			to[i] = (greatest ? b > a : b < a) ? from[i] : to[i];                     \
		}                                                                                 \
	}                                                                                         \
	static void best_float_##bits(                                                            \
		uint##bits##_t *to, const uint##bits##_t *from, size_t count, bool greatest)      \
	{                                                                                         \
		for (size_t i = 0; i < count; i++) {                                              \
			const int##bits##_t a = order_##bits(to[i]);                              \
			const int##bits##_t b = order_##bits(from[i]);                            \
                                                                                                  \
			if (!is_nan_##bits(to[i]) &&                                              \
				(is_nan_##bits(from[i]) || (greatest ? b > a : b < a)))           \
				to[i] = from[i];                                                  \
		}                                                                                 \
	}                                                                                         \
	static void reduce_##bits(                                                                \
		const struct conversion *conversion, void *to, const void *from, size_t count)    \
	{                                                                                         \
		const bool greatest = conversion->op == NETFC_ALLREDUCE_MAX;                      \
                                                                                                  \
		if (conversion->op == NETFC_ALLREDUCE_SUM)                                        \
			sum_##bits(to, from, count);                                              \
		else if (is_float(conversion))                                                    \
			best_float_##bits(to, from, count, greatest);                             \
		else                                                                              \
			best_##bits(to, from, count, (uint##bits##_t)conversion->flip, greatest); \
	}

REDUCE(32, 0x7f800000)
REDUCE(64, 0x7ff0000000000000)

void
conversion_reduce(
	const struct conversion *conversion, void *values, const void *others, size_t count)
{
	if (conversion->value_bytes == sizeof(uint64_t))
		reduce_64(conversion, values, others, count);
	else
		reduce_32(conversion, values, others, count);
}
