/* SPDX-License-Identifier: BSD-3-Clause */
/* --config: what is taken, what is refused, and which lcore polls and sends by which queue then. */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "eal.h"
#include "setup.h"

#define LCORES 4
#define PORTS 2

static struct app app;

/* Two ports with up to 8 queues each way, RSS, packets from one to the other. */
static int
set_up(void **state)
{
	(void)state;
	memset(&app, 0, sizeof(app));
	app.options.forward = FORWARD_PAIR;
	app.port_count = PORTS;
	for (uint16_t p = 0; p < PORTS; p++) {
		struct port *port = &app.port[p];

		port->id = (uint16_t)(p + 3);
		port->out = p ^ 1;
		port->info.driver_name = "net_test";
		port->info.max_rx_queues = port->info.max_tx_queues = 8;
		port->info.flow_type_rss_offloads = RTE_ETH_RSS_IP;
	}
	return 0;
}

/* What is written to stderr or to a stream by the last step. */
static char said[512];

static int
parse(const char *text)
{
	FILE *errors = fmemopen(said, sizeof(said), "w");
	int result;

	assert_non_null(errors);
	memset(said, 0, sizeof(said));
	result = queue_config_parse(errors, "config", text, &app.options.config);
	fclose(errors);
	return result;
}

static void
assert_polls(unsigned int lcore, unsigned int nth, uint16_t port, uint16_t queue)
{
	assert_true(nth < app.lcore[lcore].rx_queue_count);
	assert_int_equal(app.lcore[lcore].rx_queue[nth].port, port);
	assert_int_equal(app.lcore[lcore].rx_queue[nth].queue, queue);
}

TEST_WITH(queues_go_where_they_are_told, set_up, NULL)
{
	assert_int_equal(parse("(3,1,2),(3,0,1),(4,0,2)"), 0);
	assert_int_equal(queues_assign(&app), 0);
	assert_int_equal(app.port[0].rx_queues, 2);
	assert_int_equal(app.port[1].rx_queues, 1);
	assert_int_equal(app.lcore[0].rx_queue_count, 0);
	assert_polls(1, 0, 0, 0);
	assert_polls(2, 0, 0, 1);
	assert_polls(2, 1, 1, 0);
	assert_int_equal(app.lcore[3].rx_queue_count, 0);
	/* Both send to the second port, only one to the first; it gets as many as it receives by.
	 */
	assert_int_equal(app.lcore[1].tx_queue[1], 0);
	assert_int_equal(app.lcore[2].tx_queue[1], 1);
	assert_int_equal(app.port[0].tx_queues, 2);
	assert_int_equal(app.port[1].tx_queues, 2);
}

TEST_WITH(what_does_not_parse_is_refused, set_up, NULL)
{
	static const char *const bad[] = {"", "(", "()", "(0)", "(0,0)", "(0,0,0", "0,0,0",
		"(0,0,0)x", "(0,0,0),", "(0,0,0)(0,1,0)", "(0,0,0) (0,1,0)", "( 0,0,0)", "(0,0,-1)",
		"(0,+0,0)", "(0,0,0x1)", "(65536,0,0)", "(0,0,18446744073709551616)", "(0,0,0,0)",
		"(0,0,0),(0,0,1)"};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(bad[i]) != -1)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(said, "expected"));
	}
	assert_non_null(strstr(said, "queue 0 of port 0 is there twice"));
}

TEST_WITH(too_many_are_refused, set_up, NULL)
{
	static char list[MAX_QUEUE_PLACES * 16];
	size_t length = 0;

	for (unsigned int q = 0; q < MAX_QUEUE_PLACES; q++)
		length += (size_t)sprintf(list + length, "%s(0,%u,0)", q > 0 ? "," : "", q);
	assert_int_equal(parse(list), 0);
	assert_int_equal(app.options.config.count, MAX_QUEUE_PLACES);
	sprintf(list + length, ",(1,0,0)");
	assert_int_equal(parse(list), -1);
}

TEST_WITH(what_does_not_suit_is_refused, set_up, NULL)
{
	static const char *const unsuited[] = {
		"(0,0,0),(4,0,0)",         /* no such port */
		"(3,0,4),(4,0,0)",         /* no such lcore */
		"(3,0,0),(3,8,0),(4,0,0)", /* more queues than there are */
		"(3,0,0),(3,2,0),(4,0,0)", /* a gap */
		"(3,1,0),(4,0,0)",         /* not from 0 on */
		"(3,0,0)",                 /* a port is missing */
	};

	for (unsigned int i = 0; i < sizeof(unsuited) / sizeof(unsuited[0]); i++) {
		set_up(NULL);
		assert_int_equal(parse(unsuited[i]), 0);
		if (queues_assign(&app) != -1)
			fail_msg("'%s' was taken", unsuited[i]);
	}
	/* Without RSS, packets come to all queues that the device has. */
	set_up(NULL);
	app.port[0].info.flow_type_rss_offloads = 0;
	app.port[0].info.max_rx_queues = 2;
	assert_int_equal(parse("(3,0,0),(4,0,1)"), 0);
	assert_int_equal(queues_assign(&app), -1);
	/* Each lcore that sends there needs a queue. */
	set_up(NULL);
	app.port[1].info.max_tx_queues = 1;
	assert_int_equal(parse("(3,0,0),(3,1,1),(4,0,0)"), 0);
	assert_int_equal(queues_assign(&app), -1);
}

int
main(void)
{
	return start_lcores(LCORES) == 0 ? tests_run(NULL, NULL) : 1;
}
