/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_H
#define VECTOR_H

/**
 * @file
 * Kernels: the operations of a format on many lanes at once.
 *
 * There is one interface for all of them, whatever computes: the processor's vector unit, or the
 * steps of a program one by one; a table set (netfc_compute()), a format alone (netfc_exact(),
 * netfc_extra()), or an array of a function. Lanes come as slots of packets: big-endian, as wide as
 * their format, at any address. Kernels never change, so lcores may share them.
 */

#include <stdbool.h>
#include <stdint.h>

#include <netfc.h>

#include "match.h"

/**
 * Instruction sets that kernels are written for, of the processor that this is compiled for; each
 * contains those before it.
 */
enum vector_isa {
	VECTOR_PLAIN, /**< what the rest of the program is compiled for */
#if defined(__x86_64__)
	VECTOR_AVX2,   /**< AVX2, and what came with it: F16C, BMI 1 and 2 */
	VECTOR_AVX512, /**< AVX-512 F, BW, CD, DQ and VL */
#elif defined(__aarch64__)
	VECTOR_NEON,      /**< Advanced SIMD of 128 bits, which every arm64 processor has */
	VECTOR_NEON_FP16, /**< and arithmetic in binary16: FEAT_FP16 of Armv8.2 */
#endif
	VECTOR_ISAS,
};

struct vector_kernel;

/** Lanes of a packet, where they are: the slots of x, after them those of y, then those of z. */
struct vector_packet {
	uint8_t *slots;
	uint32_t count; /**< lanes, at least 1 */
	uint8_t flags;  /**< result: the exception flags of all lanes, or-ed */
	/**
	 * Result: what the change of z changes in a checksum over the packet, see checksum.h of the
	 * pipeline: a one's complement sum not yet folded
	 */
	uint64_t changes;
};

/** Lanes of 16 bits that have been gathered from many packets: slots, not overlapping. */
struct vector_lanes {
	const uint16_t *x, *y;
	uint16_t *z;
	uint8_t *flags; /**< each lane's exception flags go here */
	/**
	 * Of each lane, see vector_group(): for a mixed kernel; or, for one that is paired, where
	 * lanes are of two operations, NETFC_ADD and NETFC_SUB, or NETFC_MUL and NETFC_DIV, the
	 * first of which is named. NULL: all are of one operation
	 */
	const uint8_t *group;
	uint32_t count; /**< any number */
};

/** How a kernel computes: see vector_run_packets() and vector_run_lanes(). */
typedef void vector_packets_fn(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
typedef void vector_lanes_fn(
	const struct vector_kernel *kernel, unsigned int op, const struct vector_lanes *lanes);

struct vector_functions {
	vector_packets_fn *packets;
	vector_lanes_fn *lanes; /* NULL: lanes are not gathered for this kernel */
};

/** A kernel. */
struct vector_kernel {
	struct vector_functions run;
	bool tables_in_registers; /* no look-ups in tables but for miTables */
	bool takes_op_pairs;  /* takes gathered lanes of a pair of operations, see vector_lanes */
	char description[80]; /* human-readable; empty: match stages, step by step */
};

/** The instruction set's name for messages: "plain C", "AVX2", "AVX-512", "NEON", "NEON FP16". */
const char *vector_isa_name(enum vector_isa isa);

/**
 * The best instruction set that the processor has and the EAL's option --force-max-simd-bitwidth
 * allows; what drivers may use stays as it is. The EAL must have been initialised. NEON takes 128
 * bits.
 */
enum vector_isa vector_isa_best(void);

/**
 * Make a kernel of a table set: of the operations NETFC_ADD to NETFC_DIV. What it folds its tables
 * into is derived from them and compared with each of their entries that any operation can reach.
 *
 * @param set the tables; they must outlive the kernel
 * @param stages where to look its tables' keys up, by the table's index: the kernel joins the steps
 *   between the look-ups where it can, and stages must outlive it; or NULL: the kernel has all that
 *   it needs
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with vector_free()
 * @return 0; -ENOMEM; or -ENOTSUP without stages for a set that only its steps compute
 */
int vector_create(const struct netfc_set *set, struct match_stage *const *stages,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);

/**
 * Make a kernel of a format alone, for the same operations: what an FPU of that format computes,
 * correctly rounded, equal to netfc_exact(). Table sets of logarithms give other results.
 *
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with vector_free()
 * @return 0; -ENOMEM; or -ENOTSUP for binary32, and for formats that are computed in it or in
 *   binary16, where this thread's floats are not IEEE 754's
 */
int vector_fpu_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/**
 * Make the kernel that a match engine has for a table set: one of the above.
 *
 * @param match MATCH_FPU needs the set's format alone, if the processor has what it takes
 * @param stages NULL, NETFC_MAX_TABLES of them; those that the kernel needs go here, and must be
 *   freed after it, or if there is an error
 * @return 0; -ENOMEM; or an error of match_create()
 */
int vector_create_engine(const struct netfc_set *set, enum match_kind match, enum vector_isa isa,
	int socket_id, struct match_stage **stages, struct vector_kernel **kernel);

/**
 * Whether a set's entries that operations can reach are those of another, which is built. A name
 * says every bit of a set, but a file may lie about its name.
 *
 * @param name of the other set, which has as many tables
 * @param first the tables from this one on
 * @return 0 if they are, -ENOTSUP if they are not, or -ENOMEM
 */
int vector_compare(const struct netfc_set *set, const char *name, unsigned int first);

/** The number by which a mixed kernel tells a lane's format, of 16 bits, and operation, of the
 * four. */
static inline uint8_t
vector_group(unsigned int format, enum netfc_op op)
{
	return (uint8_t)(format << 2 | (op - NETFC_ADD));
}

/**
 * Make a kernel of gathered lanes that may be of any format and operation: where few lanes of each
 * come together, as many kernels as there are formats and operations would take longer.
 *
 * @param sets by format, NULL where there is none; they are not needed any more afterwards
 * @param stages by format and index of its table, as for vector_create(): arrays, which must
 *   outlive the kernel; or NULL: the kernel has arrays of its own
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with vector_free()
 * @return 0; -ENOMEM; or -ENOTSUP without AVX-512, where a set is none of logarithms, or where
 *   stages are no arrays near each other
 */
int vector_mixed_create(const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/** Free a kernel; NULL is allowed. */
void vector_free(struct vector_kernel *kernel);

/**
 * Compute the lanes of packets, where they are.
 *
 * @param op the operation of all lanes, by its number on the wire
 * @param packets distinct ones; their results are filled in
 * @param count how many packets
 */
static inline void
vector_run_packets(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	kernel->run.packets(kernel, op, packets, count);
}

/**
 * Compute gathered lanes.
 *
 * @param op the operation of all lanes; not looked at by a mixed kernel
 */
static inline void
vector_run_lanes(
	const struct vector_kernel *kernel, unsigned int op, const struct vector_lanes *lanes)
{
	kernel->run.lanes(kernel, op, lanes);
}

/**
 * Call run(op, ...) with the operation as a constant, which the compiler folds into it. Nothing is
 * run for others than the four.
 */
#define VECTOR_BY_OP(run, op, ...)           \
	switch ((enum netfc_op)(op)) {       \
	case NETFC_ADD:                      \
		run(NETFC_ADD, __VA_ARGS__); \
		break;                       \
	case NETFC_SUB:                      \
		run(NETFC_SUB, __VA_ARGS__); \
		break;                       \
	case NETFC_MUL:                      \
		run(NETFC_MUL, __VA_ARGS__); \
		break;                       \
	case NETFC_DIV:                      \
		run(NETFC_DIV, __VA_ARGS__); \
		break;                       \
	}

/** Of numbers, or the compiler's vectors of them; the operation is a constant. */
#define VECTOR_OPERATE(op, x, y)                        \
	((op) == NETFC_SUB                  ? (x) - (y) \
			: (op) == NETFC_MUL ? (x) * (y) \
			: (op) == NETFC_DIV ? (x) / (y) \
					    : (x) + (y))

#endif /* VECTOR_H */
