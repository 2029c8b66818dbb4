/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

/**
 * @file
 * Values of options: each function reads one, checks it on its own and gives 0, or -1 when it has
 * said on stderr which option is wrong and what it takes.
 */

#include "options/options.h"

/** Complain about a value; gives -1. */
int wrong_value(const char *option, const char *value, const char *expected);

int value_text(const char *option, const char *text, const char **value);
int
value_u64(const char *option, const char *text, uint64_t least, uint64_t greatest, uint64_t *value);
int
value_u32(const char *option, const char *text, uint32_t least, uint32_t greatest, uint32_t *value);
int
value_u16(const char *option, const char *text, uint16_t least, uint16_t greatest, uint16_t *value);

/** A decimal number, such as 0.5 or 1e6. */
int value_real(const char *option, const char *text, double least, double greatest, double *value);

/** The name of a table set that can be built. */
int value_set(const char *text, const char **value);

/** The name of an operation; "all" is 0. */
int value_op(const char *text, unsigned int *value);

/** What match stages are made of. */
int value_match(const char *text, enum match_kind *value);

/** A MAC address, of one station if it is to be the source. */
int value_mac(const char *option, const char *text, bool source, struct rte_ether_addr *value);

/**
 * An IP address of either version, of one host.
 *
 * @param bytes room for IP_BYTES
 * @param version set to 4 or 6
 */
int value_ip(const char *option, const char *text, uint8_t *bytes, unsigned int *version);

#endif /* OPTION_VALUES_H */
