/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_FILE_H
#define JSON_FILE_H

/** @file A file that a program writes a JSON object to in the end, if it can be written at all. */

#include <jansson.h>

struct json_file;

/**
 * Open the file before anything else starts, so that it can be written in the end. A file appears
 * whole or not at all; a device or a pipe is written as it is.
 *
 * @param who the program and its option, for messages: "dpdk-netfc: --stats-json"
 * @param path "-" is standard output
 * @return 0, or -1, said on stderr
 */
int json_file_open(const char *who, const char *path, struct json_file **file);

/** Write the object and close. 0, or -1, said on stderr. */
int json_file_write(struct json_file *file, const json_t *object);

/** Close without writing, leaving nothing behind; NULL is allowed. */
void json_file_abandon(struct json_file *file);

#endif /* JSON_FILE_H */
