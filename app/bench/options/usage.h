/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef USAGE_H
#define USAGE_H

/** @file What --help says. */

#include <stdio.h>

/** Print the options and what they do. */
void usage_print(FILE *out);

#endif /* USAGE_H */
