/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOCKETS_H
#define SOCKETS_H

/**
 * @file
 * Sockets, threads and a clock that are none: the linker puts them in the place of the system's
 * (--wrap). What is sent is handed to the target, which says what is received; time passes when
 * somebody waits. The same input does the same, always, and without a system call.
 */

#include <stddef.h>
#include <stdint.h>

/** What is done with a datagram. */
typedef void (*sockets_sent)(int fd, const uint8_t *payload, size_t length);

/** From now on, for the calling thread; the time is always the same. */
void sockets_begin(sockets_sent sent);

/** Back to the system's. All sockets have been closed. */
void sockets_end(void);

/** A datagram comes to a socket. */
void sockets_deliver(int fd, const uint8_t *payload, size_t length);

/** The next call on a socket fails, as if an ICMP message had come. */
void sockets_fail(int fd, int error);

#endif /* SOCKETS_H */
