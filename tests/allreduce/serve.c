/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server as a program, behind a bad network if asked for, for tests in other languages.
 * Prints the UDP port to send to; ends when its standard input does.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "relay.h"
#include "server.h"

static const struct option long_options[] = {
	{"address", required_argument, NULL, 'a'},
	{"bytes", required_argument, NULL, 'b'},
	{"delayed", required_argument, NULL, 'd'},
	{"idle-ms", required_argument, NULL, 'i'},
	{"lost", required_argument, NULL, 'l'},
	{"parent", required_argument, NULL, 'u'},
	{"port", required_argument, NULL, 'p'},
	{"repeated", required_argument, NULL, 'r'},
	{"seed", required_argument, NULL, 'e'},
	{"shards", required_argument, NULL, 's'},
	{"slots", required_argument, NULL, 'n'},
	{"stall-ms", required_argument, NULL, 't'},
	{NULL, 0, NULL, 0},
};

static unsigned int
number(const char *text)
{
	return (unsigned int)strtoul(text, NULL, 10);
}

static bool
read_options(int argc, char **argv, struct server_options *server, struct relay_options *relay)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'a':
			server->address = relay->server = optarg;
			break;
		case 'b':
			server->bytes = number(optarg);
			break;
		case 'd':
			relay->delayed = strtod(optarg, NULL);
			break;
		case 'e':
			relay->seed = number(optarg);
			break;
		case 'i':
			server->idle_ms = number(optarg);
			break;
		case 'l':
			relay->lost = strtod(optarg, NULL);
			break;
		case 'n':
			server->slots = number(optarg);
			break;
		case 'p':
			server->port = (uint16_t)number(optarg);
			break;
		case 'r':
			relay->repeated = strtod(optarg, NULL);
			break;
		case 's':
			server->shards = relay->shards = number(optarg);
			break;
		case 't':
			server->stall_ms = number(optarg);
			break;
		case 'u':
			server->parent = (uint16_t)number(optarg);
			break;
		default:
			return false;
		}
	}
	return optind == argc;
}

int
main(int argc, char **argv)
{
	struct server_options options = server_defaults;
	struct relay_options bad = {.shards = 1, .delay_us = 1000};
	struct server *server;
	struct relay *relay = NULL;
	char byte;

	if (!read_options(argc, argv, &options, &bad))
		return 1;
	server = server_start(&options);
	if (server == NULL)
		return 1;
	bad.to = server_port(server);
	if (bad.lost > 0 || bad.repeated > 0 || bad.delayed > 0) {
		relay = relay_start(&bad);
		if (relay == NULL)
			return 1;
	}
	printf("%u\n", relay == NULL ? server_port(server) : relay_port(relay));
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	if (relay != NULL)
		relay_stop(relay);
	server_stop(server);
	return 0;
}
