/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "fuzz.h"
#include "replies.h"

#define ANSWER_BYTES 14u /* of an answer to a query: ratio, connections, bytes */

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
get_slot(const uint8_t *at, uint32_t bytes)
{
	uint32_t slot = 0;

	for (uint32_t b = 0; b < bytes; b++)
		slot = slot << 8 | at[b];
	return slot;
}

/*
 * Each result is the reference's, and the flags are those of all lanes together. Returns how many
 * bytes of z may have changed; so do those below.
 */
static uint32_t
check_lanes(enum family family, const struct netfc_hdr *header, const uint8_t *before,
	const uint8_t *after, uint32_t count, uint8_t status)
{
	const uint32_t slot = netfc_wire_slot_bytes(header->op, header->format);
	const uint32_t bytes = netfc_wire_operand_bytes(header->op, header->format, count);
	uint8_t flags = 0;

	for (uint32_t at = 0; at < count * slot; at += slot) {
		const uint32_t x = get_slot(before + at, slot);
		const uint32_t y = get_slot(before + bytes + at, slot);
		const uint32_t z = get_slot(before + 2 * bytes + at, slot);
		const struct netfc_result result = loaded_reference(family, header, x, y, z);

		FUZZ_CHECK(get_slot(after + 2 * bytes + at, slot) == result.z);
		flags |= result.flags;
	}
	FUZZ_CHECK(flags == (status & ((1 << NETFC_STATUS_CODE_SHIFT) - 1)));
	return count * slot;
}

/* As answer_queries() of fuzz_pipeline.c answers, as far as the packet is long enough. */
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

/* The number of an operation by its name: a function's or one that every format has. */
static uint32_t
check_name(const uint8_t *before, const uint8_t *after, uint32_t count)
{
	static const struct {
		const char *name;
		unsigned int number;
	} names[] = {{"own", USER_FUNCTION}, {"known", KNOWN_FUNCTION}, {"to_bf16", TO_BF16},
		{"to_fp32", NETFC_TO_FP32}, {"to_fp8_e4m3", NETFC_TO_FP8_FIRST}, {"min", NETFC_MIN},
		{"max", NETFC_MAX}, {"compare", NETFC_COMPARE}, {"fma", NETFC_FMA}};
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
check_reply(enum family family, const struct frame *frame, uint8_t *before, const uint8_t *after,
	uint32_t length)
{
	uint32_t at = frame_payload_offset(frame), count, changed, operand_bytes;
	struct netfc_hdr *header = (struct netfc_hdr *)(before + at);
	const struct netfc_hdr *reply = (const struct netfc_hdr *)(after + at);
	uint8_t status = reply->status, *checksum = before + frame->udp_offset + 6;
	uint32_t datagram = frame->payload_length + 8u;

	FUZZ_CHECK(frame->udp && frame->to_netfc_port && frame->payload_length >= 6);
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
		operand_bytes = netfc_wire_operand_bytes(header->op, header->format, count);
		FUZZ_CHECK(frame->payload_length >= sizeof(*header) + 3 * operand_bytes);
		FUZZ_CHECK(
			header->format == NETFC_FP32 || netfc_format_by_id(header->format) != NULL);
		at += (uint32_t)sizeof(*header);
		if (header->op == NETFC_OP_QUERY)
			changed = check_answer(before + at, after + at, count,
				frame->payload_length - (uint32_t)sizeof(*header));
		else if (header->op == NETFC_OP_NAME)
			changed = check_name(before + at, after + at, count);
		else
			changed =
				check_lanes(family, header, before + at, after + at, count, status);
		at += 2 * operand_bytes;
		memcpy(before + at, after + at, changed);
	}
	header->status = status;
	memcpy(checksum, after + frame->udp_offset + 6, 2);
}

void
replies_check(enum family family, const struct frame *frame, uint8_t *before, const uint8_t *after,
	uint32_t length)
{
	if (frame->answered)
		check_reply(family, frame, before, after, length);
	FUZZ_CHECK(memcmp(before, after, length) == 0);
}
