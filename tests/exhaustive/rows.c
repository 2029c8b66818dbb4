/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rows.h"

#define MAX_THREADS 256
#define REPORTS 8

/* What threads share. */
struct progress {
	const struct rows *rows;
	uint32_t stride, next, done;
	uint64_t wrong;
	time_t start;
};

/* NETFC_STRIDE: every how many-th x, for processors that are only imitated. */
static uint32_t
stride(void)
{
	const char *text = getenv("NETFC_STRIDE");
	long number = text != NULL ? strtol(text, NULL, 10) : 1;

	return number > 0 && number < (long)ROW ? (uint32_t)number : 1;
}

uint32_t
rows_count(void)
{
	return (ROW + stride() - 1) / stride();
}

static void
report(const struct progress *progress, uint32_t done)
{
	printf("%s: %u of %u rows, %ld s, %" PRIu64 " wrong\n", progress->rows->title, done,
		rows_count(), (long)(time(NULL) - progress->start),
		__atomic_load_n(&progress->wrong, __ATOMIC_RELAXED));
	fflush(stdout);
}

static void *
check_some(void *arg)
{
	struct progress *progress = arg;
	uint32_t x, done;

	while ((x = __atomic_fetch_add(&progress->next, progress->stride, __ATOMIC_RELAXED)) <
		ROW) {
		uint64_t wrong = progress->rows->check(progress->rows->arg, (uint16_t)x);

		__atomic_fetch_add(&progress->wrong, wrong, __ATOMIC_RELAXED);
		done = __atomic_add_fetch(&progress->done, 1, __ATOMIC_RELAXED);
		if (done % (rows_count() / REPORTS + 1) == 0)
			report(progress, done);
	}
	return NULL;
}

uint64_t
rows_check(const struct rows *rows, double *seconds)
{
	struct progress progress = {
		.rows = rows,
		.start = time(NULL),
		.stride = stride(),
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	clock_t before = clock();
	pthread_t thread[MAX_THREADS];
	long threads = 0;

	while (threads < cpus && threads < MAX_THREADS &&
		pthread_create(&thread[threads], NULL, check_some, &progress) == 0)
		threads++;
	if (threads == 0)
		check_some(&progress);
	for (long t = 0; t < threads; t++)
		pthread_join(thread[t], NULL);
	*seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
	return progress.wrong;
}
