/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "capture.h"
#include "measure.h"

#define NETFC_OFFSET (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))
#define SLOTS_OFFSET (NETFC_OFFSET + sizeof(struct netfc_hdr))

static int
fail(const char *path, const char *what)
{
	fprintf(stderr, PROGRAM ": '%s': %s\n", path, what);
	return -1;
}

/* Of x (operand 0), y or z. */
static uint32_t
slot(const struct capture *capture, const uint8_t *frame, uint32_t operand, uint32_t lane)
{
	const uint32_t width = netfc_wire_slot_bytes(capture->op, capture->format);
	const uint32_t bytes =
		netfc_wire_operand_bytes(capture->op, capture->format, capture->lanes);
	const uint8_t *at = frame + SLOTS_OFFSET + (size_t)operand * bytes + (size_t)width * lane;
	uint32_t word = 0;

	for (uint32_t b = 0; b < width; b++)
		word = word << 8 | at[b];
	return word;
}

uint32_t
capture_result(const struct capture *capture, const uint8_t *frame, uint32_t lane)
{
	return slot(capture, frame, 2, lane);
}

uint32_t
capture_status_offset(void)
{
	return NETFC_OFFSET + offsetof(struct netfc_hdr, status);
}

/* The first frame says what all are. */
static int
take_shape(struct capture *capture, const char *path, const uint8_t *frame, uint32_t length)
{
	const struct netfc_hdr *header = (const struct netfc_hdr *)(frame + NETFC_OFFSET);

	if (length < SLOTS_OFFSET + NETFC_LANE_BYTES || header->magic != RTE_BE16(NETFC_MAGIC) ||
		netfc_op_name(header->op) == NULL)
		return fail(path, "its first frame is no request over IPv4 without options");
	capture->op = header->op;
	capture->format = header->format;
	capture->lanes = rte_be_to_cpu_16(header->count);
	capture->frame_bytes = length;
	if (length < SLOTS_OFFSET +
			3 * netfc_wire_operand_bytes(capture->op, capture->format, capture->lanes))
		return fail(path, "its first frame is too short for its lanes");
	return 0;
}

static bool
has_shape(const struct capture *capture, const uint8_t *frame, uint32_t length)
{
	const struct netfc_hdr *header = (const struct netfc_hdr *)(frame + NETFC_OFFSET);

	return length == capture->frame_bytes && header->op == capture->op &&
		header->format == capture->format &&
		rte_be_to_cpu_16(header->count) == capture->lanes;
}

/* Called for each frame. */
typedef int (*take_fn)(
	struct capture *capture, const char *path, const uint8_t *frame, uint32_t length);

static int
count_frame(struct capture *capture, const char *path, const uint8_t *frame, uint32_t length)
{
	if (capture->packets == 0 && take_shape(capture, path, frame, length) != 0)
		return -1;
	if (!has_shape(capture, frame, length))
		return fail(path, "its frames differ in length, operation, format or lanes");
	capture->packets++;
	return 0;
}

static int
keep_frame(struct capture *capture, const char *path, const uint8_t *frame, uint32_t length)
{
	size_t first = (size_t)capture->packets * capture->lanes;

	(void)path;
	memcpy(capture->frames + (size_t)capture->packets * length, frame, length);
	for (uint32_t l = 0; l < capture->lanes; l++) {
		capture->x[first + l] = slot(capture, frame, 0, l);
		capture->y[first + l] = slot(capture, frame, 1, l);
	}
	capture->packets++;
	return 0;
}

static int
for_each_frame(const char *path, struct capture *capture, take_fn take)
{
	char message[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *record;
	const uint8_t *frame;
	pcap_t *file = pcap_open_offline(path, message);
	int result = 0;

	if (file == NULL)
		return fail(path, message);
	capture->packets = 0;
	while (result == 0 && pcap_next_ex(file, &record, &frame) == 1)
		result = take(capture, path, frame, record->caplen);
	pcap_close(file);
	return result;
}

int
capture_read(const char *path, struct capture *capture)
{
	size_t lanes;

	if (for_each_frame(path, capture, count_frame) != 0)
		return -1;
	if (capture->packets == 0)
		return fail(path, "no frames in it");
	lanes = (size_t)capture->packets * capture->lanes;
	capture->frames = calloc(capture->packets, capture->frame_bytes);
	capture->x = calloc(lanes, sizeof(*capture->x));
	capture->y = calloc(lanes, sizeof(*capture->y));
	if (capture->frames == NULL || capture->x == NULL || capture->y == NULL)
		return fail(path, strerror(ENOMEM));
	return for_each_frame(path, capture, keep_frame);
}

void
capture_free(struct capture *capture)
{
	free(capture->frames);
	free(capture->x);
	free(capture->y);
}
