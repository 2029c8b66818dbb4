/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The detector where capture files cannot go: time that passes, rules that change. Registers after
 * each packet are the integration tests' affair.
 */
#include <rte_common.h>
#include <rte_cycles.h>

#include "cases.h"
#include "slowloris_fixture.h"

TEST(silent_connections_end)
{
	struct slowloris_config config = fixture_usual;
	struct fixture *f;

	config.rules.least = 1000;
	f = fixture_create(&config);
	for (uint32_t client = 0; client < 100; client++)
		fixture_open(f, client);
	assert_int_equal(fixture_registers(f).connections, 100);
	assert_int_equal(fixture_registers(f).bytes, 100 * 80);
	fixture_pass(f, 59000);
	assert_int_equal(fixture_registers(f).connections, 100);
	assert_false(fixture_send_from(f, 7, ACK, 100)); /* the only one that is not silent */
	fixture_pass(f, 12000);
	assert_int_equal(fixture_registers(f).connections, 1);
	assert_int_equal(fixture_registers(f).bytes, 80 + 140);
	assert_int_equal(slowloris_counters(f->detector)->timed_out, 99);
	/* In the end nothing is left, not even the destination. */
	fixture_pass(f, 200000);
	assert_false(slowloris_find(f->detector, SERVER, &(struct slowloris_registers){0}));
	fixture_destroy(f);
}

/* All at once, but no call looks at more than a few: an lcore is not held up. */
TEST(ageing_is_done_in_small_pieces)
{
	struct fixture *f = fixture_create(&fixture_usual);
	const struct slowloris_counters *counters = slowloris_counters(f->detector);
	uint64_t ended = 0, most = 0;

	for (uint32_t client = 0; client < 10000; client++)
		fixture_open(f, client);
	f->now += 100 * rte_get_tsc_hz();
	while (counters->timed_out < 10000) {
		f->now += rte_get_tsc_hz() / MS_PER_S;
		slowloris_maintain(f->worker[0], f->now);
		most = RTE_MAX(most, counters->timed_out - ended);
		ended = counters->timed_out;
	}
	assert_in_range(most, 1, 256);
	assert_int_equal(fixture_registers(f).connections, 0);
	fixture_destroy(f);
}

/* As long as a server waits for them: a client that is slow on purpose is not forgotten. */
TEST(incomplete_handshakes_end)
{
	struct slowloris_config config = fixture_usual;
	struct slowloris_usage usage;
	struct fixture *f;

	config.rules.timeout_s = 300;
	f = fixture_create(&config);
	for (uint32_t client = 0; client < 100; client++)
		assert_false(fixture_send_from(f, client, SYN, 0));
	assert_false(fixture_send(f, 0, 7, true, SYN | ACK, 0));
	fixture_open(f, 100);
	fixture_pass(f, 62000);
	assert_false(fixture_send_from(f, 7, ACK, 0));
	assert_int_equal(fixture_registers(f).established, 2);
	fixture_pass(f, 3000);
	slowloris_usage(f->detector, &usage);
	assert_int_equal(usage.connections, 2);
	assert_int_equal(usage.half_open, 0);
	assert_int_equal(slowloris_counters(f->detector)->half_open_expired, 99);
	fixture_destroy(f);
}

/* However short the time-out is, and told as what they are. */
TEST(incomplete_handshakes_end_by_the_time_out)
{
	struct slowloris_config config = fixture_usual;
	struct fixture *f;

	config.rules.timeout_s = 5;
	f = fixture_create(&config);
	for (uint32_t client = 0; client < 100; client++)
		assert_false(fixture_send_from(f, client, SYN, 0));
	fixture_pass(f, 4000);
	assert_int_equal(fixture_registers(f).connections, 100);
	fixture_pass(f, 2000);
	assert_int_equal(fixture_registers(f).connections, 0);
	assert_int_equal(slowloris_counters(f->detector)->half_open_expired, 100);
	fixture_destroy(f);
}

/* Bytes of no connection leave after one to two time-outs. */
TEST(loose_bytes_leave)
{
	struct fixture *f = fixture_create(&fixture_usual);

	fixture_open(f, 0);
	assert_false(fixture_send_from(f, 99, ACK, 60));
	assert_int_equal(fixture_registers(f).bytes, 80 + 100);
	for (unsigned int minute = 0; minute < 3; minute++) {
		fixture_pass(f, 50000);
		assert_false(fixture_send_from(f, 0, ACK, 0));
	}
	assert_int_equal(fixture_registers(f).bytes, 80 + 3 * 40);
	fixture_destroy(f);
}

TEST(alarms_begin_and_end)
{
	struct fixture *f = fixture_create(&fixture_usual);
	struct slowloris_alert alert;

	for (uint32_t client = 0; client < 20; client++)
		fixture_open(f, client);
	fixture_pass(f, 900);
	assert_false(fixture_registers(f).alarm);
	/* Without a packet. */
	fixture_pass(f, 300);
	assert_true(fixture_registers(f).alarm);
	assert_true(slowloris_next_alert(f->detector, &alert) && alert.registers.alarm);
	assert_in_range(alert.after_ms, 1000, 1300);
	/* Nobody is slow before its grace is over; then all are that have sent too little. */
	assert_false(fixture_send_from(f, 3, ACK, 10));
	assert_false(fixture_send_from(f, 4, ACK, 120));
	fixture_pass(f, 2500);
	assert_true(fixture_send_from(f, 3, ACK, 10));
	assert_false(fixture_send_from(f, 4, ACK, 10));
	assert_false(fixture_send_from(f, 500, SYN, 0));
	/* Their ends count, whoever brings them; calm has to last. */
	for (uint32_t client = 0; client < 18; client++)
		assert_false(fixture_send(f, 0, client, true, FIN | ACK, 0));
	fixture_pass(f, 900);
	assert_true(fixture_registers(f).alarm);
	fixture_pass(f, 300);
	assert_false(fixture_registers(f).alarm);
	assert_true(slowloris_next_alert(f->detector, &alert) && !alert.registers.alarm);
	assert_false(slowloris_next_alert(f->detector, &alert));
	assert_false(fixture_send_from(f, 19, ACK, 10));
	fixture_destroy(f);
}

/* Anyone can send SYNs in anyone's name: a busy server is not cut off for it. */
TEST(a_flood_of_syns_is_no_attack_on_a_busy_server)
{
	struct fixture *f = fixture_create(&fixture_usual);

	for (uint32_t client = 0; client < 20; client++) {
		fixture_open(f, client);
		for (unsigned int packet = 0; packet < 20; packet++)
			assert_false(fixture_send_from(f, client, ACK, 100));
	}
	for (uint32_t client = 20; client < 5000; client++)
		assert_false(fixture_send_from(f, client, SYN, 0));
	assert_in_range(fixture_registers(f).ratio, f->config.rules.threshold + 1, UINT16_MAX);
	fixture_pass(f, 2000);
	assert_false(fixture_registers(f).alarm);
	fixture_destroy(f);
}

/* An attack ends with its connections, whatever a flood does to the register. */
TEST(a_flood_of_syns_keeps_no_alarm_on)
{
	struct fixture *f = fixture_create(&fixture_usual);

	for (uint32_t client = 0; client < 20; client++)
		fixture_open(f, client);
	fixture_pass(f, 1200);
	assert_true(fixture_registers(f).alarm);
	for (uint32_t client = 0; client < 20; client++) {
		for (unsigned int packet = 0; packet < 20; packet++)
			assert_false(fixture_send_from(f, client, ACK, 100));
	}
	for (uint32_t client = 20; client < 5000; client++)
		assert_false(fixture_send_from(f, client, SYN, 0));
	assert_in_range(fixture_registers(f).ratio, f->config.rules.threshold + 1, UINT16_MAX);
	fixture_pass(f, 1200);
	assert_false(fixture_registers(f).alarm);
	fixture_destroy(f);
}

/* What costs its sender nothing: SYNs and packets of no connection, in anyone's name. */
static void
flood(struct fixture *f, uint32_t first, uint8_t flags)
{
	for (uint32_t client = first; client < first + 5000; client++)
		assert_false(fixture_send_from(f, client, flags, 100));
}

/* Bytes that anyone can send in anyone's name hide no attack, and end none. */
TEST(a_flood_hides_no_attack)
{
	for (unsigned int begun = 0; begun < 2; begun++) {
		struct fixture *f = fixture_create(&fixture_usual);

		for (uint32_t client = 0; client < 20; client++)
			fixture_open(f, client);
		fixture_pass(f, begun ? 1200 : 0);
		assert_int_equal(fixture_registers(f).alarm, begun);
		flood(f, 20, SYN);
		flood(f, 10020, ACK);
		assert_in_range(fixture_registers(f).bytes, 5000 * 2 * 140, UINT32_MAX);
		assert_int_equal(fixture_registers(f).established_bytes, 20 * 80);
		fixture_pass(f, 2500);
		assert_true(fixture_registers(f).alarm);
		fixture_destroy(f);
	}
}

/* But the bytes of a connection count from its SYN on, once its handshake is complete. */
TEST(bytes_before_the_end_of_the_handshake_count)
{
	struct fixture *f = fixture_create(&fixture_usual);

	for (uint32_t client = 0; client < 20; client++) {
		for (unsigned int packet = 0; packet < 20; packet++)
			assert_false(fixture_send_from(f, client, SYN, 100));
		assert_false(fixture_send(f, 0, client, true, SYN | ACK, 0));
		assert_false(fixture_send_from(f, client, ACK, 0));
	}
	fixture_pass(f, 2500);
	assert_false(fixture_registers(f).alarm);
	fixture_destroy(f);
}

/* Longer than ticks count. */
TEST(an_attack_of_days_is_told_as_such)
{
	const unsigned int hours = 72;
	struct fixture *f = fixture_create(&fixture_usual);
	struct slowloris_alert alert;

	for (uint32_t client = 0; client < 20; client++)
		fixture_open(f, client);
	fixture_pass(f, 1200);
	assert_true(slowloris_next_alert(f->detector, &alert) && alert.registers.alarm);
	for (unsigned int step = 0; step < hours * 72; step++) {
		f->now += 50 * rte_get_tsc_hz();
		for (uint32_t client = 0; client < 20; client++)
			fixture_send_from(f, client, ACK, 0);
		slowloris_maintain(f->worker[0], f->now);
	}
	assert_true(fixture_registers(f).alarm);
	fixture_pass(f, 80000);
	assert_true(slowloris_next_alert(f->detector, &alert) && !alert.registers.alarm);
	assert_in_range(alert.after_ms / 1000, hours * 3600, hours * 3600 + 90);
	fixture_destroy(f);
}

/* Each rule that is looked at on the way to a drop, changed in the middle of an attack. */
TEST(rules_change_during_an_attack)
{
	struct slowloris_rules rules = fixture_usual.rules;
	struct fixture *f = fixture_create(&fixture_usual);

	for (uint32_t client = 0; client < 20; client++)
		fixture_open(f, client);
	fixture_pass(f, 4000);
	assert_true(fixture_send_from(f, 3, ACK, 10));
	assert_false(fixture_send_from(f, 500, SYN, 0)); /* is not slow yet */
	rules.policy = SLOWLORIS_DESTINATION;
	slowloris_set_rules(f->detector, &rules);
	assert_true(fixture_send_from(f, 501, SYN, 0));
	rules.dry_run = true;
	slowloris_set_rules(f->detector, &rules);
	assert_false(fixture_send_from(f, 502, SYN, 0));
	rules = fixture_usual.rules;
	rules.slow_bytes = 80;
	slowloris_set_rules(f->detector, &rules);
	assert_false(fixture_send_from(f, 3, ACK, 10));
	rules = fixture_usual.rules;
	rules.grace_ms = 10000;
	slowloris_set_rules(f->detector, &rules);
	assert_false(fixture_send_from(f, 3, ACK, 10));
	/* More connections than there are: it is over as soon as that has lasted, and not before.
	 */
	rules.least = 1000;
	rules.least_release = 500;
	rules.time_ms = 3000;
	slowloris_set_rules(f->detector, &rules);
	fixture_pass(f, 2900);
	assert_true(fixture_registers(f).alarm);
	fixture_pass(f, 300);
	assert_false(fixture_registers(f).alarm);
	slowloris_set_rules(f->detector, &fixture_usual.rules);
	fixture_pass(f, 1200);
	assert_true(fixture_registers(f).alarm);
	rules = fixture_usual.rules;
	rules.timeout_s = 1;
	slowloris_set_rules(f->detector, &rules);
	fixture_pass(f, 2000);
	assert_int_equal(fixture_registers(f).connections, 0);
	fixture_destroy(f);
}

/*
 * An lcore that was interrupted after it had read its clock finds what another has written since: a
 * connection that was opened in its future is not an old one.
 */
TEST(lcores_may_be_late)
{
	struct slowloris_config config = fixture_usual;
	struct fixture *f;

	config.shared = true;
	f = fixture_create(&config);
	for (uint32_t client = 0; client < 20; client++)
		fixture_open(f, client);
	fixture_pass(f, 1200);
	assert_true(fixture_registers(f).alarm);
	f->now += rte_get_tsc_hz() / MS_PER_S;
	assert_false(fixture_send(f, 1, 100, false, SYN, 0));
	assert_false(fixture_send(f, 1, 100, true, SYN | ACK, 0));
	f->now -= rte_get_tsc_hz() / MS_PER_S;
	/* Within its grace of three seconds. */
	assert_false(fixture_send(f, 2, 100, false, ACK, 10));
	fixture_destroy(f);
}

TEST(a_late_lcore_ends_no_handshake)
{
	struct slowloris_config config = fixture_usual;
	struct fixture *f;

	config.shared = true;
	f = fixture_create(&config);
	f->now += rte_get_tsc_hz() / MS_PER_S;
	assert_false(fixture_send(f, 1, 100, false, SYN, 0));
	f->now -= rte_get_tsc_hz() / MS_PER_S;
	slowloris_maintain(f->worker[0], f->now);
	assert_int_equal(slowloris_counters(f->detector)->half_open_expired, 0);
	assert_int_equal(fixture_registers(f).connections, 1);
	fixture_destroy(f);
}

/* A destination that another lcore has seen first, a moment later by its clock. */
TEST(a_late_lcore_keeps_loose_bytes)
{
	struct slowloris_config config = fixture_usual;
	const uint64_t moment = rte_get_tsc_hz() / MS_PER_S;
	struct fixture *f;

	config.shared = true;
	f = fixture_create(&config);
	f->now += moment;
	assert_false(fixture_send(f, 1, 100, false, SYN, 0));
	assert_false(fixture_send(f, 1, 99, false, ACK, 60));
	f->now -= moment;
	/* The same clock: what is due of the tables is looked at. */
	slowloris_maintain(f->worker[0], f->now);
	fixture_open(f, 0);
	for (unsigned int part = 0; part < 2; part++) {
		fixture_pass(f, 40000);
		assert_false(fixture_send_from(f, 0, ACK, 0));
	}
	/* More than one time-out later, and less than two. */
	assert_int_equal(fixture_registers(f).bytes, 80 + 100 + 2 * 40);
	fixture_destroy(f);
}
