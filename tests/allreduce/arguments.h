/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

/** @file The command line of a program: options, each for one variable. */

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* `--name VALUE`, for the variable that is not NULL; of `off`: `--name` clears it. */
struct argument {
	const char *name;
	unsigned int *number;
	double *share;
	const char **text;
	bool *off;
};

#define MAX_ARGUMENTS 16

/* Read all, up to the one without a name. False: there is another, or one that is no option. */
static inline bool
read_arguments(int argc, char **argv, const struct argument *arguments)
{
	struct option options[MAX_ARGUMENTS + 1] = {0};
	int i;

	for (i = 0; arguments[i].name != NULL; i++)
		options[i] = (struct option){arguments[i].name,
			arguments[i].off != NULL ? no_argument : required_argument, NULL, i};
	while ((i = getopt_long(argc, argv, "", options, NULL)) != -1) {
		const struct argument *argument = &arguments[i];

		if (i == '?')
			return false;
		if (argument->number != NULL)
			*argument->number = (unsigned int)strtoul(optarg, NULL, 10);
		else if (argument->share != NULL)
			*argument->share = strtod(optarg, NULL);
		else if (argument->text != NULL)
			*argument->text = optarg;
		else
			*argument->off = false;
	}
	return optind == argc;
}

#endif /* ARGUMENTS_H */
