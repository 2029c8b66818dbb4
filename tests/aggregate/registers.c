/* SPDX-License-Identifier: BSD-3-Clause */
#include "registers.h"

#include <endian.h>
#include <string.h>

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
	struct registers part = format == AGGREGATE_INT32
		? (struct registers){(int32_t)(bits & 0xffff), (int32_t)bits >> 16}
		: part_of_fp16((uint16_t)bits);

	if (first) {
		*lane = part;
	} else {
		add(&lane->low, part.low);
		add(&lane->high, part.high);
	}
}

void
registers_write(const struct registers *lane, uint8_t *bytes)
{
	uint32_t words[2] = {htobe32((uint32_t)lane->low), htobe32((uint32_t)lane->high)};

	memcpy(bytes, words, sizeof(words));
}
