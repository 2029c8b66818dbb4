/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

/**
 * @file
 * Values that only this program's options have; each function is an option_parse.
 */

#include <stdint.h>
#include <stdio.h>

#include "dpdk/flow.h"

/** An IP address of an option. */
struct ip_address {
	unsigned int version; /**< 4 or 6; 0: not given */
	uint8_t bytes[IP_BYTES];
};

/** The name of an operation, or of a function of the library; "all" is 0. */
int value_op(FILE *errors, const char *option, const char *text, void *field);

/** The name of an operation that value_op() has given, but for 0. */
const char *value_op_name(unsigned int op);

/** A MAC address, of one station if it is to be the source. */
int value_src_mac(FILE *errors, const char *option, const char *text, void *field);
int value_dst_mac(FILE *errors, const char *option, const char *text, void *field);

/** An IP address of either version, of one host: struct ip_address. */
int value_ip(FILE *errors, const char *option, const char *text, void *field);

/** A leaf's place in a tree: struct aggregate_place, without its workers. */
int value_place(FILE *errors, const char *option, const char *text, void *field);

/** A number of lcores, which may be left out: 1. */
int value_lcores(FILE *errors, const char *option, const char *text, void *field);

#endif /* OPTION_VALUES_H */
