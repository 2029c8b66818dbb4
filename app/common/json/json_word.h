/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_WORD_H
#define JSON_WORD_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

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

#endif /* JSON_WORD_H */
