/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "checksum.h"

/* One body, compiled for the vector units of several processors; the loader chooses. */
#ifdef HAVE_TARGET_CLONES
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
uint16_t
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
