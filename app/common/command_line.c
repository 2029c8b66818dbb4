/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <string.h>

#include "command_line.h"

static enum options_result
answer_help(const struct command_line *line)
{
	line->print_usage(stdout);
	return OPTIONS_DONE;
}

static enum options_result
answer_version(const struct command_line *line)
{
	printf("%s %s\n", line->program, line->version);
	return OPTIONS_DONE;
}

/* Before the "--", only --help and --version are the program's. */
static enum options_result
answer_without_eal(const struct command_line *line, int eal_argc, char **argv)
{
	for (int i = 1; i < eal_argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return answer_help(line);
		if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-v") == 0)
			return answer_version(line);
	}
	return OPTIONS_RUN;
}

static int
is_option(const char *argument, const char *name)
{
	size_t length = strlen(name);

	return strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, name, length) == 0 &&
		(argument[2 + length] == '\0' || argument[2 + length] == '=');
}

/* An option of the program that stands before the "--" would only puzzle the EAL. */
static int
refuse_own_before_dashes(const struct command_line *line, int eal_argc, char **argv)
{
	for (int i = 1; i < eal_argc; i++) {
		for (const struct option *known = line->options; known->name != NULL; known++) {
			if (!is_option(argv[i], known->name))
				continue;
			fprintf(stderr,
				"%s: %s belongs behind the EAL options and a \"--\": %s [EAL options] "
				"-- %s\n",
				line->program, argv[i], line->program, argv[i]);
			return -1;
		}
	}
	return 0;
}

/* The value of an option that may have one may stand behind it, too: --option VALUE. */
static const char *
value_behind(const struct command_line *line, int id, int argc, char **argv)
{
	for (const struct option *known = line->options; known->name != NULL; known++) {
		if (known->val == id && known->has_arg == optional_argument && optind < argc &&
			argv[optind][0] != '-')
			return argv[optind++];
	}
	return NULL;
}

/* The program's arguments: --help and --version win over anything wrong that comes after them. */
static enum options_result
parse_own(const struct command_line *line, int argc, char **argv)
{
	const char *value;
	int id;

	optind = 1;
	while ((id = getopt_long(argc, argv, "", line->options, NULL)) != -1) {
		if (id == OPTION_HELP)
			return answer_help(line);
		if (id == OPTION_VERSION)
			return answer_version(line);
		/* What getopt_long() does not know it has complained about. */
		if (id < OPTION_OWN)
			return OPTIONS_WRONG;
		value = optarg != NULL ? optarg : value_behind(line, id, argc, argv);
		if (line->take(id, value, line->arg) != 0)
			return OPTIONS_WRONG;
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", line->program, argv[optind]);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

enum options_result
command_line_parse(const struct command_line *line, int argc, char **argv, int *eal_argc)
{
	enum options_result result;
	int dashes = 1;

	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	*eal_argc = dashes < argc ? dashes : argc;
	result = answer_without_eal(line, *eal_argc, argv);
	if (result != OPTIONS_RUN)
		return result;
	if (refuse_own_before_dashes(line, *eal_argc, argv) != 0)
		return OPTIONS_WRONG;
	if (dashes >= argc)
		return OPTIONS_RUN;
	/* getopt_long() names the program when it complains. */
	argv[dashes] = (char *)(uintptr_t)line->program;
	result = parse_own(line, argc - dashes, argv + dashes);
	if (result == OPTIONS_WRONG)
		fprintf(stderr, "Try '%s --help'.\n", line->program);
	return result;
}
