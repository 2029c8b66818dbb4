/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "bench.h"
#include "workload/deck.h"
#include "workload/operands_source.h"

/* Cards of drawn operands, unless they are so long that they would fill the memory. */
#define CARDS 4096
#define DRAWN_BYTES (UINT64_C(64) << 20)
#define MOST_BYTES (UINT64_C(1) << 30)

/* Of one card: frame and reply, each on cache lines of its own. */
static size_t
request_bytes(const struct deck *deck)
{
	return RTE_ALIGN_CEIL(deck->frame_length, RTE_CACHE_LINE_SIZE);
}

static size_t
card_bytes(const struct deck *deck)
{
	return request_bytes(deck) + RTE_ALIGN_CEIL(deck->payload_length, RTE_CACHE_LINE_SIZE);
}

static void
choose_sizes(struct deck *deck, const struct options *options)
{
	deck->route = options->route;
	deck->lanes = options->lanes;
	deck->payload_offset = route_payload_offset(&options->route);
	deck->payload_length =
		(uint32_t)sizeof(struct netfc_hdr) + options->lanes * NETFC_LANE_BYTES;
	deck->frame_length = deck->payload_offset + deck->payload_length;
}

static unsigned int
op_count(const struct options *options)
{
	return options->op != 0 ? 1 : NETFC_DIV;
}

/* How many pairs to draw: each is used with every operation. */
static size_t
pairs_wanted(const struct deck *deck, const struct options *options)
{
	size_t cards = RTE_MIN((size_t)CARDS, DRAWN_BYTES / card_bytes(deck));

	return RTE_MAX(cards / op_count(options), 1u) * deck->lanes;
}

static int
allocate(struct deck *deck, const struct operands *operands, unsigned int ops)
{
	uint64_t groups = (operands->count + deck->lanes - 1) / deck->lanes;
	uint64_t cards = groups * ops, bytes = cards * card_bytes(deck);

	if (bytes > MOST_BYTES) {
		fprintf(stderr,
			PROGRAM ": %zu pairs of operands are too many: %" PRIu64
				" MiB of packets, %" PRIu64 " at the most\n",
			operands->count, bytes >> 20, MOST_BYTES >> 20);
		return -1;
	}
	deck->count = (uint32_t)cards;
	deck->cards = calloc(cards, sizeof(*deck->cards));
	deck->bytes = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
	if (deck->cards == NULL || deck->bytes == NULL) {
		fprintf(stderr, PROGRAM ": no memory for %" PRIu64 " requests\n", cards);
		return -1;
	}
	memset(deck->bytes, 0, bytes);
	return 0;
}

/* Room for the lanes of a card while it is made. */
struct scratch {
	uint16_t *x, *y, *z;
};

static int
scratch_allocate(struct scratch *scratch, uint32_t lanes)
{
	scratch->x = calloc(3 * (size_t)lanes, sizeof(*scratch->x));
	if (scratch->x == NULL) {
		fprintf(stderr, PROGRAM ": out of memory\n");
		return -1;
	}
	scratch->y = scratch->x + lanes;
	scratch->z = scratch->y + lanes;
	return 0;
}

static void
write_slots(uint8_t *slots, const uint16_t *values, uint32_t count, uint16_t flip)
{
	for (uint32_t l = 0; l < count; l++) {
		rte_be16_t value = rte_cpu_to_be_16(values[l] ^ flip);

		memcpy(slots + l * sizeof(value), &value, sizeof(value));
	}
}

static void
write_payload(const struct deck *deck, uint8_t *payload, uint8_t op, uint8_t status,
	const struct scratch *scratch, uint16_t flip_z)
{
	uint32_t lanes = deck->lanes;
	const struct netfc_hdr header = {
		.magic = RTE_BE16(NETFC_MAGIC),
		.version = NETFC_WIRE_VERSION,
		.op = op,
		.format = (uint8_t)netfc_format_id(netfc_set_format(deck->set)),
		.status = status,
		.count = rte_cpu_to_be_16((uint16_t)lanes),
	};
	uint8_t *slots = payload + sizeof(header);

	memcpy(payload, &header, sizeof(header));
	write_slots(slots, scratch->x, lanes, 0);
	write_slots(slots + lanes * sizeof(uint16_t), scratch->y, lanes, 0);
	write_slots(slots + 2 * lanes * sizeof(uint16_t), scratch->z, lanes, flip_z);
}

/* The z of a request are all wrong, so that no lane can pass that was not computed. */
static void
make_card(struct deck *deck, struct card *card, uint16_t flow, const struct scratch *scratch)
{
	uint8_t *request = card->request, *payload = request + deck->payload_offset;
	uint8_t flags = netfc_compute(deck->set, (enum netfc_op)card->op, scratch->x, scratch->y,
		scratch->z, NULL, deck->lanes);
	uint8_t status = NETFC_STATUS_REPLY | flags;

	route_write_headers(&deck->route, request, flow, (uint16_t)deck->payload_length);
	write_payload(deck, payload, card->op, status, scratch, 0);
	card->reply_sum = route_udp_sum(&deck->route, request);
	memcpy(card->reply, payload, deck->payload_length);
	write_payload(deck, payload, card->op, 0, scratch, UINT16_MAX);
	card->request_sum = route_udp_sum(&deck->route, request);
}

static void
make_cards(struct deck *deck, const struct options *options, const struct operands *operands,
	const struct scratch *scratch)
{
	unsigned int ops = op_count(options);
	size_t pair = 0;

	for (uint32_t c = 0; c < deck->count; c++) {
		struct card *card = &deck->cards[c];

		if (c % ops == 0) {
			for (uint32_t l = 0; l < deck->lanes; l++) {
				scratch->x[l] = operands->pairs[pair].x;
				scratch->y[l] = operands->pairs[pair].y;
				pair = pair + 1 < operands->count ? pair + 1 : 0;
			}
		}
		card->op = (uint8_t)(options->op != 0 ? options->op : NETFC_ADD + c % ops);
		card->request = deck->bytes + c * card_bytes(deck);
		card->reply = card->request + request_bytes(deck);
		make_card(deck, card, (uint16_t)(c % options->flows), scratch);
	}
}

int
deck_get_operands(
	const struct options *options, const struct netfc_set *set, struct operands *operands)
{
	struct deck deck = {0};

	choose_sizes(&deck, options);
	return operands_get(options, netfc_set_format(set), pairs_wanted(&deck, options), operands);
}

int
deck_make(const struct options *options, const struct netfc_set *set,
	const struct operands *operands, struct deck *deck)
{
	struct scratch scratch;

	deck->set = set;
	choose_sizes(deck, options);
	if (allocate(deck, operands, op_count(options)) != 0 ||
		scratch_allocate(&scratch, deck->lanes) != 0)
		return -1;
	make_cards(deck, options, operands, &scratch);
	free(scratch.x);
	return 0;
}

void
deck_free(struct deck *deck)
{
	free(deck->cards);
	free(deck->bytes);
	*deck = (struct deck){0};
}
