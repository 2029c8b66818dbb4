/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "side_thread.h"

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static uint32_t
run(void *arg)
{
	const struct side_work *work = arg;

	work->run(work->arg);
	return 0;
}

static int
create(side_thread *thread, const char *name, void *work)
{
	return rte_thread_create_control(thread, name, run, work);
}

void
side_thread_join(side_thread thread)
{
	rte_thread_join(thread, NULL);
}
#else
static void *
run(void *arg)
{
	const struct side_work *work = arg;

	work->run(work->arg);
	return NULL;
}

static int
create(side_thread *thread, const char *name, void *work)
{
	return rte_ctrl_thread_create(thread, name, NULL, run, work);
}

void
side_thread_join(side_thread thread)
{
	pthread_join(thread, NULL);
}
#endif

int
side_thread_start(side_thread *thread, const char *name, const struct side_work *work)
{
	int error = create(thread, name, (void *)(uintptr_t)work);

	if (error == 0)
		return 0;
	fprintf(stderr, "%s: cannot start the thread %s: %s\n", program_invocation_short_name, name,
		rte_strerror(abs(error)));
	return -1;
}
