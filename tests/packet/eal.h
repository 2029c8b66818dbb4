/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EAL_H
#define EAL_H

/** @file The EAL for tests: no hugepages, no devices, no other process's files. */

/**
 * Start the EAL on that many lcores, which share the machine's cores.
 *
 * @return 0 or a negative errno
 */
int start_lcores(unsigned int lcores);

#endif /* EAL_H */
