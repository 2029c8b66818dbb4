/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the checks that are named, and says where each begins and ends. */
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

/*
 * Ranks in turn are on the nodes that NETFC_TEST_NODES names, "NAMESPACE=SWITCH ...", or "NAMESPACE
 * ..." where there is none: in network namespaces of one machine, so that MPI's own messages need
 * no network.
 */
static void
go_to_node(char *nodes)
{
	char *names[64], path[256], *address;
	int count = 0, file;

	for (char *name = strtok(nodes, " "); name != NULL; name = strtok(NULL, " "))
		names[count++] = name;
	CHECK(count > 0);
	snprintf(path, sizeof(path), "/run/netns/%s", strtok(names[rank % count], "="));
	address = strtok(NULL, "=");
	if (address != NULL)
		setenv("NETFC_SWITCH", address, 1);
	file = open(path, O_RDONLY);
	CHECK(setns(file, CLONE_NEWNET) == 0);
	close(file);
}

/* The first in MPI_COMM_WORLD itself, where nothing has been reduced before. */
static void
run(const struct check *check, bool first)
{
	if (rank == 0) /* before any rank is in it */
		fprintf(stderr, "check %s\n", check->name);
	world = MPI_COMM_WORLD;
	if (!first)
		MPI_Comm_dup(MPI_COMM_WORLD, &world);
	check->run();
	if (!first)
		MPI_Comm_free(&world);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		fprintf(stderr, "check %s: done\n", check->name);
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

	setlocale(LC_ALL, ""); /* as many programs do, and the library must not mind */
	MPI_Init_thread(&argc, &argv,
		argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE
							    : MPI_THREAD_SINGLE,
		&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (getenv("NETFC_TEST_NODES") != NULL)
		go_to_node(getenv("NETFC_TEST_NODES"));
	for (int i = 1; i < argc; i++) {
		for (size_t c = 0; c < sizeof(checks) / sizeof(checks[0]); c++) {
			if (strcmp(argv[i], checks[c].name) == 0) {
				run(&checks[c], i == 1);
				found++;
			}
		}
	}
	MPI_Finalize();
	return found != argc - 1;
}
