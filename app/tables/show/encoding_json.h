/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENCODING_JSON_H
#define ENCODING_JSON_H

/** @file Encodings of 16 or of 32 bits as JSON. */

#include <jansson.h>

#include "encoding.h"

/** An encoding's value, as number_json() gives it. */
json_t *encoding_json(const struct netfc_format *format, uint32_t bits);

#endif /* ENCODING_JSON_H */
