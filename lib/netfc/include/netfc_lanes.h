/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_LANES_H
#define NETFC_LANES_H

/**
 * @file
 * Many lanes at once: a batch of lanes goes through the stages of a table set, step by step.
 *
 * A batch is a switch's packet header vector (PHV) as a structure of arrays: an array per field
 * instead of a record per lane. A program corresponds to a switch's pipeline: a fixed sequence of
 * look-ups and integer additions, the same for every lane, without a branch that depends on an
 * operand. Each table set has two programs, one for additions and subtractions and one for
 * multiplications and divisions; that of binary32 has one more, as it divides by another one
 * (netfc_set_op_program()).
 */

#include <stdbool.h>
#include <stdint.h>

#include "netfc_arith.h"
#include "netfc_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of lanes in a batch. */
#define NETFC_BATCH 256

/** Maximum number of fields of a lane. */
#define NETFC_MAX_FIELDS 24

/** Maximum number of steps of a program. */
#define NETFC_MAX_STEPS 128

/** Maximum number of parts of a key. */
#define NETFC_MAX_PARTS 7

/** Fields that every program has, before those of its own. */
enum netfc_field {
	NETFC_X = 0,     /**< operand, as wide as its format; in */
	NETFC_Y = 1,     /**< operand, likewise; in */
	NETFC_OP = 2,    /**< 0 add, 1 sub, 2 mul, 3 div: enum netfc_op less 1; in */
	NETFC_Z = 3,     /**< result, likewise; out */
	NETFC_FLAGS = 4, /**< enum netfc_flag; out */
	NETFC_COMMON_FIELDS = 5,
};

/** A batch of lanes: one array for each field. */
struct netfc_lanes {
	uint32_t field[NETFC_MAX_FIELDS][NETFC_BATCH];
} __attribute__((aligned(64)));

/** Which of a set's two programs an operation needs. */
enum netfc_branch {
	NETFC_ADDITIVE = 0,       /**< add, sub */
	NETFC_MULTIPLICATIVE = 1, /**< mul, div */
	NETFC_BRANCHES = 2,
};

/** What a step does. Words are 16 bits, two's complement where they are log words. */
enum netfc_step_kind {
	/** dst = table[a]: the only kind that reads memory other than the batch. */
	NETFC_STEP_LOOKUP,
	/**
	 * IEEE operands: y with its sign flipped for sub, both magnitudes, and the key of the
	 * decision table, into dst, dst + 1, dst + 2, dst + 3.
	 */
	NETFC_STEP_UNPACK_IEEE,
	/** Posit operands, likewise. */
	NETFC_STEP_UNPACK_POSIT,
	/** dst = saturate(a + b). */
	NETFC_STEP_ADD_SAT,
	/** dst = saturate(a - b). */
	NETFC_STEP_SUB_SAT,
	/** dst = the decision's page of a, above the key b. */
	NETFC_STEP_PAGE_KEY,
	/** dst = a, or -a for div. */
	NETFC_STEP_NEGATE_DIV,
	/**
	 * The decision in dst, if it says that z is computed: changed to x or y if theta b is
	 * beyond the guard, to +0 if the miTable's word c is NETFC_NO_RESULT.
	 */
	NETFC_STEP_GUARD,
	/** z and flags: the decision a's choice of x, y (b), its constant, or magnitude c signed.
	 */
	NETFC_STEP_SELECT_IEEE,
	/** Posit results, likewise. */
	NETFC_STEP_SELECT_POSIT,
	/**
	 * dst = the parts, each at its position, and the bits of imm, or-ed, as a switch makes a
	 * key from slices of fields. dst is none of the fields read.
	 */
	NETFC_STEP_JOIN,
	/** dst = (a + b) & imm; a carry beyond the mask is lost. */
	NETFC_STEP_ADD,
	/** dst = (a - b) & imm. */
	NETFC_STEP_SUB,
	/** dst = |a - b|. */
	NETFC_STEP_DISTANCE,
	/** dst = the larger of a and b, dst + 1 = the smaller. */
	NETFC_STEP_SORT,
	/** dst = a + b if the decision c names page 0, else a - b. */
	NETFC_STEP_ADD_OR_SUB,
	/**
	 * IEEE results with their sign: z is the decision a's choice of x, y (b), its constant, or
	 * the word c; and the flags. Of 32 bits, the constant is the upper half.
	 */
	NETFC_STEP_SELECT_SIGNED,
	/**
	 * dst = a, shifted left by b places, 0..31: a switch has an action for each number of
	 * places, and a table chooses.
	 */
	NETFC_STEP_SHIFT_LEFT,
	/** Likewise, to the right; dst + 1 = the bits that this loses. */
	NETFC_STEP_SHIFT_RIGHT,
	/** dst = a, or -a if bit 31 of b is set. */
	NETFC_STEP_SIGN,
	/** dst = a, or b if bit 31 of c is set. */
	NETFC_STEP_CHOOSE,
};

/** What a part of a key is. */
enum netfc_part_test {
	NETFC_PART_BITS = 0, /**< the slice's bits */
	NETFC_PART_ANY = 1,  /**< a bit: whether any bit of the slice is set */
	NETFC_PART_NONE = 2, /**< a bit: whether none is */
};

/** A slice of a field, and its position in a key. */
struct netfc_part {
	uint8_t field;
	uint8_t low;   /**< the slice's lowest bit */
	uint8_t width; /**< its width in bits, 1..31 */
	uint8_t at;    /**< position of its lowest bit in the key */
	uint8_t test;  /**< of enum netfc_part_test */
};

/** In what a format differs from IEEE 754's. */
enum netfc_step_rule {
	NETFC_RULE_NO_INFINITY = 1, /**< the magnitude that would be infinity is NaN */
	NETFC_RULE_SATURATES = 2,   /**< a result with it becomes the greatest finite number */
};

/** One step over a whole batch. */
struct netfc_step {
	enum netfc_step_kind kind;
	uint8_t dst;        /**< field written; the first if the kind writes several */
	uint8_t a, b, c;    /**< fields read */
	uint8_t table;      /**< NETFC_STEP_LOOKUP: index of the table in the set */
	uint8_t width;      /**< UNPACK, SELECT: of operands in bits: 8, 16, 32 */
	uint8_t rules;      /**< UNPACK, SELECT: of enum netfc_step_rule */
	int32_t imm;        /**< UNPACK, SELECT: the magnitude of infinity; GUARD: g*k; JOIN; ADD */
	uint8_t part_count; /**< JOIN */
	struct netfc_part part[NETFC_MAX_PARTS];
	const char *what; /**< the step in words, e.g. "theta = sat(j - i)" */
};

/** A program: the steps of a branch. */
struct netfc_program {
	unsigned step_count;
	struct netfc_step step[NETFC_MAX_STEPS];
	unsigned field_count;
	const char *field_name[NETFC_MAX_FIELDS]; /**< human-readable */
};

/** The branch of an operation, of enum netfc_op. */
NETFC_API enum netfc_branch netfc_op_branch(enum netfc_op op);

/** The program of a set's branch. */
NETFC_API const struct netfc_program *
netfc_set_program(const struct netfc_set *set, enum netfc_branch branch);

/**
 * The program that computes an operation: that of its branch, but for quotients of binary32, which
 * have one of their own.
 */
NETFC_API const struct netfc_program *
netfc_set_op_program(const struct netfc_set *set, enum netfc_op op);

/**
 * Run one step over the first `count` lanes of a batch.
 *
 * @param step any but a NETFC_STEP_LOOKUP
 * @param count 1..NETFC_BATCH
 */
NETFC_API void
netfc_step_run(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);

/**
 * Compute lanes in plain C: x, y to z and flags.
 *
 * @param set the tables
 * @param op the operation of all lanes
 * @param x, y operands, `count` each: uint8_t, uint16_t or uint32_t, as wide as the set's format
 * @param z results, `count`, likewise; may be x or y
 * @param flags exception flags, `count`, or NULL
 * @param count number of lanes, without a limit
 * @return the exception flags of all lanes, or-ed
 */
NETFC_API uint8_t netfc_compute(const struct netfc_set *set, enum netfc_op op, const void *x,
	const void *y, void *z, uint8_t *flags, uint32_t count);

/** Maximum number of fields that a step writes. */
#define NETFC_STEP_WRITES 4

/**
 * The fields that a step writes.
 *
 * @param fields receives their indices, from netfc_step's dst upwards
 * @return their number
 */
NETFC_API unsigned
netfc_step_writes(const struct netfc_step *step, uint8_t fields[NETFC_STEP_WRITES]);

/** Called by netfc_walk() after each step. */
typedef void (*netfc_walk_fn)(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg);

/**
 * Walk one operation through the stages.
 *
 * @param set the tables
 * @param fn called after each step; the lane's fields are lanes->field[f][0]
 * @param arg handed to fn
 * @return the result
 */
NETFC_API struct netfc_result netfc_walk(const struct netfc_set *set, enum netfc_op op, uint32_t x,
	uint32_t y, netfc_walk_fn fn, void *arg);

/*
 * The decision table's words: where the result of a lane comes from, by its operation, the classes
 * and signs of its operands and the comparison of their magnitudes (paper, table I, extended by the
 * special values).
 */

/** Where z comes from. */
enum netfc_source {
	NETFC_FROM_STAGES = 0, /**< computed, with the word's sign */
	NETFC_FROM_X = 1,
	NETFC_FROM_Y = 2,        /**< y, negated for sub */
	NETFC_FROM_CONSTANT = 3, /**< the word's own value */
};

/** How the magnitudes compare. */
enum netfc_compare {
	NETFC_LESS = 0,
	NETFC_EQUAL = 1,
	NETFC_GREATER = 2
};

/** Width in bits of the decision table's key. */
#define NETFC_DECIDE_KEY_BITS 10

/** The decision table's key. */
static inline uint32_t
netfc_decide_key(uint32_t op, uint32_t class_x, uint32_t class_y, uint32_t sign_x, uint32_t sign_y,
	uint32_t compare)
{
	return op << 8 | class_x << 6 | class_y << 4 | sign_x << 3 | sign_y << 2 | compare;
}

/** The constant that a decision gives as z. */
static inline uint32_t
netfc_decide_constant(uint32_t word)
{
	return word & 0xffff;
}

/** Where z comes from, of enum netfc_source. */
static inline uint32_t
netfc_decide_source(uint32_t word)
{
	return word >> 16 & 3;
}

/** Which miTable. */
static inline uint32_t
netfc_decide_page(uint32_t word)
{
	return word >> 18 & 3;
}

/** The sign of a computed z. */
static inline uint32_t
netfc_decide_sign(uint32_t word)
{
	return word >> 20 & 1;
}

/** The flags of a z that is not computed. */
static inline uint32_t
netfc_decide_flags(uint32_t word)
{
	return word >> 24 & 15;
}

#ifdef __cplusplus
}
#endif

#endif /* NETFC_LANES_H */
