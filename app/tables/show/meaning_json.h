/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEANING_JSON_H
#define MEANING_JSON_H

/** @file What words mean, for programs. */

#include <jansson.h>

#include "show/meaning.h"

/** The meaning as JSON; null for MEANS_BITS. */
json_t *meaning_json(const struct netfc_set *set, enum meaning meaning, uint32_t word);

#endif /* MEANING_JSON_H */
