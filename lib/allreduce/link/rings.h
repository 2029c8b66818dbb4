/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_RINGS_H
#define ALLREDUCE_RINGS_H

/**
 * @file
 * A ring of frames each way, past the kernel's sockets: what every kind of them can do.
 */

#include "link/link.h"

struct rings_kind {
	/* The i-th place for a frame that is to be sent from now on; NULL: there is none yet. */
	uint8_t *(*place)(struct rings *rings, unsigned int i);

	/* How long the frame in the i-th place is. */
	void (*set_length)(struct rings *rings, unsigned int i, size_t length);

	/* The first `count` places are to be sent. */
	void (*send)(struct rings *rings, unsigned int count);

	/* How many frames have come; there may be others when these have been released. */
	unsigned int (*count)(struct rings *rings);

	/* The i-th of them, and its length. */
	const uint8_t *(*look)(const struct rings *rings, unsigned int i, size_t *length);

	/* The first `count` are done with. */
	void (*release)(struct rings *rings, unsigned int count);

	/* Have `fd` become readable when a frame comes. False: one is there already. */
	bool (*arm)(struct rings *rings);

	void (*disarm)(struct rings *rings);

	void (*close)(struct rings *rings);
};

struct rings {
	const struct rings_kind *kind;
	int fd;           /* to poll() for frames */
	unsigned int mtu; /* bytes of the longest packet, IP header included */
	uint8_t path;     /* enum netfc_allreduce_path */
};

/* The port that a datagram is for; -1: none. */
int rings_port(const struct link *link, const struct frame_datagram *datagram);

/*
 * Read "NAME" or "NAME,KEY=N", where N is 0 otherwise. False: it is neither, or too long.
 *
 * `key`: with its comma and equals sign
 */
bool
rings_read_name(const char *text, const char *key, char name[LINK_NAME_BYTES], uint32_t *number);

/*
 * memif: memory shared with a switch on the same machine, as DPDK's memif ports have it
 * (version 2.0 of FD.io's memif): a ring of frames each way, and no kernel between. This is the
 * side that connects and that the memory is of.
 */

#define MEMIF_PREFIX "memif:" /* of option interface; then the socket's path, and maybe ",id=N" */

/* Connect to a port that serves there. NULL: it can't be; errno says why. */
struct rings *memif_connect(const char *where);

#endif /* ALLREDUCE_RINGS_H */
