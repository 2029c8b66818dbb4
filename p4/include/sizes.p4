/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be chosen when a program is compiled, and the sizes that follow from it.
 *
 * -DNETFC_FORMAT=1   1 fp16, 2 posit16, 3 bf16, 4 posit16_es2, 5 fp32, 8 fp8_e4m3, 9 fp8_e5m2: the
 *                    protocol's numbers. The set itself comes with the entries.
 * -DNETFC_EXACT      the correctly rounded family of sets (fp16_exact, bf16_exact) instead of the
 *                    paper's
 * -DNETFC_LANES=1    lanes that are computed in a packet, 1 to 8; of fp8, in pairs, 2 to 40
 * -DNETFC_COMPACT    the compact layout, for least memory, instead of the direct one, for least
 *                    stages
 * -DNETFC_SLOWLORIS  v1model: count connections and bytes, answer queries, drop attacks
 * -DNETFC_FUNCTIONS=1 functions of one number, 1 to 8; which, comes with the entries
 * -DNETFC_SCALE_BITS=10  compact layout: log2 of k; the format's largest k unless given
 * -DNETFC_LAST_OP=4  fp32: the last operation that the program has, 2 (sub), 3 (mul) or 4 (div);
 *                    4 unless given, on Tofino 3
 * -DNETFC_PASSES=1   fp32 with div: how often a packet with a division goes through the pipeline, 1
 *                    or 2; 1 unless given
 * -DNETFC_RECIRCULATION_PORT=68  on Tofino, for 2 passes: the port of a pipe that leads back into it
 */
#ifndef NETFC_SIZES_P4
#define NETFC_SIZES_P4

#include "each.p4"

#ifndef NETFC_FORMAT
#define NETFC_FORMAT 1
#endif

#if NETFC_FORMAT == 8 || NETFC_FORMAT == 9
#define NETFC_FP8
#endif

#ifdef NETFC_FP8
#ifndef NETFC_LANES
#define NETFC_LANES 2
#endif
#if NETFC_LANES < 2 || NETFC_LANES > 40 || NETFC_LANES % 2 != 0
#error "NETFC_LANES of fp8 is an even number, 2 to 40"
#endif
/* Lanes are fields on the wire and in stages, of fp8 two lanes one field. */
#define NETFC_FIELDS NETFC_HALF(NETFC_LANES)
#else
#ifndef NETFC_LANES
#define NETFC_LANES 1
#endif
#if NETFC_LANES < 1 || NETFC_LANES > 8
#error "NETFC_LANES is 1 to 8"
#endif
#define NETFC_FIELDS NETFC_LANES
#endif

/* NETFC_EACH_LANE(m): m(0) m(1) ... for all lanes, of fp8 for all pairs. */
#define NETFC_EACH_LANE(m) NETFC_FIRST(NETFC_FIELDS)(m)

#ifdef NETFC_FUNCTIONS
#if NETFC_FUNCTIONS < 1 || NETFC_FUNCTIONS > 8
#error "NETFC_FUNCTIONS is 1 to 8"
#endif
/* Every x. */
#define NETFC_FUNCTION_SIZE 65536
#endif

#if NETFC_FORMAT == 2 || NETFC_FORMAT == 4
#define NETFC_POSIT
#elif NETFC_FORMAT == 1
#define NETFC_FRACTION_BITS 10
#define NETFC_LARGEST_SCALE_BITS 10
/* Of the exponents whose powers are subnormal (fp16: 11, bf16: 8), as many bits as tell them apart. */
#define NETFC_SUBNORMAL_EXPONENT_BITS 4
#elif NETFC_FORMAT == 3
#define NETFC_FRACTION_BITS 7
#define NETFC_LARGEST_SCALE_BITS 7
#define NETFC_SUBNORMAL_EXPONENT_BITS 3
#elif NETFC_FORMAT == 5
#define NETFC_FP32
#elif !defined(NETFC_FP8)
#error "NETFC_FORMAT is 1 (fp16), 2 (posit16), 3 (bf16), 4 (posit16_es2), 5 (fp32), 8 (fp8_e4m3) or 9 (fp8_e5m2)"
#endif

/* The operands and results on the wire; a lane's bytes as the sum of two powers of two. */
#ifdef NETFC_FP32
#define NETFC_SLOT_BITS 32
#define NETFC_SLOTS_BYTES NETFC_FP32_LANE_BYTES
#define NETFC_LESS_SHIFT 2
#define NETFC_MORE_SHIFT 3
#else
#define NETFC_SLOT_BITS 16
#define NETFC_SLOTS_BYTES NETFC_LANE_BYTES
#ifdef NETFC_FP8
#define NETFC_LESS_SHIFT 0
#define NETFC_MORE_SHIFT 1
#else
#define NETFC_LESS_SHIFT 1
#define NETFC_MORE_SHIFT 2
#endif
#endif

#ifndef NETFC_SCALE_BITS
#define NETFC_SCALE_BITS NETFC_LARGEST_SCALE_BITS
#endif

#define NETFC_SUBNORMAL_BITS (NETFC_SCALE_BITS + NETFC_SUBNORMAL_EXPONENT_BITS)

/* Only IEEE formats have their exponent at a fixed place, so that it can be taken off by a slice. */
#if defined(NETFC_COMPACT) && !defined(NETFC_POSIT) && !defined(NETFC_FP32)
#define NETFC_SPLIT
#endif

/*
 * Tables with @use_hash_action are action memory that the key indexes: no key is stored, nothing
 * can collide, and every one of the 2^bits places can be filled. An exact match of as many keys
 * takes about twice the memory, and the driver may fail to place the last entries.
 */
#ifdef NETFC_POSIT
/* With its sign: the absolute value of a posit would be a stage of its own. */
#define NETFC_LOG_SIZE 65536
/* A posit16's theta takes all its 16 bits: the guard is 64 k. */
#define NETFC_THETA_HIGH 15
#define NETFC_MI_SIZE 131072
#else
/* The magnitude: 15 bits. */
#define NETFC_LOG_SIZE 32768
/* Within the guard of 15 k, at most 15,360, theta has 15 bits; decide takes care of the others. */
#define NETFC_THETA_HIGH 14
#define NETFC_MI_SIZE 65536
#endif

/* The sign and n: with the sign in the key, what comes out is z, and a stage is saved. */
#define NETFC_EXP_SIZE 131072

/* Prefixes: fp16_k1024 needs 4,257, posit16_k512 2,149. Blocks of TCAM have 512 rows. */
#define NETFC_MI_PREFIXES 4608

/* At most 156 for the installed sets; a block of TCAM has 512 rows. */
#define NETFC_DECISIONS 256
#define NETFC_RANGES 32
#define NETFC_SCALES 1024

#ifdef NETFC_FP8
#if defined(NETFC_FUNCTIONS) || defined(NETFC_COMPACT)
#error "NETFC_FORMAT 8 and 9, fp8, have the direct layout only, and no functions"
#endif
/* The kind of operation and both magnitudes. */
#define NETFC_FP8_RESULTS 131072
#elif defined(NETFC_FP32)
#ifdef NETFC_FUNCTIONS
#error "NETFC_FUNCTIONS are of 16 bits, not for NETFC_FORMAT 5, fp32"
#endif
#ifdef NETFC_COMPACT
#error "NETFC_FORMAT 5, fp32, has the direct layout only"
#endif
#ifndef NETFC_LAST_OP
#ifdef NETFC_TNA
#define NETFC_LAST_OP 3
#else
#define NETFC_LAST_OP 4
#endif
#endif
#if NETFC_LAST_OP < 2 || NETFC_LAST_OP > 4
#error "NETFC_LAST_OP is 2 (sub), 3 (mul) or 4 (div)"
#endif
#ifndef NETFC_PASSES
#define NETFC_PASSES 1
#endif
#if NETFC_PASSES < 1 || NETFC_PASSES > 2 || (NETFC_PASSES == 2 && NETFC_LAST_OP != 4)
#error "NETFC_PASSES is 1 or, with NETFC_LAST_OP 4, div, 2"
#endif
/* Where the leading one of a sum of 28 bits is: of each sign, and negative powers of two. */
#define NETFC_LEADS 128
/* Exponents of 10 bits and both signs; with a bit for the operation where there are quotients. */
#if NETFC_LAST_OP == 4
#define NETFC_FP32_SCALES 8192
#else
#define NETFC_FP32_SCALES 4096
#endif
#elif defined(NETFC_EXACT)
#if defined(NETFC_POSIT) || defined(NETFC_COMPACT)
#error "NETFC_EXACT is for NETFC_FORMAT 1 and 3, fp16 and bf16, in the direct layout"
#endif
#define NETFC_EXPONENT_BITS (15 - NETFC_FRACTION_BITS)
/* A significand with three bits below it, carry and sign. */
#define NETFC_SUM_BITS (NETFC_FRACTION_BITS + 6)
#define NETFC_EXPONENT_SUM_BITS (NETFC_EXPONENT_BITS + 2)
/* A product's bits that are rounded: a significand with one bit above it and two below. */
#define NETFC_TOP_BITS (NETFC_FRACTION_BITS + 3)
#define NETFC_TIES 32
#if NETFC_FORMAT == 1
/* The sum of two parts, from the halves of x's fraction: whole, it were a table of 2^21 entries. */
#define NETFC_HALVES
#define NETFC_HALF_BITS (NETFC_FRACTION_BITS >> 1)
#define NETFC_PRODUCT_BITS 24
#define NETFC_PRODUCT_WORD 32
/* With the signs in the key the table of exponents tells y's effective sign: 2^12 entries. */
#define NETFC_SIGNED_EXPS
/* Sums and their exponents for which the base is another: 6,148 exact entries, spread by a hash. */
#define NETFC_SUBNORMAL_SUMS 8192
#else
/* Looked up whole, a bit for all that is below the rounded ones. */
#define NETFC_PRODUCT_BITS (NETFC_TOP_BITS + 1)
#define NETFC_PRODUCT_WORD 16
/* Exponents alone make 2^16 entries, so that the sign is a condition's. 1,002 exact entries. */
#define NETFC_SUBNORMAL_SUMS 2048
#endif
#endif

#ifdef NETFC_SLOWLORIS
#if NETFC_FORMAT != 1 || defined(NETFC_TNA)
#error "NETFC_SLOWLORIS is for NETFC_FORMAT 1, fp16, on v1model"
#endif
/* Slots that a hash chooses; who finds another there is not tracked. */
#define NETFC_CONNECTION_SLOTS 65536
#define NETFC_DESTINATION_SLOTS 4096
/* The leading one and 13 bits below it: 2^14 - 1 + 18 * 2^13. */
#define NETFC_INTEGER_LOGS 163839
#define NETFC_DEFENCES 64
#endif

/*
 * What the program is compiled for, four bits each: layout, format, log2 of k where tables are made
 * for one k (fp32: the last operation), lanes; of fp8 eight bits for these two. The last entry that
 * is exported names it; without that one nothing is computed.
 */
#if defined(NETFC_EXACT) || defined(NETFC_FP32) || defined(NETFC_FP8)
#define NETFC_LAYOUT 3
#elif defined(NETFC_COMPACT)
#define NETFC_LAYOUT 2
#else
#define NETFC_LAYOUT 1
#endif
#ifdef NETFC_SLOWLORIS
#define NETFC_DETECTOR 8
#else
#define NETFC_DETECTOR 0
#endif
#ifdef NETFC_SPLIT
#define NETFC_PROGRAM_SCALE NETFC_SCALE_BITS
#elif defined(NETFC_FP32)
#define NETFC_PROGRAM_SCALE NETFC_LAST_OP
#else
#define NETFC_PROGRAM_SCALE 0
#endif
#define NETFC_PROGRAM                                                                         \
    (((NETFC_DETECTOR + NETFC_LAYOUT) << 12) + (NETFC_FORMAT << 8) + (NETFC_PROGRAM_SCALE << 4) + \
     NETFC_LANES)

#if NETFC_PASSES == 2 && !defined(NETFC_RECIRCULATION_PORT)
#if __TARGET_TOFINO__ == 2
#define NETFC_RECIRCULATION_PORT 6
#else
#define NETFC_RECIRCULATION_PORT 68
#endif
#endif

/* Those of other programs, loaded by mistake, take entries, too. */
#define NETFC_PROGRAMS 16
#define NETFC_REQUESTS 32
#define NETFC_PORTS 512

#endif
