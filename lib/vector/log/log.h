/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_H
#define VECTOR_LOG_H

/**
 * @file
 * What programs of logarithms do, and their miTables folded:
 * z = exp[log x + mi[log y - log x]], or exp[log x +- log y].
 *
 * With a the operand of the greater magnitude and b the other, d = log a - log b,
 * log a + sum[d] or log a + difference[d] is what the three miTables give, as
 * log2(1 + 2^t) = t + log2(1 + 2^-t) and log2(2^t - 1) = t + log2(1 - 2^-t).
 */

#include <stdbool.h>
#include <stdint.h>

#include <netfc.h>

#include "vector.h"

/* The greatest d that any program looks up: a guard is a log word. */
#define LOG_SHAPE_MAX 32768

struct log_shape {
	const struct netfc_set *set;
	const struct netfc_format *format;
	bool posit;
	bool no_result;  /* an entry of `difference` is NETFC_NO_RESULT */
	uint32_t inf;    /* the magnitude of infinity */
	uint32_t finite; /* magnitudes 1 ... finite - 1 are those of finite numbers */
	unsigned int log_table, mi_table, exp_table; /* of the set */
	int32_t guard_words;                         /* d beyond it: the sum is a */
	/* The rest is known if `folded`. */
	bool folded;
	int32_t guard; /* the same, but no more than any d */
	const uint32_t *log, *exp;
	uint32_t entries; /* of sum and difference: from there on, their values are those before */
	int16_t sum[LOG_SHAPE_MAX + 1];
	int16_t difference[LOG_SHAPE_MAX + 1];
};

/**
 * Find the shape of a set.
 *
 * @return 0, -ENOMEM, or -ENOTSUP if it is not one of logarithms, or does not decide as such do
 */
int log_shape_find(const struct netfc_set *set, struct log_shape *shape);

/*
 * How each kind of kernel is made: 0, -ENOMEM, or -ENOTSUP where it would not equal the set.
 */

/* AVX-512 and NEON: logTable and expTable in registers. */
int log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/*
 * Any format of 16 bits, for one instruction set, which is `isa`: look-ups in match stages, by
 * table of the set.
 */
typedef int log_stages_fn(const struct log_shape *shape, struct match_stage *const *stages,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);
log_stages_fn log_stages_create_plain, log_stages_create_avx2, log_stages_create_avx512;

#endif /* VECTOR_LOG_H */
