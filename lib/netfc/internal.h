/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_INTERNAL_H
#define NETFC_INTERNAL_H

/** @file Declarations that are internal to the library. */

#include <stdbool.h>
#include <stdint.h>

#include "netfc.h"

/* A significand's leading one: significands are in [1, 2) as multiples of 2^-63. */
#define SIG_ONE (UINT64_C(1) << 63)

/* Bits after the binary point of a logarithm: those that a table needs are greater than -16. */
#define LOG_BITS 59

struct netfc_format {
	enum netfc_format_id id;
	const char *name;
	const char *title;
	unsigned width; /* of an encoding: 8, 16 or 32 */
	bool posit;
	unsigned exp_bits;     /* posit: es; IEEE: width of the exponent */
	uint8_t fraction_bits; /* IEEE only */
	uint32_t inf;          /* magnitude after the greatest finite one; posit: 0x8000 */
	uint32_t nan;
	unsigned max_scale;
	int guard;
	bool no_infinity; /* IEEE: what is not finite is NaN */
	bool saturates;   /* what is too large becomes the greatest finite number */
};

/* Inline variants of functions of netfc_format.h. */

static inline uint32_t
sign_bit(const struct netfc_format *format)
{
	return UINT32_C(1) << (format->width - 1);
}

static inline bool
is_negative(const struct netfc_format *format, uint32_t bits)
{
	return bits >> (format->width - 1);
}

static inline uint32_t
negated(const struct netfc_format *format, uint32_t bits)
{
	return format->posit ? -bits & (2 * sign_bit(format) - 1) : bits ^ sign_bit(format);
}

static inline uint32_t
bits_magnitude(const struct netfc_format *format, uint32_t bits)
{
	if (format->posit && is_negative(format, bits))
		bits = -bits;
	return bits & (sign_bit(format) - 1);
}

static inline uint32_t
signed_magnitude(const struct netfc_format *format, uint32_t magnitude, bool negative)
{
	return negative ? negated(format, magnitude) : magnitude;
}

static inline enum netfc_class
operand_class(const struct netfc_format *format, uint32_t bits)
{
	uint32_t magnitude = bits_magnitude(format, bits);

	if (format->posit && bits == format->nan)
		return NETFC_NAN;
	if (magnitude == 0)
		return NETFC_ZERO;
	if (magnitude < format->inf)
		return NETFC_FINITE;
	return magnitude == format->inf && !format->no_infinity ? NETFC_INF : NETFC_NAN;
}

static inline uint32_t
overflowed(const struct netfc_format *format, bool negative)
{
	if (format->no_infinity && !format->saturates)
		return format->nan;
	return signed_magnitude(format, format->inf - format->saturates, negative);
}

/* A magnitude as rounding gives it: up to format->inf, which is too large. */
static inline uint32_t
rounded_bits(const struct netfc_format *format, uint32_t magnitude, bool negative)
{
	return magnitude == format->inf ? overflowed(format, negative)
					: signed_magnitude(format, magnitude, negative);
}

static inline uint8_t
rounding_flags(const struct netfc_format *format, uint32_t magnitude)
{
	return magnitude == 0 ? NETFC_UNDERFLOW : magnitude == format->inf ? NETFC_OVERFLOW : 0;
}

/* Places that the upper 16 bits of an encoding are shifted right in a decision's word. */
static inline unsigned
decided_shift(const struct netfc_format *format)
{
	return format->width > 16 ? format->width - 16 : 0;
}

/* The constant of a decision's word: its upper 16 bits are there, and no others are set. */
static inline uint32_t
decided_constant(const struct netfc_format *format, uint32_t word)
{
	return netfc_decide_constant(word) << decided_shift(format);
}

/* An encoding in an array as wide as the format. */
static inline uint32_t
encoding_at(const struct netfc_format *format, const void *lanes, uint32_t lane)
{
	switch (format->width) {
	case 8:
		return ((const uint8_t *)lanes)[lane];
	case 16:
		return ((const uint16_t *)lanes)[lane];
	default:
		return ((const uint32_t *)lanes)[lane];
	}
}

static inline void
put_encoding(const struct netfc_format *format, void *lanes, uint32_t lane, uint32_t bits)
{
	switch (format->width) {
	case 8:
		((uint8_t *)lanes)[lane] = (uint8_t)bits;
		break;
	case 16:
		((uint16_t *)lanes)[lane] = (uint16_t)bits;
		break;
	default:
		((uint32_t *)lanes)[lane] = bits;
		break;
	}
}

/* A finite number other than zero: significand * 2^exponent. */
struct number {
	int exponent;
	uint64_t significand;
	bool sticky; /* the value is greater than that, by less than 2^-63 of it */
};

/* format.c */
struct number netfc_unpack(const struct netfc_format *format, uint32_t magnitude);
/* Magnitudes; of IEEE formats those that are too large are format->inf. */
uint32_t netfc_round_nearest(const struct netfc_format *format, struct number number);
uint32_t netfc_round_down(const struct netfc_format *format, struct number number);

/* fixed.c: log2 and exp2 in integers, with errors below the bounds that follow. */

/* log2 of a significand in [1, 2), as a multiple of 2^-LOG_BITS. */
uint64_t netfc_log2_significand(uint64_t significand);
/* 2^(num/den), 0 <= num < den, den a power of two up to 4096, as a significand. */
uint64_t netfc_exp2_fraction(uint32_t num, uint32_t den);
/* log2(1 + 2^(-num/den)) and log2(1 - 2^(-num/den)), num > 0, num/den < LOG_TAIL. */
int64_t netfc_log2_one_plus(uint32_t num, uint32_t den);
int64_t netfc_log2_one_minus(uint32_t num, uint32_t den);

/* Bound of the error of the three logarithms: 2^-44 (docs/table-sets.md derives it). */
#define LOG_ERROR (INT64_C(1) << (LOG_BITS - 44))
/* From here on log2(1 +- 2^-x) is too small to compute, and known to be between 0 and 2^-38. */
#define LOG_TAIL 40
/* Bound of the error of netfc_exp2_fraction(), in units of 2^-63: 2^-56 of 1. */
#define EXP_ERROR (UINT64_C(1) << 7)

#define MAX_PAGES 4

struct netfc_table {
	const char *name;
	const char *page_name[MAX_PAGES];
	unsigned key_bits;
	unsigned value_bits;
	unsigned pages;
	unsigned copies;
	bool key_signed;
	bool value_signed;
	bool match;
	bool sparse;
	uint32_t *entries;
	uint64_t *reachable; /* a bit per entry */
};

struct netfc_set {
	char name[NETFC_SET_NAME_SIZE];
	struct netfc_set_id id;
	const struct family *family;
	unsigned table_count;
	struct netfc_table table[NETFC_MAX_TABLES];
	/* By branch; binary32 has a third one, for quotients. */
	struct netfc_program program[NETFC_BRANCHES + 1];
	bool measured; /* built, of rounded real numbers: the margin is known */
	struct netfc_margin margin;
};

/*
 * A family of table sets: the layout of its tables, their entries, and its programs. set.c, file.c
 * and everything above use families only through this.
 */
struct family {
	/* Describe the tables, without entries and reachable. */
	void (*layout)(struct netfc_set *set);
	/* Compute the entries of all tables but the decision table. */
	int (*fill)(struct netfc_set *set);
	/* Mark their reachable entries. */
	void (*mark)(struct netfc_set *set);
	/* Check entries of a file for what that relies on: 0 or an error. NULL: any will do. */
	int (*check)(const struct netfc_set *set);
	/* Write the programs. */
	void (*program)(struct netfc_set *set);
	/* The reference arithmetic. */
	struct netfc_result (*calc)(
		const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y);
};

/* log_family.c: the paper's tables. */
extern const struct family netfc_log_family;
/* exact_family.c: correctly rounded, in the fewest stages. */
extern const struct family netfc_exact_family;
/* small_family.c: correctly rounded, in the least memory. */
extern const struct family netfc_small_family;
/* fp32_family.c: correctly rounded binary32. */
extern const struct family netfc_fp32_family;
/* fp8_family.c: correctly rounded numbers of 8 bits. */
extern const struct family netfc_fp8_family;

/* decide.c: the decision table's word for a key, and the table itself, which all families have. */
uint32_t netfc_decide(const struct netfc_format *format, uint32_t key);
extern const struct netfc_table netfc_decide_table;
void netfc_decide_fill(const struct netfc_format *format, struct netfc_table *table);
void netfc_decide_mark(struct netfc_table *table);

/*
 * set.c: describe the set's `count` match tables, which have one page and one copy unless they say
 * otherwise; the decision table follows them.
 */
void netfc_describe_tables(struct netfc_set *set, const struct netfc_table *tables, unsigned count);

/* program.c: one step of a program, look-ups in plain C. */
void netfc_run_step(const struct netfc_set *set, const struct netfc_step *step,
	struct netfc_lanes *lanes, unsigned count);
/* The reference of correctly rounded sets, the program itself. */
struct netfc_result
netfc_compute_one(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y);

/* Writing programs. */

/* The fields that programs of all families have, after those of enum netfc_field. */
enum program_field {
	FIELD_Y_SIGNED = NETFC_COMMON_FIELDS, /* y, negated for sub */
	FIELD_MAGNITUDE_X,
	FIELD_MAGNITUDE_Y,
	FIELD_DECIDE_KEY,
	FIELD_DECISION,
	FIELD_FAMILY, /* the first field of the family's own */
};

/*
 * Start a program: name its fields, unpack the operands, look up the decision. `names` are those of
 * the fields from FIELD_FAMILY to field_count.
 */
void netfc_program_start(struct netfc_program *program, const struct netfc_format *format,
	unsigned decide_table, const char *const *names, unsigned field_count);
void netfc_append(struct netfc_program *program, struct netfc_step step);
void netfc_append_lookup(struct netfc_program *program, unsigned dst, unsigned table, unsigned key,
	const char *what);
/* A step that has operands alone; `b` and `c` are 0 where it has fewer. */
void netfc_append_step(struct netfc_program *program, enum netfc_step_kind kind, unsigned dst,
	unsigned a, unsigned b, unsigned c, const char *what);
/* ADD, SUB and the like, of words of that many bits, 1 to 32. */
void netfc_append_alu(struct netfc_program *program, enum netfc_step_kind kind, unsigned dst,
	unsigned a, unsigned b, unsigned bits, const char *what);
/* The last step: z is the field `magnitude` with the decided sign, or the decided value. */
void netfc_append_select(
	struct netfc_program *program, const struct netfc_format *format, unsigned magnitude);
/* The same for a field that has the sign already. */
void netfc_append_select_signed(
	struct netfc_program *program, const struct netfc_format *format, unsigned word);

/* A slice of a field, `width` bits from `low` on, that goes to bit `at` of a key. */
static inline struct netfc_part
part(unsigned field, unsigned low, unsigned width, unsigned at)
{
	return (struct netfc_part){.field = (uint8_t)field,
		.low = (uint8_t)low,
		.width = (uint8_t)width,
		.at = (uint8_t)at};
}

/* Whether any of its bits is set, or none. */
static inline struct netfc_part
part_test(enum netfc_part_test test, struct netfc_part slice)
{
	slice.test = (uint8_t)test;
	return slice;
}

/* A NETFC_STEP_JOIN of parts. */
#define JOIN(to, why, ...)                                                                      \
	((struct netfc_step){.kind = NETFC_STEP_JOIN,                                           \
		.dst = (to),                                                                    \
		.part_count =                                                                   \
			sizeof((struct netfc_part[]){__VA_ARGS__}) / sizeof(struct netfc_part), \
		.part = {__VA_ARGS__},                                                          \
		.what = (why)})

/* set.c: a set with allocated, empty tables; compute their entries. */
int netfc_set_alloc(const struct netfc_set_id *id, struct netfc_set **set);
int netfc_set_fill(struct netfc_set *set);

/* A mask of the lowest `bits` bits, fewer than 32. */
static inline uint32_t
low_mask(unsigned bits)
{
	return (UINT32_C(1) << bits) - 1;
}

/* Mark entry `index` as reachable. */
static inline void
mark_reachable(struct netfc_table *table, uint32_t index)
{
	table->reachable[index / 64] |= UINT64_C(1) << index % 64;
}

/* Mark the entries from `first` up to, but not including, `end`. */
static inline void
mark_range(struct netfc_table *table, uint32_t first, uint32_t end)
{
	for (uint32_t index = first; index < end; index++)
		mark_reachable(table, index);
}

static inline void
mark_all(struct netfc_table *table)
{
	mark_range(table, 0, netfc_table_size(table));
}

/* A log word from a field of 16 bits. */
static inline int32_t
log_word(uint32_t bits)
{
	return (int16_t)bits;
}

/* Log words saturate, as in a switch's ALU. */
static inline int32_t
saturate(int32_t word)
{
	return word < INT16_MIN ? INT16_MIN : word > INT16_MAX ? INT16_MAX : word;
}

#endif /* NETFC_INTERNAL_H */
