/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_UNIX_SOCKET_H
#define ALLREDUCE_UNIX_SOCKET_H

/** @file Messages and files to another process of this machine. */

#include <stdbool.h>
#include <stddef.h>

/* Connect, keeping messages apart; "@NAME" is an abstract name. Returns it, or -1 and errno. */
int unix_socket_connect(const char *path);

/* Send a message, with a file unless that is -1. False: errno says why. */
bool unix_socket_send(int socket, const void *message, size_t bytes, int fd);

#endif /* ALLREDUCE_UNIX_SOCKET_H */
