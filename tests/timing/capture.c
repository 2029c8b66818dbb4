/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <netfc.h>

#include "timing.h"

#define NETFC_OFFSET (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))
#define SLOTS_OFFSET (NETFC_OFFSET + sizeof(struct netfc_hdr))

static int
fail(const char *path, const char *what)
{
	return REPORT("--time '%s': %s\n", path, what);
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

uint8_t
capture_status(const uint8_t *frame)
{
	return frame[NETFC_OFFSET + offsetof(struct netfc_hdr, status)];
}

/* ---- frames -------------------------------------------------------------------------------- */

static int
grow(struct capture *capture, uint32_t *space)
{
	const uint32_t more = *space == 0 ? 1024 : 2 * *space;
	uint8_t *frames = realloc(capture->frames, (size_t)more * CAPTURE_FRAME_BYTES);
	uint16_t *length;

	if (frames == NULL)
		return -1;
	capture->frames = frames;
	length = realloc(capture->length, more * sizeof(*length));
	if (length == NULL)
		return -1;
	capture->length = length;
	*space = more;
	return 0;
}

static int
read_frames(const char *path, pcap_t *file, struct capture *capture)
{
	struct pcap_pkthdr *record;
	const uint8_t *frame;
	uint32_t space = 0;
	int got;

	if (pcap_datalink(file) != DLT_EN10MB)
		return fail(path, "its frames are not Ethernet's");
	while ((got = pcap_next_ex(file, &record, &frame)) == 1) {
		if (record->caplen > CAPTURE_FRAME_BYTES || record->caplen < record->len)
			return fail(path, "a frame is cut or longer than 2048 bytes");
		if (capture->packets == space && grow(capture, &space) != 0)
			return fail(path, strerror(ENOMEM));
		memcpy(capture->frames + (size_t)capture->packets * CAPTURE_FRAME_BYTES, frame,
			record->caplen);
		capture->length[capture->packets++] = (uint16_t)record->caplen;
	}
	if (got != PCAP_ERROR_BREAK)
		return fail(path, pcap_geterr(file));
	return capture->packets > 0 ? 0 : fail(path, "no frames in it");
}

/* ---- requests ------------------------------------------------------------------------------ */

/* Whether a frame is a request over IPv4 without options, so long as its lanes need. */
static bool
is_request(const uint8_t *frame, uint16_t length)
{
	const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)frame;
	const struct netfc_hdr *header = (const struct netfc_hdr *)(frame + NETFC_OFFSET);

	return length >= SLOTS_OFFSET + NETFC_LANE_BYTES &&
		ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
		frame[RTE_ETHER_HDR_LEN] == RTE_IPV4_VHL_DEF &&
		header->magic == RTE_BE16(NETFC_MAGIC) && netfc_op_name(header->op) != NULL &&
		length >= SLOTS_OFFSET +
			3 *
				netfc_wire_operand_bytes(header->op, header->format,
					rte_be_to_cpu_16(header->count));
}

/* Whether all are like the first one. */
static bool
is_uniform(const struct capture *capture)
{
	const struct netfc_hdr *first =
		(const struct netfc_hdr *)(capture_frame(capture, 0) + NETFC_OFFSET);

	for (uint32_t p = 0; p < capture->packets; p++) {
		const uint8_t *frame = capture_frame(capture, p);
		const struct netfc_hdr *header = (const struct netfc_hdr *)(frame + NETFC_OFFSET);

		if (!is_request(frame, capture->length[p]) ||
			capture->length[p] != capture->length[0] || header->op != first->op ||
			header->format != first->format || header->count != first->count)
			return false;
	}
	return true;
}

static int
keep_operands(struct capture *capture)
{
	const struct netfc_hdr *header =
		(const struct netfc_hdr *)(capture_frame(capture, 0) + NETFC_OFFSET);
	size_t lanes;

	capture->uniform = true;
	capture->op = header->op;
	capture->format = header->format;
	capture->lanes = rte_be_to_cpu_16(header->count);
	lanes = (size_t)capture->packets * capture->lanes;
	capture->x = calloc(lanes, sizeof(*capture->x));
	capture->y = calloc(lanes, sizeof(*capture->y));
	if (capture->x == NULL || capture->y == NULL)
		return -1;
	for (size_t l = 0; l < lanes; l++) {
		const uint8_t *frame = capture_frame(capture, (uint32_t)(l / capture->lanes));
		const uint32_t lane = (uint32_t)(l % capture->lanes);

		capture->x[l] = slot(capture, frame, 0, lane);
		capture->y[l] = slot(capture, frame, 1, lane);
	}
	return 0;
}

int
capture_read(const char *path, struct capture *capture)
{
	char message[PCAP_ERRBUF_SIZE];
	pcap_t *file = pcap_open_offline(path, message);
	int result;

	*capture = (struct capture){0};
	if (file == NULL)
		return REPORT("--time '%s': expected " TIME_SUMS ", " TIME_TAGS
			      " or a capture file; %s\n",
			path, message);
	result = read_frames(path, file, capture);
	pcap_close(file);
	if (result == 0 && is_uniform(capture) && keep_operands(capture) != 0)
		result = fail(path, strerror(ENOMEM));
	return result;
}

void
capture_free(struct capture *capture)
{
	free(capture->length);
	free(capture->frames);
	free(capture->x);
	free(capture->y);
}
