/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "sleep/plan.h"

/* Another lcore that polls on one of the same CPUs; LCORE_ID_ANY: there is none. */
static unsigned int
rival_of(const struct app *app, unsigned int lcore_id)
{
	const rte_cpuset_t own = rte_lcore_cpuset(lcore_id);
	unsigned int other;

	RTE_LCORE_FOREACH (other) {
		rte_cpuset_t both = rte_lcore_cpuset(other);

		CPU_AND(&both, &both, &own);
		if (other != lcore_id && lcore_works(&app->lcore[other]) && CPU_COUNT(&both) > 0)
			return other;
	}
	return LCORE_ID_ANY;
}

static bool
all_cpus_poll(const struct app *app)
{
	rte_cpuset_t polled;
	unsigned int lcore_id;

	CPU_ZERO(&polled);
	RTE_LCORE_FOREACH (lcore_id) {
		const rte_cpuset_t own = rte_lcore_cpuset(lcore_id);

		if (lcore_works(&app->lcore[lcore_id]))
			CPU_OR(&polled, &polled, &own);
	}
	return CPU_COUNT(&polled) >= sysconf(_SC_NPROCESSORS_ONLN);
}

static void
print_polling(const struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		unsigned int rival = rival_of(app, lcore_id);

		if (rival == LCORE_ID_ANY || !lcore_works(&app->lcore[lcore_id]))
			continue;
		printf("  sleep     never (--poll), but lcores %u and %u share a CPU: packets wait "
		       "while the other one polls; leave --poll out, or give each its own (-l)\n",
			lcore_id, rival);
		return;
	}
	printf("  sleep     never (--poll)%s\n",
		all_cpus_poll(app) ? ", but no CPU is left for the kernel and other programs: "
				     "packets wait while these run; leave --poll out, or use "
				     "fewer lcores (-l)"
				   : "");
}

static void
print_sleep(unsigned int lcore_id, const struct sleeper *sleeper)
{
	printf("  sleep     lcore %u: ", lcore_id);
	if (sleeper->limit_us == 0)
		printf("none, as its receive rings fill within a few us\n");
	else
		printf("up to %u us%s\n", sleeper->limit_us,
			sleeper->interrupts ? ", then until a receive interrupt" : "");
}

void
plan_print(const struct app *app)
{
	unsigned int lcore_id;

	if (app->options.poll) {
		print_polling(app);
		return;
	}
	RTE_LCORE_FOREACH (lcore_id) {
		if (lcore_works(&app->lcore[lcore_id]))
			print_sleep(lcore_id, &app->lcore[lcore_id].sleeper);
	}
}
