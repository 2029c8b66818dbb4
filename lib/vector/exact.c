/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel of a correctly rounded set. Whatever rounds correctly gives the results of its tables,
 * if they are the ones that its family's name stands for.
 */
#include <errno.h>
#include <stdio.h>

#include "fpu.h"
#include "kernels.h"

static bool
same_table(const struct netfc_table *a, const struct netfc_table *b)
{
	const uint32_t *in_a = netfc_table_entries(a), *in_b = netfc_table_entries(b);

	if (netfc_table_size(a) != netfc_table_size(b))
		return false;
	for (uint32_t index = 0; index < netfc_table_size(a); index++) {
		if (netfc_table_reachable(a, index) && in_a[index] != in_b[index])
			return false;
	}
	return true;
}

int
vector_compare_with_built(const struct netfc_set *set)
{
	struct netfc_set *built;
	bool same;
	int error = netfc_set_build(netfc_set_name(set), &built);

	if (error != NETFC_OK)
		return error == NETFC_ERR_NOMEM ? -ENOMEM : -ENOTSUP;
	same = netfc_set_table_count(set) == netfc_set_table_count(built);
	for (unsigned int t = 0; same && t < netfc_set_table_count(set); t++)
		same = same_table(netfc_set_table(set, t), netfc_set_table(built, t));
	netfc_set_free(built);
	return same ? 0 : -ENOTSUP;
}

int
exact_create(const struct netfc_set *set, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel)
{
	const bool converts = netfc_format_width(netfc_set_format(set)) == 16;
	int error;

	/* Where the processor has no conversion, the steps are faster. */
	if (netfc_set_family(set) == NETFC_FAMILY_LOG || (converts && isa == VECTOR_PLAIN) ||
		netfc_format_is_posit(netfc_set_format(set)))
		return -ENOTSUP;
	error = vector_compare_with_built(set);
	if (error == 0)
		error = vector_fpu_create(netfc_set_format(set), isa, socket_id, kernel);
	if (error != 0)
		return error;
	snprintf((*kernel)->description, sizeof((*kernel)->description), "%s, equal to the tables",
		((const struct fpu_kernel *)*kernel)->how);
	return 0;
}
