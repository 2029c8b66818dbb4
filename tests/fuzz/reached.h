/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REACHED_H
#define REACHED_H

/**
 * @file
 * Kinds of things that inputs reach and that lines do not tell apart, such as an operation of one
 * format: one loop computes them all. libFuzzer takes a kind for code, and keeps an input that is
 * the first to reach one. With --reach-all among its arguments a target fails at its end, unless
 * all kinds that are expected have been reached.
 */

#include <stdint.h>

/** Kinds have numbers below it, as the target chooses. */
#define REACHED_NUMBERS (1u << 16)

/** Read the target's arguments. */
void reached_init(int argc, char **argv);

/** Inputs can reach a kind: its number, once, and what it is called. */
void
reached_expect(unsigned int number, const char *name, ...) __attribute__((format(printf, 2, 3)));

/** An input has reached a kind; one that is not expected does not matter. */
void reached(unsigned int number);

#endif /* REACHED_H */
