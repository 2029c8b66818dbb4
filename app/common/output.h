/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OUTPUT_H
#define OUTPUT_H

/** @file Whether what a program has printed has been written. */

/**
 * At the start: standard descriptors are there, and writing to a pipe that nobody reads is an
 * error, which does not end the program.
 */
void output_start(void);

/**
 * At the end.
 *
 * @param status what the program would end with
 * @return that, or 2 with a message on stderr if something that was printed is lost
 */
int output_finish(const char *program, int status);

#endif /* OUTPUT_H */
