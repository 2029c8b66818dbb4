/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROGRAM_H
#define PROGRAM_H

/** The program's name, for messages. */
#define PROGRAM "dpdk-netfc"

#endif /* PROGRAM_H */
