/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "aggregate_digits.h"

#define DIGIT_BITS 32

/* As it stands on the wire. */
struct part_wire {
	uint16_t first, lanes;
	uint8_t number, parts, lowest, width;
} __attribute__((packed));

/* Of the width: behind the digits there are marks. */
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

static void
add_lane(int64_t *bins, const uint8_t *digits, uint32_t width)
{
	bins[width - 1] += (int32_t)digit_at(digits, 0);
	for (uint32_t d = 1; d < width; d++)
		bins[width - 1 - d] += digit_at(digits, d);
}

void
aggregate_totals_add_part(struct aggregate_totals *totals, const struct aggregate_part *part)
{
	const uint32_t all = aggregate_total_digits(totals->format);

	for (uint32_t i = 0; i < part->lanes; i++) {
		const uint32_t lane = part->first + i;
		const uint8_t marks = part->marks != NULL ? part->marks[i] : 0;

		add_lane(totals->bins + (size_t)lane * all + part->lowest,
			part->digits + (size_t)i * 4 * part->width, part->width);
		totals->marks[lane] |= (marks ^ AGGREGATE_MARK_MINUS_ZERO) & 0xf;
	}
}

/* A lane's total as digits, and one more above them: what is above that is sign. */
static void
carry(const int64_t *bins, uint32_t count, uint32_t *digits)
{
	int64_t sum = 0;

	for (uint32_t b = 0; b < count; b++) {
		sum += bins[b];
		digits[b] = (uint32_t)sum;
		sum >>= DIGIT_BITS;
	}
	digits[count] = (uint32_t)sum;
}

/* The lanes' digits that are more than sign, from `lowest` on. */
struct extent {
	uint32_t lowest, end;
	bool marks;
};

static void
extend(struct extent *extent, const uint32_t *digits, uint32_t count)
{
	const uint32_t sign = -(digits[count - 1] >> 31);
	uint32_t end = count, lowest = 0;

	while (end > 1 && digits[end - 1] == sign && digits[end - 2] >> 31 == (sign & 1))
		end--;
	while (lowest + 1 < end && digits[lowest] == 0)
		lowest++;
	/* A zero goes with any. */
	if (end == 1 && digits[0] == 0)
		return;
	extent->lowest = lowest < extent->lowest ? lowest : extent->lowest;
	extent->end = end > extent->end ? end : extent->end;
}

static struct extent
extent_of(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes)
{
	const uint32_t all = aggregate_total_digits(totals->format);
	struct extent extent = {UINT32_MAX, 0, false};
	uint32_t digits[AGGREGATE_MOST_DIGITS + 1];

	for (uint32_t lane = first; lane < first + lanes; lane++) {
		carry(totals->bins + (size_t)lane * all, all, digits);
		extend(&extent, digits, all + 1);
		extent.marks |= totals->marks[lane] != AGGREGATE_MARK_MINUS_ZERO;
	}
	if (extent.end == 0)
		extent.lowest = 0, extent.end = 1;
	return extent;
}

size_t
aggregate_totals_write_part(const struct aggregate_totals *totals, uint16_t first, uint16_t lanes,
	uint8_t number, uint8_t parts, uint8_t *into, size_t room)
{
	const uint32_t all = aggregate_total_digits(totals->format);
	const struct extent extent = extent_of(totals, first, lanes);
	const uint32_t width = extent.end - extent.lowest;
	const struct part_wire wire = {.first = htobe16(first),
		.lanes = htobe16(lanes),
		.number = number,
		.parts = parts,
		.lowest = (uint8_t)extent.lowest,
		.width = (uint8_t)(width | (extent.marks ? HAS_MARKS : 0))};
	const size_t bytes = sizeof(wire) + (size_t)lanes * (4 * width + extent.marks);
	uint32_t digits[AGGREGATE_MOST_DIGITS + 1];
	uint8_t *at = into + sizeof(wire);

	if (bytes > room)
		return 0;
	memcpy(into, &wire, sizeof(wire));
	for (uint32_t lane = first; lane < (uint32_t)first + lanes; lane++) {
		carry(totals->bins + (size_t)lane * all, all, digits);
		for (uint32_t d = extent.end; d-- > extent.lowest; at += sizeof(uint32_t)) {
			uint32_t digit = htobe32(digits[d]);

			memcpy(at, &digit, sizeof(digit));
		}
	}
	for (uint32_t i = 0; extent.marks && i < lanes; i++)
		*at++ = totals->marks[first + i] ^ AGGREGATE_MARK_MINUS_ZERO;
	return bytes;
}
