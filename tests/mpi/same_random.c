/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: all random numbers are the same, so that what job a program takes is known. */
#include <string.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags);

ssize_t
getrandom(void *buffer, size_t length, unsigned int flags)
{
	(void)flags;
	memset(buffer, 0x42, length);
	return (ssize_t)length;
}
