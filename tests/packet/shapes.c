/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <netfc.h>

#include "shapes.h"

#define MIN_FRAME 60

uint32_t
shapes_draw(uint64_t *seed, uint32_t end)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*seed >> 33) % end);
}

static void
draw_bytes(uint64_t *seed, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)shapes_draw(seed, 256);
}

static uint32_t
write_16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return 2;
}

/* Most requests are right; of the others, one field is anything. */
static uint32_t
write_request(uint64_t *seed, uint8_t *payload)
{
	static const uint32_t most[] = {1, 8, 16, 40};
	const uint32_t lanes = 1 + shapes_draw(seed, most[shapes_draw(seed, 4)]);
	const uint32_t length = (uint32_t)sizeof(struct netfc_hdr) + lanes * NETFC_LANE_BYTES;

	draw_bytes(seed, payload, length + 8);
	write_16(payload, NETFC_MAGIC);
	payload[2] = NETFC_WIRE_VERSION;
	payload[3] = (uint8_t)(NETFC_ADD + shapes_draw(seed, 4));
	payload[4] = (uint8_t)(NETFC_FP16 + shapes_draw(seed, 4));
	payload[5] = (uint8_t)(shapes_draw(seed, 8) == 0 ? shapes_draw(seed, 128) : 0);
	write_16(payload + 6, lanes);
	if (shapes_draw(seed, 8) == 0)
		payload[shapes_draw(seed, 8)] = (uint8_t)shapes_draw(seed, 256);
	if (shapes_draw(seed, 16) == 0)
		return shapes_draw(seed, length);
	return length + (shapes_draw(seed, 8) == 0 ? shapes_draw(seed, 8) : 0);
}

static uint32_t
write_udp(uint64_t *seed, uint8_t *udp)
{
	const uint32_t length = 8 + write_request(seed, udp + 8);

	draw_bytes(seed, udp, 8);
	write_16(udp + 2, shapes_draw(seed, 8) != 0 ? NETFC_UDP_PORT : shapes_draw(seed, 65536));
	write_16(udp + 4, length - (shapes_draw(seed, 16) == 0 ? shapes_draw(seed, 12) : 0));
	if (shapes_draw(seed, 8) == 0)
		write_16(udp + 6, 0);
	return length;
}

static uint32_t
write_ipv4(uint64_t *seed, uint8_t *ip)
{
	const uint32_t options = shapes_draw(seed, 6) == 0 ? shapes_draw(seed, 11) : 0;
	const uint32_t header = (uint32_t)sizeof(struct rte_ipv4_hdr) + 4 * options;
	const uint32_t length = header + write_udp(seed, ip + header);

	draw_bytes(seed, ip, header);
	ip[0] = (uint8_t)(0x40 | header / 4);
	write_16(ip + 2, length - (shapes_draw(seed, 32) == 0 ? shapes_draw(seed, 30) : 0));
	write_16(ip + 6, shapes_draw(seed, 16) == 0 ? shapes_draw(seed, 65536) : 0x4000);
	ip[9] = shapes_draw(seed, 8) != 0 ? IPPROTO_UDP : IPPROTO_TCP;
	return length;
}

static uint32_t
write_ipv6(uint64_t *seed, uint8_t *ip)
{
	const uint32_t header = sizeof(struct rte_ipv6_hdr);
	const uint32_t length = write_udp(seed, ip + header);

	draw_bytes(seed, ip, header);
	ip[0] = (uint8_t)(0x60 | shapes_draw(seed, 16));
	write_16(ip + 4, length - (shapes_draw(seed, 32) == 0 ? shapes_draw(seed, 30) : 0));
	ip[6] = shapes_draw(seed, 8) != 0 ? IPPROTO_UDP : IPPROTO_TCP;
	return header + length;
}

uint32_t
shapes_write(uint64_t *seed, uint8_t *frame)
{
	const uint32_t tags = shapes_draw(seed, 4), kind = shapes_draw(seed, 8);
	uint32_t length = 12;

	memset(frame, 0, SHAPES_LONGEST);
	draw_bytes(seed, frame, length);
	/* One tag more than are looked for, at times. */
	for (uint32_t tag = 0; tag < tags; tag++) {
		length += write_16(
			frame + length, tag == 0 ? RTE_ETHER_TYPE_QINQ : RTE_ETHER_TYPE_VLAN);
		length += write_16(frame + length, shapes_draw(seed, 65536));
	}
	if (kind < 4) {
		length += write_16(frame + length, RTE_ETHER_TYPE_IPV4);
		length += write_ipv4(seed, frame + length);
	} else if (kind < 7) {
		length += write_16(frame + length, RTE_ETHER_TYPE_IPV6);
		length += write_ipv6(seed, frame + length);
	} else {
		length += write_16(frame + length, RTE_ETHER_TYPE_ARP);
		draw_bytes(seed, frame + length, 28);
		length += 28;
	}
	if (shapes_draw(seed, 16) == 0)
		frame[12 + shapes_draw(seed, 60)] ^= (uint8_t)(1 << shapes_draw(seed, 8));
	return RTE_MAX(length, (uint32_t)MIN_FRAME);
}
