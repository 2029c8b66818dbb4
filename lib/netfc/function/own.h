/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_OWN_H
#define NETFC_OWN_H

/** @file What the files of users' own functions share. */

#include "internal.h"

struct netfc_own_function {
	char name[NETFC_FUNCTION_NAME_SIZE];
	const struct netfc_format *format;
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

#endif /* NETFC_OWN_H */
