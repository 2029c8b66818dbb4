/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
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

void
descriptors_visit(void (*visit)(int descriptor, void *arg), void *arg)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] != '.')
			visit(atoi(entry->d_name), arg);
	}
	closedir(folder);
}
