/* SPDX-License-Identifier: BSD-3-Clause */
#include "shape.h"

#include <netfc_allreduce.h>

#define PIECE_BITS 16
#define PIECE_BYTES 4 /* of an int32 on the way */
#define SIGN_32 UINT32_C(0x80000000)

enum element {
	FLOAT_32,
	SIGNED_32,
	UNSIGNED_32,
	INTEGER_64,
	ELEMENTS
};

enum operation {
	SUM,
	MIN,
	MAX,
	OPERATIONS
};

#define LEAST_AND_GREATEST(format, bytes, flip)                                  \
	[MIN] = {NETFC_ALLREDUCE_##format, NETFC_ALLREDUCE_MIN, bytes, 0, flip}, \
	[MAX] = {NETFC_ALLREDUCE_##format, NETFC_ALLREDUCE_MAX, bytes, 0, flip}
#define SUM_OF_PIECES(bytes) \
	[SUM] = {NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM, bytes, (bytes) * 8 / PIECE_BITS, 0}

/* What is not there has no op. */
static const struct shape shapes[ELEMENTS][OPERATIONS] = {
	[FLOAT_32] = {[SUM] = {NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM, 4, 0, 0},
		LEAST_AND_GREATEST(FP32, 4, 0)},
	[SIGNED_32] = {SUM_OF_PIECES(4), LEAST_AND_GREATEST(INT32, 4, 0)},
	[UNSIGNED_32] = {SUM_OF_PIECES(4), LEAST_AND_GREATEST(INT32, 4, SIGN_32)},
	[INTEGER_64] = {SUM_OF_PIECES(8)},
};

#define INTEGER(type) (sizeof(type) == 4 ? SIGNED_32 : INTEGER_64)
#define UNSIGNED(type) (sizeof(type) == 4 ? UNSIGNED_32 : INTEGER_64)

/* MPI's types: of C, of a fixed size, of Fortran. */
static const struct {
	MPI_Datatype type;
	enum element element;
} elements[] = {
	{MPI_FLOAT, FLOAT_32},
	{MPI_REAL, FLOAT_32},
	{MPI_REAL4, FLOAT_32},
	{MPI_INT, SIGNED_32},
	{MPI_INT32_T, SIGNED_32},
	{MPI_INTEGER, SIGNED_32},
	{MPI_INTEGER4, SIGNED_32},
	{MPI_UNSIGNED, UNSIGNED_32},
	{MPI_UINT32_T, UNSIGNED_32},
	{MPI_LONG, INTEGER(long)},
	{MPI_UNSIGNED_LONG, UNSIGNED(unsigned long)},
	{MPI_LONG_LONG_INT, INTEGER_64},
	{MPI_UNSIGNED_LONG_LONG, INTEGER_64},
	{MPI_INT64_T, INTEGER_64},
	{MPI_UINT64_T, INTEGER_64},
	{MPI_INTEGER8, INTEGER_64},
};

enum shape_status
shape_find(struct shape *shape, MPI_Datatype type, MPI_Op op)
{
	enum operation operation = op == MPI_SUM ? SUM
		: op == MPI_MIN                  ? MIN
		: op == MPI_MAX                  ? MAX
						 : OPERATIONS;

	if (type == MPI_DATATYPE_NULL)
		return SHAPE_NO_TYPE;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (elements[i].type != type)
			continue;
		if (operation == OPERATIONS || shapes[elements[i].element][operation].op == 0)
			return SHAPE_NO_OPERATION;
		*shape = shapes[elements[i].element][operation];
		return SHAPE_OK;
	}
	return SHAPE_NO_TYPE;
}

bool
shape_is_direct(const struct shape *shape)
{
	return shape->pieces == 0 && shape->flip == 0;
}

size_t
shape_bytes(const struct shape *shape, size_t count)
{
	return count * (shape->pieces == 0 ? shape->value_bytes : shape->pieces * PIECE_BYTES);
}

uint64_t
shape_count(const struct shape *shape, size_t count)
{
	return (uint64_t)count * (shape->pieces == 0 ? 1 : shape->pieces);
}

static void
flip(uint32_t *to, const uint32_t *from, size_t count, uint32_t bits)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] ^ bits;
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
shape_cut(const struct shape *shape, void *to, const void *values, size_t count)
{
	if (shape->pieces == 2)
		cut_32(to, values, count);
	else if (shape->pieces == 4)
		cut_64(to, values, count);
	else
		flip(to, values, count, shape->flip);
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
shape_join(const struct shape *shape, void *values, const void *from, size_t count)
{
	if (shape->pieces == 2)
		join_32(values, from, count);
	else if (shape->pieces == 4)
		join_64(values, from, count);
	else
		flip(values, from, count, shape->flip);
}
