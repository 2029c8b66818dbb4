/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XDP_RINGS_H
#define XDP_RINGS_H

/** @file The rings that AF_XDP sockets share with the kernel, whoever opened them. */

#define XDP_SOCKETS 256

/**
 * The process's sockets, and the buffers that the kernel has by each: those given to be filled that
 * have not come back with packets, and those given to be sent that have not come back as sent.
 */
struct xdp_rings {
	unsigned int count;
	struct {
		int descriptor;
		unsigned int held;
	} sockets[XDP_SOCKETS];
};

/** Look for them, as they are now. */
void xdp_rings_look(struct xdp_rings *rings);

/** The buffers by all of them. */
unsigned int xdp_rings_held(const struct xdp_rings *rings);

/** By those whose rings have been unmapped since. */
unsigned int xdp_rings_held_by_gone(const struct xdp_rings *rings);

#endif /* XDP_RINGS_H */
