/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HUGEPAGES_H
#define HUGEPAGES_H

/** @file Whether the EAL will find its memory. */

/**
 * Look for hugepages before the EAL does, to say in plain words what is missing.
 *
 * @param program the program's name, for people
 * @param eal_argc, eal_argv the EAL's arguments
 * @return 0, or -1 with the commands that mend it on stderr
 */
int hugepages_check(const char *program, int eal_argc, char **eal_argv);

#endif /* HUGEPAGES_H */
