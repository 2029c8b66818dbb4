/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of functions: x, z and its flags. */
#include "export/fill/fill.h"

static void
fill(struct p4_table *table, const struct p4_function *function)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		p4_add_entry(table,
			&(struct p4_entry){.value = {x},
				.mask = {UINT16_MAX},
				.arg = {function->z[x], function->flags[x]}});
}

void
p4_function_tables(const struct p4_functions *functions, struct p4_program *program)
{
	static const char *const names[P4_MAX_FUNCTIONS] = {
		"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};

	for (unsigned f = 0; f < functions->count; f++)
		fill(p4_add_table(program,
			     &(struct p4_table){
				     .instance = {names[f]},
				     .control = "function",
				     .key_count = 1,
				     .key = {{"x", 16, P4_EXACT}},
				     .action_count = 1,
				     .action = {{"result", 2, {{"value", 16}, {"flags", 4}}}},
			     }),
			&functions->function[f]);
}
