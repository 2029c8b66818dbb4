/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TAGS_H
#define TAGS_H

/**
 * @file
 * Tags timed: packets checked, results tagged, keys made.
 */

/**
 * Print a table, a line for each engine and size.
 *
 * @param workers that a result goes to
 * @param bytes of values in a packet, besides the sizes that are always measured
 * @param milliseconds of each measurement
 * @return 0; or -1, said on stderr: out of memory, or a tag was wrong
 */
int tags_print(unsigned int workers, unsigned int bytes, unsigned int milliseconds);

#endif /* TAGS_H */
