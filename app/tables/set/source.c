/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "command.h"
#include "set/set.h"

static void
list_known_sets(void)
{
	const struct netfc_format *format;
	char name[NETFC_SET_NAME_SIZE];
	struct netfc_set_id id;

	fputs("Known table sets, k being a power of two; put _floor after a name for the set that "
	      "rounds down:\n",
		stderr);
	NETFC_FOREACH_FORMAT (format) {
		if (netfc_format_max_scale(format) == 0)
			continue;
		fprintf(stderr, "  %s_k1 .. %s_k%u\n", netfc_format_name(format),
			netfc_format_name(format), netfc_format_max_scale(format));
	}
	fputs("Correctly rounded ones:\n", stderr);
	for (unsigned n = 0; netfc_set_known_name(n, name); n++) {
		if (netfc_set_parse_name(name, &id) == NETFC_OK && id.family != NETFC_FAMILY_LOG)
			fprintf(stderr, "  %s\n", name);
	}
}

int
build_set(const char *name, struct netfc_set **set)
{
	int error = netfc_set_build(name, set);

	if (error == NETFC_OK)
		return STATUS_DONE;
	if (error == NETFC_ERR_NOMEM || error == NETFC_ERR_PRECISION)
		return report_error(
			STATUS_FAILED, "cannot build %s: %s", name, netfc_strerror(error));
	report_error(STATUS_INPUT, "no table set '%s': %s", name, netfc_strerror(error));
	list_known_sets();
	return STATUS_INPUT;
}

const char *
load_error(int error)
{
	return error == NETFC_ERR_IO ? strerror(errno) : netfc_strerror(error);
}

static bool
is_damage(int error)
{
	return error == NETFC_ERR_TRUNCATED || error == NETFC_ERR_TRAILING ||
		error == NETFC_ERR_CHECKSUM || error == NETFC_ERR_CONTENT ||
		error == NETFC_ERR_ORDER;
}

int
open_set(const char *operand, struct netfc_set **set)
{
	int error;

	if (!is_path(operand, NETFC_FILE_SUFFIX))
		return build_set(operand, set);
	error = netfc_set_load(operand, set);
	if (error == NETFC_OK)
		return STATUS_DONE;
	return report_error(error == NETFC_ERR_NOMEM ? STATUS_FAILED : STATUS_INPUT,
		"cannot load %s: %s%s", operand, load_error(error),
		is_damage(error) ? "; make a new one with netfc-tables build" : "");
}

json_t *
scale_json(unsigned scale)
{
	return scale != 0 ? json_integer(scale) : json_null();
}

const char *
rounding_name(enum netfc_rounding rounding)
{
	return rounding == NETFC_FLOOR ? "floor" : "nearest";
}
