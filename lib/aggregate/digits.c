/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "aggregate_digits.h"
#include "digits.h"

#define DIGIT_BITS 32

/* As on the wire. */
struct part_wire {
	uint16_t first, lanes;
	uint8_t number, parts, lowest, width;
} __attribute__((packed));

/* A flag of the width: marks follow the digits. */
#define HAS_MARKS 0x80

_Static_assert(sizeof(struct part_wire) == AGGREGATE_PART_BYTES, "a part's header");

static size_t
body_bytes(const struct aggregate_part *part)
{
	return (size_t)part->lanes * (4u * part->width + (part->marks != NULL));
}

int
aggregate_part_read(const uint8_t *bytes, size_t length, struct aggregate_part *part)
{
	struct part_wire wire;

	if (length < sizeof(wire))
		return -1;
	memcpy(&wire, bytes, sizeof(wire));
	*part = (struct aggregate_part){
		.first = be16toh(wire.first),
		.lanes = be16toh(wire.lanes),
		.number = wire.number,
		.parts = wire.parts,
		.lowest = wire.lowest,
		.width = wire.width & (HAS_MARKS - 1),
		.digits = bytes + sizeof(wire),
	};
	if ((wire.width & HAS_MARKS) != 0)
		part->marks = part->digits + (size_t)part->lanes * 4 * part->width;
	if (part->lanes == 0 || part->width == 0 || part->parts == 0 ||
		part->parts > AGGREGATE_MOST_PARTS || part->number >= part->parts)
		return -1;
	return aggregate_part_bytes(part) <= length ? 0 : -1;
}

size_t
aggregate_part_bytes(const struct aggregate_part *part)
{
	return AGGREGATE_PART_BYTES + body_bytes(part);
}

unsigned int
aggregate_total_digits(unsigned int format)
{
	static const uint8_t digits[AGGREGATE_FORMAT_END] = {
		[AGGREGATE_FP16] = 4,
		[AGGREGATE_POSIT16] = 4,
		[AGGREGATE_BF16] = 11,
		[AGGREGATE_POSIT16_ES2] = 6,
		[AGGREGATE_FP32] = 11,
		[AGGREGATE_INT32] = 4,
		[AGGREGATE_FP64] = 68,
		[AGGREGATE_FP8_E4M3] = 4,
		[AGGREGATE_FP8_E5M2] = 4,
		[AGGREGATE_INT64] = 4,
	};

	return aggregate_value_bytes(format) == 0 ? 0 : digits[aggregate_values_format(format)];
}

bool
aggregate_part_fits(const struct aggregate_part *part, unsigned int format, uint32_t count)
{
	return (uint32_t)part->first + part->lanes <= count &&
		(unsigned int)part->lowest + part->width <= aggregate_total_digits(format);
}

static uint32_t
digit_at(const uint8_t *digits, uint32_t at)
{
	uint32_t digit;

	memcpy(&digit, digits + 4 * (size_t)at, sizeof(digit));
	return be32toh(digit);
}

static inline __attribute__((always_inline)) void
add_lanes(int64_t *bins, size_t stride, const struct aggregate_part *part, uint32_t width)
{
	const uint8_t *digits = part->digits;
	const uint32_t lanes = part->lanes;

	for (uint32_t i = 0; i < lanes; i++, bins++, digits += 4 * (size_t)width)
		for (uint32_t d = 0; d < width; d++) {
			const uint32_t digit = digit_at(digits, d);

			bins[(width - 1 - d) * stride] += d == 0 ? (int32_t)digit : (int64_t)digit;
		}
}

static void
add_marks(uint8_t *marks, const struct aggregate_part *part)
{
	for (uint32_t i = 0; part->marks != NULL && i < part->lanes; i++)
		marks[i] |= (part->marks[i] ^ AGGREGATE_MARK_MINUS_ZERO) & 0xf;
	for (uint32_t i = 0; part->marks == NULL && i < part->lanes; i++)
		marks[i] |= AGGREGATE_MARK_MINUS_ZERO;
}

/* Sums of numbers of similar magnitude have two or three digits. */
void
aggregate_totals_add_part(struct aggregate_totals *totals, const struct aggregate_part *part)
{
	const size_t stride = totals->stride;
	int64_t *bins = totals->bins + part->lowest * stride + part->first;

	totals_use(totals, part->lowest, (uint32_t)part->lowest + part->width);
	if (part->width == 2)
		add_lanes(bins, stride, part, 2);
	else if (part->width == 3)
		add_lanes(bins, stride, part, 3);
	else
		add_lanes(bins, stride, part, part->width);
	add_marks(totals->marks + part->first, part);
}

/* A lane's total as the digits from `lowest` to `top`, of which the last is signed. */
struct lane_digits {
	uint32_t digits[AGGREGATE_MOST_DIGITS + 1];
	uint32_t lowest, top;
};

static bool
is_special(const struct aggregate_totals *totals, uint32_t lane)
{
	return (totals->marks[lane] & ~AGGREGATE_MARK_MINUS_ZERO) != 0;
}

/*
 * Two digits more than there are bins in use, and one if that is all there are. Beside NaN or an
 * infinity numbers mean nothing: 0.
 */
static void
carry(const struct aggregate_totals *totals, uint32_t lane, struct lane_digits *to)
{
	const uint32_t all = totals->digits;
	const int64_t *bins = totals->bins + lane;
	const bool special = is_special(totals, lane);
	int64_t sum = 0;

	to->lowest = totals->end == 0 ? 0 : totals->lowest;
	to->top = totals->end + 2u <= all ? totals->end + 2u : all + 1;
	for (uint32_t b = to->lowest; b < to->top; b++) {
		sum += b < totals->end && !special ? bins[b * totals->stride] : 0;
		to->digits[b] = (uint32_t)sum;
		sum >>= DIGIT_BITS;
	}
}

/* The lanes' digits that are more than sign, from `lowest` on; end 0: there are none. */
struct extent {
	uint32_t lowest, end;
	bool marks;
	unsigned __int128 any, span; /* of short totals: all bits; those that are not sign */
};

static const struct extent no_extent = {.lowest = UINT32_MAX};

/* A lane's, which is none if it is zero. */
static struct extent
extent_of_long(const struct aggregate_totals *totals, uint32_t lane)
{
	struct lane_digits is;
	uint32_t sign;

	carry(totals, lane, &is);
	sign = -(is.digits[is.top - 1] >> 31);
	while (is.top - is.lowest > 1 && is.digits[is.top - 1] == sign &&
		is.digits[is.top - 2] >> 31 == (sign & 1))
		is.top--;
	while (is.lowest + 1 < is.top && is.digits[is.lowest] == 0)
		is.lowest++;
	return is.digits[is.lowest] == 0 ? no_extent
					 : (struct extent){.lowest = is.lowest, .end = is.top};
}

static inline __attribute__((always_inline)) uint32_t
bits_of(unsigned __int128 number)
{
	const uint64_t upper = (uint64_t)(number >> 64), lower = (uint64_t)number;

	return upper != 0    ? 128 - (uint32_t)__builtin_clzll(upper)
		: lower != 0 ? 64 - (uint32_t)__builtin_clzll(lower)
			     : 0;
}

/* What short totals, or-ed, need: a bit for the sign above the others. */
static void
bound_short(struct extent *extent, uint32_t base)
{
	const uint64_t lower = (uint64_t)extent->any, upper = (uint64_t)(extent->any >> 64);
	uint32_t places;

	if ((lower | upper) == 0)
		return;
	places = lower != 0 ? (uint32_t)__builtin_ctzll(lower)
			    : 64 + (uint32_t)__builtin_ctzll(upper);
	extent->lowest = base + places / DIGIT_BITS;
	extent->end = base + bits_of(extent->span) / DIGIT_BITS + 1;
	/* Where -1 is all there is above the lowest digit. */
	if (extent->end <= extent->lowest)
		extent->end = extent->lowest + 1;
}

static void
extend_by_short(
	struct extent *extent, const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	const uint32_t base = totals_base(totals, totals->digits);
	unsigned __int128 any = extent->any, span = extent->span;

	for (uint32_t lane = first; lane < end; lane++) {
		const __int128 mask = is_special(totals, lane) ? 0 : -1;
		const __int128 total = totals_short(totals, lane, base) & mask;

		any |= (unsigned __int128)total;
		span |= (unsigned __int128)(total ^ (total >> 127));
	}
	extent->any = any;
	extent->span = span;
	bound_short(extent, base);
}

static void
extend_by_long(
	struct extent *extent, const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	for (uint32_t lane = first; lane < end; lane++) {
		const struct extent is = extent_of_long(totals, lane);

		extent->lowest = is.lowest < extent->lowest ? is.lowest : extent->lowest;
		extent->end = is.end > extent->end ? is.end : extent->end;
	}
}

/* With those of lanes from one on, up to before another. */
static struct extent
extend(struct extent extent, const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	for (uint32_t lane = first; lane < end; lane++)
		extent.marks |= totals->marks[lane] != AGGREGATE_MARK_MINUS_ZERO;
	if (totals_are_short(totals, totals->digits))
		extend_by_short(&extent, totals, first, end);
	else
		extend_by_long(&extent, totals, first, end);
	return extent;
}

static uint32_t
width_of(struct extent extent)
{
	return extent.end == 0 ? 1 : extent.end - extent.lowest;
}

/* Bytes of a part of such lanes. */
static size_t
extent_bytes(struct extent extent, uint32_t lanes)
{
	return AGGREGATE_PART_BYTES + (size_t)lanes * (4 * width_of(extent) + extent.marks);
}

/* Lanes looked at together: where they do not all fit, half of them are tried. */
#define DIVIDE_STEP 16

unsigned int
aggregate_totals_divide(
	const struct aggregate_totals *totals, uint32_t bytes, uint16_t ends[AGGREGATE_MOST_PARTS])
{
	struct extent extent = no_extent;
	unsigned int parts = 0;
	uint32_t first = 0, step = DIVIDE_STEP;

	for (uint32_t lane = 0; lane < totals->count;) {
		const uint32_t left = totals->count - lane, some = step < left ? step : left;
		const struct extent with = extend(extent, totals, lane, lane + some);

		if (extent_bytes(with, lane + some - first) <= bytes) {
			extent = with;
			lane += some;
		} else if (some > 1) {
			step = some / 2;
		} else {
			if (lane == first || parts + 1 == AGGREGATE_MOST_PARTS)
				return 0;
			ends[parts++] = (uint16_t)lane;
			first = lane;
			extent = no_extent;
			step = DIVIDE_STEP;
		}
	}
	ends[parts++] = (uint16_t)totals->count;
	return parts;
}

bool
aggregate_totals_can_divide(unsigned int format, uint32_t count, uint32_t bytes)
{
	const struct extent widest = {.end = aggregate_total_digits(format), .marks = true};
	const uint32_t lane = (uint32_t)extent_bytes(widest, 1) - AGGREGATE_PART_BYTES;

	return bytes >= AGGREGATE_PART_BYTES + lane &&
		count <= (bytes - AGGREGATE_PART_BYTES) / lane * AGGREGATE_MOST_PARTS;
}

static uint8_t *
put_digit(uint8_t *at, uint32_t digit)
{
	digit = htobe32(digit);
	memcpy(at, &digit, sizeof(digit));
	return at + sizeof(digit);
}

/* Lanes of short totals, whose digits begin at `lowest`, or anywhere if they are all zero. */
static inline __attribute__((always_inline)) uint8_t *
write_short_lanes(const struct aggregate_totals *of, uint32_t first, uint32_t lanes,
	uint32_t lowest, uint32_t width, uint8_t *at)
{
	const struct aggregate_totals copy = *of, *totals = &copy;
	const uint32_t base = totals_base(totals, totals->digits);
	const uint32_t shift = lowest > base ? DIGIT_BITS * (lowest - base) : 0;

	for (uint32_t lane = first; lane < first + lanes; lane++) {
		__int128 total = totals_short(totals, lane, base) >> shift;

		total = is_special(totals, lane) ? 0 : total;
		for (uint32_t d = width; d-- > 0;)
			at = put_digit(at, (uint32_t)(total >> DIGIT_BITS * d));
	}
	return at;
}

static uint8_t *
write_short(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes, uint32_t lowest,
	uint32_t width, uint8_t *at)
{
	if (width == 2)
		return write_short_lanes(totals, first, lanes, lowest, 2, at);
	if (width == 3)
		return write_short_lanes(totals, first, lanes, lowest, 3, at);
	return write_short_lanes(totals, first, lanes, lowest, width, at);
}

static uint8_t *
write_long(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes, uint32_t lowest,
	uint32_t width, uint8_t *at)
{
	struct lane_digits is;

	for (uint32_t lane = first; lane < first + lanes; lane++) {
		carry(totals, lane, &is);
		for (uint32_t d = lowest + width; d-- > lowest;)
			at = put_digit(at, d < is.lowest ? 0 : is.digits[d]);
	}
	return at;
}

size_t
aggregate_totals_write_part(const struct aggregate_totals *totals, uint16_t first, uint16_t lanes,
	uint8_t number, uint8_t parts, uint8_t *into, size_t room)
{
	const bool is_short = totals_are_short(totals, totals->digits);
	const struct extent extent = extend(no_extent, totals, first, first + lanes);
	const uint32_t width = width_of(extent);
	const uint32_t lowest = extent.end == 0 ? 0 : extent.lowest;
	const struct part_wire wire = {.first = htobe16(first),
		.lanes = htobe16(lanes),
		.number = number,
		.parts = parts,
		.lowest = (uint8_t)lowest,
		.width = (uint8_t)(width | (extent.marks ? HAS_MARKS : 0))};
	const size_t bytes = extent_bytes(extent, lanes);
	uint8_t *at = into + sizeof(wire);

	if (bytes > room)
		return 0;
	memcpy(into, &wire, sizeof(wire));
	at = (is_short ? write_short : write_long)(totals, first, lanes, lowest, width, at);
	for (uint32_t i = 0; extent.marks && i < lanes; i++)
		*at++ = totals->marks[first + i] ^ AGGREGATE_MARK_MINUS_ZERO;
	return bytes;
}
