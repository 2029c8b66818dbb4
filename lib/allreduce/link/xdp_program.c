/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/xdp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_INSTRUCTIONS 64
#define MAX_PORTS 256  /* shards of a switch */
#define TRIES 5        /* signals interrupt the verifier */
#define PASS INT16_MAX /* a jump to the end, where packets are passed to the kernel */

/* Registers; those from R1 on are arguments of calls, which keep only those from R6 on. */
enum {
	RESULT = BPF_REG_0,
	BEGIN = BPF_REG_2, /* of the packet */
	END = BPF_REG_3,
	VALUE = BPF_REG_4,
	CONTEXT = BPF_REG_6,
	STACK = BPF_REG_10
};

struct code {
	struct bpf_insn instruction[MAX_INSTRUCTIONS];
	uint32_t count;
};

/* What a socket's map and a program on a device are made by. */
struct parts {
	int sockets, program;
};

/* The kernel wants zeros in all bytes that a command does not use. */
static union bpf_attr
nothing(void)
{
	union bpf_attr attributes;

	memset(&attributes, 0, sizeof(attributes));
	return attributes;
}

static int
bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static void
close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void
emit(struct code *code, uint8_t operation, uint8_t to, uint8_t from, int16_t offset, int32_t value)
{
	code->instruction[code->count++] = (struct bpf_insn){.code = operation,
		.dst_reg = to & 0xf,
		.src_reg = from & 0xf,
		.off = offset,
		.imm = value};
}

static void
load(struct code *code, uint8_t size, uint8_t to, uint8_t from, size_t offset)
{
	emit(code, BPF_LDX | BPF_MEM | size, to, from, (int16_t)offset, 0);
}

static void
move(struct code *code, uint8_t to, uint8_t from)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void
load_map(struct code *code, uint8_t to, int map)
{
	emit(code, BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map);
	emit(code, 0, 0, 0, 0, 0);
}

/* The packet is passed unless the bits of a mask at an offset are so; in network byte order. */
static void
want(struct code *code, uint8_t size, size_t offset, uint32_t mask, uint32_t value)
{
	load(code, size, VALUE, BEGIN, offset);
	emit(code, BPF_ALU | BPF_AND | BPF_K, VALUE, 0, 0, (int32_t)mask);
	emit(code, BPF_JMP32 | BPF_JNE | BPF_K, VALUE, 0, PASS, (int32_t)value);
}

static void
want_address(struct code *code, size_t offset, const uint8_t *address, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, address + at, sizeof(word));
		want(code, BPF_W, offset + at, UINT32_MAX, word);
	}
}

static void
want_ipv4(struct code *code, const struct frame_ends *ends)
{
	const size_t ip = sizeof(struct ether_header);

	want(code, BPF_B, ip, UINT8_MAX, 4 << 4 | sizeof(struct iphdr) / sizeof(uint32_t));
	want(code, BPF_H, ip + offsetof(struct iphdr, frag_off), htons(IP_MF | IP_OFFMASK), 0);
	want(code, BPF_B, ip + offsetof(struct iphdr, protocol), UINT8_MAX, IPPROTO_UDP);
	want_address(code, ip + offsetof(struct iphdr, saddr), ends->remote, 4);
	want_address(code, ip + offsetof(struct iphdr, daddr), ends->local, 4);
}

static void
want_ipv6(struct code *code, const struct frame_ends *ends)
{
	const size_t ip = sizeof(struct ether_header);

	want(code, BPF_B, ip, 0xf0, 6 << 4);
	want(code, BPF_B, ip + offsetof(struct ip6_hdr, ip6_nxt), UINT8_MAX, IPPROTO_UDP);
	want_address(code, ip + offsetof(struct ip6_hdr, ip6_src), ends->remote, 16);
	want_address(code, ip + offsetof(struct ip6_hdr, ip6_dst), ends->local, 16);
}

/* The packet is passed unless its UDP ports, a key of four bytes as it stands there, are known. */
static void
want_ports(struct code *code, size_t udp, int ports)
{
	const int16_t key = -(int16_t)sizeof(uint32_t);

	load(code, BPF_W, VALUE, BEGIN, udp);
	emit(code, BPF_STX | BPF_MEM | BPF_W, STACK, VALUE, key, 0);
	load_map(code, BPF_REG_1, ports);
	move(code, BPF_REG_2, STACK);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, key);
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	emit(code, BPF_JMP | BPF_JEQ | BPF_K, RESULT, 0, PASS, 0);
}

static void
finish(struct code *code)
{
	for (uint32_t i = 0; i < code->count; i++) {
		if (code->instruction[i].off == PASS)
			code->instruction[i].off = (int16_t)(code->count - i - 1);
	}
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, RESULT, 0, 0, XDP_PASS);
	emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void
write_code(struct code *code, const struct frame_ends *ends, int ports, int sockets)
{
	size_t header = frame_header_bytes(ends);

	*code = (struct code){0};
	move(code, CONTEXT, BPF_REG_1);
	load(code, BPF_W, BEGIN, CONTEXT, offsetof(struct xdp_md, data));
	load(code, BPF_W, END, CONTEXT, offsetof(struct xdp_md, data_end));
	move(code, VALUE, BEGIN);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, VALUE, 0, 0, (int32_t)header);
	emit(code, BPF_JMP | BPF_JGT | BPF_X, VALUE, END, PASS, 0);
	want(code, BPF_H, offsetof(struct ether_header, ether_type), UINT16_MAX,
		htons(ends->v6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP));
	(ends->v6 ? want_ipv6 : want_ipv4)(code, ends);
	want_ports(code, header - sizeof(struct udphdr), ports);
	load_map(code, BPF_REG_1, sockets);
	load(code, BPF_W, BPF_REG_2, CONTEXT, offsetof(struct xdp_md, rx_queue_index));
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_PASS);
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map);
	emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	finish(code);
}

/* With packets in several pieces where the kernel knows them: they are not the job's. */
static int
load_program(const struct code *code)
{
	union bpf_attr attributes = nothing();
	int fd = -1;

	attributes.prog_type = BPF_PROG_TYPE_XDP;
	attributes.insns = (uintptr_t)code->instruction;
	attributes.insn_cnt = code->count;
	attributes.license = (uintptr_t)"BSD";
	attributes.prog_flags = BPF_F_XDP_HAS_FRAGS;
	for (unsigned int i = 0; i < TRIES && fd < 0; i++) {
		fd = bpf(BPF_PROG_LOAD, &attributes);
		if (fd < 0 && errno == EINVAL)
			attributes.prog_flags = 0;
		else if (fd < 0 && errno != EAGAIN)
			break;
	}
	return fd;
}

static int
make_map(enum bpf_map_type type, uint32_t entries)
{
	union bpf_attr attributes = nothing();

	attributes.map_type = type;
	attributes.key_size = sizeof(uint32_t);
	attributes.value_size = sizeof(uint32_t);
	attributes.max_entries = entries;
	return bpf(BPF_MAP_CREATE, &attributes);
}

static bool
update_map(int map, uint32_t key, int value)
{
	union bpf_attr attributes = nothing();

	attributes.map_fd = (uint32_t)map;
	attributes.key = (uintptr_t)&key;
	attributes.value = (uintptr_t)&value;
	return bpf(BPF_MAP_UPDATE_ELEM, &attributes) == 0;
}

/* In the driver, or else behind it. */
static int
attach(int program, unsigned int device)
{
	union bpf_attr attributes = nothing();
	int fd;

	attributes.link_create.prog_fd = (uint32_t)program;
	attributes.link_create.target_ifindex = device;
	attributes.link_create.attach_type = BPF_XDP;
	attributes.link_create.flags = XDP_FLAGS_DRV_MODE;
	fd = bpf(BPF_LINK_CREATE, &attributes);
	if (fd < 0 && errno != EBUSY && errno != EPERM) {
		attributes.link_create.flags = XDP_FLAGS_SKB_MODE;
		fd = bpf(BPF_LINK_CREATE, &attributes);
	}
	return fd;
}

static const char *
start(struct xdp_program *program, struct parts *parts, const struct frame_ends *ends,
	unsigned int device, uint32_t queue, int socket)
{
	struct code code;

	program->ports = make_map(BPF_MAP_TYPE_HASH, MAX_PORTS);
	parts->sockets = make_map(BPF_MAP_TYPE_XSKMAP, queue + 1);
	if (program->ports < 0 || parts->sockets < 0 || !update_map(parts->sockets, queue, socket))
		return "make a BPF map";
	write_code(&code, ends, program->ports, parts->sockets);
	parts->program = load_program(&code);
	if (parts->program < 0)
		return "load a BPF program";
	program->link = attach(parts->program, device);
	return program->link < 0 ? "put an XDP program on the device" : NULL;
}

const char *
xdp_program_start(struct xdp_program *program, const struct frame_ends *ends, unsigned int device,
	uint32_t queue, int socket)
{
	struct parts parts = {-1, -1};
	const char *problem;
	int error;

	*program = (struct xdp_program){-1, -1, getpid()};
	problem = start(program, &parts, ends, device, queue, socket);
	error = errno;
	close_file(parts.sockets); /* the link keeps the program, and the program its maps */
	close_file(parts.program);
	errno = error;
	return problem;
}

bool
xdp_program_admit(const struct xdp_program *program, uint16_t from, uint16_t to)
{
	const uint16_t ports[] = {htons(from), htons(to)};
	uint32_t key;

	memcpy(&key, ports, sizeof(key));
	return update_map(program->ports, key, 0);
}

/* A child of this process may have the link, too, and close it first. */
void
xdp_program_end(struct xdp_program *program)
{
	union bpf_attr attributes = nothing();

	attributes.link_detach.link_fd = (uint32_t)program->link;
	if (program->link >= 0 && program->process == getpid())
		bpf(BPF_LINK_DETACH, &attributes);
	close_file(program->link);
	close_file(program->ports);
}
