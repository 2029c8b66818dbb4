/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include <rte_ether.h>
#include <rte_prefetch.h>
#include <rte_udp.h>

#include <netfc_wire.h>

#include "kernel_groups.h"
#include "template.h"

/* How many packets ahead bytes are fetched. */
#define PREFETCH 4

#define TYPE_OFFSET 12
#define IPV4_OFFSET 14
#define LONGEST 128

/* Some bytes of a few packets of a burst are compared with those of its first. */
#define LIKE_PROBES 4
#define LIKE_NETWORK 12 /* ether type to length, the first six of eight bytes */
#define LIKE_REQUEST 42 /* magic to lanes */
#define LIKE_LENGTH 50

/* Which bits of a frame's bytes say what it is. */
struct pattern {
	uint8_t mask[LONGEST];
};

void
template_clear(struct template *template)
{
	*template = (struct template){.length = UINT32_MAX};
}

static void
want_16(struct pattern *pattern, size_t offset, uint16_t mask)
{
	pattern->mask[offset] = (uint8_t)(mask >> 8);
	pattern->mask[offset + 1] = (uint8_t)mask;
}

static void
want_ipv4(struct pattern *pattern)
{
	want_16(pattern, TYPE_OFFSET, UINT16_MAX);
	pattern->mask[IPV4_OFFSET] = UINT8_MAX;
	want_16(pattern, IPV4_OFFSET + offsetof(struct rte_ipv4_hdr, total_length), UINT16_MAX);
	want_16(pattern, IPV4_OFFSET + offsetof(struct rte_ipv4_hdr, fragment_offset),
		RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	pattern->mask[IPV4_OFFSET + offsetof(struct rte_ipv4_hdr, next_proto_id)] = UINT8_MAX;
}

static void
want_request(struct pattern *pattern, const struct frame *frame)
{
	const size_t udp = frame->udp_offset, netfc = udp + sizeof(struct rte_udp_hdr);

	want_16(pattern, udp + offsetof(struct rte_udp_hdr, dst_port), UINT16_MAX);
	want_16(pattern, udp + offsetof(struct rte_udp_hdr, dgram_len), UINT16_MAX);
	memset(pattern->mask + netfc, UINT8_MAX, offsetof(struct netfc_hdr, id));
}

static void
learn(struct template *template, const struct rte_mbuf *mbuf, const struct frame *frame,
	uint16_t lanes, uint16_t group)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct pattern pattern = {0};

	want_ipv4(&pattern);
	want_request(&pattern, frame);
	*template = (struct template){
		.offset = {TYPE_OFFSET, frame->udp_offset + 2u},
		.length = IPV4_OFFSET +
			load_be16(
				bytes + IPV4_OFFSET + offsetof(struct rte_ipv4_hdr, total_length)),
		.payload_offset = (uint16_t)frame_payload_offset(frame),
		.lanes = lanes,
		.group = group,
		.class = group < GATHERED_GROUPS ? classify_size(lanes) : CLASS_IN_PLACE,
		.frame = *frame,
	};
	for (unsigned int v = 0; v < TEMPLATE_VECTORS; v++) {
		template->mask[v] = load_bytes16(pattern.mask + template->offset[v]);
		template->value[v] = load_bytes16(bytes + template->offset[v]) & template->mask[v];
	}
}

static __rte_always_inline bool
matches(const struct template *template, const struct rte_mbuf *mbuf)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	bytes16 wrong = {0};

	if (rte_pktmbuf_data_len(mbuf) < template->length)
		return false;
	for (unsigned int v = 0; v < TEMPLATE_VECTORS; v++)
		wrong |= (load_bytes16(bytes + template->offset[v]) & template->mask[v]) ^
			template->value[v];
	return is_zero_bytes16(wrong);
}

/* Of IPv4 and UDP, what uniform requests have in common, addresses and ids left out. */
static bool
is_like(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	const uint8_t *bytes_a = rte_pktmbuf_mtod(a, const uint8_t *);
	const uint8_t *bytes_b = rte_pktmbuf_mtod(b, const uint8_t *);

	if (rte_pktmbuf_data_len(a) < LIKE_LENGTH ||
		rte_pktmbuf_data_len(a) != rte_pktmbuf_data_len(b))
		return false;
	return (load_64(bytes_a + LIKE_NETWORK) ^ load_64(bytes_b + LIKE_NETWORK)) << 16 == 0 &&
		load_64(bytes_a + LIKE_REQUEST) == load_64(bytes_b + LIKE_REQUEST);
}

/* Whether a request over IPv4 without options and tags stands where the others are compared. */
static bool
seems_request(const struct rte_mbuf *mbuf)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	return rte_pktmbuf_data_len(mbuf) >= LIKE_LENGTH &&
		load_16(bytes + LIKE_NETWORK) == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
		load_16(bytes + LIKE_REQUEST) == RTE_BE16(NETFC_MAGIC);
}

/* Guess from a few packets whether the burst's first packet makes a useful template. */
static bool
is_worth_learning(struct rte_mbuf **mbufs, unsigned int count)
{
	if (count < 2 || !seems_request(mbufs[0]))
		return false;
	for (unsigned int probe = 1; probe <= LIKE_PROBES; probe++) {
		if (!is_like(mbufs[0], mbufs[(count - 1) * probe / LIKE_PROBES]))
			return false;
	}
	return true;
}

/* Classify a burst's first packet alone, and take it as the template if it is such a request. */
static void
learn_first(struct template *template, const struct classifier *classifier, struct rte_mbuf **mbufs,
	struct frame *frames, struct classified *classified)
{
	classify(classifier, mbufs, frames, 0, 1, classified);
	/* The frames of packets for the slow path are not set yet. */
	if (classified->count[CLASS_SLOW] == 0 && frames[0].answered &&
		frames[0].network_offset == IPV4_OFFSET && frames[0].network == FRAME_IPV4)
		learn(template, mbufs[0], &frames[0], classified->lanes[0], classified->group[0]);
	classified_clear(classified);
}

/* The packets of a burst up to the first that does not match. Returns how many. */
static unsigned int
classify_uniform(const struct template *template, struct rte_mbuf **mbufs, struct frame *frames,
	unsigned int count, struct classified *classified)
{
	const struct template wanted = *template;
	unsigned int uniform;

	for (uniform = 0; uniform < count; uniform++) {
		uint8_t *payload;

		if (uniform + PREFETCH < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[uniform + PREFETCH], void *));
		if (!matches(&wanted, mbufs[uniform]))
			break;
		payload = rte_pktmbuf_mtod_offset(mbufs[uniform], uint8_t *, wanted.payload_offset);
		classified->payload[uniform] = payload;
		frames[uniform] = wanted.frame;
		frames[uniform].checksum = load_16(payload - sizeof(uint16_t));
	}
	for (unsigned int p = 0; p < uniform; p++) {
		classified->lanes[p] = wanted.lanes;
		classified->group[p] = wanted.group;
		classified->packet[wanted.class][p] = (uint8_t)p;
	}
	classified->count[wanted.class] = uniform;
	classified->uniform = uniform;
	classified->uniform_class = wanted.class;
	if (uniform > 0 && wanted.class < CLASS_IN_PLACE)
		classified_add(classified,
			(struct gathered){
				wanted.group, wanted.group, (uint16_t)(uniform * wanted.lanes)});
	return uniform;
}

void
template_classify(struct template *template, const struct classifier *classifier,
	struct rte_mbuf **mbufs, struct frame *frames, unsigned int count,
	struct classified *classified)
{
	unsigned int uniform;

	classified_clear(classified);
	uniform = classify_uniform(template, mbufs, frames, count, classified);
	if (likely(uniform == count))
		return;
	if (uniform == 0 && is_worth_learning(mbufs, count)) {
		learn_first(template, classifier, mbufs, frames, classified);
		uniform = classify_uniform(template, mbufs, frames, count, classified);
	}
	if (uniform < count)
		classify(classifier, mbufs, frames, uniform, count, classified);
}
