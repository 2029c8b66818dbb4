/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "json/number_json.h"
#include "show/encoding_json.h"

json_t *
encoding_json(const struct netfc_format *format, uint32_t bits)
{
	double value = netfc_decode(format, bits);

	if (netfc_format_width(format) == 16)
		return number_json(format, (uint16_t)bits);
	if (isnan(value))
		return json_string("nan");
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}
