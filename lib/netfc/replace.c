/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

#define TRIES 100
#define SUFFIX_BYTES 9u /* what makes a name unpredictable */

/* Whether a file can be put in the place of one that is there, and nobody notices but its readers.
 */
static bool
can_replace(const struct stat *there)
{
	return S_ISREG(there->st_mode) && there->st_nlink == 1;
}

/* How much of a path can have a suffix: a file's name has NAME_MAX bytes at most. */
static int
prefix_bytes(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	size_t length = strlen(name);

	if (length > NAME_MAX - SUFFIX_BYTES)
		length = NAME_MAX - SUFFIX_BYTES;
	return (int)((size_t)(name - path) + length);
}

/* A new file beside the path, with an unpredictable name. */
static int
open_beside(const char *path, mode_t mode, char **temporary)
{
	for (unsigned int t = 0; t < TRIES; t++) {
		uint32_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return -1;
		if (asprintf(temporary, "%.*s.%08x", prefix_bytes(path), path, random) < 0) {
			*temporary = NULL;
			return -1;
		}
		fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		free(*temporary);
		*temporary = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* Give a new file the owner and the mode of another. */
static int
make_alike(int fd, const struct stat *there)
{
	struct stat own;

	if (fstat(fd, &own) != 0)
		return -1;
	if ((own.st_uid != there->st_uid || own.st_gid != there->st_gid) &&
		fchown(fd, there->st_uid, there->st_gid) != 0)
		return -1;
	return fchmod(fd, there->st_mode & 07777);
}

/* Beside the file that is there, if any: a descriptor, or -1 if it has to be written in place. */
static int
open_replacing(struct replacement *file, const struct stat *there)
{
	int fd =
		open_beside(file->path, there != NULL ? S_IRUSR | S_IWUSR : 0666, &file->temporary);

	if (fd < 0 || there == NULL || make_alike(fd, there) == 0)
		return fd;
	close(fd);
	unlink(file->temporary);
	return -1;
}

static void
free_names(struct replacement *file)
{
	free(file->path);
	free(file->temporary);
	file->path = NULL;
	file->temporary = NULL;
}

/* What is in the file stays until it is written: then it is cut. */
static int
open_in_place(const char *path, struct replacement *file)
{
	free_names(file);
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
}

static int
open_descriptor(const char *path, struct replacement *file)
{
	struct stat there, link;
	bool is_there = stat(path, &there) == 0;
	int fd;

	/* A link that leads nowhere, too: the file is made where it leads to. */
	if (is_there ? !can_replace(&there) : lstat(path, &link) == 0)
		return open_in_place(path, file);
	file->path = is_there ? realpath(path, NULL) : strdup(path);
	if (file->path == NULL)
		return -1;
	fd = open_replacing(file, is_there ? &there : NULL);
	return fd < 0 && file->temporary != NULL ? open_in_place(path, file) : fd;
}

int
netfc_replacement_open(const char *path, struct replacement *file)
{
	int fd;

	*file = (struct replacement){.path = NULL};
	fd = open_descriptor(path, file);
	if (fd < 0) {
		free_names(file);
		return -1;
	}
	file->stream = fdopen(fd, "wb");
	if (file->stream != NULL)
		return 0;
	close(fd);
	netfc_replacement_abandon(file);
	return -1;
}

/* What was longer in place. */
static bool
cut(const struct replacement *file)
{
	struct stat status;
	int fd = fileno(file->stream);

	if (file->temporary != NULL || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return true;
	return ftruncate(fd, ftello(file->stream)) == 0;
}

int
netfc_replacement_commit(struct replacement *file)
{
	bool written = fflush(file->stream) == 0 && !ferror(file->stream) && cut(file);
	int saved = errno;

	if (fclose(file->stream) != 0 && written) {
		written = false;
		saved = errno;
	}
	file->stream = NULL;
	if (written && file->temporary != NULL && rename(file->temporary, file->path) != 0) {
		written = false;
		saved = errno;
	}
	if (!written) {
		errno = saved;
		netfc_replacement_abandon(file);
		return -1;
	}
	free_names(file);
	return 0;
}

void
netfc_replacement_abandon(struct replacement *file)
{
	int saved = errno;

	if (file->stream != NULL)
		fclose(file->stream);
	if (file->temporary != NULL)
		unlink(file->temporary);
	free_names(file);
	errno = saved;
}
