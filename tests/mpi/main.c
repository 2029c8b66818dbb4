/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the check that is named. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

/*
 * Ranks in turn are on the nodes that NETFC_TEST_NODES names, "NAMESPACE=SWITCH ...": in network
 * namespaces of one machine, so that MPI's own messages need no network.
 */
static void
go_to_node(char *nodes)
{
	char *names[64], path[256];
	int count = 0, file;

	for (char *name = strtok(nodes, " "); name != NULL; name = strtok(NULL, " "))
		names[count++] = name;
	CHECK(count > 0);
	snprintf(path, sizeof(path), "/run/netns/%s", strtok(names[rank % count], "="));
	setenv("NETFC_SWITCH", strtok(NULL, "="), 1);
	file = open(path, O_RDONLY);
	CHECK(setns(file, CLONE_NEWNET) == 0);
	close(file);
}

int
main(int argc, char *argv[])
{
	static const struct check checks[] = {
#define CHECK_ROW(name) {#name, check_##name},
		CHECKS(CHECK_ROW)
#undef CHECK_ROW
	};
	int provided, found = 0;

	MPI_Init_thread(&argc, &argv,
		argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE
							    : MPI_THREAD_SINGLE,
		&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (getenv("NETFC_TEST_NODES") != NULL)
		go_to_node(getenv("NETFC_TEST_NODES"));
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (argc == 2 && strcmp(argv[1], checks[i].name) == 0) {
			checks[i].run();
			found = 1;
		}
	}
	MPI_Finalize();
	if (!found)
		fprintf(stderr, "%s: give the name of a check\n", argv[0]);
	return !found;
}
