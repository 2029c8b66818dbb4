/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_NARROW_H
#define EXTENDED_NARROW_H

/**
 * @file
 * Kernels of formats of 8 bits. Double precision holds x * y + z whole: of fp8_e5m2 it is a
 * multiple of 2^-32, and one that is greater than 2^17 is a multiple of 2^-16 and less than 2^33.
 */

#include "extended_kernels.h"

struct narrow_kernel {
	struct vector_kernel kernel;
	double value[UINT8_MAX + 1];
	uint8_t top;       /* the magnitude of what is too large */
	uint8_t over;      /* what it becomes */
	uint8_t over_sign; /* 0x80, if with its sign */
	uint8_t last;      /* the greatest magnitude that is no NaN */
	uint8_t nan, one, minus_one;
	uint8_t fraction_bits;
	uint8_t least_exponent; /* of a normal number: so much less than 0 */
};

/* narrow_lanes.c, one for each instruction set. */
void narrow_run_plain(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
void narrow_run_avx2(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
void narrow_run_avx512(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);

/* narrow.c: make the kernel of a format of 8 bits, see extended_create(). */
int narrow_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

#endif /* EXTENDED_NARROW_H */
