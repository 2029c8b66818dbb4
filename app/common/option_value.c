/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "option_value.h"

#define EXPECTED_SIZE 96
#define EXPECTED_PAIRS "KEY=VALUE[,KEY=VALUE...]"

int
option_refuse(FILE *errors, const char *option, const char *text, const char *expected)
{
	fprintf(errors, "%s: --%s '%s': expected %s\n", program_invocation_short_name, option, text,
		expected);
	return -1;
}

int
option_text(FILE *errors, const char *option, const char *text, const char **value)
{
	if (text[0] == '\0')
		return option_refuse(errors, option, text, "a name");
	*value = text;
	return 0;
}

int
option_u64(FILE *errors, const char *option, const char *text, uint64_t least, uint64_t greatest,
	uint64_t *value)
{
	char expected[EXPECTED_SIZE], *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *value >= least &&
		*value <= greatest)
		return 0;
	snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, least,
		greatest);
	return option_refuse(errors, option, text, expected);
}

int
option_u32(FILE *errors, const char *option, const char *text, uint32_t least, uint32_t greatest,
	uint32_t *value)
{
	uint64_t number;

	if (option_u64(errors, option, text, least, greatest, &number) != 0)
		return -1;
	*value = (uint32_t)number;
	return 0;
}

int
option_u16(FILE *errors, const char *option, const char *text, uint16_t least, uint16_t greatest,
	uint16_t *value)
{
	uint32_t number;

	if (option_u32(errors, option, text, least, greatest, &number) != 0)
		return -1;
	*value = (uint16_t)number;
	return 0;
}

int
option_real(FILE *errors, const char *option, const char *text, double least, double greatest,
	double *value)
{
	char expected[EXPECTED_SIZE], *end;

	*value = strtod(text, &end);
	if (isdigit((unsigned char)text[0]) && strpbrk(text, "xX") == NULL && *end == '\0' &&
		*value >= least && *value <= greatest)
		return 0;
	snprintf(expected, sizeof(expected), "a decimal number from %g to %g", least, greatest);
	return option_refuse(errors, option, text, expected);
}

/* "a, b or c" */
static void
write_alternatives(char *text, size_t size, const char *const *names, unsigned int count)
{
	size_t length = 0;

	for (unsigned int n = 0; n < count && length < size; n++) {
		const char *separator = n == 0 ? "" : n + 1 < count ? ", " : " or ";

		length +=
			(size_t)snprintf(text + length, size - length, "%s%s", separator, names[n]);
	}
}

int
option_name(FILE *errors, const char *option, const char *text, const char *const *names,
	unsigned int count, unsigned int *value)
{
	char expected[EXPECTED_SIZE];

	for (unsigned int n = 0; n < count; n++) {
		if (strcmp(text, names[n]) == 0) {
			*value = n;
			return 0;
		}
	}
	write_alternatives(expected, sizeof(expected), names, count);
	return option_refuse(errors, option, text, expected);
}

static int
take_pairs(FILE *errors, const char *option, char *list, option_take_pair take, void *options)
{
	char *pair, *value;

	while ((pair = strsep(&list, ",")) != NULL) {
		value = strchr(pair, '=');
		if (value == NULL)
			return option_refuse(errors, option, pair, EXPECTED_PAIRS);
		*value++ = '\0';
		if (take(pair, value, options, errors) != 0)
			return -1;
	}
	return 0;
}

int
option_pairs(
	FILE *errors, const char *option, const char *text, option_take_pair take, void *options)
{
	char *list;
	int status;

	if (text[0] == '\0')
		return option_refuse(errors, option, text, EXPECTED_PAIRS);
	list = strdup(text);
	if (list == NULL) {
		fprintf(errors, "%s: --%s: out of memory\n", program_invocation_short_name, option);
		return -1;
	}
	status = take_pairs(errors, option, list, take, options);
	free(list);
	return status;
}

int
option_match(FILE *errors, const char *text, bool tables_only, enum match_kind *value)
{
	*value = match_kind_by_name(text);
	if (*value != MATCH_KINDS && !(tables_only && *value == MATCH_FPU))
		return 0;
	return option_refuse(errors, "match", text,
		tables_only ? "lpm, hash or direct" : "lpm, hash, direct or fpu");
}

static int
refuse_set(FILE *errors, const char *text, const char *why, const char *hint)
{
	fprintf(errors, "%s: --set '%s': %s%s\n", program_invocation_short_name, text, why, hint);
	return -1;
}

int
option_set(FILE *errors, const char *text, const char **value)
{
	struct netfc_set_id id;
	int error = netfc_set_parse_name(text, &id);

	*value = text;
	if (error != NETFC_OK)
		return refuse_set(errors, text, netfc_strerror(error),
			"; 'netfc-tables list' names all sets");
	return 0;
}

int
option_build_set(FILE *errors, const char *name, struct netfc_set **set)
{
	const char *checked;
	int error;

	if (option_set(errors, name, &checked) != 0)
		return -1;
	error = netfc_set_build(name, set);
	return error == NETFC_OK ? 0 : refuse_set(errors, name, netfc_strerror(error), "");
}
