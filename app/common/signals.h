/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGNALS_H
#define SIGNALS_H

/** @file What ends a program in an orderly way. */

/**
 * Have SIGINT and SIGTERM handled, and SIGPIPE ignored: a peer that goes away is a transmit error,
 * not the program's end.
 *
 * @param flags of sigaction()
 */
void signals_catch(void (*handler)(int signal), int flags);

#endif /* SIGNALS_H */
