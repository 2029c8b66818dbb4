/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "aggregate_digits.h"
#include "sums/digits.h"
#include "sums/lanes.h"

#define DIGIT_BITS 32

/* As on the wire. */
struct part_wire {
	uint16_t first, lanes;
	uint8_t number, parts, lowest, width;
} __attribute__((packed));

/* A flag of the width: marks follow the digits. Of the parts: a divisor follows all that. */
#define HAS_MARKS 0x80
#define HAS_DIVISOR 0x80

_Static_assert(sizeof(struct part_wire) == AGGREGATE_PART_BYTES, "a part's header");

static size_t
body_bytes(const struct aggregate_part *part)
{
	return (size_t)part->lanes * (4u * part->width + (part->marks != NULL)) +
		aggregate_divisor_bytes(part->divisor);
}

static bool
read_divisor(const uint8_t *bytes, struct aggregate_part *part)
{
	memcpy(&part->divisor, bytes + aggregate_part_bytes(part) - sizeof(part->divisor),
		sizeof(part->divisor));
	part->divisor = be32toh(part->divisor);
	return part->divisor != 0 && part->divisor <= AGGREGATE_MAX_DIVISOR;
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
		.parts = wire.parts & (HAS_DIVISOR - 1),
		.lowest = wire.lowest,
		.width = wire.width & (HAS_MARKS - 1),
		.divisor = (wire.parts & HAS_DIVISOR) != 0, /* which one is read below */
		.digits = bytes + sizeof(wire),
	};
	if ((wire.width & HAS_MARKS) != 0)
		part->marks = part->digits + (size_t)part->lanes * 4 * part->width;
	if (part->lanes == 0 || part->width == 0 || part->parts == 0 ||
		part->parts > AGGREGATE_MAX_PARTS || part->number >= part->parts)
		return -1;
	if (aggregate_part_bytes(part) > length)
		return -1;
	return part->divisor == 0 || read_divisor(bytes, part) ? 0 : -1;
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

static uint32_t
end_of(const struct aggregate_part *part)
{
	return (uint32_t)part->lowest + part->width;
}

/* A lane's digit, from the least significant one on. */
static uint32_t
digit_of_part(const struct aggregate_part *part, uint32_t lane, uint32_t digit)
{
	uint32_t bytes;

	memcpy(&bytes, part->digits + 4 * ((size_t)lane * part->width + part->width - 1 - digit),
		sizeof(bytes));
	return be32toh(bytes);
}

/* The most significant one, which is signed. */
static int64_t
top_digit(const struct aggregate_part *part, uint32_t lane)
{
	return (int32_t)digit_of_part(part, lane, part->width - 1u);
}

bool
aggregate_part_exceeds(const struct aggregate_part *part, unsigned int format)
{
	return end_of(part) > aggregate_total_digits(format);
}

static bool
excess_fits(const struct aggregate_part *part)
{
	for (uint32_t lane = 0; lane < part->lanes; lane++)
		if (top_digit(part, lane) > AGGREGATE_MAX_EXCESS ||
			top_digit(part, lane) < -AGGREGATE_MAX_EXCESS)
			return false;
	return true;
}

bool
aggregate_part_fits(const struct aggregate_part *part, unsigned int format, uint32_t count)
{
	if ((uint32_t)part->first + part->lanes > count)
		return false;
	if (!aggregate_part_exceeds(part, format))
		return true;
	return end_of(part) == aggregate_total_digits(format) + 1 && excess_fits(part);
}

static void
add_marks(uint8_t *marks, const struct aggregate_part *part)
{
	const uint8_t *own = part->marks;
	const uint32_t lanes = part->lanes;

	if (own == NULL)
		for (uint32_t i = 0; i < lanes; i++)
			marks[i] |= AGGREGATE_MARK_MINUS_ZERO;
	else
		for (uint32_t i = 0; i < lanes; i++)
			marks[i] |= (own[i] ^ AGGREGATE_MARK_MINUS_ZERO) & 0xf;
}

/* The digit beyond the last bin goes into that one, which has room for it. */
static void
add_exceeding(struct aggregate_totals *totals, const struct aggregate_part *part)
{
	const uint32_t last = totals->digits - 1u;

	totals_use(totals, part->lowest < last ? part->lowest : last, totals->digits);
	for (uint32_t lane = 0; lane < part->lanes; lane++) {
		int64_t *bins = totals->bins + part->first + lane;

		for (uint32_t d = 0; d + 1 < part->width; d++)
			bins[(part->lowest + d) * totals->stride] += digit_of_part(part, lane, d);
		bins[last * totals->stride] += top_digit(part, lane) * (INT64_C(1) << DIGIT_BITS);
	}
}

void
aggregate_totals_add_part(struct aggregate_totals *totals, const struct aggregate_part *part)
{
	if (end_of(part) > totals->digits) {
		add_exceeding(totals, part);
	} else {
		totals_use(totals, part->lowest, end_of(part));
		totals->kernel->add(totals, part);
	}
	add_marks(totals->marks + part->first, part);
}

/* A lane's total as the digits from `lowest` to `top`, of which the last is signed. */
struct lane_digits {
	uint32_t digits[AGGREGATE_MAX_DIGITS + 1];
	uint32_t lowest, top;
};

/*
 * Two digits more than there are bins in use, and one if that is all there are. Beside NaN or an
 * infinity numbers mean nothing: 0.
 */
static void
carry(const struct aggregate_totals *totals, uint32_t lane, struct lane_digits *to)
{
	const uint32_t all = totals->digits;
	const int64_t *bins = totals->bins + lane;
	const bool special = totals_are_special(totals, lane);
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

static uint32_t
bits_of(unsigned __int128 number)
{
	const uint64_t upper = (uint64_t)(number >> 64), lower = (uint64_t)number;

	return upper != 0    ? 128 - (uint32_t)__builtin_clzll(upper)
		: lower != 0 ? 64 - (uint32_t)__builtin_clzll(lower)
			     : 0;
}

/* Of what is not zero. */
static uint32_t
lowest_bit(unsigned __int128 number)
{
	const uint64_t upper = (uint64_t)(number >> 64), lower = (uint64_t)number;

	return lower != 0 ? (uint32_t)__builtin_ctzll(lower)
			  : 64 + (uint32_t)__builtin_ctzll(upper);
}

/* Of some lanes that are short, none of them special: a bit for the sign above the others. */
static struct extent
extent_of_short(const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	const uint32_t base = totals_base(totals, totals->digits);
	const struct total_bits bits = totals->kernel->bits(totals, first, end);

	if (bits.any == 0)
		return no_extent;
	return (struct extent){.lowest = base + lowest_bit(bits.any) / DIGIT_BITS,
		.end = base + bits_of(bits.span) / DIGIT_BITS + 1};
}

static struct extent
join(struct extent one, struct extent other)
{
	return (struct extent){.lowest = other.lowest < one.lowest ? other.lowest : one.lowest,
		.end = other.end > one.end ? other.end : one.end,
		.marks = one.marks | other.marks};
}

static bool
have_marks(const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	const uint8_t *marks = totals->marks;
	uint8_t any = 0;

	for (uint32_t lane = first; lane < end; lane++)
		any |= marks[lane] ^ AGGREGATE_MARK_MINUS_ZERO;
	return any != 0;
}

/* Of lanes from one on, up to before another. */
static struct extent
extent_of(const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	struct extent extent = no_extent;

	extent.marks = have_marks(totals, first, end);
	if (!extent.marks && totals_are_short(totals, first, end))
		return extent_of_short(totals, first, end);
	for (uint32_t lane = first; lane < end; lane++)
		extent = join(extent, extent_of_long(totals, lane));
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

/* Lanes looked at together: where they do not all fit, fewer of them are tried. */
#define DIVIDE_STEP 64

/* How many there may be in a part, if none of them needs more than those so far. */
static uint32_t
lanes_that_fit(struct extent extent, uint32_t bytes)
{
	return (bytes - AGGREGATE_PART_BYTES) / (4 * width_of(extent) + extent.marks);
}

unsigned int
aggregate_totals_divide(
	const struct aggregate_totals *totals, uint32_t bytes, uint16_t ends[AGGREGATE_MAX_PARTS])
{
	struct extent extent = no_extent;
	unsigned int parts = 0;
	uint32_t first = 0, step = DIVIDE_STEP;

	for (uint32_t lane = 0; lane < totals->count;) {
		const uint32_t left = totals->count - lane, some = step < left ? step : left;
		const struct extent with = join(extent, extent_of(totals, lane, lane + some));

		if (extent_bytes(with, lane + some - first) <= bytes) {
			extent = with;
			lane += some;
		} else if (first + lanes_that_fit(with, bytes) > lane) {
			step = first + lanes_that_fit(with, bytes) - lane;
		} else if (some > 1 && first + lanes_that_fit(extent, bytes) > lane) {
			step = some / 2;
		} else {
			if (lane == first || parts + 1 == AGGREGATE_MAX_PARTS)
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
	const struct extent widest = {.end = aggregate_total_digits(format) + 1, .marks = true};
	const uint32_t lane = (uint32_t)extent_bytes(widest, 1) - AGGREGATE_PART_BYTES;

	return bytes >= AGGREGATE_PART_BYTES + lane &&
		count <= (bytes - AGGREGATE_PART_BYTES) / lane * AGGREGATE_MAX_PARTS;
}

static uint8_t *
put_digit(uint8_t *at, uint32_t digit)
{
	digit = htobe32(digit);
	memcpy(at, &digit, sizeof(digit));
	return at + sizeof(digit);
}

static void
write_long(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes, uint32_t lowest,
	uint32_t width, uint8_t *at)
{
	struct lane_digits is;

	for (uint32_t lane = first; lane < first + lanes; lane++) {
		carry(totals, lane, &is);
		for (uint32_t d = lowest + width; d-- > lowest;)
			at = put_digit(at, d < is.lowest ? 0 : is.digits[d]);
	}
}

size_t
aggregate_totals_write_part(const struct aggregate_totals *totals, uint16_t first, uint16_t lanes,
	uint8_t number, uint8_t parts, uint8_t *into, size_t room)
{
	const struct extent extent = extent_of(totals, first, first + lanes);
	const uint32_t base = totals_base(totals, totals->digits), width = width_of(extent);
	const uint32_t lowest = extent.end == 0 ? base : extent.lowest;
	const struct part_wire wire = {.first = htobe16(first),
		.lanes = htobe16(lanes),
		.number = number,
		.parts = parts,
		.lowest = (uint8_t)(extent.end == 0 ? 0 : lowest),
		.width = (uint8_t)(width | (extent.marks ? HAS_MARKS : 0))};
	const size_t bytes = extent_bytes(extent, lanes);
	uint8_t *digits = into + sizeof(wire), *marks = digits + (size_t)lanes * 4 * width;

	if (bytes > room)
		return 0;
	memcpy(into, &wire, sizeof(wire));
	if (!extent.marks && totals_are_short(totals, first, first + lanes))
		totals->kernel->write(
			totals, first, lanes, DIGIT_BITS * (lowest - base), width, digits);
	else
		write_long(totals, first, lanes, wire.lowest, width, digits);
	for (uint32_t i = 0; extent.marks && i < lanes; i++)
		marks[i] = totals->marks[first + i] ^ AGGREGATE_MARK_MINUS_ZERO;
	return bytes;
}

size_t
aggregate_part_put_divisor(uint8_t *part, size_t bytes, uint32_t divisor)
{
	if (divisor == 0)
		return bytes;
	part[offsetof(struct part_wire, parts)] |= HAS_DIVISOR;
	put_digit(part + bytes, divisor);
	return bytes + AGGREGATE_DIVISOR_BYTES;
}
