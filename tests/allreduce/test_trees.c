/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that are larger than a switch: trees of servers give the bits of one switch, and who is
 * missing is named with its leaf.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "relay.h"
#include "plays.h"

#define MAX_LEAVES 3
#define VALUES 3000

/* Leaves below one root, maybe by way of a switch in between. */
struct tree {
	unsigned int leaves;
	unsigned int sizes[MAX_LEAVES]; /* workers of each */
	bool deep;                      /* the leaves' parent has a parent, with no other member */
	bool bad;                       /* workers lose packets, and so do leaves */
	bool spoilt;                    /* what leaf 0 sends up from chunk 1 on is no part */
	unsigned int stall_ms;          /* of all switches; 0: the default */
	struct server *root, *middle, *leaf[MAX_LEAVES];
	struct relay *relays[MAX_LEAVES], *up;
	struct place places[MAX_LEAVES];
};

static unsigned int
size_of(const struct tree *tree)
{
	unsigned int size = 0;

	for (unsigned int l = 0; l < tree->leaves; l++)
		size += tree->sizes[l];
	return size;
}

static struct relay *
relay_to(uint16_t port, unsigned int shards, unsigned int seed)
{
	struct relay_options options = {.to = port,
		.shards = shards,
		.seed = seed,
		.lost = 0.1,
		.repeated = 0.1,
		.delayed = 0.2,
		.delay_us = 500};

	return relay_start(&options);
}

/* Digits of no width: the parent answers with error 4. */
static enum relay_verdict
spoil(void *context, bool from_server, uint8_t *payload, size_t length)
{
	const struct aggregate_hdr *hdr = (const void *)payload;

	(void)context;
	if (!from_server && length > AGGREGATE_HEADER_BYTES + AGGREGATE_PART_BYTES &&
		hdr->op == AGGREGATE_SUM && hdr->worker == 0 && hdr->id != 0)
		payload[AGGREGATE_HEADER_BYTES + AGGREGATE_PART_BYTES - 1] = 0;
	return RELAY_PASS;
}

static struct relay *
spoiling_relay_to(uint16_t port, unsigned int shards)
{
	struct relay_options options = {.to = port, .shards = shards, .judge = spoil};

	return relay_start(&options);
}

static void
start(struct tree *tree)
{
	struct server_options options = {.shards = 2, .stall_ms = tree->stall_ms};
	uint16_t port;

	tree->root = server_start(&options);
	port = server_port(tree->root);
	if (tree->deep) {
		options.parent = port;
		tree->middle = server_start(&options);
		port = server_port(tree->middle);
	}
	if (tree->bad || tree->spoilt) {
		tree->up = tree->bad ? relay_to(port, options.shards, 99)
				     : spoiling_relay_to(port, options.shards);
		port = relay_port(tree->up);
	}
	for (unsigned int l = 0; l < tree->leaves; l++) {
		options.parent = port;
		options.shards = 1 + l;
		tree->leaf[l] = server_start(&options);
		uint16_t own = server_port(tree->leaf[l]);
		if (tree->bad) {
			tree->relays[l] = relay_to(own, options.shards, l);
			own = relay_port(tree->relays[l]);
		}
		tree->places[l] = place_of(1, &own);
	}
}

static void
stop(struct tree *tree)
{
	for (unsigned int l = 0; l < tree->leaves; l++) {
		if (tree->bad)
			relay_stop(tree->relays[l]);
		if (tree->leaf[l] != NULL)
			server_stop(tree->leaf[l]);
	}
	if (tree->bad || tree->spoilt)
		relay_stop(tree->up);
	if (tree->deep)
		server_stop(tree->middle);
	server_stop(tree->root);
}

/* Worker `w` of all: which of which leaf. */
static struct netfc_allreduce_options
options_of(const struct tree *tree, unsigned int w)
{
	struct netfc_allreduce_options options;
	unsigned int l = 0;

	while (w >= tree->sizes[l])
		w -= tree->sizes[l++];
	options = worker_options(&tree->places[l], w, tree->sizes[l]);
	options.tree_workers = size_of(tree);
	options.levels = tree->deep ? 2 : 1;
	options.level[0] = (struct netfc_allreduce_level){tree->leaves, l};
	options.level[1] = (struct netfc_allreduce_level){1, 0};
	return options;
}

struct job {
	const struct tree *tree;
	struct vector **vectors;
	unsigned int count;
};

static int
reduce(struct netfc_allreduce *comm, const struct vector *vector, unsigned int w)
{
	size_t bytes = (size_t)vector->count * netfc_allreduce_value_bytes(vector->format);
	uint8_t *data = malloc(bytes);
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = vector->format,
		.op = vector->op,
		.values = data,
		.result = data,
		.count = vector->count};
	struct netfc_allreduce_handle *handle;
	int wrong;

	memcpy(data, vector->values[w], bytes);
	/* Every other one has a label. */
	wrong = netfc_collective_start_labelled(comm, &collective, vector->op % 2 * vector->format,
			true, &handle) != NETFC_ALLREDUCE_OK ||
		netfc_allreduce_wait(&handle, -1, NULL) != NETFC_ALLREDUCE_OK;
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	else
		wrong = vector_differs(vector, data);
	free(data);
	return wrong;
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	const struct job *job = context;
	const struct netfc_allreduce_options options = options_of(job->tree, w);
	struct netfc_allreduce *comm = worker_join(&options);
	int wrong = 0;

	(void)n;
	if (comm == NULL)
		return 1;
	for (unsigned int v = 0; v < job->count && !wrong; v++)
		wrong = reduce(comm, job->vectors[v], w) ||
			netfc_barrier(comm) != NETFC_ALLREDUCE_OK;
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

static void
all_formats(struct tree tree)
{
	const unsigned int workers = size_of(&tree);
	struct vector *vectors[4 * AGGREGATE_FORMAT_END];
	struct job job = {.tree = &tree, .vectors = vectors};

	start(&tree);
	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++) {
		for (unsigned int op = NETFC_ALLREDUCE_SUM;
			aggregate_is_format(format) && op <= NETFC_ALLREDUCE_MAX; op++)
			vectors[job.count++] = vector_new(
				format, op, workers, VALUES / (tree.bad ? 10 : 1), format * op);
	}
	assert_int_equal(workers_run(workers, work, &job), 0);
	while (job.count > 0)
		vector_free(vectors[--job.count]);
	assert_int_equal(server_jobs(tree.leaf[0]), 0);
	stop(&tree);
}

/* Every format by every operation; leaves of the same size and others, one level and two. */
TEST(test_formats)
{
	all_formats((struct tree){.leaves = 1, .sizes = {3}});
	all_formats((struct tree){.leaves = 2, .sizes = {2, 2}});
	all_formats((struct tree){.leaves = 3, .sizes = {1, 4, 2}});
	all_formats((struct tree){.leaves = 2, .sizes = {3, 2}, .deep = true});
}

/* Packets are lost, repeated and reordered between workers and leaves, and above. */
TEST(test_bad_network)
{
	all_formats((struct tree){.leaves = 2, .sizes = {2, 3}, .bad = true});
	all_formats((struct tree){.leaves = 3, .sizes = {1, 2, 1}, .bad = true, .deep = true});
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

struct trouble {
	struct tree *tree;
	unsigned int victim; /* leaf that dies */
	unsigned int absent; /* worker that never calls, or none */
	pthread_barrier_t barrier;
	char texts[8][512];
	int statuses[8], members[8];
	unsigned int levels[8];
};

static int
suffer(unsigned int w, unsigned int n, void *context)
{
	struct trouble *trouble = context;
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = options_of(trouble->tree, w);
	float value = 1;

	(void)n;
	options.keepalive_ms = 100;
	options.silence_ms = 10000;
	trouble->statuses[w] = netfc_allreduce_join(comm, &options);
	if (trouble->statuses[w] == NETFC_ALLREDUCE_OK)
		trouble->statuses[w] =
			netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM);
	pthread_barrier_wait(&trouble->barrier);
	if (w == 0 && trouble->victim < MAX_LEAVES)
		server_freeze(trouble->tree->leaf[trouble->victim], true);
	pthread_barrier_wait(&trouble->barrier);
	if (trouble->statuses[w] == NETFC_ALLREDUCE_OK && w == trouble->absent)
		netfc_allreduce_free(comm); /* without a word of what it was at */
	if (w == trouble->absent)
		return 0;
	trouble->statuses[w] =
		netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM);
	snprintf(trouble->texts[w], sizeof(trouble->texts[w]), "%s", netfc_allreduce_error(comm));
	trouble->members[w] = netfc_allreduce_silent_member(comm, &trouble->levels[w]);
	netfc_allreduce_free(comm);
	return 0;
}

static struct trouble *
trouble_of(struct tree *tree, unsigned int victim, unsigned int absent)
{
	struct trouble *trouble = calloc(1, sizeof(*trouble));

	*trouble = (struct trouble){.tree = tree, .victim = victim, .absent = absent};
	start(tree);
	pthread_barrier_init(&trouble->barrier, NULL, size_of(tree));
	workers_run(size_of(tree), suffer, trouble);
	pthread_barrier_destroy(&trouble->barrier);
	stop(tree);
	return trouble;
}

/* The root says that the leaf is silent; its own workers, that their switch is. */
TEST(test_a_leaf_that_dies)
{
	struct tree tree = {.leaves = 3, .sizes = {2, 2, 1}, .stall_ms = 10000};
	struct trouble *trouble = trouble_of(&tree, 1, UINT32_MAX);

	for (unsigned int w = 0; w < 5; w++) {
		bool orphan = w == 2 || w == 3;

		if (orphan) {
			assert_int_equal(trouble->statuses[w], NETFC_ALLREDUCE_TIMEOUT);
			continue;
		}
		assert_true(trouble->statuses[w] == NETFC_ALLREDUCE_SILENT ||
			trouble->statuses[w] == NETFC_ALLREDUCE_FAILED);
		if (trouble->statuses[w] != NETFC_ALLREDUCE_SILENT)
			continue; /* it heard of another worker of its leaf first */
		assert_non_null(strstr(trouble->texts[w], "Leaf 1 of 3"));
		assert_int_equal(trouble->members[w], 1);
		assert_int_equal(trouble->levels[w], 1);
	}
	assert_true(trouble->statuses[0] == NETFC_ALLREDUCE_SILENT ||
		trouble->statuses[1] == NETFC_ALLREDUCE_SILENT);
	assert_int_equal(trouble->statuses[4], NETFC_ALLREDUCE_SILENT);
	free(trouble);
}

/* Its own leaf's workers hear its number, the others which leaf. */
TEST(test_a_worker_that_fails)
{
	struct tree tree = {.leaves = 2, .sizes = {2, 2}, .stall_ms = 10000};
	struct trouble *trouble = trouble_of(&tree, MAX_LEAVES, 3);

	assert_int_not_equal(trouble->statuses[2], NETFC_ALLREDUCE_OK);
	assert_non_null(strstr(trouble->texts[2], "Worker 1 of leaf 1 of 2"));
	assert_int_equal(trouble->members[2], 1);
	assert_int_equal(trouble->levels[2], 0);
	for (unsigned int w = 0; w < 2; w++)
		assert_int_not_equal(trouble->statuses[w], NETFC_ALLREDUCE_OK);
	assert_true(strstr(trouble->texts[0], "Leaf 1 of 2") != NULL ||
		strstr(trouble->texts[1], "Leaf 1 of 2") != NULL);
	free(trouble);
}

/* Its own workers hear what it is, the others that the leaf has failed, long before they would ask.
 */
TEST(test_an_error_of_the_parent)
{
	struct tree tree = {.leaves = 2, .sizes = {2, 2}, .spoilt = true, .stall_ms = 60000};
	struct trouble *trouble = trouble_of(&tree, MAX_LEAVES, UINT32_MAX);

	for (unsigned int w = 0; w < 2; w++)
		assert_true(trouble->statuses[w] == NETFC_ALLREDUCE_PROTOCOL ||
			trouble->statuses[w] == NETFC_ALLREDUCE_FAILED);
	assert_true(strstr(trouble->texts[0], "code 4") != NULL ||
		strstr(trouble->texts[1], "code 4") != NULL);
	for (unsigned int w = 2; w < 4; w++)
		assert_int_equal(trouble->statuses[w], NETFC_ALLREDUCE_FAILED);
	assert_true(strstr(trouble->texts[2], "Leaf 0 of 2") != NULL ||
		strstr(trouble->texts[3], "Leaf 0 of 2") != NULL);
	free(trouble);
}

/* ---- options --------------------------------------------------------------------------------- */

static void
refused(struct netfc_allreduce_options options, int status, const char *text)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();

	options.join_ms = 500;
	assert_int_equal(netfc_allreduce_join(comm, &options), status);
	if (strstr(netfc_allreduce_error(comm), text) == NULL)
		fail_msg("not \"%s\": %s", text, netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
}

TEST(test_options)
{
	struct tree tree = {.leaves = 1, .sizes = {2}};
	struct netfc_allreduce_options good, options;

	start(&tree);
	good = options_of(&tree, 0);
	good.level[0] = (struct netfc_allreduce_level){4, 3};
	good.tree_workers = 5;
	options = good;
	options.levels = 5;
	refused(options, NETFC_ALLREDUCE_ARGUMENT, "Option levels is 5: give 0 to 4.");
	options = good;
	options.tree_workers = 0;
	refused(options, NETFC_ALLREDUCE_ARGUMENT, "tree_workers 0");
	options.tree_workers = 4;
	refused(options, NETFC_ALLREDUCE_ARGUMENT, "Option tree_workers is 4: give");
	options.tree_workers = NETFC_ALLREDUCE_MAX_TREE_WORKERS + 1;
	refused(options, NETFC_ALLREDUCE_ARGUMENT, "Option tree_workers is");
	options = good;
	options.level[0].index = 4;
	refused(options, NETFC_ALLREDUCE_ARGUMENT, "Option level[0] is member 4 of 4");
	options = good;
	options.workers = 65;
	refused(options, NETFC_ALLREDUCE_ARGUMENT, "a tree of switches has more");
	refused(good, NETFC_ALLREDUCE_WAITING, "Not all 2 workers");
	good.workers = 1;
	refused(good, NETFC_ALLREDUCE_WAITING, "not all of its tree's 5");
	stop(&tree);
}

static int
join_miscounted(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce_options options = options_of(context, w);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	int status;

	(void)n;
	options.tree_workers += 5;
	options.join_ms = 20000;
	status = netfc_allreduce_join(comm, &options);
	if (status != NETFC_ALLREDUCE_MISMATCH)
		fprintf(stderr, "worker %u: %s: %s\n", w, netfc_allreduce_status_name(status),
			netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
	return status != NETFC_ALLREDUCE_MISMATCH;
}

/* A mean would be divided by another number than that of the workers: all hear of it at once. */
TEST(test_workers_that_do_not_add_up)
{
	struct tree tree = {.leaves = 2, .sizes = {2, 2}};

	start(&tree);
	assert_int_equal(workers_run(4, join_miscounted, &tree), 0);
	stop(&tree);
}

struct miscount {
	struct place place;
	pthread_barrier_t refused; /* both have been */
};

static int
join_alone(unsigned int w, unsigned int n, void *context)
{
	struct miscount *miscount = context;
	struct netfc_allreduce_options options = worker_options(&miscount->place, w, n);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	float value = 1.0f + (float)w;
	int wrong;

	options.tree_workers = 9;
	options.join_ms = 20000;
	wrong = netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_MISMATCH;
	pthread_barrier_wait(&miscount->refused);
	options.tree_workers = n;
	wrong |= netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_OK ||
		netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_MEAN) !=
			NETFC_ALLREDUCE_OK ||
		value != 1.5f;
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

/* As at one switch, where the same job is joined with the right number then. */
SERVER_TEST(test_workers_of_one_switch_that_do_not_add_up)
{
	struct miscount miscount = {.place = place_at(server_port(server))};

	pthread_barrier_init(&miscount.refused, NULL, 2);
	assert_int_equal(workers_run(2, join_alone, &miscount), 0);
	pthread_barrier_destroy(&miscount.refused);
}

/* A switch without a parent says so; and collectives with a root are none of a tree's. */
SERVER_TEST(test_what_there_is_not)
{
	struct place place = place_at(server_port(server));
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);
	float values[1] = {1};

	options.tree_workers = 3;
	options.levels = 1;
	options.level[0] = (struct netfc_allreduce_level){2, 0};
	refused(options, NETFC_ALLREDUCE_OFF, "has no parent");
	options.tree_workers = 1;
	options.levels = 0;
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_broadcast(comm, values, 4, 0), NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), "allreduces and barriers only"));
	assert_int_equal(
		netfc_allreduce(comm, values, 1, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_MEAN),
		NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(comm);
}
