/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_TALLY_H
#define NETFC_MPI_TALLY_H

/** @file What is counted where the program's reductions are to be told of, and the table of it. */

#include <mpi.h>
#include <stdint.h>

#define TALLY_ROWS 64
#define TALLY_NAME_BYTES 32

enum tally_way {
	TALLY_SWITCH, /**< this rank is a worker of the switch */
	TALLY_NODE,   /**< the ranks of its node are one, together */
	TALLY_MPI,    /**< left to MPI, or done by it in the end */
	TALLY_WAYS
};

struct tally_row {
	const char *function, *operation;
	char type[TALLY_NAME_BYTES];
	enum tally_way way;
	uint64_t calls, values;
};

/** Whoever uses it has a lock. */
struct tally {
	struct tally_row row[TALLY_ROWS];
	unsigned int rows;
	struct tally_row others[TALLY_WAYS]; /**< all that have no row */
};

/** MPI's name of a type: "MPI_DOUBLE"; of a derived one that has none, "a derived type". */
void tally_type_name(MPI_Datatype type, char name[TALLY_NAME_BYTES]);

/** MPI's name of an operation; of the program's own, "its own". */
const char *tally_operation_name(MPI_Op op);

void tally_add(struct tally *tally, const char *function, MPI_Datatype type, MPI_Op op,
	enum tally_way way, uint64_t values);

/** A line for each row, and one before all, by `line`. */
void tally_print(const struct tally *tally, void (*line)(const char *format, ...));

#endif /* NETFC_MPI_TALLY_H */
