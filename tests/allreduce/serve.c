/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server as a program, behind a bad network if asked for, for tests in other languages.
 * Prints the UDP port to send to; ends when its standard input does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "network.h"

int
main(int argc, char **argv)
{
	struct server_options options = server_defaults;
	struct relay_options bad = {.delay_us = 1000};
	unsigned int parent = 0, port = 0, seed = 0;
	const struct argument arguments[] = {
		{"address", .text = &options.address},
		{"bytes", .number = &options.bytes},
		{"delayed", .share = &bad.delayed},
		{"idle-ms", .number = &options.idle_ms},
		{"lost", .share = &bad.lost},
		{"parent", .number = &parent},
		{"port", .number = &port},
		{"repeated", .share = &bad.repeated},
		{"seed", .number = &seed},
		{"shards", .number = &options.shards},
		{"slots", .number = &options.slots},
		{"stall-ms", .number = &options.stall_ms},
		{0},
	};
	struct network network;
	char byte;

	if (!read_arguments(argc, argv, arguments))
		return 1;
	options.port = (uint16_t)port;
	options.parent = (uint16_t)parent;
	bad.server = options.address;
	bad.seed = seed;
	network = network_start(
		&options, bad.lost > 0 || bad.repeated > 0 || bad.delayed > 0 ? &bad : NULL);
	printf("%u\n", network.place.ports[0]);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	network_stop(&network);
	return 0;
}
