/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_H
#define JSON_H

/** @file JSON values, and a file for an object, opened at the start of a program. */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <netfc_wire.h>

/**
 * A JSON string of untrusted text, such as a path.
 *
 * @param text any bytes; if it is not valid UTF-8, '?' replaces each byte that is not ASCII
 * @return NULL if there is no memory
 */
json_t *json_text(const char *text);

/** A counter as a JSON number. */
static inline json_t *
json_count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

/** A counter: its name, and what it counts. */
struct counter {
	const char *name, *meaning;
};

/** Its row, of a list X(name, meaning). */
#define COUNTER_ROW(name, meaning) {#name, meaning},

/** Its row, of a list X(symbol, name, meaning). */
#define REASON_ROW(symbol, name, meaning) {name, meaning},

/**
 * Set counters in an object.
 *
 * @param counts as many uint64_t in the same order, in an array or a struct
 * @return the object
 */
json_t *json_counts(
	json_t *object, const struct counter *counters, unsigned int number, const void *counts);

/** Requests by the status code of their reply. */
extern const struct counter json_statuses[NETFC_STATUS_END];

/** So many hex digits as a JSON text: "0x3c00". */
static inline json_t *
json_word(uint32_t word, int digits)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%0*" PRIx32, digits, word);
	return json_string(text);
}

/** An array of them. */
static inline json_t *
json_words(const uint32_t *words, unsigned int count, int digits)
{
	json_t *array = json_array();

	for (unsigned int w = 0; w < count; w++)
		json_array_append_new(array, json_word(words[w], digits));
	return array;
}

/** A file for a JSON object. */
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

/**
 * Write the object, which is released, and close: `*file` is NULL then. Gives 0, or -1 with a
 * message on stderr.
 */
int json_file_write(struct json_file **file, json_t *object);

/** Close without writing, leaving nothing behind; NULL is allowed. */
void json_file_abandon(struct json_file *file);

#endif /* JSON_H */
