/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>

#include "classify.h"

static classify_fn
choose(enum vector_isa isa)
{
#ifdef RTE_ARCH_X86_64
	if (isa >= VECTOR_AVX512)
		return classify_avx512;
	if (isa >= VECTOR_AVX2)
		return classify_avx2;
#endif
	(void)isa;
	return classify_plain;
}

void
classifier_init(struct classifier *classifier, uint16_t udp_port, enum vector_isa isa,
	const struct further_groups *further)
{
	*classifier = (struct classifier){.classify = choose(isa), .further = further};
	for (unsigned int p = 0; p < CLASSIFY_VECTOR; p++)
		classifier->udp_port[p] = rte_cpu_to_be_16(udp_port);
}

void
classifier_load(struct classifier *classifier, unsigned int format)
{
	memset(classifier->loaded[format], UINT8_MAX, sizeof(classifier->loaded[format]));
}
