/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_VALUE_H
#define JSON_VALUE_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

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

#endif /* JSON_VALUE_H */
