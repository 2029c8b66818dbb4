/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_OPTIONS_H
#define ALLREDUCE_OPTIONS_H

/**
 * @file
 * Options: each is checked on its own.
 */

#include "internal.h"

/*
 * Read what a program gives, whose header may be older or newer than the library, and check it.
 * Returns OK, or ARGUMENT and says what is wrong.
 */
int options_read(struct netfc_allreduce *comm, const struct netfc_allreduce_options *given,
	struct netfc_allreduce_options *options);

#endif /* ALLREDUCE_OPTIONS_H */
