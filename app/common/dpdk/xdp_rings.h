/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XDP_RINGS_H
#define XDP_RINGS_H

/** @file The rings that AF_XDP sockets share with the kernel, whoever opened them. */

/**
 * Count the buffers that the kernel has from the process: those given to be filled that have not
 * come back with packets, and those given to be sent that have not come back as sent, of all of the
 * process's sockets.
 */
unsigned int xdp_rings_held(void);

#endif /* XDP_RINGS_H */
