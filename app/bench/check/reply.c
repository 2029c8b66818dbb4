/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "check/check.h"
#include "encoding.h"
#include "options/options.h"

const struct counter mismatch_kinds[MISMATCH_KINDS] = {MISMATCHES(REASON_ROW)};

const char *
mismatch_status_name(unsigned int code)
{
	return code < NETFC_STATUS_END ? json_statuses[code].name : "unknown";
}

void
mismatch_note(struct mismatches *mismatches, const struct mismatch_example *example)
{
	uint64_t before = mismatches->replies[example->kind]++;

	if (before < MISMATCH_EXAMPLES_OF_KIND && mismatches->example_count < MISMATCH_EXAMPLES)
		mismatches->examples[mismatches->example_count++] = *example;
}

static void
print_result(FILE *out, const struct mismatch_example *example, const struct netfc_format *format)
{
	char x[NUMBER_SIZE], y[NUMBER_SIZE], expected[NUMBER_SIZE], got[NUMBER_SIZE];
	const char *symbol = netfc_op_symbol(example->op);
	const int digits = encoding_digits(format);

	encoding_text(format, example->x, x);
	encoding_text(format, example->y, y);
	fprintf(out, "lane %" PRIu32 ": ", example->lane);
	if (symbol != NULL)
		fprintf(out, "%s %s %s", x, symbol, y);
	else
		fprintf(out, "%s of %s (and %s)", value_op_name(example->op), x, y);
	fprintf(out, " = 0x%0*" PRIx32 " (%s), not 0x%0*" PRIx32 " (%s)", digits, example->got,
		encoding_text(format, example->got, got), digits, example->expected,
		encoding_text(format, example->expected, expected));
	fprintf(out, "; x 0x%0*" PRIx32 ", y 0x%0*" PRIx32, digits, example->x, digits, example->y);
}

static void
print_example(FILE *out, const struct mismatch_example *example, const struct netfc_format *format)
{
	fprintf(out, "    id 0x%08" PRIx32 ", ", example->id);
	switch (example->kind) {
	case MISMATCH_RESULTS:
		print_result(out, example, format);
		break;
	case MISMATCH_OPERANDS:
		fprintf(out, "lane %" PRIu32 ": an operand is 0x%0*" PRIx32 ", not 0x%0*" PRIx32,
			example->lane, encoding_digits(format), example->got,
			encoding_digits(format), example->expected);
		break;
	case MISMATCH_REFUSED:
		fprintf(out, "status 0x%02" PRIx32 ": error %s", example->got,
			mismatch_status_name(example->got >> NETFC_STATUS_CODE_SHIFT & 7));
		break;
	case MISMATCH_ID:
	case MISMATCH_ADDRESSES:
	case MISMATCH_UNCOMPUTED:
	case MISMATCH_PADDING:
		fprintf(out, "%s", mismatch_kinds[example->kind].meaning);
		break;
	default:
		fprintf(out, "%s: 0x%" PRIx32 ", not 0x%" PRIx32,
			mismatch_kinds[example->kind].name, example->got, example->expected);
	}
	fputc('\n', out);
}

void
mismatch_print(FILE *out, const struct mismatches *mismatches, const struct netfc_format *format)
{
	bool any = false;

	for (unsigned int kind = 0; kind < MISMATCH_KINDS; kind++) {
		if (mismatches->replies[kind] == 0)
			continue;
		if (!any)
			fprintf(out, "Wrong replies\n");
		any = true;
		fprintf(out, "  %-18s %15" PRIu64 "  (%s)\n", mismatch_kinds[kind].name,
			mismatches->replies[kind], mismatch_kinds[kind].meaning);
	}
	if (!any)
		return;
	if (mismatches->lanes != 0)
		fprintf(out, "  %-18s %15" PRIu64 "\n", "lanes with wrong z", mismatches->lanes);
	fprintf(out, "  The first of them:\n");
	for (unsigned int e = 0; e < mismatches->example_count; e++)
		print_example(out, &mismatches->examples[e], format);
}

#define ID_OFFSET offsetof(struct netfc_hdr, id)

bool
reply_parse(const struct rte_mbuf *mbuf, uint8_t *scratch, struct reply *reply)
{
	const struct netfc_hdr *header;

	frame_parse(mbuf, &reply->frame);
	if (!reply->frame.udp || reply->frame.payload_length < sizeof(*header) ||
		mbuf->pkt_len > REPLY_BYTES)
		return false;
	reply->bytes = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, scratch);
	reply->payload = reply->bytes + frame_payload_offset(&reply->frame);
	header = (const struct netfc_hdr *)reply->payload;
	reply->id = rte_be_to_cpu_32(header->id);
	return header->magic == RTE_BE16(NETFC_MAGIC);
}

static bool
is_ip6(const struct reply *reply)
{
	return reply->frame.network == FRAME_IPV6;
}

static const struct rte_ipv4_hdr *
ipv4_header(const struct reply *reply)
{
	return (const struct rte_ipv4_hdr *)(reply->bytes + reply->frame.network_offset);
}

static const struct rte_udp_hdr *
udp_header(const struct reply *reply)
{
	return (const struct rte_udp_hdr *)(reply->bytes + reply->frame.udp_offset);
}

/* The request's addresses, or those of a reflected one. */
static bool
addresses_fit(
	const struct workload *workload, const struct request *request, const struct reply *reply)
{
	uint32_t length = flow_address_bytes(&workload->flow), ports = sizeof(rte_be16_t);
	const uint8_t *sent = request->frame + flow_address_offset(&workload->flow);
	const uint8_t *sent_ports = sent + 2 * length, *got_ports, *got;

	if (is_ip6(reply) != workload->flow.ip6)
		return false;
	got = reply->bytes + reply->frame.network_offset + flow_ip_bytes(&workload->flow) -
		2 * length;
	got_ports = reply->bytes + reply->frame.udp_offset;
	if (memcmp(got, sent, 2 * length) == 0 && memcmp(got_ports, sent_ports, 2 * ports) == 0)
		return true;
	return memcmp(got, sent + length, length) == 0 && memcmp(got + length, sent, length) == 0 &&
		memcmp(got_ports, sent_ports + ports, ports) == 0 &&
		memcmp(got_ports + ports, sent_ports, ports) == 0;
}

/* For a reply that is right in all else: its checksum is known but for the id. */
static bool
udp_checksum_fits(const struct request *request, const struct reply *reply)
{
	const struct netfc_hdr *header = (const struct netfc_hdr *)reply->payload;

	return udp_header(reply)->dgram_cksum == reply_checksum(request->reply_sum, header->id);
}

static bool
udp_checksum_is_right(const struct reply *reply)
{
	const uint8_t *ip = reply->bytes + reply->frame.network_offset;
	const struct rte_udp_hdr *udp = udp_header(reply);

	/* All requests have one, so that a reply without has lost it. */
	if (udp->dgram_cksum == 0)
		return false;
	/* The sum of a datagram and its own checksum is zero, which UDP writes as ones. */
	if (is_ip6(reply))
		return rte_ipv6_udptcp_cksum((const struct rte_ipv6_hdr *)ip, udp) == UINT16_MAX;
	return rte_ipv4_udptcp_cksum((const struct rte_ipv4_hdr *)ip, udp) == UINT16_MAX;
}

static bool
ip_checksum_is_right(const struct reply *reply)
{
	const struct rte_ipv4_hdr *ip = ipv4_header(reply);

	return is_ip6(reply) || rte_raw_cksum(ip, rte_ipv4_hdr_len(ip)) == UINT16_MAX;
}

bool
reply_is_right(
	const struct workload *workload, const struct request *request, const struct reply *reply)
{
	const size_t behind_id = sizeof(struct netfc_hdr);

	return reply->frame.payload_length == workload->payload_length &&
		memcmp(reply->payload, request->reply, ID_OFFSET) == 0 &&
		memcmp(reply->payload + behind_id, request->reply + behind_id,
			workload->payload_length - behind_id) == 0 &&
		addresses_fit(workload, request, reply) && udp_checksum_fits(request, reply) &&
		ip_checksum_is_right(reply);
}

/* A search for mismatches. */
struct search {
	const struct workload *workload;
	const struct request *request;
	const struct reply *reply;
	struct mismatches *mismatches;
	bool found;
};

static void
note(struct search *search, struct mismatch_example example)
{
	example.id = search->reply->id;
	example.op = search->request->op;
	mismatch_note(search->mismatches, &example);
	search->found = true;
}

static void
compare(struct search *search, enum mismatch kind, uint32_t expected, uint32_t got)
{
	if (expected != got)
		note(search,
			(struct mismatch_example){.kind = kind, .expected = expected, .got = got});
}

/* Compare x, y or z; the first lane that differs becomes the example. Gives how many differ. */
static uint32_t
compare_slots(struct search *search, enum mismatch kind, unsigned int which)
{
	const struct workload *workload = search->workload;
	uint32_t differing = 0;

	for (uint32_t lane = 0; lane < workload->lanes; lane++) {
		uint32_t expected = workload_operand(workload, search->request->reply, which, lane);
		uint32_t got = workload_operand(workload, search->reply->payload, which, lane);

		if (got == expected)
			continue;
		if (differing++ > 0)
			continue;
		note(search,
			(struct mismatch_example){
				.kind = kind,
				.has_lane = true,
				.lane = lane,
				.x = workload_operand(workload, search->request->reply, 0, lane),
				.y = workload_operand(workload, search->request->reply, 1, lane),
				.expected = expected,
				.got = got,
			});
	}
	return differing;
}

/* Of formats of 8 bits, with an odd number of lanes. */
static void
compare_padding(struct search *search)
{
	const struct workload *workload = search->workload;
	const uint32_t used = workload->lanes * workload->slot_bytes;
	uint32_t at = (uint32_t)sizeof(struct netfc_hdr) + used;
	bool same = true;

	for (unsigned int which = 0; which < 3; which++, at += workload->operand_bytes)
		same = same &&
			memcmp(search->request->reply + at, search->reply->payload + at,
				workload->operand_bytes - used) == 0;
	if (!same)
		note(search, (struct mismatch_example){.kind = MISMATCH_PADDING});
}

/* Whether the status says that z was computed. */
static bool
compare_status(struct search *search, uint8_t expected, uint8_t got)
{
	unsigned int code = got >> NETFC_STATUS_CODE_SHIFT & (STATUS_CODES - 1);
	struct mismatch_example example = {.expected = expected, .got = got};

	if ((got & NETFC_STATUS_REPLY) == 0) {
		example.kind = MISMATCH_UNCOMPUTED;
		note(search, example);
		return false;
	}
	if (code != NETFC_STATUS_OK) {
		search->mismatches->refusals[code]++;
		example.kind = MISMATCH_REFUSED;
		note(search, example);
		return false;
	}
	compare(search, MISMATCH_FLAGS, expected, got);
	return true;
}

static void
compare_payload(struct search *search)
{
	const struct netfc_hdr *expected = (const struct netfc_hdr *)search->request->reply;
	const struct netfc_hdr *got = (const struct netfc_hdr *)search->reply->payload;
	bool computed, whole;

	compare(search, MISMATCH_LENGTH, search->workload->payload_length,
		search->reply->frame.payload_length);
	compare(search, MISMATCH_HEADER,
		(uint32_t)(expected->version << 16 | expected->op << 8 | expected->format),
		(uint32_t)(got->version << 16 | got->op << 8 | got->format));
	compare(search, MISMATCH_COUNT, rte_be_to_cpu_16(expected->count),
		rte_be_to_cpu_16(got->count));
	computed = compare_status(search, expected->status, got->status);
	whole = search->reply->frame.payload_length >= search->workload->payload_length;
	if (!whole)
		return;
	if (compare_slots(search, MISMATCH_OPERANDS, 0) == 0)
		compare_slots(search, MISMATCH_OPERANDS, 1);
	if (computed)
		search->mismatches->lanes += compare_slots(search, MISMATCH_RESULTS, 2);
	compare_padding(search);
}

bool
reply_find_mismatches(const struct workload *workload, const struct request *request,
	const struct reply *reply, struct mismatches *mismatches)
{
	struct search search = {workload, request, reply, mismatches, false};

	if (!addresses_fit(workload, request, reply))
		note(&search, (struct mismatch_example){.kind = MISMATCH_ADDRESSES});
	compare_payload(&search);
	if (!udp_checksum_is_right(reply))
		note(&search,
			(struct mismatch_example){
				.kind = MISMATCH_UDP_CHECKSUM,
				.expected = rte_be_to_cpu_16(reply_checksum(
					request->reply_sum, rte_cpu_to_be_32(reply->id))),
				.got = rte_be_to_cpu_16(udp_header(reply)->dgram_cksum),
			});
	if (!ip_checksum_is_right(reply)) {
		const struct rte_ipv4_hdr *sent =
			(const struct rte_ipv4_hdr *)(request->frame + RTE_ETHER_HDR_LEN);

		note(&search,
			(struct mismatch_example){
				.kind = MISMATCH_IP_CHECKSUM,
				.expected = rte_be_to_cpu_16(sent->hdr_checksum),
				.got = rte_be_to_cpu_16(ipv4_header(reply)->hdr_checksum),
			});
	}
	return search.found;
}
