/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FUNCTION_INTERNAL_H
#define NETFC_FUNCTION_INTERNAL_H

/** @file What the files of functions share: what a function is, and what is known of its values. */

#include "function/real.h"

/* How near an approximation is to the real value: less than 2^-NEARNESS_BITS of it away. */
#define NEARNESS_BITS 48
/* How near it is where it is known to lie on one side of it. */
#define SIDE_BITS 40

/* What is known of the real value, |real value| that is, beside that. */
enum certainty {
	CERTAIN_EXACT,     /* it is the approximation itself */
	CERTAIN_NEAR,      /* nothing */
	CERTAIN_ABOVE,     /* it is greater */
	CERTAIN_BELOW,     /* it is less */
	CERTAIN_UNDEFINED, /* there is none */
};

struct approximation {
	struct real value;
	enum certainty certainty;
};

/* What a function is at zero or at an infinity. */
enum special {
	SPECIAL_ZERO,
	SPECIAL_MINUS_ZERO,
	SPECIAL_HALF,
	SPECIAL_ONE,
	SPECIAL_MINUS_ONE,
	SPECIAL_SAME,       /* x */
	SPECIAL_OPPOSITE,   /* -x */
	SPECIAL_POLE,       /* at zero: infinite, with the sign of x */
	SPECIAL_MINUS_POLE, /* at zero: minus infinity */
	SPECIAL_UNDEFINED,
};

/*
 * What a slot holds: 0 a number of the packet's format, enum netfc_format_id one of that format,
 * an int16 as a multiple of 2^-point, or a number of a format that saturates.
 */
#define SLOT_OWN 0
#define SLOT_FIXED 16
#define SLOT_POINT(point) (SLOT_FIXED + (point))
#define SLOT_SATURATING 32

struct netfc_function {
	uint8_t number;
	const char *name, *meaning;
	/* Its value for a finite number other than zero. */
	struct approximation (*real)(struct real x);
	enum special at_zero, at_infinity, at_minus_infinity;
	uint8_t from, to;
};

/* A user's function. */
struct netfc_user_function {
	char name[NETFC_FUNCTION_NAME_SIZE];
	const struct netfc_format *format;
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

/* How many encodings a format of 8 or 16 bits has. */
static inline uint32_t
function_entries(const struct netfc_format *format)
{
	return UINT32_C(1) << format->width;
}

/* curves.c: the functions of real numbers. */
struct approximation netfc_real_same(struct real x);
struct approximation netfc_real_negated(struct real x);
struct approximation netfc_real_absolute(struct real x);
struct approximation netfc_real_floor(struct real x);
struct approximation netfc_real_ceil(struct real x);
struct approximation netfc_real_trunc(struct real x);
struct approximation netfc_real_round(struct real x);
struct approximation netfc_real_sqrt(struct real x);
struct approximation netfc_real_rsqrt(struct real x);
struct approximation netfc_real_reciprocal(struct real x);
struct approximation netfc_real_exp(struct real x);
struct approximation netfc_real_exp2(struct real x);
struct approximation netfc_real_ln(struct real x);
struct approximation netfc_real_log2(struct real x);
struct approximation netfc_real_sin(struct real x);
struct approximation netfc_real_cos(struct real x);
struct approximation netfc_real_tanh(struct real x);
struct approximation netfc_real_sigmoid(struct real x);
struct approximation netfc_real_erf(struct real x);
struct approximation netfc_real_gelu(struct real x);
struct approximation netfc_real_silu(struct real x);

#endif /* NETFC_FUNCTION_INTERNAL_H */
