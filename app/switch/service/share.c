/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_eal.h>

#include "option.h"
#include "service/service.h"

#define ENTER (S_IRWXU | S_IRGRP | S_IXGRP)
#define CONNECT (S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP)

/* The manager's folder, if the group may enter it; NULL: it is the user's alone, or there is none.
 */
static const char *
shared_folder(void)
{
	const char *folder = getenv("RUNTIME_DIRECTORY");
	struct stat status;

	if (folder == NULL || stat(folder, &status) != 0 || (status.st_mode & S_IXGRP) == 0)
		return NULL;
	return folder;
}

static bool
is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int
open_to_group(const char *path, mode_t mode)
{
	if (chmod(path, mode) == 0)
		return 0;
	return REPORT("%s: cannot be opened to the group: %s\n", path, strerror(errno));
}

/* FOLDER/dpdk/PREFIX/dpdk_telemetry.v2, which is not there with --no-telemetry. */
static int
share_telemetry(const char *folder)
{
	char parent[PATH_MAX], socket[PATH_MAX];
	struct stat status;

	snprintf(parent, sizeof(parent), "%s/dpdk", folder);
	snprintf(socket, sizeof(socket), "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
	if (!is_within(socket, folder) || stat(socket, &status) != 0)
		return 0;
	if (open_to_group(socket, CONNECT) != 0 ||
		open_to_group(rte_eal_get_runtime_dir(), ENTER) != 0)
		return -1;
	return open_to_group(parent, ENTER);
}

int
service_share(const struct options *options)
{
	const char *folder = shared_folder();

	if (folder == NULL)
		return 0;
	if (options->control != NULL && is_within(options->control, folder) &&
		open_to_group(options->control, CONNECT) != 0)
		return -1;
	return share_telemetry(folder);
}
