/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

/**
 * @file
 * Values that only this program's options have (the others: option_value.h). Each function reads
 * one, checks it on its own and returns 0, or -1, having said on stderr what is wrong.
 */

#include "options/options.h"

/** The name of an operation, or of a function of the library; "all" is 0. */
int value_op(const char *text, unsigned int *value);

/** The name of an operation that value_op() has given, but for 0. */
const char *value_op_name(unsigned int op);

/** A MAC address, of one station if it is to be the source. */
int value_mac(const char *option, const char *text, bool source, struct rte_ether_addr *value);

/**
 * An IP address of either version, of one host.
 *
 * @param bytes IP_BYTES, of which an IPv4 address takes the first four
 * @param version set to 4 or 6
 */
int value_ip(const char *option, const char *text, uint8_t *bytes, unsigned int *version);

#endif /* OPTION_VALUES_H */
