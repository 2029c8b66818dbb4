/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The detector where capture files cannot go: time that passes, lcores that meet, keys that
 * somebody chose. Registers after each packet are the integration tests' affair.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <pthread.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_tcp.h>

#include "divide.h"
#include "eal.h"
#include "packets.h"
#include "segment.h"
#include "slowloris.h"

#define SERVER RTE_IPV4(10, 0, 0, 2)
#define CLIENTS RTE_IPV4(10, 1, 0, 0)
#define SERVER_NUMBER 1000u
#define THREADS 4

#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG

struct fixture {
	struct rte_mempool *pool;
	struct rte_rcu_qsbr *qsbr;
	struct slowloris_config config;
	struct slowloris *detector;
	struct slowloris_worker *worker[THREADS];
	uint64_t now; /* TSC */
};

static const struct slowloris_config usual = {
	.rules =
		{
			.threshold = 0x1419, /* 0.001 */
			.release = 0x1019,
			.least = 10,
			.least_release = 5,
			.time_ms = 1000,
			.policy = SLOWLORIS_CONNECTION,
			.slow_bytes = 200,
			.grace_ms = 3000,
			.timeout_s = 60,
		},
	.connections = 20000,
	.destinations = 100,
	.match = MATCH_DIRECT,
	.socket_id = SOCKET_ID_ANY,
};

/* Logarithms take seconds to add with sanitizers: all tests share a process, not a detector. */
static struct fixture *
create(const struct slowloris_config *config)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->pool = rte_pktmbuf_pool_create("test", 4095, 0, 0, 512, SOCKET_ID_ANY);
	f->qsbr = rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(THREADS), RTE_CACHE_LINE_SIZE);
	assert_true(f->pool != NULL && f->qsbr != NULL);
	assert_int_equal(rte_rcu_qsbr_init(f->qsbr, THREADS), 0);
	f->config = *config;
	f->config.qsbr = f->qsbr;
	assert_int_equal(slowloris_create(&f->config, &f->detector), 0);
	for (unsigned int w = 0; w < THREADS; w++) {
		f->worker[w] = slowloris_worker_create(f->detector, SOCKET_ID_ANY);
		assert_non_null(f->worker[w]);
	}
	f->now = rte_rdtsc();
	return f;
}

static void
destroy(struct fixture *f)
{
	assert_int_equal(rte_mempool_in_use_count(f->pool), 0);
	for (unsigned int w = 0; w < THREADS; w++)
		slowloris_worker_free(f->worker[w]);
	slowloris_free(f->detector);
	rte_free(f->qsbr);
	rte_mempool_free(f->pool);
	free(f);
}

struct packet {
	struct rte_ether_hdr ethernet;
	struct rte_ipv4_hdr ip;
	struct rte_tcp_hdr tcp;
} __attribute__((packed, aligned(2)));

static void
fill(struct packet *packet, uint32_t source, uint32_t destination, uint16_t source_port,
	uint16_t destination_port, uint8_t flags, uint16_t payload)
{
	*packet = (struct packet){
		.ethernet.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.ip.version_ihl = RTE_IPV4_VHL_DEF,
		.ip.total_length = rte_cpu_to_be_16((uint16_t)(40 + payload)),
		.ip.next_proto_id = IPPROTO_TCP,
		.ip.src_addr = rte_cpu_to_be_32(source),
		.ip.dst_addr = rte_cpu_to_be_32(destination),
		.tcp.src_port = rte_cpu_to_be_16(source_port),
		.tcp.dst_port = rte_cpu_to_be_16(destination_port),
		.tcp.sent_seq = rte_cpu_to_be_32(SERVER_NUMBER),
		.tcp.recv_ack = rte_cpu_to_be_32(SERVER_NUMBER + 1),
		.tcp.data_off = 0x50,
		.tcp.tcp_flags = flags,
	};
}

/* From a client, by its number, or to it. Returns whether it is dropped. */
static bool
send_as(struct fixture *f, unsigned int worker, uint32_t client, bool answer, uint8_t flags,
	uint16_t payload)
{
	struct slowloris_verdict verdict;
	struct rte_mbuf *mbuf;
	struct frame frame;
	uint8_t bytes[256] __attribute__((aligned(2))) = {0};

	if (answer)
		fill((struct packet *)bytes, SERVER, CLIENTS + client, 80, 2000, flags, payload);
	else
		fill((struct packet *)bytes, CLIENTS + client, SERVER, 2000, 80, flags, payload);
	mbuf = packet_of(f->pool, bytes, (uint32_t)sizeof(struct packet) + payload, 256);
	assert_non_null(mbuf);
	frame_parse(mbuf, &frame);
	slowloris_process(f->worker[worker], &mbuf, &frame, 1, f->now, &verdict);
	rte_pktmbuf_free(mbuf);
	return (verdict.drop_connection | verdict.drop_destination) != 0;
}

static bool
from(struct fixture *f, uint32_t client, uint8_t flags, uint16_t payload)
{
	return send_as(f, 0, client, false, flags, payload);
}

static void
open_connection(struct fixture *f, uint32_t client)
{
	assert_false(from(f, client, SYN, 0));
	assert_false(send_as(f, 0, client, true, SYN | ACK, 0));
	assert_false(from(f, client, ACK, 0));
}

static struct slowloris_registers
registers(const struct fixture *f)
{
	struct slowloris_registers found = {0};

	slowloris_find(f->detector, SERVER, &found);
	return found;
}

/* Let time pass as an lcore sees it that looks after the detector every few milliseconds. */
static void
pass(struct fixture *f, unsigned int ms)
{
	for (unsigned int step = 0; step < ms; step += 5) {
		f->now += rte_get_tsc_hz() / MS_PER_S * 5;
		slowloris_keep(f->worker[0], f->now);
	}
}

static void
silent_connections_end(void **state)
{
	struct slowloris_config config = usual;
	struct fixture *f;

	(void)state;
	config.rules.least = 1000;
	f = create(&config);
	for (uint32_t client = 0; client < 100; client++)
		open_connection(f, client);
	assert_int_equal(registers(f).connections, 100);
	assert_int_equal(registers(f).bytes, 100 * 80);
	pass(f, 59000);
	assert_int_equal(registers(f).connections, 100);
	assert_false(from(f, 7, ACK, 100)); /* the only one that is not silent */
	pass(f, 12000);
	assert_int_equal(registers(f).connections, 1);
	assert_int_equal(registers(f).bytes, 80 + 140);
	assert_int_equal(slowloris_counters(f->detector)->timed_out, 99);
	/* In the end nothing is left, not even the destination. */
	pass(f, 200000);
	assert_false(slowloris_find(f->detector, SERVER, &(struct slowloris_registers){0}));
	destroy(f);
}

static void
incomplete_handshakes_end_sooner(void **state)
{
	struct fixture *f = create(&usual);
	struct slowloris_usage usage;

	(void)state;
	for (uint32_t client = 0; client < 100; client++)
		assert_false(from(f, client, SYN, 0));
	open_connection(f, 100);
	pass(f, 11000);
	slowloris_usage(f->detector, &usage);
	assert_int_equal(usage.connections, 1);
	assert_int_equal(usage.half_open, 0);
	assert_int_equal(slowloris_counters(f->detector)->half_open_expired, 100);
	destroy(f);
}

/* Bytes of no connection leave after one to two time-outs. */
static void
loose_bytes_leave(void **state)
{
	struct fixture *f = create(&usual);

	(void)state;
	open_connection(f, 0);
	assert_false(from(f, 99, ACK, 60));
	assert_int_equal(registers(f).bytes, 80 + 100);
	for (unsigned int minute = 0; minute < 3; minute++) {
		pass(f, 50000);
		assert_false(from(f, 0, ACK, 0));
	}
	assert_int_equal(registers(f).bytes, 80 + 3 * 40);
	destroy(f);
}

static void
alarms_begin_and_end(void **state)
{
	struct fixture *f = create(&usual);
	struct slowloris_alert alert;

	(void)state;
	for (uint32_t client = 0; client < 20; client++)
		open_connection(f, client);
	pass(f, 900);
	assert_false(registers(f).alarm);
	/* Without a packet. */
	pass(f, 300);
	assert_true(registers(f).alarm);
	assert_true(slowloris_next_alert(f->detector, &alert) && alert.registers.alarm);
	assert_in_range(alert.after_ms, 1000, 1300);
	/* Nobody is slow before its grace is over; then all are that have sent too little. */
	assert_false(from(f, 3, ACK, 10));
	assert_false(from(f, 4, ACK, 120));
	pass(f, 2500);
	assert_true(from(f, 3, ACK, 10));
	assert_false(from(f, 4, ACK, 10));
	assert_false(from(f, 500, SYN, 0));
	/* Their ends count, whoever brings them; calm has to last. */
	for (uint32_t client = 0; client < 18; client++)
		assert_false(send_as(f, 0, client, true, FIN | ACK, 0));
	pass(f, 900);
	assert_true(registers(f).alarm);
	pass(f, 300);
	assert_false(registers(f).alarm);
	assert_true(slowloris_next_alert(f->detector, &alert) && !alert.registers.alarm);
	assert_false(slowloris_next_alert(f->detector, &alert));
	assert_false(from(f, 19, ACK, 10));
	destroy(f);
}

/* Each rule that is looked at on the way to a drop, changed in the middle of an attack. */
static void
rules_change_during_an_attack(void **state)
{
	struct slowloris_rules rules = usual.rules;
	struct fixture *f = create(&usual);

	(void)state;
	for (uint32_t client = 0; client < 20; client++)
		open_connection(f, client);
	pass(f, 4000);
	assert_true(from(f, 3, ACK, 10));
	assert_false(from(f, 500, SYN, 0)); /* is not slow yet */
	rules.policy = SLOWLORIS_DESTINATION;
	slowloris_set_rules(f->detector, &rules);
	assert_true(from(f, 501, SYN, 0));
	rules.dry_run = true;
	slowloris_set_rules(f->detector, &rules);
	assert_false(from(f, 502, SYN, 0));
	rules = usual.rules;
	rules.slow_bytes = 80;
	slowloris_set_rules(f->detector, &rules);
	assert_false(from(f, 3, ACK, 10));
	rules = usual.rules;
	rules.grace_ms = 10000;
	slowloris_set_rules(f->detector, &rules);
	assert_false(from(f, 3, ACK, 10));
	/* More connections than there are: it is over as soon as that has lasted, and not before.
	 */
	rules.least = 1000;
	rules.least_release = 500;
	rules.time_ms = 3000;
	slowloris_set_rules(f->detector, &rules);
	pass(f, 2900);
	assert_true(registers(f).alarm);
	pass(f, 300);
	assert_false(registers(f).alarm);
	slowloris_set_rules(f->detector, &usual.rules);
	pass(f, 1200);
	assert_true(registers(f).alarm);
	rules = usual.rules;
	rules.timeout_s = 1;
	slowloris_set_rules(f->detector, &rules);
	pass(f, 2000);
	assert_int_equal(registers(f).connections, 0);
	destroy(f);
}

/* Nothing changes hands by sight: without the pen, segments wait for who has it, in order. */
static void
segments_are_left_in_order(void **state)
{
	struct slowloris_config config = usual;
	struct fixture *f;

	(void)state;
	config.shared = true;
	f = create(&config);
	for (uint32_t client = 0; client < 300; client++) {
		assert_false(send_as(f, client % 2, client, false, SYN, 0));
		assert_false(send_as(f, 2, client, true, SYN | ACK, 0));
		assert_false(send_as(f, client % 2, client, false, ACK, 10));
	}
	assert_int_equal(registers(f).connections, 300);
	assert_int_equal(registers(f).established, 300);
	assert_int_equal(registers(f).bytes, 300 * 90);
	for (uint32_t client = 0; client < 300; client += 2)
		assert_false(send_as(f, 3, client, client % 4 == 0, FIN | ACK, 0));
	assert_int_equal(registers(f).connections, 150);
	assert_int_equal(registers(f).bytes, 150 * 90);
	destroy(f);
}

struct lcore {
	struct fixture *fixture;
	unsigned int number;
	pthread_t thread;
};

#define CLIENTS_EACH 1000u

/* Clients' packets on one lcore and what their server answers on the next, all at once. */
static void *
exchange(void *arg)
{
	struct lcore *lcore = arg;
	struct fixture *f = lcore->fixture;
	unsigned int other = (lcore->number + 1) % THREADS;
	uint32_t first = lcore->number * CLIENTS_EACH;

	rte_rcu_qsbr_thread_register(f->qsbr, lcore->number);
	rte_rcu_qsbr_thread_online(f->qsbr, lcore->number);
	for (uint32_t client = first; client < first + CLIENTS_EACH; client++) {
		send_as(f, lcore->number, client, false, SYN, 0);
		for (unsigned int n = 0; n < 5; n++)
			send_as(f, lcore->number, client, false, ACK, 10);
		if (client % 3 == 0)
			send_as(f, lcore->number, client, false, FIN | ACK, 0);
		rte_rcu_qsbr_quiescent(f->qsbr, lcore->number);
	}
	/* Every other thread's clients, in the other direction: ends of connections it never saw.
	 */
	for (uint32_t n = 0; n < CLIENTS_EACH; n++) {
		uint32_t client = other * CLIENTS_EACH + n;

		if (client % 3 == 1)
			send_as(f, lcore->number, client, true, FIN | ACK, 0);
		rte_rcu_qsbr_quiescent(f->qsbr, lcore->number);
	}
	rte_rcu_qsbr_thread_offline(f->qsbr, lcore->number);
	return NULL;
}

static void
lcores_count_together(void **state)
{
	struct lcore lcore[THREADS];
	struct slowloris_config config = usual;
	struct slowloris_registers found;
	struct slowloris_usage usage;
	const struct slowloris_counters *counters;
	uint64_t missed = 0;
	struct fixture *f;

	(void)state;
	config.shared = true;
	config.rules.time_ms = 3600000;
	f = create(&config);
	for (unsigned int l = 0; l < THREADS; l++) {
		lcore[l] = (struct lcore){.fixture = f, .number = l};
		assert_int_equal(pthread_create(&lcore[l].thread, NULL, exchange, &lcore[l]), 0);
	}
	for (unsigned int l = 0; l < THREADS; l++)
		pthread_join(lcore[l].thread, NULL);
	pass(f, 1000);
	for (unsigned int l = 0; l < THREADS; l++)
		missed += slowloris_worker_counters(f->worker[l])->missed;
	assert_int_equal(missed, 0);
	found = registers(f);
	counters = slowloris_counters(f->detector);
	slowloris_usage(f->detector, &usage);
	assert_int_equal(counters->opened, THREADS * CLIENTS_EACH);
	assert_int_equal(found.connections, usage.connections);
	assert_int_equal(found.connections, counters->opened - counters->closed);
	/* Bytes: those of open connections, and of ends that came for connections already ended. */
	assert_true(found.bytes >= found.connections * UINT64_C(290));
	assert_int_equal(found.bytes % 10, 0);
	destroy(f);
}

/*
 * Keys that all fall into one bucket under one secret spread over all of them under another.
 */
static void
collisions_cannot_be_prepared(void **state)
{
	struct hash_secret known = hash_secret_draw(), unknown = hash_secret_draw();
	struct connection_key key = {.destination = SERVER, .destination_port = 80};
	unsigned int buckets[1024] = {0}, fullest = 0, prepared = 0;

	(void)state;
	for (uint32_t n = 0; prepared < 4096; n++) {
		key.source = n;
		key.source_port = (uint16_t)(n * 7);
		if ((hash_connection(&known, &key) & 1023) != 0)
			continue;
		prepared++;
		fullest = RTE_MAX(fullest, ++buckets[hash_connection(&unknown, &key) & 1023]);
	}
	/* 4 expected in each; all 4096 in one if the secret did not matter. */
	assert_true(fullest < 64);
}

/* Quotients of counters up to 64 bits, against exact division, wherever they are normal fp16. */
static void
quotients_are_within_a_thousandth(void **state)
{
	const struct netfc_format *fp16 = netfc_format_by_id(NETFC_FP16);
	uint32_t connections[DIVIDE_BULK];
	uint64_t bytes[DIVIDE_BULK], seed = 1;
	uint16_t ratio[DIVIDE_BULK];
	struct divider *divider;
	double worst = 0;

	(void)state;
	assert_int_equal(divider_create(MATCH_DIRECT, SOCKET_ID_ANY, &divider), 0);
	for (unsigned int round = 0; round < 10000; round++) {
		for (unsigned int l = 0; l < DIVIDE_BULK; l++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			connections[l] = (uint32_t)(seed >> 32) >> (seed >> 20 & 31) | 1;
			bytes[l] = connections[l] * (UINT64_C(1) << (seed >> 16 & 7)) * 64 +
				(seed >> 33) % (connections[l] * UINT64_C(64));
		}
		divide(divider, connections, bytes, ratio, DIVIDE_BULK);
		for (unsigned int l = 0; l < DIVIDE_BULK; l++) {
			double exact = (double)connections[l] / (double)bytes[l];

			worst = RTE_MAX(worst, fabs(netfc_decode(fp16, ratio[l]) / exact - 1));
		}
	}
	assert_true(worst > 0.0008 && worst < 0.00098);
	connections[0] = 0;
	bytes[0] = 1000;
	connections[1] = 1;
	bytes[1] = UINT64_MAX;
	divide(divider, connections, bytes, ratio, 2);
	assert_int_equal(ratio[0], 0);
	assert_int_equal(ratio[1], 0);
	divider_free(divider);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent_connections_end),
		cmocka_unit_test(incomplete_handshakes_end_sooner),
		cmocka_unit_test(loose_bytes_leave),
		cmocka_unit_test(alarms_begin_and_end),
		cmocka_unit_test(rules_change_during_an_attack),
		cmocka_unit_test(segments_are_left_in_order),
		cmocka_unit_test(lcores_count_together),
		cmocka_unit_test(quotients_are_within_a_thousandth),
		cmocka_unit_test(collisions_cannot_be_prepared),
	};

	if (eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
