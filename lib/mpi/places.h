/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_PLACES_H
#define NETFC_MPI_PLACES_H

/**
 * @file
 * Which ranks of a communicator are members of its job, and at which switch.
 *
 * A member is a worker of a switch: a rank, or the first of a node's ranks, which speaks for all of
 * them. Ranks may name different switches: these are leaves of one parent, in the order of their
 * first members. All ranks find the same from the same records.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACES_MAX_WORKERS 64 /* of a switch; and leaves of a parent */

/** What each rank tells all others. */
struct place_record {
	uint64_t node; /**< the same for ranks that share memory and network, and for no others */
	uint64_t switches;     /**< the same for ranks that use the same switches */
	int32_t process, file; /**< where the others of its node find the memory to share */
	uint32_t jobs; /**< communicators of its process that have a job, this one included */
};

struct place_member {
	unsigned int leaf, worker; /**< which of a switch's, and that switch */
	int rank;                  /**< the first; it speaks */
	int ranks;                 /**< that it speaks for */
};

struct places {
	unsigned int leaves;
	unsigned int workers[PLACES_MAX_WORKERS]; /**< of each leaf */
	unsigned int members;
	struct place_member member[PLACES_MAX_WORKERS * PLACES_MAX_WORKERS];
	unsigned int of_rank[]; /**< the member that speaks for it */
};

enum places_status {
	PLACES_OK,
	PLACES_TOO_MANY, /**< workers of a switch, or switches */
	PLACES_NO_MEMORY
};

/**
 * @param by_nodes the first rank of each node speaks for it; else each rank for itself
 * @param places for free()
 */
enum places_status
places_find(struct places **places, const struct place_record *records, int ranks, bool by_nodes);

/** Write the ranks that a member speaks for: "rank 3", "ranks 4, 5, 6, ...". */
void places_name(const struct places *places, int ranks, unsigned int leaf, unsigned int worker,
	char *text, size_t bytes);

/** The number that addresses of switches have in common in a record; never 0. */
uint64_t places_switches(const char *addresses);

/* Numbers that are equal for ranks of one node, and differ for others with high probability. */

/**
 * Of the node: one system, since it was started; one user, who may open files of the others; one
 * space of processes, so that they have each other's numbers; one network, for containers with
 * addresses of their own are hosts of their own.
 */
uint64_t identity_of_node(void);

/** Of a rank that shares nothing. */
uint64_t identity_of_rank(int rank);

#endif /* NETFC_MPI_PLACES_H */
