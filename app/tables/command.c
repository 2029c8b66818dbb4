/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command.h"

void
report_error(const char *what, ...)
{
	va_list args;

	fputs("netfc-tables: ", stderr);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	fputc('\n', stderr);
}

static const char *
long_name(const struct option *options, int letter)
{
	while (options->name != NULL && options->val != letter)
		options++;
	return options->name;
}

int
next_option(const struct command *command, int argc, char **argv, const char *letters,
	const struct option *options)
{
	int option;
	const char *known;

	opterr = 0;
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == 'h')
		fputs(command->help, stdout);
	if (option != '?' && option != ':')
		return option;
	known = long_name(options, optopt);
	if (option == ':')
		report_error("%s: --%s needs a value", command->name, known);
	else if (optopt == 0)
		report_error("%s: unknown option %s", command->name, argv[optind - 1]);
	else if (known != NULL)
		report_error("%s: --%s takes no value", command->name, known);
	else
		report_error("%s: unknown option -%c", command->name, optopt);
	report_error("see netfc-tables %s --help", command->name);
	return '?';
}

int
option_status(int option)
{
	return option == 'h' ? STATUS_DONE : STATUS_INPUT;
}

/* What getopt_long() gives for a flag: its letter, or a value that no letter has. */
static int
flag_value(const struct flag *flags, unsigned f)
{
	return flags[f].letter != 0 ? flags[f].letter : UCHAR_MAX + 1 + (int)f;
}

int
take_flags(const struct command *command, int argc, char **argv, const struct flag *flags)
{
	struct option longs[MAX_FLAGS + 2] = {{"help", no_argument, NULL, 'h'}};
	char letters[MAX_FLAGS + 3] = ":h", *letter = letters + strlen(letters);
	unsigned count;
	int option;

	for (count = 0; count < MAX_FLAGS && flags[count].name != NULL; count++) {
		longs[count + 1] = (struct option){
			flags[count].name, no_argument, NULL, flag_value(flags, count)};
		if (flags[count].letter != 0)
			*letter++ = (char)flags[count].letter;
	}
	while ((option = next_option(command, argc, argv, letters, longs)) != NO_MORE_OPTIONS) {
		if (option == 'h' || option == '?')
			return option_status(option);
		for (unsigned f = 0; f < count; f++) {
			if (option == flag_value(flags, f))
				*flags[f].given = true;
		}
	}
	return NO_MORE_OPTIONS;
}

static bool
is_negative_number(const char *argument)
{
	const char *number = argument + 1;

	return argument[0] == '-' &&
		(isdigit((unsigned char)*number) || *number == '.' ||
			strncasecmp(number, "inf", 3) == 0 || strncasecmp(number, "nan", 3) == 0);
}

static bool
is_option(const char *argument)
{
	return argument[0] == '-' && argument[1] != '\0' && !is_negative_number(argument);
}

int
options_first(int argc, char **argv)
{
	int options = 1;

	for (int a = 1; a < argc; a++) {
		char *argument = argv[a];
		bool last = strcmp(argument, "--") == 0;

		if (!is_option(argument))
			continue;
		memmove(&argv[options + 1], &argv[options], (size_t)(a - options) * sizeof(*argv));
		argv[options++] = argument;
		if (last)
			break;
	}
	return options;
}

int
wrong_operands(const struct command *command, const char *what)
{
	report_error("%s: %s; see netfc-tables %s --help", command->name, what, command->name);
	return STATUS_INPUT;
}

int
print_json(json_t *value)
{
	int failed;

	if (value == NULL) {
		report_error("out of memory");
		return STATUS_FAILED;
	}
	failed = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(value);
	if (failed)
		report_error("cannot write JSON to standard output: %s", strerror(errno));
	return failed ? STATUS_FAILED : STATUS_DONE;
}

const char *
grouped(unsigned long long number, char *text)
{
	char digits[GROUPED_SIZE];
	int length = snprintf(digits, sizeof(digits), "%llu", number);
	char *at = text;

	for (int d = 0; d < length; d++) {
		if (d > 0 && (length - d) % 3 == 0)
			*at++ = ',';
		*at++ = digits[d];
	}
	*at = '\0';
	return text;
}
