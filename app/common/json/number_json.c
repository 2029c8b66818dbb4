/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "json/number_json.h"
#include "number.h"

json_t *
number_json(const struct netfc_format *format, uint16_t bits)
{
	double value = netfc_decode(format, bits);

	if (isnan(value))
		return json_string(netfc_format_is_posit(format) ? "nar" : "nan");
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}

json_t *
bits_json(uint32_t bits, int digits)
{
	return json_sprintf("0x%0*x", digits, (unsigned)bits);
}

json_t *
flags_json(uint8_t flags)
{
	json_t *names = json_array();

	for (unsigned flag = NETFC_INVALID; flag <= NETFC_UNDERFLOW; flag <<= 1) {
		if (flags & flag)
			json_array_append_new(names, json_string(flag_name((enum netfc_flag)flag)));
	}
	return names;
}
