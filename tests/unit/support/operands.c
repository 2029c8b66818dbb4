/* SPDX-License-Identifier: BSD-3-Clause */
#include "operands.h"

#include "naive.h"

/* Append the magnitudes from first to last, with both signs. */
static unsigned
append(const struct netfc_format *format, uint16_t *operands, unsigned count, uint32_t first,
	uint32_t last)
{
	for (uint32_t magnitude = first; magnitude <= last; magnitude++) {
		uint16_t bits = (uint16_t)magnitude;

		operands[count++] = bits;
		operands[count++] = netfc_format_is_posit(format) ? (uint16_t)-bits : bits | 0x8000;
	}
	return count;
}

unsigned
edge_operands(const struct netfc_format *format, uint16_t operands[OPERANDS_MAX])
{
	uint16_t one = naive_encode(format, 1), two = naive_encode(format, 2);
	uint32_t end = naive_end(format);
	unsigned count = append(format, operands, 0, 0, 2);

	count = append(format, operands, count, one - 1u, one + 1u);
	count = append(format, operands, count, two - 1u, two);
	count = append(format, operands, count, end - 2, end - 1);
	if (netfc_format_is_posit(format)) {
		operands[count++] = 0x8000;
		return count;
	}
	count = append(format, operands, count, end, end + 1);
	count = append(format, operands, count, 0x7fff, 0x7fff);
	return append(format, operands, count, end == 0x7c00 ? 0x3ff : 0x7f,
		end == 0x7c00 ? 0x400 : 0x80);
}
