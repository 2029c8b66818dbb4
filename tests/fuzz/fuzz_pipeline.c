/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames through everything that reads them: parser, pipeline, endpoint, reflector.
 *
 * Input: a byte, half the length of the segments that frames are cut into (drivers put headers at
 * even addresses), or 0 for one segment; then frames, a burst at the most, each behind its length
 * in two bytes. Checked: nothing but results, status and checksum of requests changes; results are
 * the reference's; a right checksum stays right.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ip.h>

#include "chain.h"
#include "endpoint.h"
#include "fuzz.h"
#include "pipeline.h"
#include "reflect.h"

#define LONGEST_FRAME 16384

static const char *const set_names[] = {"fp16_k1024", "posit16_k512", "bf16_k128_floor"};

static struct netfc_set *sets[NETFC_FORMAT_END]; /* one format has none */
static struct pipeline *pipeline;
static struct pipeline_worker *worker;
static struct endpoint endpoint;
static uint64_t frame_count;

static void
start_eal(void)
{
	static char line[] = "fuzz --no-huge -m 64 --no-pci --no-telemetry --no-shconf "
			     "--log-level=*:error --lcores 0";
	char *argv[16], *rest = line;
	int argc = 0;

	while (rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	FUZZ_CHECK(rte_eal_init(argc, argv) >= 0);
}

static void
create_worker(void)
{
	struct pipeline_config config = {
		.match = MATCH_DIRECT,
		.udp_port = NETFC_UDP_PORT,
		.socket_id = SOCKET_ID_ANY,
	};

	for (unsigned int s = 0; s < RTE_DIM(set_names); s++) {
		struct netfc_set *set;

		FUZZ_CHECK(netfc_set_build(set_names[s], &set) == NETFC_OK);
		sets[netfc_format_id(netfc_set_format(set))] = set;
	}
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		config.sets[format] = sets[format];
	FUZZ_CHECK(pipeline_create(&config, &pipeline) == 0);
	worker = pipeline_worker_create(pipeline, SOCKET_ID_ANY);
	FUZZ_CHECK(worker != NULL);
}

static void
free_all(void)
{
	FUZZ_CHECK(pipeline_worker_counters(worker)->netfc_packets <= frame_count);
	pipeline_worker_free(worker);
	pipeline_free(pipeline);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		netfc_set_free(sets[format]);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct addresses addresses;
	const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 2}};

	(void)argc;
	(void)argv;
	start_eal();
	create_worker();
	FUZZ_CHECK(addresses_add(&addresses, "10.1.0.100") == 0);
	FUZZ_CHECK(addresses_add(&addresses, "fd00::100") == 0);
	endpoint_init(&endpoint, &addresses, 0, &mac);
	atexit(free_all);
	fuzz_count_at_exit("frames", &frame_count);
	return 0;
}

/* ---- what must hold ---------------------------------------------------------------------- */

/* The sum of 16-bit words that a checksum is made of, modulo 0xffff. */
static uint32_t
word_sum(const uint8_t *bytes, uint32_t length)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < length; i++)
		sum += (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
	return (uint32_t)(sum % 0xffff);
}

static uint16_t
get_word(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* Each result is the reference's, and the flags are those of all lanes together. */
static uint8_t
check_results(
	const struct netfc_set *set, const uint8_t *header, const uint8_t *before, uint32_t count)
{
	uint8_t op = ((const struct netfc_hdr *)header)->op, flags = 0;
	const uint8_t *slots = header + sizeof(struct netfc_hdr);

	for (uint32_t l = 0; l < count; l++) {
		uint16_t x = get_word(before + 2 * l), y = get_word(before + 2 * (count + l));
		struct netfc_result result = netfc_calc(set, op, x, y);

		FUZZ_CHECK(get_word(slots + 2 * (2 * count + l)) == result.z);
		flags |= result.flags;
	}
	return flags;
}

/* A request that became a reply. */
static void
check_reply(const struct frame *frame, uint8_t *before, const uint8_t *after, uint32_t length)
{
	uint32_t at = frame_payload_offset(frame), count;
	struct netfc_hdr *header = (struct netfc_hdr *)(before + at);
	const struct netfc_hdr *reply = (const struct netfc_hdr *)(after + at);
	uint8_t status = reply->status, *checksum = before + frame->udp_offset + 6;
	uint32_t datagram = frame->payload_length + 8u;

	FUZZ_CHECK(frame->udp && frame->netfc_port && frame->payload_length >= 6);
	FUZZ_CHECK(at + frame->payload_length <= length);
	FUZZ_CHECK(get_word((uint8_t *)header) == NETFC_MAGIC);
	FUZZ_CHECK((header->status & NETFC_STATUS_REPLY) == 0);
	FUZZ_CHECK((status & NETFC_STATUS_REPLY) != 0);
	if (frame->network == FRAME_IPV4 && get_word(checksum) == 0)
		FUZZ_CHECK(get_word(after + frame->udp_offset + 6) == 0);
	else
		FUZZ_CHECK(word_sum(before + frame->udp_offset, datagram) ==
			word_sum(after + frame->udp_offset, datagram));
	if ((status & ~NETFC_STATUS_REPLY) >> NETFC_STATUS_CODE_SHIFT == NETFC_STATUS_OK) {
		count = get_word((const uint8_t *)&reply->count);
		FUZZ_CHECK(frame->payload_length >= sizeof(*header) + count * NETFC_LANE_BYTES);
		FUZZ_CHECK(header->format < NETFC_FORMAT_END && sets[header->format] != NULL);
		FUZZ_CHECK(check_results(sets[header->format], after + at,
				   before + at + sizeof(*header),
				   count) == (status & ((1 << NETFC_STATUS_CODE_SHIFT) - 1)));
		memcpy(before + at + sizeof(*header) + 4 * count,
			after + at + sizeof(*header) + 4 * count, 2 * count);
	}
	header->status = status;
	memcpy(checksum, after + frame->udp_offset + 6, 2);
}

/* `before` becomes what the frame must be now. */
static void
check_frame(const struct frame *frame, uint8_t *before, const uint8_t *after, uint32_t length)
{
	if (frame->answered)
		check_reply(frame, before, after, length);
	FUZZ_CHECK(memcmp(before, after, length) == 0);
}

/* ---- a burst ----------------------------------------------------------------------------- */

struct burst {
	uint16_t count;
	struct rte_mbuf *mbuf[PIPELINE_BURST];
	struct frame frame[PIPELINE_BURST];
	uint8_t *before[PIPELINE_BURST];
};

static void
read_burst(struct fuzz_input *input, struct burst *burst)
{
	uint32_t cut = 2u * fuzz_byte(input);

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
		chain_bytes(burst->mbuf[i], after);
		check_frame(&burst->frame[i], burst->before[i], after, burst->mbuf[i]->pkt_len);
	}
}

static void
forward_burst(struct burst *burst)
{
	for (uint16_t i = 0; i < burst->count; i++) {
		enum drop_reason reason = DROP_REASON_COUNT;
		enum verdict verdict =
			endpoint_handle(&endpoint, burst->mbuf[i], &burst->frame[i], &reason);

		FUZZ_CHECK((verdict == VERDICT_DROP) == (reason < DROP_REASON_COUNT));
		if (verdict == VERDICT_FORWARD)
			reflect(burst->mbuf[i], &burst->frame[i]);
	}
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
	pipeline_process(worker, burst.mbuf, burst.frame, burst.count);
	check_burst(&burst);
	forward_burst(&burst);
	frame_count += burst.count;
	free_burst(&burst);
	return 0;
}
