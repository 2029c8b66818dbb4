/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_REPLACE_H
#define NETFC_REPLACE_H

/** @file A file that appears complete or not at all: written beside its name, and renamed. */

#include <stdbool.h>
#include <stdio.h>

/**
 * A file that is being written. What is there already keeps its owner and its mode, and links go on
 * to lead to it; a new file has the mode that the umask leaves. Where a rename cannot do that, as
 * for devices, pipes, files with several names and those of others, it is written in place.
 */
struct replacement {
	FILE *stream;    /* write here */
	char *path;      /* NULL: in place */
	char *temporary; /* NULL: in place */
};

/** Open it. Gives 0, or -1 with errno set. */
int netfc_replacement_open(const char *path, struct replacement *file);

/** Close it, so that it is there as it was written. Gives 0, or -1 with errno set: it is not. */
int netfc_replacement_commit(struct replacement *file);

/** Close it, leaving what was there, unless it was written in place. Keeps errno. */
void netfc_replacement_abandon(struct replacement *file);

#endif /* NETFC_REPLACE_H */
