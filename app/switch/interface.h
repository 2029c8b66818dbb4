/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTERFACE_H
#define INTERFACE_H

/**
 * @file
 * The kernel's interface behind a virtual port (net_tap, net_af_packet, net_af_xdp, net_pcap).
 * Their drivers (DPDK 22.11, 24.11) do not notice that it is deleted, and call its link up, or down
 * where a TAP interface is in another network namespace or has another name.
 */

#include "app.h"

enum interface_state {
	INTERFACE_UNKNOWN, /**< the port has none, or it does not tell */
	INTERFACE_DELETED,
	INTERFACE_DOWN,
	INTERFACE_UP,
};

/** Ask the kernel. The port has been started, and not closed. */
enum interface_state interface_state(const struct port *port);

/**
 * Whether a port cuts frames of its interface, of which nothing tells later: net_af_packet has room
 * for frames of so many bytes (framesz=), and takes longer ones without their end.
 *
 * @param mtu of the interface, with which frames are longer
 * @param most the longest MTU with which none is
 */
bool interface_is_cut(const struct port *port, uint32_t *mtu, uint32_t *most);

#endif /* INTERFACE_H */
