/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REQUIREMENTS_H
#define REQUIREMENTS_H

/**
 * @file
 * What the EAL needs of the machine, looked for before it starts, to say in plain words what is
 * missing.
 */

/**
 * Look for hugepages.
 *
 * @param eal_argc, eal_argv the EAL's arguments
 * @return 0, or -1 with what to do on stderr
 */
int requirements_check(int eal_argc, char **eal_argv);

#endif /* REQUIREMENTS_H */
