/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <jansson.h>

/**
 * A JSON string of a text from outside, such as a path, whatever its bytes are.
 *
 * @param text where it is not UTF-8 as a whole, '?' stands for each byte that is not ASCII
 * @return NULL if there is no memory
 */
json_t *json_text(const char *text);

#endif /* JSON_TEXT_H */
