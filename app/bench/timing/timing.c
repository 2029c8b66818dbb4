/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "timing/timing.h"

#define MEASUREMENTS 20
/* Between two readings of the clock. */
#define TURNS 64

/* Of this thread: time in which others had the core does not count. */
static double
seconds_of_work(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double
time_best(time_work work, void *arg, double seconds)
{
	double best = 0;

	for (unsigned int m = 0; m < MEASUREMENTS; m++) {
		double start = seconds_of_work(), spent;
		unsigned int turns = 0;

		do {
			for (unsigned int t = 0; t < TURNS; t++)
				work(arg, turns++);
			spent = seconds_of_work() - start;
		} while (spent * MEASUREMENTS < seconds);
		spent /= turns;
		best = m == 0 || spent < best ? spent : best;
	}
	return best;
}
