/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames through everything that reads them: parser, pipeline, endpoint, reflector.
 *
 * Input: a byte, half the length of the segments that frames are cut into (drivers put headers at
 * even addresses), or 0 for one segment; then frames, a burst at most, each behind its length
 * in two bytes. Checked: nothing but results, status and checksum of requests changes; results are
 * the reference's; a right checksum stays right. Kinds to reach: those of answers.h.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ip.h>

#include "answers.h"
#include "chain.h"
#include "endpoint/endpoint.h"
#include "fuzz.h"
#include "loaded.h"
#include "pipeline.h"
#include "reached.h"
#include "replies.h"
#include "dpdk/reflect.h"

#define LONGEST_FRAME 16384

/*
 * One worker for each instruction set (those that this machine lacks stand for the best that it
 * has), and one for each other kind of match; hash runs the steps of its sets one by one.
 */
static const struct engine {
	enum match_kind match;
	enum vector_isa isa;
	enum family family;
} engines[] = {
	{MATCH_DIRECT, VECTOR_PLAIN, LOGARITHMS},
	{MATCH_DIRECT, VECTOR_PLAIN + 1, LOGARITHMS},
	{MATCH_DIRECT, VECTOR_ISAS - 1, LOGARITHMS},
	{MATCH_HASH, VECTOR_ISAS - 1, CORRECTLY_ROUNDED},
	{MATCH_LPM, VECTOR_PLAIN + 1, LOGARITHMS},
	{MATCH_FPU, VECTOR_ISAS - 1, CORRECTLY_ROUNDED},
};
#define WORKERS ((unsigned int)RTE_DIM(engines))
static struct pipeline *pipeline[WORKERS];
static struct pipeline_worker *worker[WORKERS];
static struct endpoint endpoint;
static uint64_t frame_count;

static void
start_eal(void)
{
	static char line[] = "fuzz --no-huge -m 1024 --no-pci --no-telemetry --no-shconf "
			     "--log-level=*:error --lcores 0";
	char *argv[16], *rest = line;
	int argc = 0;

	while (rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	FUZZ_CHECK(rte_eal_init(argc, argv) >= 0);
}

static void
create_worker(unsigned int w)
{
	struct pipeline_config config = {
		.match = engines[w].match,
		.isa = RTE_MIN(engines[w].isa, vector_isa_best()),
		.udp_port = NETFC_UDP_PORT,
		.queries = w == 0, /* the others refuse them */
		.socket_id = SOCKET_ID_ANY,
	};

	loaded_configure(&config, engines[w].family);
	FUZZ_CHECK(pipeline_create(&config, &pipeline[w]) == 0);
	worker[w] = pipeline_worker_create(pipeline[w], SOCKET_ID_ANY);
	FUZZ_CHECK(worker[w] != NULL);
	answers_expect(w, &config);
}

static void
free_all(void)
{
	for (unsigned int w = 0; w < WORKERS; w++) {
		FUZZ_CHECK(pipeline_worker_counters(worker[w])->netfc_packets <= frame_count);
		pipeline_worker_free(worker[w]);
		pipeline_free(pipeline[w]);
	}
	loaded_free();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct addresses addresses;
	const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 2}};

	reached_init(*argc, *argv);
	start_eal();
	loaded_build();
	for (unsigned int w = 0; w < WORKERS; w++)
		create_worker(w);
	FUZZ_CHECK(addresses_add(&addresses, "10.1.0.100") == 0);
	FUZZ_CHECK(addresses_add(&addresses, "fd00::100") == 0);
	endpoint_init(&endpoint, &addresses, 0, &mac);
	atexit(free_all);
	fuzz_count_at_exit("frames", &frame_count);
	return 0;
}

/* ---- queries ----------------------------------------------------------------------------- */

/* The bytes of the address that is asked about make up what there is to say. */
static void
answer_queries(
	struct pipeline_worker *by, struct rte_mbuf **mbufs, struct frame *frames, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		struct pipeline_answer answer;
		uint32_t destination;

		if (!frames[i].query)
			continue;
		FUZZ_CHECK(by == worker[0] && !frames[i].answered);
		destination = pipeline_query_destination(mbufs[i], &frames[i]);
		answer = (struct pipeline_answer){
			.ratio = (uint16_t)destination,
			.connections = destination,
			.bytes = (uint64_t)destination << 32 | destination,
		};
		pipeline_answer_query(by, mbufs[i], &frames[i], &answer);
		FUZZ_CHECK(!frames[i].query && frames[i].answered);
	}
}

/* ---- a burst ----------------------------------------------------------------------------- */

struct burst {
	unsigned int engine;
	uint16_t count;
	struct rte_mbuf *mbuf[PIPELINE_BURST];
	struct frame frame[PIPELINE_BURST];
	uint8_t *before[PIPELINE_BURST];
};

static void
read_burst(struct fuzz_input *input, struct burst *burst)
{
	uint8_t first = fuzz_byte(input);
	uint32_t cut = 2u * (first / WORKERS);

	burst->engine = first % WORKERS;
	while (input->left > 0 && burst->count < PIPELINE_BURST) {
		size_t length = fuzz_word(input) % LONGEST_FRAME;
		const uint8_t *bytes = fuzz_bytes(input, &length);

		burst->mbuf[burst->count] =
			chain_of(bytes, (uint32_t)length, cut == 0 ? LONGEST_FRAME : cut);
		burst->before[burst->count] = malloc(length + 1);
		FUZZ_CHECK(burst->before[burst->count] != NULL);
		memcpy(burst->before[burst->count], bytes, length);
		burst->count++;
	}
}

static void
check_burst(struct burst *burst)
{
	static uint8_t after[LONGEST_FRAME];

	for (uint16_t i = 0; i < burst->count; i++) {
		const struct frame *frame = &burst->frame[i];

		chain_bytes(burst->mbuf[i], after);
		replies_check(engines[burst->engine].family, frame, burst->before[i], after,
			burst->mbuf[i]->pkt_len);
		if (frame->answered)
			answers_reached(burst->engine,
				(const struct netfc_hdr *)(after + frame_payload_offset(frame)));
	}
}

static void
forward_burst(struct burst *burst)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	uint16_t kept = 0;

	for (uint16_t i = 0; i < burst->count; i++) {
		enum drop_reason reason = DROP_REASON_COUNT;
		struct frame *frame = &burst->frame[i];
		enum verdict verdict;

		/* Here replies come to the gate, whose checksums are as right as the requests'. */
		if (frame->answered && !endpoint_admit(&endpoint, burst->mbuf[i], frame)) {
			frame->answered = false;
			frame->refused = true;
		}
		verdict = endpoint_handle(&endpoint, burst->mbuf[i], frame, &reason);
		FUZZ_CHECK((verdict == VERDICT_DROP) == (reason < DROP_REASON_COUNT));
		if (verdict != VERDICT_FORWARD)
			continue;
		mbufs[kept] = burst->mbuf[i];
		frames[kept++] = burst->frame[i];
	}
	reflect(mbufs, frames, kept);
}

static void
free_burst(struct burst *burst)
{
	for (uint16_t i = 0; i < burst->count; i++) {
		chain_free(burst->mbuf[i]);
		free(burst->before[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	struct burst burst = {0};

	read_burst(&input, &burst);
	pipeline_process(worker[burst.engine], burst.mbuf, burst.frame, burst.count);
	answer_queries(worker[burst.engine], burst.mbuf, burst.frame, burst.count);
	check_burst(&burst);
	forward_burst(&burst);
	frame_count += burst.count;
	free_burst(&burst);
	return 0;
}
