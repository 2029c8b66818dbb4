/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_H
#define VECTOR_H

/**
 * @file
 * Kernels: a whole operation on many lanes at once, in the processor's vector unit.
 *
 * A kernel gives, bit for bit, what the programs of a table set give (netfc_compute()), or, made of
 * a format alone, what an FPU of that format computes (netfc_exact()). Lanes come as slots of
 * packets: big-endian, 16 bits, at any address. Kernels never change, so lcores may share them.
 */

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
	VECTOR_AVX512, /**< AVX-512 F, BW, DQ and VL */
#elif defined(__aarch64__)
	VECTOR_NEON,      /**< Advanced SIMD of 128 bits, which every arm64 processor has */
	VECTOR_NEON_FP16, /**< and arithmetic in binary16: FEAT_FP16 of Armv8.2 */
#endif
	VECTOR_ISAS,
};

/** Lanes of a packet, where they are: the slots of x, behind them those of y, then those of z. */
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

/** A kernel. Its functions are for vector_run_packets() and vector_run_lanes(). */
struct vector_kernel {
	void (*run_packets)(const struct vector_kernel *kernel, enum netfc_op op,
		struct vector_packet *packets, unsigned int count);
	void (*run_lanes)(const struct vector_kernel *kernel, enum netfc_op op, const uint16_t *x,
		const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count);
	/* NULL: there is one way; see vector_use_way() */
	void (*use_way)(struct vector_kernel *kernel, unsigned int way);
	void (*free)(struct vector_kernel *kernel);
	unsigned int ways;
	bool folded; /* no look-ups in tables but for miTables */
	char description[80];
};

/** The instruction set's name for people: "plain C", "AVX2", "AVX-512", "NEON", "NEON FP16". */
const char *vector_isa_name(enum vector_isa isa);

/**
 * The best instruction set that the processor has and the EAL allows: the EAL is asked for 512
 * bits, which it refuses beyond its option --force-max-simd-bitwidth. It must have been
 * initialised. NEON takes 128 bits.
 */
enum vector_isa vector_isa_best(void);

/**
 * Make a kernel of a table set. What it folds its tables into is derived from them and compared
 * with each of their entries that any operation can reach.
 *
 * @param set the tables; they are not needed any more afterwards
 * @param stages where to look its tables' keys up, by the table's index: the kernel joins the steps
 *   between the look-ups, and stages must outlive it; or NULL: the kernel has all that it needs
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with vector_free()
 * @return 0; -ENOMEM; or -ENOTSUP for a set that no kernel is equal to: only its steps compute it
 */
int vector_create(const struct netfc_set *set, struct match_stage *const *stages,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);

/**
 * Make a kernel of a format alone: what an FPU of that format computes, correctly rounded, equal to
 * netfc_exact(). Table sets of logarithms give other results.
 *
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with vector_free()
 * @return 0 or -ENOMEM
 */
int vector_fpu_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/**
 * Whether a set's entries are those that its name stands for. A name says every bit of a set, but a
 * file may lie about its name.
 *
 * @return 0 if they are, -ENOTSUP if they are not, or -ENOMEM
 */
int vector_compare_with_built(const struct netfc_set *set);

/**
 * The ways that a kernel has of computing the same. Which is faster, the processor decides: the one
 * in use was faster when the kernel was made.
 */
static inline unsigned int
vector_ways(const struct vector_kernel *kernel)
{
	return kernel->use_way != NULL ? kernel->ways : 1;
}

/**
 * Use another way, for a comparison; before anybody else has the kernel.
 *
 * @param way less than vector_ways()
 */
static inline void
vector_use_way(struct vector_kernel *kernel, unsigned int way)
{
	if (kernel->use_way != NULL)
		kernel->use_way(kernel, way);
}

/** See vector_mixed_run(). */
struct vector_mixed;

/**
 * Make a kernel whose lanes may be of any format and operation: where few lanes of each come
 * together, as many kernels as there are formats and operations would take longer.
 *
 * @param sets by format, NULL where there is none; they are not needed any more afterwards
 * @param stages by format and index of its table, as for vector_create(): arrays, which must
 *   outlive the kernel; or NULL: the kernel has arrays of its own
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param mixed where the new kernel goes; free it with vector_mixed_free()
 * @return 0; -ENOMEM; or -ENOTSUP without AVX-512, where a set is none of logarithms, or where
 *   stages are no arrays near each other
 */
int vector_mixed_create(const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], enum vector_isa isa, int socket_id,
	struct vector_mixed **mixed);

/** Free a kernel; NULL is allowed. */
void vector_mixed_free(struct vector_mixed *mixed);

/** The number by which a lane's format and operation are told. */
static inline uint8_t
vector_mixed_kind(unsigned int format, enum netfc_op op)
{
	return (uint8_t)(format << 2 | (op - NETFC_ADD));
}

/**
 * Compute lanes that have been gathered from many packets.
 *
 * @param kind of each lane, see vector_mixed_kind()
 * @param x, y, z slots, `count` each, not overlapping
 * @param flags each lane's exception flags go here
 * @param count how many lanes; any number
 */
void vector_mixed_run(const struct vector_mixed *mixed, const uint8_t *kind, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count);

/** Free a kernel; NULL is allowed. */
void vector_free(struct vector_kernel *kernel);

/**
 * Compute the lanes of packets, where they are.
 *
 * @param op the operation of all lanes
 * @param packets distinct ones; their results are filled in
 * @param count how many packets
 */
static inline void
vector_run_packets(const struct vector_kernel *kernel, enum netfc_op op,
	struct vector_packet *packets, unsigned int count)
{
	kernel->run_packets(kernel, op, packets, count);
}

/**
 * Compute lanes that have been gathered from many packets.
 *
 * @param op the operation of all lanes
 * @param x, y, z slots, `count` each, not overlapping
 * @param flags each lane's exception flags go here
 * @param count how many lanes; any number
 */
static inline void
vector_run_lanes(const struct vector_kernel *kernel, enum netfc_op op, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count)
{
	kernel->run_lanes(kernel, op, x, y, z, flags, count);
}

#endif /* VECTOR_H */
