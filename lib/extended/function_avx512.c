/* SPDX-License-Identifier: BSD-3-Clause */
/* See function.h. 16 lanes at a time. */
#include "lanes/lanes_avx512.h"

#include "function.h"

#define STEP 16

/* Four entries, by the slots of x: loads and inserts, which a gather is no faster than. */
INLINE __m128i
load_4(const uint32_t *entries, const slot16 *x)
{
	__m128i loaded = _mm_cvtsi32_si128((int)entries[x[0]]);

	loaded = _mm_insert_epi32(loaded, (int)entries[x[1]], 1);
	loaded = _mm_insert_epi32(loaded, (int)entries[x[2]], 2);
	return _mm_insert_epi32(loaded, (int)entries[x[3]], 3);
}

INLINE __m512i
load_16(const uint32_t *entries, const slot16 *x)
{
	const __m256i low = _mm256_set_m128i(load_4(entries, x + 4), load_4(entries, x));
	const __m256i high = _mm256_set_m128i(load_4(entries, x + 12), load_4(entries, x + 8));

	return join(low, high);
}

/* Sums of pairs of words less 2^15 each, as sum_words(). */
INLINE __m256i
sum_half(__m256i words)
{
	return _mm256_madd_epi16(
		_mm256_xor_si256(words, _mm256_set1_epi16(INT16_MIN)), _mm256_set1_epi16(1));
}

INLINE void
run_packet(const struct function_kernel *kernel, struct vector_packet *packet)
{
	const struct drive drive = FUNCTION_DRIVE(16);
	const slot16 *x = (const slot16 *)packet->slots;
	slot16 *z = (slot16 *)packet->slots + 2 * (size_t)packet->count;
	const uint32_t whole = packet->count / STEP * STEP;
	__m512i any = _mm512_setzero_si512();
	__m256i change = _mm256_setzero_si256();
	struct driven rest;

	if (packet->count == 1) {
		drive_single(packet, drive, function_look_up, kernel->entries);
		return;
	}
	for (uint32_t l = 0; l < whole; l += STEP) {
		const __m512i loaded = load_16(kernel->entries, x + l);
		const __m256i after = _mm512_cvtepi32_epi16(loaded);
		const __m256i before = _mm256_loadu_si256((const __m256i *)(z + l));

		any = _mm512_or_si512(any, loaded);
		change = _mm256_add_epi32(
			change, _mm256_sub_epi32(sum_half(after), sum_half(before)));
		_mm256_storeu_si256((__m256i *)(z + l), after);
	}
	rest = drive_from(packet, whole, drive, function_look_up, kernel->entries);
	rest.flags |= (uint32_t)_mm512_reduce_or_epi32(any);
	packet->flags = (uint8_t)(rest.flags >> drive.flags_at);
	packet->changes = collect_changes(_mm512_zextsi256_si512(change), whole) +
		slots_changes(packet->count - whole, rest.before, rest.after);
}

void
function_run_avx512(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	(void)op;
	for (unsigned int p = 0; p < count; p++)
		run_packet((const struct function_kernel *)kernel, &packets[p]);
}
