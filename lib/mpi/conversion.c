/* SPDX-License-Identifier: BSD-3-Clause */
#include "conversion.h"

#include <string.h>

#include <netfc_allreduce.h>

#define PIECE_BITS 16
#define PIECE_BYTES 4 /* of an int32 on the way */
#define SIGN_8 UINT64_C(0x80)
#define SIGN_16 UINT64_C(0x8000)
#define SIGN_32 UINT64_C(0x80000000)
#define SIGN_64 UINT64_C(0x8000000000000000)

enum element {
	FLOAT_32,
	FLOAT_64,
	SIGNED_32,
	UNSIGNED_32,
	SIGNED_64,
	UNSIGNED_64,
	SIGNED_8,
	UNSIGNED_8,
	SIGNED_16,
	UNSIGNED_16,
	COMPLEX_32,
	COMPLEX_64,
	WIDE,
	ELEMENTS
};

enum operation {
	SUM,
	MIN,
	MAX,
	OPERATIONS
};

#define AS_IT_IS(operation, format, bytes, flip) \
	[operation] = {NETFC_ALLREDUCE_##format, NETFC_ALLREDUCE_##operation, bytes, 1, 0, flip}
#define LEAST_AND_GREATEST(format, bytes, flip) \
	AS_IT_IS(MIN, format, bytes, flip), AS_IT_IS(MAX, format, bytes, flip)
#define SUM_OF_PIECES(bytes) \
	[SUM] = {NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM, bytes, 1, (bytes) * 8 / PIECE_BITS, 0}
#define NARROW(operation, bytes, flip) \
	[operation] = {NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_##operation, bytes, 1, 1, flip}
#define ALL_NARROW(bytes, flip) \
	NARROW(SUM, bytes, 0), NARROW(MIN, bytes, flip), NARROW(MAX, bytes, flip)
#define SUM_OF_PAIRS(format, bytes) \
	[SUM] = {NETFC_ALLREDUCE_##format, NETFC_ALLREDUCE_SUM, bytes, 2, 0, 0}

/* Flipping the sign's bit puts integers without a sign into the order of those with one. */
static const struct conversion conversions[ELEMENTS][OPERATIONS] = {
	[FLOAT_32] = {AS_IT_IS(SUM, FP32, 4, 0), LEAST_AND_GREATEST(FP32, 4, 0)},
	[FLOAT_64] = {AS_IT_IS(SUM, FP64, 8, 0), LEAST_AND_GREATEST(FP64, 8, 0)},
	[SIGNED_32] = {SUM_OF_PIECES(4), LEAST_AND_GREATEST(INT32, 4, 0)},
	[UNSIGNED_32] = {SUM_OF_PIECES(4), LEAST_AND_GREATEST(INT32, 4, SIGN_32)},
	[SIGNED_64] = {SUM_OF_PIECES(8), LEAST_AND_GREATEST(INT64, 8, 0)},
	[UNSIGNED_64] = {SUM_OF_PIECES(8), LEAST_AND_GREATEST(INT64, 8, SIGN_64)},
	[SIGNED_8] = {ALL_NARROW(1, 0)},
	[UNSIGNED_8] = {ALL_NARROW(1, SIGN_8)},
	[SIGNED_16] = {ALL_NARROW(2, 0)},
	[UNSIGNED_16] = {ALL_NARROW(2, SIGN_16)},
	/* They have no order. */
	[COMPLEX_32] = {SUM_OF_PAIRS(FP32, 4)},
	[COMPLEX_64] = {SUM_OF_PAIRS(FP64, 8)},
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
	{MPI_AINT, sizeof(MPI_Aint) == 4 ? SIGNED_32 : SIGNED_64},
	{MPI_OFFSET, sizeof(MPI_Offset) == 4 ? SIGNED_32 : SIGNED_64},
	{MPI_COUNT, sizeof(MPI_Count) == 4 ? SIGNED_32 : SIGNED_64},
	{MPI_SIGNED_CHAR, SIGNED_8},
	{MPI_INT8_T, SIGNED_8},
	{MPI_INTEGER1, SIGNED_8},
	{MPI_UNSIGNED_CHAR, UNSIGNED_8},
	{MPI_UINT8_T, UNSIGNED_8},
	{MPI_SHORT, SIGNED_16},
	{MPI_INT16_T, SIGNED_16},
	{MPI_INTEGER2, SIGNED_16},
	{MPI_UNSIGNED_SHORT, UNSIGNED_16},
	{MPI_UINT16_T, UNSIGNED_16},
	{MPI_C_FLOAT_COMPLEX, COMPLEX_32},
	{MPI_COMPLEX, COMPLEX_32},
	{MPI_COMPLEX8, COMPLEX_32},
	{MPI_CXX_FLOAT_COMPLEX, COMPLEX_32},
	{MPI_C_DOUBLE_COMPLEX, COMPLEX_64},
	{MPI_DOUBLE_COMPLEX, COMPLEX_64},
	{MPI_COMPLEX16, COMPLEX_64},
	{MPI_CXX_DOUBLE_COMPLEX, COMPLEX_64},
	{MPI_LONG_DOUBLE, WIDE},
	{MPI_C_LONG_DOUBLE_COMPLEX, WIDE},
	{MPI_CXX_LONG_DOUBLE_COMPLEX, WIDE},
	{MPI_REAL16, WIDE},
	{MPI_COMPLEX32, WIDE},
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
		if (elements[i].element == WIDE)
			return CONVERSION_WIDE;
		if (operation == OPERATIONS)
			return CONVERSION_NO_OPERATION;
		*conversion = conversions[elements[i].element][operation];
		return conversion->parts != 0 ? CONVERSION_OK : CONVERSION_NO_OPERATION;
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

/* With its sign, as `flip` leaves it; a sum has all bits that matter at the lower end. */
#define WIDEN(bits)                                                                              \
	static void widen_##bits(                                                                \
		int32_t *to, const uint##bits##_t *values, size_t count, uint##bits##_t flip)    \
	{                                                                                        \
		for (size_t i = 0; i < count; i++)                                               \
			to[i] = (int##bits##_t)(uint##bits##_t)(values[i] ^ flip);               \
	}                                                                                        \
	static void narrow_##bits(                                                               \
		uint##bits##_t *values, const uint32_t *from, size_t count, uint##bits##_t flip) \
	{                                                                                        \
		for (size_t i = 0; i < count; i++)                                               \
			values[i] = (uint##bits##_t)(from[i] ^ flip);                            \
	}

WIDEN(8)
WIDEN(16)

void
conversion_split(const struct conversion *conversion, void *to, const void *values, size_t count)
{
	if (conversion->value_bytes == 1)
		widen_8(to, values, count, (uint8_t)conversion->flip);
	else if (conversion->value_bytes == 2)
		widen_16(to, values, count, (uint16_t)conversion->flip);
	else if (conversion->pieces == 2)
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
	if (conversion->value_bytes == 1)
		narrow_8(values, from, count, (uint8_t)conversion->flip);
	else if (conversion->value_bytes == 2)
		narrow_16(values, from, count, (uint16_t)conversion->flip);
	else if (conversion->pieces == 2)
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

/* Those of integers, in the order that `flip` makes of them. */
#define REDUCE_INTEGERS(bits)                                                                  \
	static void sum_##bits(uint##bits##_t *to, const uint##bits##_t *from, size_t count)   \
	{                                                                                      \
		for (size_t i = 0; i < count; i++)                                             \
			to[i] = (uint##bits##_t)(to[i] + from[i]);                             \
	}                                                                                      \
	static void best_##bits(uint##bits##_t *to, const uint##bits##_t *from, size_t count,  \
		uint##bits##_t flip, bool greatest)                                            \
	{                                                                                      \
		for (size_t i = 0; i < count; i++) {                                           \
			const int##bits##_t a = (int##bits##_t)(to[i] ^ flip);                 \
			const int##bits##_t b = (int##bits##_t)(from[i] ^ flip);               \
                                                                                               \
			to[i] = (greatest ? b > a : b < a) ? from[i] : to[i];                  \
		}                                                                              \
	}                                                                                      \
	static void reduce_integers_##bits(                                                    \
		const struct conversion *conversion, void *to, const void *from, size_t count) \
	{                                                                                      \
		if (conversion->op == NETFC_ALLREDUCE_SUM)                                     \
			sum_##bits(to, from, count);                                           \
		else                                                                           \
			best_##bits(to, from, count, (uint##bits##_t)conversion->flip,         \
				conversion->op == NETFC_ALLREDUCE_MAX);                        \
	}

REDUCE_INTEGERS(8)
REDUCE_INTEGERS(16)
REDUCE_INTEGERS(32)
REDUCE_INTEGERS(64)

/*
 * Least and greatest of floats are those of signed integers in the same order: -0 is the one before
 * +0. NaN prevails.
 */
#define REDUCE_FLOATS(bits, infinity)                                                        \
	static inline int##bits##_t order_##bits(uint##bits##_t value)                       \
	{                                                                                    \
		const int##bits##_t order = (int##bits##_t)value;                            \
                                                                                             \
		return order < 0 ? order ^ INT##bits##_MAX : order;                          \
	}                                                                                    \
	static inline bool is_nan_##bits(uint##bits##_t value)                               \
	{                                                                                    \
		return (value & INT##bits##_MAX) > (infinity);                               \
	}                                                                                    \
	static void best_float_##bits(                                                       \
		uint##bits##_t *to, const uint##bits##_t *from, size_t count, bool greatest) \
	{                                                                                    \
		for (size_t i = 0; i < count; i++) {                                         \
			const int##bits##_t a = order_##bits(to[i]);                         \
			const int##bits##_t b = order_##bits(from[i]);                       \
                                                                                             \
			if (!is_nan_##bits(to[i]) &&                                         \
				(is_nan_##bits(from[i]) || (greatest ? b > a : b < a)))      \
				to[i] = from[i];                                             \
		}                                                                            \
	}

REDUCE_FLOATS(32, 0x7f800000)
REDUCE_FLOATS(64, 0x7ff0000000000000)

void
conversion_reduce(
	const struct conversion *conversion, void *values, const void *others, size_t count)
{
	const bool greatest = conversion->op == NETFC_ALLREDUCE_MAX;

	if (is_float(conversion) && conversion->op != NETFC_ALLREDUCE_SUM) {
		if (conversion->value_bytes == sizeof(uint64_t))
			best_float_64(values, others, count, greatest);
		else
			best_float_32(values, others, count, greatest);
		return;
	}
	switch (conversion->value_bytes) {
	case 1:
		reduce_integers_8(conversion, values, others, count);
		return;
	case 2:
		reduce_integers_16(conversion, values, others, count);
		return;
	case 4:
		reduce_integers_32(conversion, values, others, count);
		return;
	default:
		reduce_integers_64(conversion, values, others, count);
	}
}
