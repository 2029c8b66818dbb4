/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled for each instruction set. */
#include <string.h>

#include "checksum.h"
#include "isa.h"

uint16_t
VECTOR_NAME(checksum_sum)(const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0;
	uint32_t last = 0;

	for (size_t w = 0; w < length / sizeof(uint32_t); w++) {
		uint32_t word;

		memcpy(&word, at + w * sizeof(word), sizeof(word));
		sum += word;
	}
	memcpy(&last, at + length / sizeof(last) * sizeof(last), length % sizeof(last));
	return checksum_fold(sum + last);
}
