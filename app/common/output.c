/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "descriptors.h"
#include "output.h"

#define FAILED 2

void
output_start(void)
{
	descriptors_occupy_standard();
	signal(SIGPIPE, SIG_IGN);
}

int
output_finish(const char *program, int status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	/* Whoever has failed has said why. */
	if (status != FAILED)
		fprintf(stderr, "%s: cannot write to standard output: %s\n", program,
			errno != 0 ? strerror(errno) : "some of it is lost");
	return FAILED;
}
