/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_LINK_H
#define ALLREDUCE_LINK_H

/**
 * @file
 * How packets travel to a host that has a row of UDP ports, and back: by a socket for each of
 * these, or by rings of frames for all of them. Knows nothing of what is in the packets. What goes
 * wrong is a value; others make a text of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#include "link/frame.h"
#include "netfc_allreduce.h"

#define LINK_PORTS 64
#define LINK_ADDRESS_BYTES 80 /* of "[address]:port" */
#define LINK_NAME_BYTES 108   /* of a device, or of a socket's path */

/* ---- addresses ---- */

/* An address and its text. */
struct address {
	struct sockaddr_storage storage;
	socklen_t length;
	char text[LINK_ADDRESS_BYTES];
};

/*
 * Read "host", "host:port" or "[IPv6]:port"; `port` where there is none.
 * Returns NULL, or what is wrong with it, without a full stop.
 */
const char *address_parse(struct address *address, const char *text, uint16_t port);

uint16_t address_port(const struct address *address);
void address_set_port(struct address *address, uint16_t port);

/* Bytes of the IP and UDP headers of packets to it. */
unsigned int address_header_bytes(const struct address *address);

/* ---- a link ---- */

struct rings;

struct link {
	struct address address; /* the first port's at the other end */
	struct link_port {
		int fd;            /* -1: there are rings alone */
		uint16_t from, to; /* UDP ports, where rings are */
	} port[LINK_PORTS];
	unsigned int ports;  /* that are open */
	struct rings *rings; /* NULL: there are sockets alone */
	struct frame_ends ends;
	bool gso;       /* segments arrive one by one */
	bool gro;       /* packets have come joined to one */
	int soft_error; /* errno of the latest call that failed, of no more than a packet; or 0 */
};

enum link_fault {
	LINK_FINE,
	LINK_CALL,        /* a system call: `what` was attempted */
	LINK_NO_MEMIF,    /* nobody serves there */
	LINK_FOREIGN,     /* `local` is none of the device's addresses */
	LINK_NO_ETHERNET, /* nor is it a device of that kind */
	LINK_NO_XDP,      /* no AF_XDP: `what` was attempted */
};

/* What went wrong. */
struct link_problem {
	enum link_fault fault;
	int error;        /* errno */
	const char *what; /* continues "can't" */
	char device[LINK_NAME_BYTES], local[LINK_ADDRESS_BYTES];
};

/*
 * Open a link's next port, by what option interface names, which may be NULL. False: *problem says
 * why; link_close() is for both.
 *
 * `from`: the local address; NULL: any
 */
bool link_open(struct link *link, const char *interface, const struct address *from,
	struct link_problem *problem);

void link_close(struct link *link);

/* What kind of link that is. */
enum netfc_allreduce_path link_named(const char *interface);

/* And which it is. */
enum netfc_allreduce_path link_path(const struct link *link);

/* The network device of an AF_XDP link. False: it is not written as it has to be. */
bool link_device(const char *interface, char device[LINK_NAME_BYTES]);

/* Whether there are rings: what comes for all ports is received by the first. */
static inline bool
link_has_rings(const struct link *link)
{
	return link->rings != NULL;
}

/* Let a port hold that many packets of that many bytes, as far as the system allows. */
void link_reserve(const struct link *link, unsigned int port, unsigned int packets, size_t bytes);

/* Let the kernel hand over packets that came together as one datagram (UDP_GRO), if it can. */
void link_join_packets(const struct link *link, unsigned int port);

/* The longest packet that leaves this host, IP header included; 0: unknown. */
unsigned int link_mtu(const struct link *link);

/* Whether datagrams have come where the rings are not. */
bool link_misses(const struct link *link);

/*
 * A call has failed with that errno. A soft error (RFC 1122) is what a system call reports of a
 * packet that was sent earlier, and costs no more than that packet: it may come from an ICMP
 * message, which anybody can send, a link that is down for a while, or a firewall. It is recorded,
 * in case the other end stays silent. False: not a soft error, but a bug or a missing resource.
 */
bool link_softens(struct link *link, int error);

/* Soft errors that are read in a row: what comes each time is of no packet sent earlier. */
#define LINK_MAX_SOFT_ERRORS 8

/* The other end has been heard. */
static inline void
link_heard(struct link *link)
{
	link->soft_error = 0;
}

/* ---- one packet, by the first port ---- */

/*
 * As send().
 *
 * `moved`: the other end may have; the kernel, where there is one, knows who is next on the way
 */
ssize_t link_send(struct link *link, const uint8_t *payload, size_t bytes, bool moved);

/* Without waiting. As recv(). */
ssize_t link_receive(struct link *link, uint8_t *payload, size_t bytes);

/* Sleep until one comes, somebody wakes us, or for so long. False: a signal came. */
bool link_sleep(struct link *link, int wake, const struct timespec *time);

/* The file descriptor to poll() for packets. */
int link_fd(const struct link *link, unsigned int port);

/* Arm it for packets from now on. False: something is there already. */
bool link_arm(struct link *link);

void link_disarm(struct link *link);

/* ---- many packets ---- */

#define BATCH_SENT 64              /* of sendmmsg() */
#define BATCH_RECEIVED 32          /* datagrams of recvmmsg(); each may have many packets */
#define BATCH_SEGMENTS 64          /* of a datagram; the kernel's limit */
#define BATCH_SEGMENTS_BYTES 65000 /* of their payloads together */

/* What packets are built in and received into. */
struct batch {
	uint8_t *memory;
	uint8_t *send;
	uint8_t *receive;
	size_t stride;         /* from one packet that is sent to the next */
	size_t receive_stride; /* from one datagram that is received to the next */
	struct mmsghdr *messages, *send_messages, *receive_messages;
	struct iovec *parts;
	union segment_control *controls; /* of what is received */
};

/* Make it, for packets of that many bytes. False: out of memory. */
bool batch_init(struct batch *batch, size_t bytes);

void batch_free(struct batch *batch);

/* Where to write the i-th packet that is sent by that link; NULL: no free place yet. */
uint8_t *batch_place(struct batch *batch, const struct link *link, unsigned int i);

/* How long it is. */
void batch_set_length(struct batch *batch, const struct link *link, unsigned int port,
	unsigned int i, size_t length);

/* Send the first `count` from their places. As sendmmsg(). */
int batch_send(struct batch *batch, struct link *link, unsigned int port, unsigned int count);

/* Send one datagram that is cut into segments; sockets only. As sendmsg(). */
ssize_t batch_send_segments(const struct link *link, unsigned int port, uint8_t *payload,
	size_t length, size_t segment);

/*
 * Receive up to BATCH_RECEIVED datagrams without waiting, from rings those for all ports. Returns
 * how many, or -1 and errno.
 */
int batch_receive(struct batch *batch, struct link *link, unsigned int port);

/* A received datagram: packets of `segment` bytes, the last one maybe shorter. */
struct received {
	int port; /* that it came for; -1: for none */
	const uint8_t *payload;
	size_t length;
	size_t segment;
	bool marked; /* by a router that was congested */
};

/* The i-th that has come by a port. */
struct received
batch_received(const struct batch *batch, struct link *link, unsigned int port, unsigned int i);

/* Release these datagrams. */
void batch_release(struct link *link, unsigned int count);

#endif /* ALLREDUCE_LINK_H */
