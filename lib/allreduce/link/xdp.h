/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_XDP_H
#define ALLREDUCE_XDP_H

/**
 * @file
 * A queue of a network device past the kernel's protocols (AF_XDP): frames of a job's go from
 * memory that the driver reads, and come into it; the driver or the kernel copies them where the
 * driver can't. All else that comes goes to the kernel.
 */

#include <sys/types.h>

#include "link/rings.h"

#define XDP_PREFIX "xdp:" /* of option interface; then the device, and maybe the queue */
#define XDP_QUEUE ",queue="

/*
 * Take a device's queue for datagrams between two ends, as soon as they are admitted.
 *
 * `mtu`: the device's. NULL: it can't be; *problem is what, and errno why.
 */
struct rings *xdp_open(unsigned int device, uint32_t queue, const struct frame_ends *ends,
	unsigned int mtu, const char **problem);

/* Admit those from a remote UDP port to a local one. False: errno says why. */
bool xdp_admit(const struct rings *rings, uint16_t from, uint16_t to);

/*
 * The XDP program on a device: datagrams of a job's go to an AF_XDP socket, everything else to the
 * kernel. It is there as long as the process has it open.
 */

struct xdp_program {
	int link;      /* to the device; -1: none */
	int ports;     /* map: the pairs of UDP ports that are the job's; -1: none */
	pid_t process; /* that put it there */
};

/*
 * Have datagrams between two ends that come to a queue of a device go to its socket; none before
 * xdp_program_admit(). Returns NULL, or what cannot be done, and errno.
 */
const char *xdp_program_start(struct xdp_program *program, const struct frame_ends *ends,
	unsigned int device, uint32_t queue, int socket);

/* Datagrams from a remote UDP port to a local one are the job's. False: errno says why. */
bool xdp_program_admit(const struct xdp_program *program, uint16_t from, uint16_t to);

/* Take it off the device; a process forked from the one that put it there only closes it. */
void xdp_program_end(struct xdp_program *program);

#endif /* ALLREDUCE_XDP_H */
