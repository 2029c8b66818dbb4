/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>

#include "classify.h"
#include "groups.h"
#include "isa.h"

void
classifier_init(struct classifier *classifier, uint16_t udp_port, enum vector_isa isa,
	const struct groups *groups)
{
	*classifier =
		(struct classifier){.classify = VECTOR_CHOOSE(classify, isa), .groups = groups};
	for (unsigned int p = 0; p < CLASSIFY_VECTOR; p++)
		classifier->udp_port[p] = rte_cpu_to_be_16(udp_port);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		if (groups_number(groups, format, NETFC_ADD) != 0)
			memset(classifier->loaded[format], UINT8_MAX,
				sizeof(classifier->loaded[format]));
	}
}
