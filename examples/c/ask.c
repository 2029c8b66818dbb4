/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One operation, computed by a switch over a UDP socket and compared with libnetfc's tables.
 *
 *   ./ask 10.0.0.2 fp16_k1024 add 1.5 2.25
 *
 * A NetFC datagram is struct netfc_hdr followed by x, y and z of each lane, all big-endian.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <netfc.h>

#define WAIT_S 1
#define TRIES 3
#define REQUEST_ID 1
#define CODE_MASK 7

/* A datagram of one lane. */
struct datagram {
	struct netfc_hdr header;
	uint16_t x, y, z;
};

static int
parse_op(const char *name, enum netfc_op *op)
{
	for (*op = NETFC_ADD; *op <= NETFC_DIV; ++*op) {
		if (strcmp(name, netfc_op_name(*op)) == 0)
			return 0;
	}
	return -1;
}

static int
parse_number(const struct netfc_format *format, const char *text, uint16_t *slot)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0')
		return -1;
	*slot = htons(netfc_encode(format, value));
	return 0;
}

/* ADDRESS or ADDRESS:PORT. */
static int
parse_address(const char *text, struct sockaddr_in *address)
{
	char host[INET_ADDRSTRLEN] = "";
	unsigned int port = NETFC_UDP_PORT;

	if (sscanf(text, "%15[0-9.]:%u", host, &port) < 1 || port > UINT16_MAX)
		return -1;
	address->sin_family = AF_INET;
	address->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &address->sin_addr) == 1 ? 0 : -1;
}

/* A socket that receives from the switch alone, and not for ever. */
static int
connect_to(const struct sockaddr_in *address)
{
	struct timeval wait = {.tv_sec = WAIT_S};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) != 0 ||
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A reply is the request with status and z filled in. */
static int
is_reply(const struct datagram *request, const struct datagram *reply)
{
	return reply->header.id == request->header.id && reply->header.op == request->header.op &&
		(reply->header.status & NETFC_STATUS_REPLY) != 0;
}

/* Datagrams get lost, so send more than one before giving up. */
static int
exchange(const struct sockaddr_in *address, const struct datagram *request, struct datagram *reply)
{
	int fd = connect_to(address), error = -1;

	if (fd < 0)
		return -1;
	for (int try = 0; try < TRIES && error != 0; try++) {
		if (send(fd, request, sizeof(*request), 0) != sizeof(*request))
			continue;
		if (recv(fd, reply, sizeof(*reply), 0) == sizeof(*reply) &&
			is_reply(request, reply))
			error = 0;
	}
	close(fd);
	return error;
}

static int
show(const struct netfc_set *set, const struct datagram *reply)
{
	const struct netfc_format *format = netfc_set_format(set);
	uint16_t x = ntohs(reply->x), y = ntohs(reply->y), z = ntohs(reply->z);
	struct netfc_result expected = netfc_calc(set, reply->header.op, x, y);
	unsigned int code = reply->header.status >> NETFC_STATUS_CODE_SHIFT & CODE_MASK;

	if (code != NETFC_STATUS_OK) {
		fprintf(stderr, "ask: the switch refuses: code %u of docs/protocol.md\n", code);
		return EXIT_FAILURE;
	}
	printf("%.9g %s %.9g = %.9g\n", netfc_decode(format, x), netfc_op_symbol(reply->header.op),
		netfc_decode(format, y), netfc_decode(format, z));
	if (z != expected.z) {
		fprintf(stderr, "ask: %s gives 0x%04x, the switch 0x%04x: it has another set\n",
			netfc_set_name(set), expected.z, z);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int
ask(const struct netfc_set *set, enum netfc_op op, char **argument)
{
	const struct netfc_format *format = netfc_set_format(set);
	struct sockaddr_in address = {0};
	struct datagram request = {0}, reply;

	request.header.magic = htons(NETFC_MAGIC);
	request.header.version = NETFC_WIRE_VERSION;
	request.header.op = (uint8_t)op;
	request.header.format = (uint8_t)netfc_format_id(format);
	request.header.count = htons(1);
	request.header.id = htonl(REQUEST_ID);
	if (parse_address(argument[1], &address) != 0 ||
		parse_number(format, argument[4], &request.x) != 0 ||
		parse_number(format, argument[5], &request.y) != 0) {
		fprintf(stderr, "ask: expected an IPv4 address, and numbers for X and Y\n");
		return EXIT_FAILURE;
	}
	if (exchange(&address, &request, &reply) != 0) {
		fprintf(stderr, "ask: no reply from %s\n", argument[1]);
		return EXIT_FAILURE;
	}
	return show(set, &reply);
}

int
main(int argc, char **argv)
{
	struct netfc_set *set;
	enum netfc_op op;
	int error, status;

	if (argc != 6 || parse_op(argv[3], &op) != 0) {
		fprintf(stderr, "usage: ask ADDRESS[:PORT] SET add|sub|mul|div X Y\n");
		return EXIT_FAILURE;
	}
	error = netfc_set_build(argv[2], &set);
	if (error != 0) {
		fprintf(stderr, "ask: %s: %s\n", argv[2], netfc_strerror(error));
		return EXIT_FAILURE;
	}
	if (netfc_format_width(netfc_set_format(set)) != 16) {
		fprintf(stderr, "ask: %s: lanes of 16 bits only\n", argv[2]);
		netfc_set_free(set);
		return EXIT_FAILURE;
	}
	status = ask(set, op, argv);
	netfc_set_free(set);
	return status;
}
