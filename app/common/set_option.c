/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "option.h"
#include "set_option.h"

int
option_match(FILE *errors, const char *option, const char *text, void *field)
{
	enum match_kind *kind = field;

	*kind = match_kind_by_name(text);
	return *kind != MATCH_KINDS
		? 0
		: option_refuse(errors, option, text, "lpm, hash, direct or fpu");
}

static int
refuse_set(FILE *errors, const char *option, const char *text, const char *why, const char *hint)
{
	fprintf(errors, "%s: --%s '%s': %s%s\n", program_invocation_short_name, option, text, why,
		hint);
	return -1;
}

int
option_set(FILE *errors, const char *option, const char *text, void *field)
{
	struct netfc_set_id id;
	int error = netfc_set_parse_name(text, &id);

	*(const char **)field = text;
	if (error != NETFC_OK)
		return refuse_set(errors, option, text, netfc_strerror(error),
			"; 'netfc-tables list' names all sets");
	return 0;
}

int
option_build_set(FILE *errors, const char *name, struct netfc_set **set)
{
	const char *checked;
	int error;

	if (option_set(errors, "set", name, &checked) != 0)
		return -1;
	error = netfc_set_build(name, set);
	return error == NETFC_OK ? 0 : refuse_set(errors, "set", name, netfc_strerror(error), "");
}
