/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_malloc.h>

#include "cases.h"
#include "packets.h"
#include "slowloris_fixture.h"

#define CLIENTS RTE_IPV4(10, 1, 0, 0)
/* What the server's numbers begin with. */
#define SERVER_NUMBER 1000u

const struct slowloris_config fixture_usual = {
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

struct fixture *
fixture_create(const struct slowloris_config *config)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->pool = rte_pktmbuf_pool_create("test", 4095, 0, 0, 512, SOCKET_ID_ANY);
	f->qsbr =
		rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(FIXTURE_WORKERS), RTE_CACHE_LINE_SIZE);
	assert_true(f->pool != NULL && f->qsbr != NULL);
	assert_int_equal(rte_rcu_qsbr_init(f->qsbr, FIXTURE_WORKERS), 0);
	f->config = *config;
	f->config.qsbr = f->qsbr;
	assert_int_equal(slowloris_create(&f->config, &f->detector), 0);
	for (unsigned int w = 0; w < FIXTURE_WORKERS; w++) {
		f->worker[w] = slowloris_worker_create(f->detector, SOCKET_ID_ANY);
		assert_non_null(f->worker[w]);
	}
	f->now = rte_rdtsc();
	return f;
}

void
fixture_destroy(struct fixture *f)
{
	assert_int_equal(rte_mempool_in_use_count(f->pool), 0);
	for (unsigned int w = 0; w < FIXTURE_WORKERS; w++)
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

bool
fixture_send(struct fixture *f, unsigned int worker, uint32_t client, bool answer, uint8_t flags,
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

bool
fixture_send_from(struct fixture *f, uint32_t client, uint8_t flags, uint16_t payload)
{
	return fixture_send(f, 0, client, false, flags, payload);
}

void
fixture_open(struct fixture *f, uint32_t client)
{
	assert_false(fixture_send_from(f, client, SYN, 0));
	assert_false(fixture_send(f, 0, client, true, SYN | ACK, 0));
	assert_false(fixture_send_from(f, client, ACK, 0));
}

struct slowloris_registers
fixture_registers(const struct fixture *f)
{
	struct slowloris_registers found = {0};

	slowloris_find(f->detector, SERVER, &found);
	return found;
}

void
fixture_pass(struct fixture *f, unsigned int ms)
{
	for (unsigned int step = 0; step < ms; step += 5) {
		f->now += rte_get_tsc_hz() / MS_PER_S * 5;
		slowloris_maintain(f->worker[0], f->now);
	}
}
