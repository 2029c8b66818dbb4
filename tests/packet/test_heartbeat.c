/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life: given only if every lcore that has something to do has made a round. */
#include <string.h>

#include "cases.h"
#include "eal.h"
#include "service/service.h"

#define LCORES 4

static struct app app;
static struct heartbeat heartbeat;

/* The main lcore 0 polls nothing, 1 polls a queue, 2 aggregates, 3 has nothing to do. */
static int
set_up(void **state)
{
	(void)state;
	memset(&app, 0, sizeof(app));
	memset(&heartbeat, 0, sizeof(heartbeat));
	app.lcore[1].rx_queue_count = 1;
	app.lcore[2].aggregates = true;
	return 0;
}

static void
make_rounds(unsigned int lcore, uint64_t cycles)
{
	app.lcore[lcore].counters.cycles += cycles;
}

static void
all_make_rounds(void)
{
	for (unsigned int l = 0; l < LCORES - 1; l++)
		make_rounds(l, l + 1);
}

TEST_WITH(no_sign_before_the_first_rounds, set_up, NULL)
{
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 0);
	make_rounds(0, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 1);
	make_rounds(1, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 2);
	make_rounds(2, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), RTE_MAX_LCORE);
}

TEST_WITH(each_lcore_is_missed, set_up, NULL)
{
	for (unsigned int stuck = 0; stuck < LCORES - 1; stuck++) {
		all_make_rounds();
		assert_int_equal(heartbeat_missing(&heartbeat, &app), RTE_MAX_LCORE);
		for (unsigned int l = 0; l < LCORES - 1; l++)
			make_rounds(l, l != stuck);
		for (unsigned int look = 0; look < 3; look++)
			assert_int_equal(heartbeat_missing(&heartbeat, &app), stuck);
	}
}

/* Lcores that are slow in turn are alive: each makes a round between two signs. */
TEST_WITH(rounds_count_whenever_they_are_made, set_up, NULL)
{
	all_make_rounds();
	assert_int_equal(heartbeat_missing(&heartbeat, &app), RTE_MAX_LCORE);
	make_rounds(0, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 1);
	make_rounds(1, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 2);
	make_rounds(2, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), RTE_MAX_LCORE);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 0);
}

TEST_WITH(idle_lcores_do_not_matter, set_up, NULL)
{
	all_make_rounds();
	assert_int_equal(heartbeat_missing(&heartbeat, &app), RTE_MAX_LCORE);
	make_rounds(LCORES - 1, 1);
	assert_int_equal(heartbeat_missing(&heartbeat, &app), 0);
}

int
main(void)
{
	return start_lcores(LCORES) == 0 ? tests_run(NULL, NULL) : 1;
}
