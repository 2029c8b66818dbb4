/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "checksum.h"
#include "clones.h"

VECTOR_CLONES uint16_t
checksum_sum(const void *bytes, size_t length)
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
