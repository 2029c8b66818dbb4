/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the check that is named. */
#include <stdio.h>
#include <string.h>

#include "support.h"

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
