/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EAL_H
#define EAL_H

/** @file The start of the EAL, with plain words where it fails; signals that end a program. */

/**
 * Look for hugepages, then initialise the EAL.
 *
 * @param program the program's name, for people
 * @param eal_argc, eal_argv the EAL's arguments
 * @return 0, or -1 with the reason on stderr
 */
int eal_start(const char *program, int eal_argc, char **eal_argv);

/**
 * Whether there is a port for each network device that --vdev asks for. The EAL goes on without one
 * that it cannot make (a missing file, say), and the program would not do what was asked for.
 *
 * @return 0, or -1 with the first that is missing on stderr
 */
int eal_check_virtual_devices(const char *program);

/**
 * Have SIGINT and SIGTERM handled, and SIGPIPE ignored: a peer that goes away is a transmit error,
 * not the program's end.
 *
 * @param flags of sigaction()
 */
void signals_catch(void (*handler)(int signal), int flags);

#endif /* EAL_H */
