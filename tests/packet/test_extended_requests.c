/* SPDX-License-Identifier: BSD-3-Clause */
/* Which requests of extended operations are computed, which are refused, and what is counted. */
#include <string.h>

#include <errno.h>

#include "cases.h"
#include "kernel_groups.h"
#include "requests_fixture.h"

/* An operation above those of the library. */
#define OWN 193

static int
set_up(void **state)
{
	return requests_set_up(state, NULL);
}

/* What is not loaded is refused: unknown operations, then operations unknown to a format. */
TEST_WITH(not_loaded, set_up, requests_tear_down)
{
	const struct {
		unsigned int op, format;
		enum netfc_status code;
	} cases[] = {
		{0, NETFC_FP16, NETFC_STATUS_OP},
		{NETFC_EXTRA_END, NETFC_FP16, NETFC_STATUS_OP},
		{63, NETFC_FP16, NETFC_STATUS_OP},
		{71, NETFC_FP16, NETFC_STATUS_OP},
		{OWN + 1, NETFC_BF16, NETFC_STATUS_OP},
		{255, NETFC_FP16, NETFC_STATUS_OP},
		{70, NETFC_BF16, NETFC_STATUS_FORMAT},
		{70, 0, NETFC_STATUS_FORMAT},
		{70, NETFC_FORMAT_END, NETFC_STATUS_FORMAT},
		{70, 255, NETFC_STATUS_FORMAT},
		{OWN, NETFC_FP16, NETFC_STATUS_FORMAT},
		{NETFC_FMA, 0, NETFC_STATUS_FORMAT},
		{NETFC_FMA, 5, NETFC_STATUS_FORMAT},
		/* No table set is loaded for it. */
		{NETFC_ADD, NETFC_BF16, NETFC_STATUS_FORMAT},
	};
	struct fixture *f = *state;
	uint64_t seed = 3;

	requests_add_known(f, 70, NETFC_FP16);
	memcpy(f->z[1], f->z[0], sizeof(f->z[0]));
	memset(f->flags[1], NETFC_INVALID, sizeof(f->flags[1]));
	requests_add_function(f, OWN, NETFC_BF16);
	fixture_create_pipeline(&f->base);
	for (unsigned int c = 0; c < RTE_DIM(cases); c++) {
		/* A packet that is computed before it, and one after it. */
		request_ask_edges(&f->asked[0], 70, NETFC_FP16, 20, &seed);
		request_ask_edges(&f->asked[1], cases[c].op, cases[c].format, 20, &seed);
		request_ask_edges(&f->asked[2], OWN, NETFC_BF16, 20, &seed);
		requests_process(f, 3, 2048);
		request_check_reply(f, 0);
		request_check_error(f, 1, cases[c].code);
		request_check_reply(f, 2);
	}
	request_ask_edges(&f->asked[0], 70, NETFC_FP16, 0, &seed);
	requests_process(f, 1, 2048);
	request_check_error(f, 0, NETFC_STATUS_LENGTH);
}

/* Requests of all kinds in one burst; what is counted of them. */
TEST_WITH(together_with_the_four, set_up, requests_tear_down)
{
	static const uint16_t lanes[] = {1, 5, 12, 40};
	const unsigned int ops[] = {70, NETFC_ADD, NETFC_MIN, NETFC_MUL, OWN};
	const struct pipeline_counters *counters;
	struct fixture *f = *state;
	uint64_t seed = 4, computed = 0;

	requests_add_known(f, 70, NETFC_FP16);
	memcpy(f->z[1], f->z[0], sizeof(f->z[0]));
	requests_add_function(f, OWN, NETFC_FP16);
	fixture_create_pipeline(&f->base);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		request_ask_edges(&f->asked[i], ops[i % RTE_DIM(ops)], NETFC_FP16,
			lanes[i / RTE_DIM(ops) % RTE_DIM(lanes)], &seed);
		computed += f->asked[i].lanes;
	}
	requests_process(f, PIPELINE_BURST, 2048);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++)
		request_check_reply(f, i);
	counters = pipeline_worker_counters(f->base.worker);
	assert_int_equal(counters->netfc_packets, PIPELINE_BURST);
	assert_int_equal(counters->errors[NETFC_STATUS_OK], PIPELINE_BURST);
	assert_int_equal(counters->lanes, computed);
	/* Of 64 packets 13 are of each of the first four operations. */
	assert_int_equal(counters->extended[70], 13);
	assert_int_equal(counters->extended[NETFC_MIN], 13);
	assert_int_equal(counters->extended[OWN], 12);
	assert_int_equal(counters->extended[NETFC_ADD], 0);
	/* The slow path counts, too. */
	requests_process(f, 1, 60);
	assert_int_equal(counters->extended[70], 14);
}

/* A request for a name's number. */
static void
ask_name(struct asked *request, const char *name, unsigned int format)
{
	uint8_t bytes[NETFC_FUNCTION_NAME_SIZE] = {0};

	request_set(request, NETFC_OP_NAME, format, NETFC_NAME_LANES);
	memcpy(bytes, name, strnlen(name, sizeof(bytes)));
	for (unsigned int l = 0; l < NETFC_NAME_LANES; l++) {
		request->x[l] = (uint16_t)(bytes[2 * l] << 8 | bytes[2 * l + 1]);
		request->y[l] = (uint16_t)(bytes[16 + 2 * l] << 8 | bytes[16 + 2 * l + 1]);
		request->z[l] = 9 - l;
	}
}

TEST_WITH(names, set_up, requests_tear_down)
{
	const struct {
		const char *name;
		unsigned int format, number;
		enum netfc_status code;
	} cases[] = {
		{"sqrt", NETFC_FP16, 70, NETFC_STATUS_OK},
		{"own", NETFC_BF16, OWN, NETFC_STATUS_OK},
		{"fma", NETFC_POSIT16, NETFC_FMA, NETFC_STATUS_OK},
		{"sqrt", NETFC_BF16, 0, NETFC_STATUS_FORMAT},
		{"sqrt", 9, 0, NETFC_STATUS_FORMAT},
		{"sqr", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"sqrt2", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"add", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"a_name_that_takes_all_the_32_byte", NETFC_FP16, 0, NETFC_STATUS_OP},
	};
	struct fixture *f = *state;

	requests_add_known(f, 70, NETFC_FP16);
	memcpy(f->z[1], f->z[0], sizeof(f->z[0]));
	requests_add_function(f, OWN, NETFC_BF16);
	fixture_create_pipeline(&f->base);
	for (unsigned int c = 0; c < RTE_DIM(cases); c++) {
		ask_name(&f->asked[0], cases[c].name, cases[c].format);
		requests_process(f, 1, c % 2 == 0 ? 2048 : 57);
		if (cases[c].code == NETFC_STATUS_OK)
			f->asked[0].z[0] = (uint16_t)cases[c].number;
		request_check_error(f, 0, cases[c].code);
	}
	ask_name(&f->asked[0], "sqrt", NETFC_FP16);
	f->asked[0].lanes = 7;
	requests_process(f, 1, 2048);
	request_check_error(f, 0, NETFC_STATUS_LENGTH);
	assert_int_equal(pipeline_worker_counters(f->base.worker)->lanes, 0);
}

TEST_WITH(twice_the_same, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	struct pipeline *pipeline;

	requests_add_known(f, 70, NETFC_FP16);
	requests_add_function(f, 70, NETFC_FP16);
	assert_int_equal(pipeline_create(&f->base.config, &pipeline), -EEXIST);
}

TEST(too_many)
{
	static const struct vector_kernel kernel;
	static struct groups groups;

	groups_clear(&groups);
	for (unsigned int g = 0; g < EXTENDED_GROUPS; g++)
		assert_int_equal(groups_add(&groups, 1 + g / 256, g % 256, "name", &kernel), 0);
	assert_int_equal(groups_add(&groups, 3, 0, "name", &kernel), -E2BIG);
}
