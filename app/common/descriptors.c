/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>

#include "descriptors.h"

void
descriptors_occupy_standard(void)
{
	int lowest;

	/* A folder that is always there, to be neither read nor written. */
	do
		lowest = open("/", O_PATH | O_CLOEXEC);
	while (lowest >= 0 && lowest <= STDERR_FILENO);
	if (lowest >= 0)
		close(lowest);
}
