/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_H
#define FUZZ_H

/**
 * @file
 * What the fuzz targets share. Each is a program that libFuzzer drives: it makes bytes, the target
 * reads them as whatever an attacker could send, and ends the process when something is wrong.
 */

#include <stddef.h>
#include <stdint.h>

/** libFuzzer calls it once, first. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** libFuzzer calls it with every input; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** End with a message, as for a failed assertion, unless something holds. */
#define FUZZ_CHECK(condition)                                      \
	do {                                                       \
		if (!(condition))                                  \
			fuzz_fail(__FILE__, __LINE__, #condition); \
	} while (0)

/** What FUZZ_CHECK() does in the end. */
void fuzz_fail(const char *file, int line, const char *condition) __attribute__((noreturn));

/** Bytes that are read from the front; numbers are big-endian, and zero after the end. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/** The next byte. */
uint8_t fuzz_byte(struct fuzz_input *input);

/** The next two bytes. */
uint16_t fuzz_word(struct fuzz_input *input);

/** The next four bytes. */
uint32_t fuzz_long(struct fuzz_input *input);

/** The next `length` bytes, or as many as are left; how many is stored in `length`. */
const uint8_t *fuzz_bytes(struct fuzz_input *input, size_t *length);

/** Say on stderr when the process ends how many of `what` there were. */
void fuzz_count_at_exit(const char *what, const uint64_t *count);

#endif /* FUZZ_H */
