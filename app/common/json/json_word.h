/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_WORD_H
#define JSON_WORD_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/** 16 bits as a JSON text: "0x3c00". */
static inline json_t *
json_word(uint16_t word)
{
	char text[8];

	snprintf(text, sizeof(text), "0x%04x", word);
	return json_string(text);
}

/** An array of them. */
static inline json_t *
json_words(const uint16_t *words, unsigned int count)
{
	json_t *array = json_array();

	for (unsigned int w = 0; w < count; w++)
		json_array_append_new(array, json_word(words[w]));
	return array;
}

#endif /* JSON_WORD_H */
