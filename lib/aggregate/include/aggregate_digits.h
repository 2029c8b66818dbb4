/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_DIGITS_H
#define AGGREGATE_DIGITS_H

/**
 * @file
 * Exact partial sums, as digits.
 *
 * The sum of a lane is an integer of 32-bit digits, two's complement, in units of 2^(32 b) times
 * the format's: fp16 2^-24, bf16 2^-133, fp32 2^-149, fp64 2^-1074, fp8_e4m3 2^-9,
 * fp8_e5m2 2^-16, posit16 2^-28, posit16_es2 2^-56, integers 1. Lanes of similar magnitude need few
 * digits. They are sent in *parts*: a range of lanes, with as many digits as these need. See
 * docs/protocol.md.
 *
 * *Totals* are the integers in which digits and values are added up, wide enough for 2^64 times the
 * format's greatest number, in the caller's memory. No function allocates.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate_format.h"

/** Parts of a member's sums of a chunk. */
#define AGGREGATE_MAX_PARTS 64

/** Digits of a lane's total, in any format. */
#define AGGREGATE_MAX_DIGITS 68

/** Bytes in front of a part's digits. */
#define AGGREGATE_PART_BYTES 8

/** A mean may be divided by another number than that of workers: 1 .. AGGREGATE_MAX_DIVISOR. */
#define AGGREGATE_MAX_DIVISOR (UINT32_C(1) << 24)
#define AGGREGATE_DIVISOR_BYTES 4

/** Special values seen in a lane, a set of bits. */
enum aggregate_mark {
	AGGREGATE_MARK_NAN = 1, /**< NaN or NaR */
	AGGREGATE_MARK_PLUS_INF = 2,
	AGGREGATE_MARK_MINUS_INF = 4,
	AGGREGATE_MARK_MINUS_ZERO = 8, /**< all values were -0 */
};

/** A part, in host order except for what it points to. */
struct aggregate_part {
	uint16_t first;        /**< lane */
	uint16_t lanes;        /**< at least 1 */
	uint8_t number, parts; /**< 0 .. parts - 1; 1 .. AGGREGATE_MAX_PARTS */
	uint8_t lowest;        /**< the digits' unit is 2^(32 lowest) times the format's */
	uint8_t width;         /**< digits of a lane, at least 1 */
	const uint8_t *digits; /**< lane by lane, 4 bytes a digit, the most significant one first */
	const uint8_t *marks;  /**< a set of enum aggregate_mark a lane; NULL: there are none */
	uint32_t divisor;      /**< of a mean; 0: the number of workers */
};

/**
 * Read a part.
 *
 * @param bytes, length of the part with its header, or more
 * @return 0; -1: too short, no lanes, no digits, no such part, more parts than there can be, no
 * such divisor
 */
int aggregate_part_read(const uint8_t *bytes, size_t length, struct aggregate_part *part);

/** Bytes of a part, header included. */
size_t aggregate_part_bytes(const struct aggregate_part *part);

/** Maximum digits of a lane's total: a worker's part's lowest + width does not exceed it. */
unsigned int aggregate_total_digits(unsigned int format);

/**
 * What the digit beyond these may be, in either direction, of a member that stands for several
 * workers: sums of up to 2^24 workers' digits need so much.
 */
#define AGGREGATE_MAX_EXCESS (INT32_C(1) << 24)

/** Whether a part has the digit beyond aggregate_total_digits(). */
bool aggregate_part_exceeds(const struct aggregate_part *part, unsigned int format);

/** How to work on totals with one instruction set. */
struct totals_kernel;

/** Totals of a chunk's lanes. */
struct aggregate_totals {
	enum aggregate_format format;
	uint32_t count; /**< lanes */
	int64_t *bins;  /**< lane i's digit b, of 2^(32 b), is bins[b * stride + i] */
	size_t stride;  /**< lanes that there is memory for: of others, too, if these are some of
			   them */
	uint8_t *marks; /**< by lane; AGGREGATE_MARK_MINUS_ZERO: *not* all values were -0 */
	uint8_t digits; /**< aggregate_total_digits() */
	uint8_t lowest, end;                /**< bins that may be nonzero in any lane */
	const struct totals_kernel *kernel; /**< plain C, unless another one is chosen */
};

/** Bytes for the bins of so many lanes, and their marks after them. */
size_t aggregate_totals_bytes(enum aggregate_format format, uint32_t count);

/** The maximum of that over a set of formats, for chunks of that many bytes of values. */
size_t aggregate_totals_most_bytes(unsigned int formats, uint32_t bytes);

/** Lay out totals, all clear, in memory of that size, aligned to 8 bytes. The empty sum is -0. */
struct aggregate_totals
aggregate_totals_init(enum aggregate_format format, uint32_t count, void *memory);

/** Choose an instruction set, up to aggregate_isa_best(). */
void aggregate_totals_choose(struct aggregate_totals *totals, enum aggregate_isa isa);

/**
 * Whether all digits of a part fit, and the one beyond, if it is there, is no more than
 * AGGREGATE_MAX_EXCESS: aggregate_totals_add_part() requires it.
 */
bool aggregate_part_fits(const struct aggregate_part *part, unsigned int format, uint32_t count);

/** Add a part of a member's sums; up to 2^20 of them. */
void aggregate_totals_add_part(struct aggregate_totals *totals, const struct aggregate_part *part);

/** Add values, big-endian, at any address; up to 2^10 times. */
void aggregate_totals_add_values(struct aggregate_totals *totals, const uint8_t *values);

/**
 * Add values in host byte order, at any address, if they are numbers of similar magnitude, of fp16,
 * bf16, fp32 or fp64: many at a time. Up to AGGREGATE_MAX_ADDS times before
 * aggregate_totals_carry().
 *
 * @return whether they were added: all, or none
 */
bool aggregate_totals_add_similar(struct aggregate_totals *totals, const void *values);

/** Additions that bins have room for: 55 bits of a value, and 6 for these. */
#define AGGREGATE_MAX_ADDS 64

/** Divide sums into digits, in place: bins have room for further additions. */
void aggregate_totals_carry(struct aggregate_totals *totals);

/**
 * Write a part of the totals, as narrow as its lanes allow.
 *
 * @param number, parts of this one
 * @param room bytes at `into`
 * @param into the part, header included
 * @return its bytes; 0: more than `room`
 */
size_t aggregate_totals_write_part(const struct aggregate_totals *totals, uint16_t first,
	uint16_t lanes, uint8_t number, uint8_t parts, uint8_t *into, size_t room);

/** Bytes after a part's digits and marks, for a divisor; 0: none. */
static inline uint32_t
aggregate_divisor_bytes(uint32_t divisor)
{
	return divisor != 0 ? AGGREGATE_DIVISOR_BYTES : 0;
}

/**
 * Give a part that has been written a divisor, which goes after it.
 *
 * @param bytes of the part
 * @param divisor 0: none
 * @return the part's bytes with it
 */
size_t aggregate_part_put_divisor(uint8_t *part, size_t bytes, uint32_t divisor);

/**
 * Divide the lanes into parts, each as long as fits.
 *
 * @param bytes maximum of a part, header included
 * @param ends of each part: its last lane + 1
 * @return how many; 0: more than AGGREGATE_MAX_PARTS, or a lane does not fit
 */
unsigned int aggregate_totals_divide(
	const struct aggregate_totals *totals, uint32_t bytes, uint16_t ends[AGGREGATE_MAX_PARTS]);

/** A number made of a time, of which near ones have others; 0: of 0. By Knuth's multiplier. */
static inline uint32_t
aggregate_scatter(uint64_t time)
{
	return (uint32_t)(time * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/**
 * Which part is the i-th that is sent, of `all`, after that many times.
 *
 * A queue on the way may be too short for all parts. If they were sent in one order each time, it
 * would always have the same, so each time others go first; at every other time after the last,
 * which is what is answered again.
 */
static inline unsigned int
aggregate_part_in_turn(unsigned int all, uint32_t times, unsigned int i)
{
	/* Of 2^32: the golden ratio, whose multiples are nowhere close together. */
	const uint32_t share = times * UINT32_C(0x9e3779b9);
	const unsigned int first = (unsigned int)((uint64_t)share * all >> 32);

	if (times % 2 == 0)
		return (first + i) % all;
	return i == 0 ? all - 1 : (first + i - 1) % (all - 1);
}

/** Whether any sums of so many lanes can be divided into parts of so many bytes. */
bool aggregate_totals_can_divide(unsigned int format, uint32_t count, uint32_t bytes);

/**
 * Round each lane once, as the kernels do (aggregate_lanes.h).
 *
 * @param op AGGREGATE_SUM or AGGREGATE_MEAN
 * @param workers to divide by, 1 .. AGGREGATE_MAX_DIVISOR
 * @param result count values, big-endian, at any address
 * @return enum netfc_flag, of all lanes
 */
uint8_t aggregate_totals_round(const struct aggregate_totals *totals, unsigned int op,
	unsigned int workers, uint8_t *result);

#endif /* AGGREGATE_DIGITS_H */
