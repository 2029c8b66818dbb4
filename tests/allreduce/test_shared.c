/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program sees that is linked with the shared library: the header's functions, no more. */
#include <string.h>

#include <netfc_allreduce.h>

#include "cases.h"

TEST(test_shared)
{
	/* Nobody has the discard port. */
	const char *switches[] = {"127.0.0.1:9"};
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options;
	struct netfc_allreduce_handle *handle;
	struct netfc_allreduce_info info;
	struct netfc_allreduce_stats stats;
	float value = 1;

	assert_non_null(comm);
	assert_string_equal(netfc_allreduce_version(), VERSION);
	assert_string_equal(netfc_allreduce_error(comm), "");
	netfc_allreduce_options_init(&options, sizeof(options));
	options.switches = switches;
	options.switch_count = 1;
	options.join_ms = 100; /* a refusal on the way there is a packet lost */
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_REFUSED);
	assert_int_equal(netfc_allreduce_failed_switch(comm), 0);
	assert_int_equal(netfc_allreduce_silent_worker(comm), -1);
	assert_int_equal(
		netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_BROKEN);
	assert_int_equal(netfc_allreduce_start(comm, &value, 1, NETFC_ALLREDUCE_FP32,
				 NETFC_ALLREDUCE_SUM, false, &handle),
		NETFC_ALLREDUCE_BROKEN);
	netfc_allreduce_info(comm, &info);
	assert_int_equal(info.switches, 0);
	netfc_allreduce_stats(comm, &stats);
	assert_int_equal(stats.sent, 0);
	assert_int_equal(netfc_allreduce_value_bytes(NETFC_ALLREDUCE_FP32), 4);
	assert_string_equal(netfc_allreduce_status_meaning(NETFC_ALLREDUCE_OK), "done");
	netfc_allreduce_abort(comm);
	assert_int_equal(netfc_allreduce_leave(comm), NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(comm);
}
