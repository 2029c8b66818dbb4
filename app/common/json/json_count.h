/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_COUNT_H
#define JSON_COUNT_H

#include <stdint.h>

#include <jansson.h>

/** A counter as a JSON number. */
static inline json_t *
json_count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

#endif /* JSON_COUNT_H */
