/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/** @file The standard descriptors, which whoever starts a program may have closed. */

/**
 * Occupy those of stdin, stdout and stderr that are closed: reading and writing fails with EBADF as
 * before, but no file that is opened later gets such a number, to have messages written into it.
 * To be called before anything else opens a file.
 */
void descriptors_occupy_standard(void);

#endif /* DESCRIPTORS_H */
