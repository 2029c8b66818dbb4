/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOADED_H
#define LOADED_H

/**
 * @file
 * The table sets and functions that pipelines of the fuzz target have, and what they stand for.
 */

#include <netfc.h>

#include "pipeline.h"

enum family {
	LOGARITHMS,
	CORRECTLY_ROUNDED,
	FAMILIES
};

/**
 * Numbers of functions: "own", a user's, of fp16; "known", the library's, of fp16, bf16 and
 * fp8_e4m3; and of a conversion.
 */
#define USER_FUNCTION 193
#define KNOWN_FUNCTION 71
#define TO_BF16 99

/** Build them all, once. */
void loaded_build(void);

/** Free them; no pipeline has them any more. */
void loaded_free(void);

/** Give all functions, and the sets of a family, to a pipeline whose kind of match is set. */
void loaded_configure(struct pipeline_config *config, enum family family);

/** What functions, and the sets of a family, stand for, by other code than theirs. */
struct netfc_result loaded_reference(
	enum family family, const struct netfc_hdr *header, uint32_t x, uint32_t y, uint32_t z);

#endif /* LOADED_H */
