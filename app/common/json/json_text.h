/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <jansson.h>

/**
 * A JSON string of untrusted text, such as a path.
 *
 * @param text any bytes; if it is not valid UTF-8, '?' replaces each byte that is not ASCII
 * @return NULL if there is no memory
 */
json_t *json_text(const char *text);

#endif /* JSON_TEXT_H */
