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
#include "endpoint/endpoint.h"
#include "fuzz.h"
#include "pipeline.h"
#include "dpdk/reflect.h"

#define LONGEST_FRAME 16384
#define ANSWER_BYTES 14u /* of an answer to a query: ratio, connections, bytes */

enum {
	LOGARITHMS,
	CORRECTLY_ROUNDED,
	FAMILIES
};

/* One format has none. */
#define SETS_OF_FAMILY 3
static const char *const set_names[FAMILIES][SETS_OF_FAMILY] = {
	[LOGARITHMS] = {"fp16_k1024", "posit16_k512", "bf16_k128_floor"},
	[CORRECTLY_ROUNDED] = {"fp16_exact_small", "posit16_exact", "bf16_exact_small"},
};
static struct netfc_set *sets[FAMILIES][NETFC_FORMAT_END];
/* Of binary32; lpm, whose tables would take 64 MB each, has none. */
static struct netfc_set *wide_set;

/* Functions, one of them a user's own, of fp16; one of bf16, too. */
#define OWN_FUNCTION 193
#define FUNCTIONS 4
static struct function {
	unsigned int number, format;
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
} functions[FUNCTIONS] = {
	{.number = 71, .format = NETFC_FP16},
	{.number = 99, .format = NETFC_FP16},
	{.number = OWN_FUNCTION, .format = NETFC_FP16},
	{.number = 71, .format = NETFC_BF16},
};

/*
 * One worker for each instruction set (those that this machine lacks stand for the best that it
 * has), and one for each other kind of match; hash runs the steps of its sets one by one.
 */
static const struct engine {
	enum match_kind match;
	enum vector_isa isa;
	unsigned int family;
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
build_sets(void)
{
	for (unsigned int s = 0; s < FAMILIES * SETS_OF_FAMILY; s++) {
		struct netfc_set *set;

		FUZZ_CHECK(netfc_set_build(set_names[s / SETS_OF_FAMILY][s % SETS_OF_FAMILY],
				   &set) == NETFC_OK);
		sets[s / SETS_OF_FAMILY][netfc_format_id(netfc_set_format(set))] = set;
	}
	FUZZ_CHECK(netfc_set_build("fp32_exact", &wide_set) == NETFC_OK);
}

static void
build_functions(void)
{
	for (unsigned int f = 0; f < FUNCTIONS; f++) {
		/* A user's function has any flags with any result. */
		for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++) {
			functions[f].z[x] = (uint16_t)(x * 40503);
			functions[f].flags[x] = x % 16;
		}
		if (functions[f].number != OWN_FUNCTION)
			FUZZ_CHECK(
				netfc_function_table(netfc_function_by_number(functions[f].number),
					netfc_format_by_id(functions[f].format), functions[f].z,
					functions[f].flags) == NETFC_OK);
	}
}

static void
create_worker(unsigned int w)
{
	struct pipeline_function known[FUNCTIONS];
	struct pipeline_config config = {
		.match = engines[w].match,
		.isa = RTE_MIN(engines[w].isa, vector_isa_best()),
		.udp_port = NETFC_UDP_PORT,
		.queries = w == 0, /* the others refuse them */
		.socket_id = SOCKET_ID_ANY,
		.functions = known,
		.function_count = FUNCTIONS,
	};

	for (unsigned int f = 0; f < FUNCTIONS; f++)
		known[f] = (struct pipeline_function){
			.name = functions[f].number == OWN_FUNCTION ? "own" : "known",
			.number = (uint8_t)functions[f].number,
			.format = (uint8_t)functions[f].format,
			.z = functions[f].z,
			.flags = functions[f].flags,
		};
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		config.sets[format] = sets[engines[w].family][format];
	if (engines[w].match != MATCH_LPM)
		config.sets[NETFC_FP32] = wide_set;
	FUZZ_CHECK(pipeline_create(&config, &pipeline[w]) == 0);
	worker[w] = pipeline_worker_create(pipeline[w], SOCKET_ID_ANY);
	FUZZ_CHECK(worker[w] != NULL);
}

static void
free_all(void)
{
	for (unsigned int w = 0; w < WORKERS; w++) {
		FUZZ_CHECK(pipeline_worker_counters(worker[w])->netfc_packets <= frame_count);
		pipeline_worker_free(worker[w]);
		pipeline_free(pipeline[w]);
	}
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		netfc_set_free(sets[LOGARITHMS][format]);
		netfc_set_free(sets[CORRECTLY_ROUNDED][format]);
	}
	netfc_set_free(wide_set);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct addresses addresses;
	const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 2}};

	(void)argc;
	(void)argv;
	start_eal();
	build_sets();
	build_functions();
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

static uint32_t
get_slot(const uint8_t *at)
{
	return (uint32_t)get_word(at) << 16 | get_word(at + 2);
}

static const struct function *
find_function(const struct netfc_hdr *header)
{
	for (unsigned int f = 0; f < FUNCTIONS; f++) {
		if (functions[f].number == header->op && functions[f].format == header->format)
			return &functions[f];
	}
	return NULL;
}

/* What functions, and the sets of a family, stand for, by other code than theirs. */
static struct netfc_result
reference(unsigned int family, const struct netfc_hdr *header, uint16_t x, uint16_t y, uint16_t z)
{
	const struct netfc_set *set = sets[family][header->format];
	const struct function *function = find_function(header);

	if (function != NULL)
		return (struct netfc_result){function->z[x], function->flags[x]};
	if (header->op >= NETFC_MIN && header->op < NETFC_EXTRA_END)
		return netfc_extra(netfc_format_by_id(header->format), header->op, x, y, z);
	FUZZ_CHECK(header->op >= NETFC_ADD && header->op <= NETFC_DIV && set != NULL);
	return family == CORRECTLY_ROUNDED ? netfc_exact(netfc_set_format(set), header->op, x, y)
					   : netfc_calc(set, header->op, x, y);
}

/* Lanes of 32 bits, as check_lanes(). */
static uint32_t
check_wide_lanes(const struct netfc_hdr *header, const uint8_t *before, const uint8_t *after,
	uint32_t count, uint8_t status)
{
	uint8_t flags = 0;

	FUZZ_CHECK(header->op >= NETFC_ADD && header->op <= NETFC_DIV);
	for (uint32_t l = 0; l < count; l++) {
		struct netfc_fp32_result result = netfc_fp32_exact(
			header->op, get_slot(before + 4 * l), get_slot(before + 4 * (count + l)));

		FUZZ_CHECK(get_slot(after + 4 * (2 * count + l)) == result.z);
		flags |= result.flags;
	}
	FUZZ_CHECK(flags == (status & ((1 << NETFC_STATUS_CODE_SHIFT) - 1)));
	return 4 * count;
}

/*
 * Each result is the reference's, and the flags are those of all lanes together. Returns how many
 * bytes of z may have changed; so do those below.
 */
static uint32_t
check_lanes(unsigned int family, const struct netfc_hdr *header, const uint8_t *before,
	const uint8_t *after, uint32_t count, uint8_t status)
{
	uint8_t flags = 0;

	for (uint32_t l = 0; l < count; l++) {
		uint16_t x = get_word(before + 2 * l), y = get_word(before + 2 * (count + l));
		uint16_t z = get_word(before + 2 * (2 * count + l));
		struct netfc_result result = reference(family, header, x, y, z);

		FUZZ_CHECK(get_word(after + 2 * (2 * count + l)) == result.z);
		flags |= result.flags;
	}
	FUZZ_CHECK(flags == (status & ((1 << NETFC_STATUS_CODE_SHIFT) - 1)));
	return 2 * count;
}

/* A query is answered with what answer_queries() says, as far as the packet is long enough. */
static uint32_t
check_answer(const uint8_t *before, const uint8_t *after, uint32_t count, uint32_t length)
{
	const uint8_t *answer = after + 4 * count;

	FUZZ_CHECK(get_word(answer) == get_word(before + 2 * count));
	if (4 * count + ANSWER_BYTES > length)
		return 2;
	FUZZ_CHECK(get_word(answer + 2) == get_word(before));
	FUZZ_CHECK(get_word(answer + 4) == get_word(before + 2 * count));
	FUZZ_CHECK(memcmp(answer + 2, answer + 6, 4) == 0);
	FUZZ_CHECK(memcmp(answer + 2, answer + 10, 4) == 0);
	return ANSWER_BYTES;
}

/* The number of an operation by its name: only "own", "known" and those of every format are known.
 */
static uint32_t
check_name(const uint8_t *before, const uint8_t *after, uint32_t count)
{
	static const struct {
		const char *name;
		unsigned int number;
	} names[] = {{"own", OWN_FUNCTION}, {"known", 71}, {"min", NETFC_MIN}, {"max", NETFC_MAX},
		{"compare", NETFC_COMPARE}, {"fma", NETFC_FMA}};
	const uint16_t number = get_word(after + 4 * count);
	char name[NETFC_FUNCTION_NAME_SIZE];
	bool is_right = false;

	FUZZ_CHECK(count == NETFC_NAME_LANES);
	for (unsigned int n = 0; n < RTE_DIM(names); n++) {
		memset(name, 0, sizeof(name));
		strcpy(name, names[n].name);
		is_right |= names[n].number == number && memcmp(name, before, sizeof(name)) == 0;
	}
	FUZZ_CHECK(is_right);
	return 2;
}

/* A request that became a reply. */
static void
check_reply(unsigned int family, const struct frame *frame, uint8_t *before, const uint8_t *after,
	uint32_t length)
{
	uint32_t at = frame_payload_offset(frame), count, changed, lane_bytes;
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
		lane_bytes = header->format == NETFC_FP32 ? 12 : 6;
		FUZZ_CHECK(frame->payload_length >= sizeof(*header) + count * lane_bytes);
		FUZZ_CHECK(header->format > 0 && header->format <= NETFC_FP32);
		at += (uint32_t)sizeof(*header);
		if (header->op == NETFC_OP_QUERY)
			changed = check_answer(before + at, after + at, count,
				frame->payload_length - (uint32_t)sizeof(*header));
		else if (header->op == NETFC_OP_NAME)
			changed = check_name(before + at, after + at, count);
		else if (header->format == NETFC_FP32)
			changed = check_wide_lanes(header, before + at, after + at, count, status);
		else
			changed =
				check_lanes(family, header, before + at, after + at, count, status);
		at += 2 * count * (lane_bytes / 3);
		memcpy(before + at, after + at, changed);
	}
	header->status = status;
	memcpy(checksum, after + frame->udp_offset + 6, 2);
}

/* `before` becomes what the frame must be now. */
static void
check_frame(unsigned int family, const struct frame *frame, uint8_t *before, const uint8_t *after,
	uint32_t length)
{
	if (frame->answered)
		check_reply(family, frame, before, after, length);
	FUZZ_CHECK(memcmp(before, after, length) == 0);
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
		chain_bytes(burst->mbuf[i], after);
		check_frame(engines[burst->engine].family, &burst->frame[i], burst->before[i],
			after, burst->mbuf[i]->pkt_len);
	}
}

static void
forward_burst(const struct burst *burst)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	uint16_t kept = 0;

	for (uint16_t i = 0; i < burst->count; i++) {
		enum drop_reason reason = DROP_REASON_COUNT;
		enum verdict verdict =
			endpoint_handle(&endpoint, burst->mbuf[i], &burst->frame[i], &reason);

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
