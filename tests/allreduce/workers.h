/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WORKERS_H
#define WORKERS_H

/**
 * @file
 * Workers as threads of the test, each with its communicator, and what they ought to compute.
 */

#include <stdint.h>

#include <netfc_allreduce.h>

#define MAX_WORKERS 64

/* Where a job's switches are: UDP ports of this machine. */
struct place {
	unsigned int switches;
	uint16_t ports[4];
	char text[4][32];
};

struct place place_of(unsigned int switches, const uint16_t *ports);

/* One switch, at that port. */
struct place place_at(uint16_t port);

/* Options for worker `w` of `n`, impatient. */
struct netfc_allreduce_options
worker_options(const struct place *place, unsigned int w, unsigned int n);

/* A communicator that has joined. NULL: it could not, and has said so. */
struct netfc_allreduce *worker_join(const struct netfc_allreduce_options *options);

/* What a worker does. Returns 0 if all is as it should be. */
typedef int (*worker_body)(unsigned int w, unsigned int n, void *context);

/* Have `n` do it at once. Returns the sum of what they return. */
int workers_run(unsigned int n, worker_body body, void *context);

/* Values of all workers of all formats, with what the oracle makes of them. */
struct vector {
	unsigned int format, op, workers;
	uint32_t count;
	uint8_t *values[MAX_WORKERS]; /* in host order */
	uint8_t *expected;
	unsigned int flags;
};

/* Make one by seed. */
struct vector *vector_new(
	unsigned int format, unsigned int op, unsigned int workers, uint32_t count, uint64_t seed);
void vector_free(struct vector *vector);

/* Whether that is the result, to the last bit; says where it is not. */
int vector_differs(const struct vector *vector, const uint8_t *result);

#endif /* WORKERS_H */
