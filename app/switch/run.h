/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_H
#define RUN_H

/** @file The switch, from its command line to its end. */

#include "command_line.h"

/** Run it. Once in a process: a signal ends it. */
enum exit_status switch_run(int argc, char **argv);

#endif /* RUN_H */
