/* SPDX-License-Identifier: BSD-3-Clause */
/* See function.h. Entries are gathered, 32 lanes at a time. */
#include "lanes_avx512.h"

#include "function.h"

/* Sixteen entries, by the slots of x. */
INLINE __m512i
gather(const uint32_t *entries, __m256i x)
{
	return _mm512_i32gather_epi32(_mm512_cvtepu16_epi32(x), entries, sizeof(entries[0]));
}

/* Returns the entries, or-ed with `any`. */
INLINE __m512i
run_32(const uint32_t *entries, const slot *x, slot *z, __m512i any, __m512i *change)
{
	const __m512i low = gather(entries, _mm256_loadu_si256((const __m256i *)x));
	const __m512i high = gather(entries, _mm256_loadu_si256((const __m256i *)(x + GROUP / 2)));
	const __m512i before = _mm512_loadu_si512(z);
	const __m512i after = join(_mm512_cvtepi32_epi16(low), _mm512_cvtepi32_epi16(high));

	*change = _mm512_add_epi32(*change, _mm512_sub_epi32(sum_words(after), sum_words(before)));
	_mm512_storeu_si512(z, after);
	return _mm512_or_si512(any, _mm512_or_si512(low, high));
}

void
function_run_avx512(const struct further_kernel *kernel, struct vector_packet *packet)
{
	struct function_run run = function_start(kernel, packet);
	const uint32_t whole = packet->count / GROUP * GROUP;

	if (whole > 0) {
		__m512i any = _mm512_setzero_si512(), change = _mm512_setzero_si512();

		for (uint32_t l = 0; l < whole; l += GROUP)
			any = run_32(run.entries, run.x + l, run.z + l, any, &change);
		run.any = (uint32_t)_mm512_reduce_or_epi32(any);
		run.changes = collect_changes(change, whole);
	}
	function_run_each(&run, whole, packet->count);
	function_finish(&run, packet);
}
