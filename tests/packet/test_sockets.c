/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NUMA: lcores 1 and 3 are said to be on socket 1, and every request for memory is watched (the
 * linker's --wrap): none leaves the socket open, and what an lcore works with is on its own.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_lpm.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "aggregate/aggregation.h"
#include "aggregate_format.h"
#include "app.h"
#include "cases.h"
#include "setup.h"
#include "tables/tables.h"

#define LCORES 4
#define SOCKETS 2
#define PORTS 2

/* Of stations, and of the detector three, which all lcores share: socket 0. */
#define SHARED_HASHES 4

static struct app app = {
	.trace_lock = PTHREAD_MUTEX_INITIALIZER,
	.state_lock = PTHREAD_MUTEX_INITIALIZER,
};

/* ---- memory, watched ------------------------------------------------------------------------- */

/* Requests by name and socket. */
static struct {
	const char *name;
	unsigned int count[SOCKETS];
} requests[64];

static void
note(const char *name, int socket)
{
	unsigned int r = 0;

	if (socket < 0 || socket >= SOCKETS)
		fail_msg("'%s' is wanted on socket %d", name, socket);
	while (requests[r].name != NULL && strcmp(requests[r].name, name) != 0)
		r++;
	assert_true(r < RTE_DIM(requests) - 1);
	if (requests[r].name == NULL)
		requests[r].name = strdup(name);
	requests[r].count[socket]++;
}

static unsigned int
asked_for(const char *name, unsigned int socket)
{
	for (unsigned int r = 0; requests[r].name != NULL; r++) {
		if (strcmp(requests[r].name, name) == 0)
			return requests[r].count[socket];
	}
	return 0;
}

#define WATCH(result, function, parameters, arguments, name, socket) \
	result __real_##function parameters;                         \
	result __wrap_##function parameters;                         \
	result __wrap_##function parameters                          \
	{                                                            \
		note(name, socket);                                  \
		return __real_##function arguments;                  \
	}

WATCH(void *, rte_malloc_socket, (const char *type, size_t size, unsigned int align, int socket),
	(type, size, align, socket), type, socket)
WATCH(void *, rte_zmalloc_socket, (const char *type, size_t size, unsigned int align, int socket),
	(type, size, align, socket), type, socket)
WATCH(void *, rte_calloc_socket,
	(const char *type, size_t number, size_t size, unsigned int align, int socket),
	(type, number, size, align, socket), type, socket)
WATCH(struct rte_ring *, rte_ring_create,
	(const char *name, unsigned int count, int socket, unsigned int flags),
	(name, count, socket, flags), name, socket)
WATCH(struct rte_ring *, rte_ring_create_elem,
	(const char *name, unsigned int size, unsigned int count, int socket, unsigned int flags),
	(name, size, count, socket, flags), "ring", socket)
WATCH(struct rte_hash *, rte_hash_create, (const struct rte_hash_parameters *parameters),
	(parameters), "hash", parameters->socket_id)
WATCH(struct rte_lpm *, rte_lpm_create,
	(const char *name, int socket, const struct rte_lpm_config *config), (name, socket, config),
	"lpm", socket)
/* A machine without the socket cannot make this one there. */
WATCH(struct rte_mempool *, rte_pktmbuf_pool_create_by_ops,
	(const char *name, unsigned int count, unsigned int cache, uint16_t private_bytes,
		uint16_t data_bytes, int socket, const char *ops),
	(name, count, cache, private_bytes, data_bytes, 0, ops), name, socket)
WATCH(void *, rte_malloc, (const char *type, size_t size, unsigned int align), (type, size, align),
	type, SOCKET_ID_ANY)
WATCH(void *, rte_zmalloc, (const char *type, size_t size, unsigned int align), (type, size, align),
	type, SOCKET_ID_ANY)
WATCH(void *, rte_calloc, (const char *type, size_t number, size_t size, unsigned int align),
	(type, number, size, align), type, SOCKET_ID_ANY)

/* Pools of receive queues. */
static struct rte_mempool *pool_of[PORTS][LCORES];

int __real_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int __wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int
__wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	pool_of[port][queue] = pool;
	return __real_rte_eth_rx_queue_setup(port, queue, descriptors, socket, conf, pool);
}

unsigned int __wrap_rte_lcore_to_socket_id(unsigned int lcore_id);
unsigned int
__wrap_rte_lcore_to_socket_id(unsigned int lcore_id)
{
	return lcore_id % SOCKETS;
}

/* ---- the switch ------------------------------------------------------------------------------ */

/* A bridge with all that it can do, on two ports. */
static void
set_options(void)
{
	options_set_defaults(&app.options);
	app.options.tables = "fp16_k1024";
	app.options.functions = "rsqrt";
	app.options.match = MATCH_HASH;
	app.options.forward = FORWARD_BRIDGE;
	app.options.latency = true;
	app.options.slowloris.on = true;
	app.options.aggregate.on = true;
	app.options.aggregate.slots = 16;
	app.options.aggregate.formats = 1u << AGGREGATE_FP32;
	assert_int_equal(addresses_add(&app.options.addresses, "10.0.0.2"), 0);
	assert_true(address_read("10.0.0.1", &app.options.aggregate.parent.address));
	app.options.aggregate.parent.port = 20040;
}

static void
assert_on_both(const char *name, unsigned int each)
{
	for (unsigned int socket = 0; socket < SOCKETS; socket++) {
		if (asked_for(name, socket) != each)
			fail_msg("'%s': %u on socket %u, not %u", name, asked_for(name, socket),
				socket, each);
	}
}

static void
assert_lcores_are_at_home(void)
{
	for (unsigned int l = 0; l < LCORES; l++) {
		const struct lcore *lcore = &app.lcore[l];
		char inbox[RTE_RING_NAMESIZE];

		assert_true(lcore->rx_queue_count > 0 && lcore->aggregates);
		assert_string_equal(lcore->pool->name, l % SOCKETS == 0 ? "netfc_0" : "netfc_1");
		for (unsigned int i = 0; i < lcore->rx_queue_count; i++)
			assert_ptr_equal(pool_of[lcore->rx_queue[i].port][lcore->rx_queue[i].queue],
				lcore->pool);
		snprintf(inbox, sizeof(inbox), "aggregate_%u", l);
		assert_int_equal(asked_for(inbox, l % SOCKETS), 1);
		/* Whoever is interrupted on a shared core must not hold up the others. */
		assert_int_equal(
			rte_ring_get_prod_sync_type(lcore->shard->inbox), RTE_RING_SYNC_MT_RTS);
	}
	assert_int_equal(asked_for("netfc_0", 0), 1);
	assert_int_equal(asked_for("netfc_1", 1), 1);
	assert_ptr_not_equal(app.pipeline[0], app.pipeline[1]);
}

/* After the one before it, not at the start of a page of its own. */
static void
assert_follows(struct rte_mempool *pool, void *end, void *buffer, unsigned int index)
{
	char **expected = end;

	if (index > 0)
		assert_ptr_equal(buffer, *expected);
	assert_int_equal(rte_mempool_virt2iova(buffer), (uintptr_t)buffer);
	*expected = (char *)buffer + pool->header_size + pool->elt_size + pool->trailer_size;
}

static void
assert_buffers_are_dense(void)
{
	for (unsigned int socket = 0; socket < SOCKETS; socket++) {
		struct rte_mempool *pool = app.pool[socket];
		char *end = NULL;

		assert_int_equal(rte_mempool_obj_iter(pool, assert_follows, &end), pool->size);
		assert_int_equal(rte_mempool_avail_count(pool), pool->size);
	}
}

/* The devices are on socket 0. */
static void
assert_far_ports_are_named(void)
{
	FILE *real = stdout;
	char said[4096] = "", *line = said;

	stdout = fmemopen(said, sizeof(said), "w");
	queues_print(&app);
	fclose(stdout);
	stdout = real;
	for (unsigned int lcore, port; (line = strstr(line, "  lcore ")) != NULL; line++) {
		bool far = strcspn(line, "\n") > strcspn(line, ",");

		if (sscanf(line, "  lcore %u port %u", &lcore, &port) == 2)
			assert_int_equal(far, lcore % SOCKETS != 0);
	}
}

static void
add_set(const char *name)
{
	struct generation *plan = tables_plan(&app);

	assert_non_null(plan);
	assert_int_equal(tables_plan_sets(&app, plan, TABLES_ADD, name, stderr), 0);
	assert_int_equal(tables_put(&app, plan, stderr), 0);
	tables_plan_free(&app, plan);
}

TEST(each_lcore_works_with_memory_of_its_socket)
{
	set_options();
	assert_int_equal(prepare_load(&app), 0);
	assert_int_equal(prepare(&app), 0);
	assert_buffers_are_dense();
	assert_int_equal(ports_start(&app), 0);
	assert_lcores_are_at_home();
	assert_far_ports_are_named();
	assert_on_both("pipeline", 1);
	assert_on_both("netfc_vector", 1);
	assert_on_both("netfc_function", 1);
	assert_on_both("pipeline_worker", LCORES / SOCKETS);
	assert_on_both("slowloris_worker", LCORES / SOCKETS);
	assert_on_both("tx buffers", LCORES / SOCKETS);
	assert_on_both("latency", LCORES / SOCKETS);
	assert_int_equal(asked_for("hash", 0), asked_for("hash", 1) + SHARED_HASHES);
	add_set("bf16_k128");
	assert_on_both("pipeline", 2);
	assert_on_both("pipeline_worker", 2 * LCORES / SOCKETS);
	ports_stop(&app);
	assert_int_equal(app.mbufs_leaked, 0);
	prepare_free(&app);
	prepare_unload(&app);
}

/* As eal.c does, whose name for it the programs have, too. */
static int
start(void)
{
	char line[256], *argv[32], *rest = line;
	int argc = 0;

	snprintf(line, sizeof(line),
		"test --no-huge -m 1024 --no-pci --no-telemetry --no-shconf --log-level=*:error "
		"--file-prefix netfc-test-%ld --lcores (0-%u)@%d --vdev=net_null0 --vdev=net_null1",
		(long)getpid(), LCORES - 1, sched_getcpu());
	while (argc < (int)RTE_DIM(argv) && rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	return rte_eal_init(argc, argv) < 0 ? -1 : 0;
}

int
main(void)
{
	return start() == 0 ? tests_run(NULL, NULL) : 1;
}
