/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that answers at the switch's address says what it likes: that is an error, or nothing. */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "clock.h"
#include "liar.h"
#include "workers.h"

#define COUNT 1000  /* values: some chunks */
#define SHARDS_AT 1 /* in struct aggregate_join_wire */
#define SLOTS_AT 2
#define BYTES_AT 4
#define MIN_AT 6

static void
put_16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Join and reduce ones with deadlines of that many ms. Returns the first status that is not OK. */
static int
run_worker(const struct liar *liar, unsigned int ms)
{
	struct place place = place_at(liar_port(liar));
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	int32_t values[COUNT];
	int status;

	for (unsigned int i = 0; i < COUNT; i++)
		values[i] = (int32_t)i;
	options.join_ms = options.deadline_ms = ms;
	options.slots = 8;
	status = netfc_allreduce_join(comm, &options);
	if (status == NETFC_ALLREDUCE_OK)
		status = netfc_allreduce(
			comm, values, COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	for (unsigned int i = 0; i < COUNT && status == NETFC_ALLREDUCE_OK; i++) {
		if (values[i] != (int32_t)i)
			status = -1;
	}
	printf("# %s\n", netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
	return status;
}

static int
run_against(liar_change change, void *context, unsigned int ms)
{
	struct liar *liar = liar_start(0, change, context);
	int status;

	assert_non_null(liar);
	status = run_worker(liar, ms);
	liar_stop(liar);
	return status;
}

/* ---- no lie ---------------------------------------------------------------------------------- */

static size_t
honest(void *context, const struct aggregate_message *request, unsigned int times, uint8_t *reply,
	size_t length)
{
	(void)context;
	(void)request;
	(void)times;
	(void)reply;
	return length;
}

TEST(test_the_truth)
{
	assert_int_equal(run_against(honest, NULL, 10000), NETFC_ALLREDUCE_OK);
}

/* ---- what is granted ------------------------------------------------------------------------- */

/* What cannot be granted. */
struct grant {
	const char *what;
	int shards, slots, bytes, least; /* -1: as it should be */
};

static size_t
grant_wrongly(void *context, const struct aggregate_message *request, unsigned int times,
	uint8_t *reply, size_t length)
{
	const struct grant *grant = context;
	uint8_t *join = reply + AGGREGATE_HEADER_BYTES;

	(void)times;
	if (request->op != AGGREGATE_JOIN)
		return length;
	if (grant->shards >= 0)
		join[SHARDS_AT] = (uint8_t)grant->shards;
	if (grant->slots >= 0)
		put_16(join + SLOTS_AT, (unsigned int)grant->slots);
	if (grant->bytes >= 0)
		put_16(join + BYTES_AT, (unsigned int)grant->bytes);
	if (grant->least >= 0)
		put_16(join + MIN_AT, (unsigned int)grant->least);
	return length;
}

TEST(test_grants_that_cannot_be)
{
	static const struct grant grants[] = {
		{"no shards", 0, -1, -1, -1},
		{"more shards than there may be", 65, -1, -1, -1},
		{"255 shards", 255, -1, -1, -1},
		{"128 shards", 128, -1, -1, -1},
		{"no slots", -1, 0, -1, -1},
		{"slots no power of two", -1, 3, -1, -1},
		{"more slots than asked for", -1, 16, -1, -1},
		{"65535 slots", -1, 65535, -1, -1},
		{"32768 slots", -1, 32768, -1, -1},
		{"no bytes", -1, -1, 0, -1},
		{"less than a value", -1, -1, 3, -1},
		{"odd bytes", -1, -1, 5, -1},
		{"more bytes than asked for", -1, -1, 65484, -1},
		{"65535 bytes", -1, -1, 65535, -1},
		{"more at least than at most", -1, -1, 8, 12},
		{"65535 bytes at least", -1, -1, -1, 65535},
	};
	unsigned int wrong = 0;

	for (size_t i = 0; i < sizeof(grants) / sizeof(grants[0]); i++) {
		struct grant grant = grants[i];
		int status = run_against(grant_wrongly, &grant, 5000);

		if (status == NETFC_ALLREDUCE_PROTOCOL)
			continue;
		fprintf(stderr, "%s: %s\n", grant.what,
			status < 0 ? "WRONG VALUES" : netfc_allreduce_status_name(status));
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* As it should be, but for the id. */
static size_t
grant_to_another(void *context, const struct aggregate_message *request, unsigned int times,
	uint8_t *reply, size_t length)
{
	struct aggregate_message message;

	(void)context;
	(void)times;
	if (request->op == AGGREGATE_JOIN && aggregate_parse_reply(reply, length, &message) == 0 &&
		message.code == NETFC_STATUS_OK)
		reply[offsetof(struct aggregate_hdr, id)] ^= 0x40;
	return length;
}

/* It answers another request than any that was made. */
TEST(test_a_grant_of_another_id)
{
	assert_int_equal(run_against(grant_to_another, NULL, 300), NETFC_ALLREDUCE_TIMEOUT);
}

/* A shard's port would be after the last that there is. */
TEST(test_shards_beyond_the_last_port)
{
	struct grant grant = {"64 shards", 64, -1, -1, -1};
	struct liar *liar = NULL;

	for (unsigned int port = UINT16_MAX; liar == NULL && port > UINT16_MAX - 63; port--)
		liar = liar_start((uint16_t)port, grant_wrongly, &grant);
	assert_non_null(liar);
	assert_int_equal(run_worker(liar, 5000), NETFC_ALLREDUCE_PROTOCOL);
	liar_stop(liar);
}

/* ---- what is changed in replies -------------------------------------------------------------- */

/* Bytes of a reply that are other ones, or its length. */
struct change {
	const char *what;
	size_t at;         /* in the header */
	uint8_t flip;      /* bits there that are inverted */
	int longer;        /* bytes at the end, or less of them */
	bool may_be_taken; /* a client may overlook it */
};

struct lie {
	const struct change *change;
	uint8_t op;        /* replies of which it is in */
	unsigned int most; /* how many of them */
};

#define REPLY(field) offsetof(struct aggregate_hdr, field)

static const struct change changes[] = {
	{"no magic", REPLY(magic), 0x01, 0, false},
	{"another version", REPLY(version), 0x02, 0, false},
	{"another operation", REPLY(op), 0x03, 0, false},
	{"no operation", REPLY(op), 0x80, 0, false},
	{"a request", REPLY(status), 0x80, 0, false},
	{"a code there is not", REPLY(status), 0x50, 0, false},
	{"a count of 256 more", REPLY(count), 0x01, 0, false},
	{"another count", REPLY(count) + 1, 0x01, 0, false},
	{"a count of 0 or 65535", REPLY(count), 0xff, 0, false},
	{"another id", REPLY(id) + 3, 0x08, 0, false},
	{"an id far away", REPLY(id), 0x80, 0, false},
	{"another job", REPLY(job) + 1, 0x01, 0, false},
	{"another worker", REPLY(worker), 0x01, 0, false},
	{"a worker there is not", REPLY(worker), 0xff, 0, false},
	{"another token", REPLY(token) + 7, 0x01, 0, false},
	{"nothing", 0, 0, -65536, false},
	{"half a header", 0, 0, -12, false},
};

static size_t
change_some(void *context, const struct aggregate_message *request, unsigned int times,
	uint8_t *reply, size_t length)
{
	const struct lie *lie = context;
	const struct change *change = lie->change;

	if (request->op != lie->op || times >= lie->most)
		return length;
	reply[change->at] ^= change->flip;
	if (change->longer < 0 && length <= (size_t)-change->longer)
		return 1;
	if (change->longer > 0)
		memset(reply + length, 0x5a, (size_t)change->longer);
	return (size_t)((ptrdiff_t)length + change->longer);
}

static unsigned int
complain(const struct lie *lie, int status)
{
	fprintf(stderr, "%s in %s of the replies to %s: %s\n", lie->change->what,
		lie->most == UINT32_MAX ? "all" : "the first", aggregate_op_name(lie->op),
		status < 0 ? "WRONG VALUES" : netfc_allreduce_status_name(status));
	return 1;
}

/* Who always lies is not believed. */
static unsigned int
lie_for_ever(const struct change *change, uint8_t op)
{
	struct lie lie = {change, op, UINT32_MAX};
	int status = run_against(change_some, &lie, 100);

	return status <= NETFC_ALLREDUCE_OK ? complain(&lie, status) : 0;
}

/* A reply that is no answer to what was asked changes nothing, nor ends anything. */
static unsigned int
lie_at_first(const struct change *change, uint8_t op)
{
	struct lie lie = {change, op, 2};
	int status = run_against(change_some, &lie, 10000);

	return status == NETFC_ALLREDUCE_OK || status == NETFC_ALLREDUCE_PROTOCOL
		? 0
		: complain(&lie, status);
}

static void
run_changes(uint8_t op)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		/* A join has no values, and what its count says is nobody's business. */
		if (op == AGGREGATE_JOIN && changes[i].at >= REPLY(count) &&
			changes[i].at < REPLY(id) && changes[i].flip != 0)
			continue;
		wrong += lie_for_ever(&changes[i], op);
		wrong += lie_at_first(&changes[i], op);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_joins_with_changes)
{
	run_changes(AGGREGATE_JOIN);
}

TEST(test_results_with_changes)
{
	run_changes(AGGREGATE_SUM);
}

TEST(test_results_of_other_lengths)
{
	static const struct change lengths[] = {
		{"a value too few", 0, 0, -4, false},
		{"a byte too few", 0, 0, -1, false},
		{"all values missing", 0, 0, -1448, false},
		{"too many", REPLY(reason), AGGREGATE_ROUNDED, 60000, true},
		{"sums that are no sums", REPLY(reason), AGGREGATE_SUMS, 0, false},
		{"sums that end early", REPLY(reason), AGGREGATE_SUMS, 1448, false},
		{"of no kind", REPLY(reason), 0x80, 0, false},
		{"another format", REPLY(format), 0x03, 0, false},
		{"half as long a format", REPLY(format), 0x07, 0, false},
		{"no format", REPLY(format), 0x80, 0, false},
	};
	unsigned int wrong = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		if (!lengths[i].may_be_taken)
			wrong += lie_for_ever(&lengths[i], AGGREGATE_SUM);
		wrong += lie_at_first(&lengths[i], AGGREGATE_SUM);
	}
	assert_int_equal(wrong, 0);
}

/* ---- anything -------------------------------------------------------------------------------- */

/* Random bytes in random places, or nothing else. */
static size_t
scribble(void *context, const struct aggregate_message *request, unsigned int times, uint8_t *reply,
	size_t length)
{
	uint64_t *random = context;
	size_t count;

	(void)request;
	(void)times;
	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	count = *random >> 60 == 0 ? length : *random >> 61;
	for (size_t i = 0; i < count; i++) {
		*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		reply[count == length ? i : (*random >> 40) % (length < 48 ? length : 48)] =
			(uint8_t)(*random >> 33);
	}
	return *random >> 62 == 0 ? (*random >> 32) % (2 * length) + 1 : length;
}

/* Whatever that comes to, it is no crash. */
TEST(test_random_bytes)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t random = seed;

		run_against(scribble, &random, 50);
	}
}
