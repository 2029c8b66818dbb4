/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: arguments behind each other, separated by newlines. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options/options.h"

#define MAX_ARGUMENTS 64

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void
check(const struct options *options, int eal_argc, int argc)
{
	FUZZ_CHECK(eal_argc >= 1 && eal_argc <= argc);
	FUZZ_CHECK(options->tables != NULL && options->tables[0] != '\0');
	FUZZ_CHECK(options->match < MATCH_KINDS);
	FUZZ_CHECK(options->forward <= FORWARD_BRIDGE);
	FUZZ_CHECK(options->udp_port != 0 && options->stations != 0 && options->ageing_s != 0);
	FUZZ_CHECK(options->addresses.count <= MAX_ADDRESSES);
	for (unsigned int a = 0; a < options->addresses.count; a++) {
		char text[64];

		address_print(&options->addresses.address[a], text, sizeof(text));
		FUZZ_CHECK(strlen(text) < sizeof(text) - 1);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char program[] = "dpdk-netfc";
	char *text = malloc(size + 1), *rest = text, *argv[MAX_ARGUMENTS + 1] = {program};
	struct options options;
	int argc = 1, eal_argc;

	FUZZ_CHECK(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	while (argc < MAX_ARGUMENTS && rest != NULL)
		argv[argc++] = strsep(&rest, "\n");
	if (options_parse(argc, argv, &options, &eal_argc) == OPTIONS_RUN)
		check(&options, eal_argc, argc);
	free(text);
	return 0;
}
