/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REQUIREMENTS_H
#define REQUIREMENTS_H

/**
 * @file
 * What the EAL needs of the machine, looked for before it starts, to say in plain words what is
 * missing.
 */

#include "option.h"

/**
 * Look for memory: hugepages, or without them what the control group allows. Takes none.
 *
 * @param eal_argc, eal_argv the EAL's arguments
 * @return EXIT_DONE, or the status to exit with, and what to do on stderr
 */
enum exit_status requirements_check(int eal_argc, char **eal_argv);

/** Whether the process's control group (version 2) allows as much as -m asks. 0 or -1, likewise. */
int requirements_check_limit(int eal_argc, char **eal_argv);

#endif /* REQUIREMENTS_H */
