/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family in P4 (fp16, bf16). Hardware cannot make all keys of the library's
 * program in time. Its tables do more instead: exps gives the effective sign of y, subn gives the
 * corrected base itself, and ternary entries recognise the ties of products.
 */
#include "export/fill/exact_source.h"

const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	struct exact_source source;

	if (netfc_set_find_table(set, "exps") == NULL)
		return "of the correctly rounded sets, fp16_exact and bf16_exact have a P4 program";
	if (layout != P4_DIRECT)
		return "the correctly rounded sets have the direct layout only";
	source = exact_source(set, program);
	p4_sum_tables(&source);
	p4_product_tables(&source);
	p4_decide_table(set, layout, program);
	return NULL;
}
