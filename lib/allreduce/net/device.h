/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_DEVICE_H
#define ALLREDUCE_DEVICE_H

/** @file What the kernel knows of a network device. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its MAC address, asked by any socket. False: errno says why; EPROTOTYPE: it has none. */
bool device_mac(int fd, const char *name, uint8_t mac[6]);

/* Whether an IP address of so many bytes is one of the device's. */
bool device_has(const char *name, const uint8_t *ip, size_t bytes);

#endif /* ALLREDUCE_DEVICE_H */
