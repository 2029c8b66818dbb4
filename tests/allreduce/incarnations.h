/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INCARNATIONS_H
#define INCARNATIONS_H

/**
 * @file
 * Jobs that are joined and left again and again, by the same numbers and with the same token. All
 * values tell job, incarnation, round and worker, so that nothing of another one goes unnoticed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "workers.h"

#define MAX_JOBS 8

/* What came of it. */
struct tally {
	_Atomic uint64_t joins;      /* of workers */
	_Atomic uint64_t allreduces; /* of workers, that said OK */
	_Atomic uint64_t wrong;      /* values of these that are not what they have to be */
	_Atomic uint64_t errors;     /* joins and allreduces that failed */
};

struct incarnations {
	const struct place *places; /* of switches, one of which each incarnation takes */
	unsigned int place_count;
	unsigned int jobs;    /* beside each other, 1 .. MAX_JOBS */
	unsigned int workers; /* of each */
	unsigned int rounds;  /* allreduces of an incarnation */
	uint32_t count;       /* values of an allreduce, at most */
	bool varies;          /* count, operation and format from one allreduce to the next */
	unsigned int times;   /* incarnations of each job, at most */
	uint64_t until;       /* clock_now() at which no other is begun */
	unsigned int rto_max_us;
	unsigned int errors_most; /* that end it, since more show no more; 0: any number */
	unsigned int settle_ms;   /* after an error: until the switch has forgotten the job */
	struct tally tally;
};

/* Run them. The first few errors and wrong values are said on standard error. */
void incarnations_run(struct incarnations *incarnations);

#endif /* INCARNATIONS_H */
