/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/** @file The descriptors that a process has open. */

/**
 * Occupy those of stdin, stdout and stderr that whoever started the program has closed: reading and
 * writing fails with EBADF as before, but no file that is opened later gets such a number, to have
 * messages written into it. To be called before anything else opens a file.
 */
void descriptors_occupy_standard(void);

/** Visit each descriptor that the process has open; none where /proc is not mounted. */
void descriptors_visit(void (*visit)(int descriptor, void *arg), void *arg);

#endif /* DESCRIPTORS_H */
