/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "number_table.h"

static void
fill_one(struct number_table *table, uint16_t bits)
{
	const struct netfc_format *format = table->format;
	int32_t magnitude = netfc_magnitude(format, bits);
	double value = netfc_decode(format, bits);

	table->value[bits] = value;
	table->class[bits] = (uint8_t)netfc_classify(format, bits);
	table->ordinal[bits] = netfc_is_negative(format, bits) ? -magnitude : magnitude;
	if (table->class[bits] == NETFC_NAN)
		table->ordinal[bits] = NO_ORDINAL;
	if (table->class[bits] == NETFC_FINITE)
		table->exponent[bits] = (int16_t)ilogb(value);
	table->decimal[bits] = fabs(value) < 1;
}

void
number_table_fill(struct number_table *table, const struct netfc_format *format)
{
	table->format = format;
	for (uint32_t bits = 0; bits < ENCODINGS; bits++)
		fill_one(table, (uint16_t)bits);
}
