/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_XDP_PROGRAM_H
#define ALLREDUCE_XDP_PROGRAM_H

/**
 * @file
 * The XDP program on a device: datagrams of a job's go to an AF_XDP socket, everything else to the
 * kernel. It is there as long as the process has it open.
 */

#include "net/frame.h"

struct xdp_program {
	int link;  /* to the device; -1: none */
	int ports; /* map: the pairs of UDP ports that are the job's; -1: none */
};

/*
 * Have datagrams between two ends that come to a queue of a device go to its socket; none before
 * xdp_program_admit(). Returns NULL, or what cannot be done, and errno.
 */
const char *xdp_program_start(struct xdp_program *program, const struct frame_ends *ends,
	unsigned int device, uint32_t queue, int socket);

/* Datagrams from a remote UDP port to a local one are the job's. False: errno says why. */
bool xdp_program_admit(const struct xdp_program *program, uint16_t from, uint16_t to);

/* Take it off the device. */
void xdp_program_end(struct xdp_program *program);

#endif /* ALLREDUCE_XDP_PROGRAM_H */
