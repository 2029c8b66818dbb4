/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker of libnetfc-allreduce against a switch that lies, from the first reply to its join on.
 *
 * Input: two bytes that choose the worker's options, three that choose its allreduces; then, for
 * each datagram that it sends, what is answered: what a right switch would say, that with bytes
 * changed, cut or lengthened, a refusal, any bytes, nothing, an earlier reply once more, or an
 * error of the socket. A right switch answers with the worker's own values. Who has done all joins
 * once more, and an earlier reply may be one of the job before. Checked: requests are well-formed;
 * where no reply was changed, results are the worker's values; a failure has a text.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>
#include <netfc_allreduce.h>

#include "fuzz.h"
#include "sockets.h"

#define TASKS 3
#define MAX_VALUES 1500
#define ROOM 65536
#define COOKIE UINT64_C(0xc00c1ec00c1ec00c)
#define SESSION UINT64_C(0x5e55105e55105e55)

/* What a datagram is answered with. */
enum answer {
	ANSWER_RIGHT,
	ANSWER_RIGHT_TOO, /* most answers are */
	ANSWER_NOTHING,
	ANSWER_CHANGED,
	ANSWER_REFUSAL,
	ANSWER_BYTES,
	ANSWER_LENGTH,
	ANSWER_AGAIN, /* an earlier reply, or an error */
	ANSWERS
};

#define MORE_OF(how) ((how) >> 3) /* five bits beside the answer */

static struct fuzz_input input;
static bool lied;
static uint64_t datagrams; /* of all inputs */
static uint8_t reply[ROOM], kept[ROOM];
static size_t kept_length;
static int kept_fd;
static unsigned int incarnation; /* of the job: each has a session of its own, and other values */

/* ---- the switch ------------------------------------------------------------------------------ */

static void
answer_join(const struct aggregate_message *request, int fd)
{
	struct aggregate_join join = request->join;

	if (join.cookie == COOKIE) {
		join.shards = 1;
		join.cookie = SESSION + incarnation + ((uint64_t)fd << 32);
		aggregate_accept(reply, AGGREGATE_ROUNDED, 0);
	} else {
		join.cookie = COOKIE;
		aggregate_refuse(reply, AGGREGATE_HEADER_BYTES, AGGREGATE_STATUS_CODE,
			AGGREGATE_REASON_COOKIE);
	}
	aggregate_write_join(reply, &join);
}

static void
change(unsigned int count, size_t length)
{
	for (unsigned int i = 0; i <= count && length > 0; i++) {
		size_t at = fuzz_byte(&input);

		reply[at % length] ^= fuzz_byte(&input);
	}
}

static size_t
any_bytes(void)
{
	size_t length = fuzz_byte(&input);
	const uint8_t *bytes = fuzz_bytes(&input, &length);

	memcpy(reply, bytes, length);
	return length;
}

static size_t
other_length(size_t length)
{
	size_t other = fuzz_word(&input) % ROOM;

	if (other > length)
		memset(reply + length, 0xa5, other - length);
	return other;
}

static void
fail_or_say_again(int fd, unsigned int more)
{
	static const int errors[] = {
		ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, ENOBUFS, EPERM, EMSGSIZE, EINTR};

	if ((more & 1) != 0)
		sockets_fail(fd, errors[(more >> 1) % (sizeof(errors) / sizeof(errors[0]))]);
	else if (kept_length > 0 && kept_fd == fd)
		sockets_deliver(fd, kept, kept_length);
}

static void
keep(int fd, size_t length)
{
	memcpy(kept, reply, length);
	kept_fd = fd;
	kept_length = length;
}

static void
on_datagram(int fd, const uint8_t *payload, size_t length)
{
	struct aggregate_message request;
	uint8_t how = fuzz_byte(&input);
	enum answer answer = (enum answer)(how % ANSWERS);

	datagrams++;
	FUZZ_CHECK(length <= ROOM);
	FUZZ_CHECK(aggregate_parse_request(payload, length, &request) == 0);
	memcpy(reply, payload, length);
	if (request.op == AGGREGATE_JOIN)
		answer_join(&request, fd);
	else
		aggregate_accept(reply, AGGREGATE_ROUNDED, 0);
	lied |= answer >= ANSWER_CHANGED && answer <= ANSWER_LENGTH;
	switch (answer) {
	case ANSWER_NOTHING:
		return;
	case ANSWER_CHANGED:
		change(MORE_OF(how), length);
		break;
	case ANSWER_REFUSAL:
		aggregate_refuse(reply, length,
			MORE_OF(how) == 0 ? AGGREGATE_STATUS_CODE : MORE_OF(how) & 7,
			fuzz_byte(&input));
		break;
	case ANSWER_BYTES:
		length = any_bytes();
		break;
	case ANSWER_LENGTH:
		length = other_length(length);
		break;
	case ANSWER_AGAIN:
		fail_or_say_again(fd, MORE_OF(how));
		break;
	default:
		if (MORE_OF(how) == 1)
			keep(fd, length);
		break;
	}
	sockets_deliver(fd, reply, length);
}

/* ---- the worker ------------------------------------------------------------------------------ */

static void
check_text(const struct netfc_allreduce *comm, int status)
{
	FUZZ_CHECK(status >= 0 && status < NETFC_ALLREDUCE_STATUS_COUNT);
	FUZZ_CHECK(status == NETFC_ALLREDUCE_OK || netfc_allreduce_error(comm)[0] != '\0');
}

/* Returns whether it was done. */
static bool
reduce(struct netfc_allreduce *comm, uint8_t what)
{
	static const uint64_t counts[] = {1, 2, 7, 33, 100, 362, 363, 500, 724, 1000, MAX_VALUES};
	uint32_t values[2 * MAX_VALUES] __attribute__((aligned(8))), before[2 * MAX_VALUES];
	static const uint8_t others[] = {NETFC_ALLREDUCE_FP64, NETFC_ALLREDUCE_INT64,
		NETFC_ALLREDUCE_FP8_E4M3, NETFC_ALLREDUCE_FP8_E5M2};
	unsigned int format = what < 240 ? NETFC_ALLREDUCE_FP16 + what % 6 : others[what % 4];
	unsigned int op = NETFC_ALLREDUCE_SUM + what / 6 % 4;
	uint64_t count = counts[what / 24];
	int status;

	for (unsigned int i = 0; i < 2 * MAX_VALUES; i++)
		values[i] = before[i] = (i + incarnation * MAX_VALUES) * UINT32_C(0x9e3779b9);
	status = netfc_allreduce(comm, values, count, format, op);
	check_text(comm, status);
	if (status == NETFC_ALLREDUCE_OK && !lied)
		FUZZ_CHECK(memcmp(values, before, sizeof(values)) == 0);
	return status == NETFC_ALLREDUCE_OK;
}

static struct netfc_allreduce_options
options_of(uint8_t how, uint8_t who)
{
	static const char *const switches[] = {"10.0.0.1", "10.0.0.2:65500"};
	static const unsigned int bytes[] = {0, 4, 64, 1448};
	struct netfc_allreduce_options options;

	netfc_allreduce_options_init(&options, sizeof(options));
	options.switches = switches;
	options.switch_count = 1 + (how >> 6 & 1);
	options.token = UINT64_C(0x0123456789abcdef);
	options.job = 7;
	options.workers = 1 + who % NETFC_ALLREDUCE_MAX_WORKERS;
	options.worker = who % options.workers;
	options.slots = 1u << (how & 3);
	options.gso = (how & 4) != 0;
	options.bytes = bytes[how >> 3 & 3];
	options.silence_ms = (how & 32) != 0 ? 20 : 0;
	options.patience_ms = (how & 128) != 0 ? 10 : 0;
	options.rto_max_us = 10000;
	options.join_ms = options.deadline_ms = 100;
	options.keepalive_ms = 0;
	options.spin_us = 0;
	return options;
}

static void
run(void)
{
	uint8_t how = fuzz_byte(&input), who = fuzz_byte(&input), tasks[TASKS];
	struct netfc_allreduce_options options = options_of(how, who);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_stats stats;
	struct netfc_allreduce_info info;
	bool done = true;
	int status;

	FUZZ_CHECK(comm != NULL);
	for (unsigned int t = 0; t < TASKS; t++)
		tasks[t] = fuzz_byte(&input);
	for (incarnation = 0; incarnation < 2 && done; incarnation++) {
		status = netfc_allreduce_join(comm, &options);
		check_text(comm, status);
		done = status == NETFC_ALLREDUCE_OK;
		netfc_allreduce_info(comm, &info);
		FUZZ_CHECK(!done || info.bytes >= 4);
		for (unsigned int t = 0; t < TASKS && done; t++)
			done = reduce(comm, tasks[t]);
		netfc_allreduce_stats(comm, &stats);
		status = netfc_allreduce_leave(comm);
		FUZZ_CHECK(status >= 0 && status < NETFC_ALLREDUCE_STATUS_COUNT);
	}
	netfc_allreduce_free(comm);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_count_at_exit("frames", &datagrams);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct fuzz_input){data, size};
	lied = false;
	kept_length = 0;
	sockets_begin(on_datagram);
	run();
	sockets_end();
	return 0;
}
