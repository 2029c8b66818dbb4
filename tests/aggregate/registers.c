/* SPDX-License-Identifier: BSD-3-Clause */
#include "registers.h"

#include <endian.h>
#include <string.h>

#include <aggregate_registers.h>

#define TOP 0x40000000

/* What the value adds to each; 16 exponents are shifted by 0 to 14 places. */
static struct registers
part_of_fp16(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
	int sign = bits >> 15 ? -1 : 1;

	if (exponent == 31 && fraction != 0)
		return (struct registers){.high = 0x60000000};
	if (exponent == 31)
		return sign > 0 ? (struct registers){.high = TOP} : (struct registers){.low = TOP};
	if (exponent >= 16)
		return (struct registers){.high = sign * ((1024 + fraction) << (exponent - 16))};
	if (exponent >= 1)
		return (struct registers){.low = sign * ((1024 + fraction) << (exponent - 1))};
	return (struct registers){.low = bits == 0x8000 ? INT32_MIN : sign * fraction};
}

/* Multiples of 2^-9; the two NaN have all bits but the sign. */
static struct registers
part_of_fp8_e4m3(uint8_t bits)
{
	int exponent = bits >> 3 & 15, fraction = bits & 7;
	int sign = bits >> 7 ? -1 : 1;

	if ((bits & 0x7f) == 0x7f)
		return (struct registers){.low = 0x60000000};
	if (exponent >= 1)
		return (struct registers){.low = sign * ((8 + fraction) << (exponent - 1))};
	return (struct registers){.low = bits == 0x80 ? INT32_MIN : sign * fraction};
}

static struct registers
part_of(enum aggregate_format format, uint32_t bits)
{
	switch (format) {
	case AGGREGATE_INT32:
		return (struct registers){(int32_t)(bits & 0xffff), (int32_t)bits >> 16};
	case AGGREGATE_FP8_E4M3:
		return part_of_fp8_e4m3((uint8_t)bits);
	default:
		return part_of_fp16((uint16_t)bits);
	}
}

static void
add(int32_t *value, int32_t part)
{
	if (part == INT32_MIN)
		return; /* -0 */
	if (part >= TOP)
		*value = part > *value ? part : *value;
	else if (*value == INT32_MIN)
		*value = part;
	else if (*value < TOP)
		*value += part;
}

void
registers_add(struct registers *lane, enum aggregate_format format, uint32_t bits, bool first)
{
	struct registers part = part_of(format, bits);

	if (first) {
		*lane = part;
	} else {
		add(&lane->low, part.low);
		add(&lane->high, part.high);
	}
}

void
registers_write(const struct registers *lane, enum aggregate_format format, uint8_t *bytes)
{
	uint32_t words[2] = {htobe32((uint32_t)lane->low), htobe32((uint32_t)lane->high)};

	memcpy(bytes, words, aggregate_registers_bytes(format));
}
