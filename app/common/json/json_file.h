/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_FILE_H
#define JSON_FILE_H

/** @file A file for a JSON object, opened at the start of a program and written at its end. */

#include <jansson.h>

struct json_file;

/**
 * Open the file at the start of a program, so that writing cannot fail at its end for a wrong path.
 * A regular file appears complete or not at all; a device or a pipe is written to.
 *
 * @param who the program and its option, for messages: "dpdk-netfc: --stats-json"
 * @param path "-" is standard output
 * @return 0, or -1 with a message on stderr
 */
int json_file_open(const char *who, const char *path, struct json_file **file);

/** Write the object and close. Gives 0, or -1 with a message on stderr. */
int json_file_write(struct json_file *file, const json_t *object);

/** Close without writing, leaving nothing behind; NULL is allowed. */
void json_file_abandon(struct json_file *file);

#endif /* JSON_FILE_H */
