/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/fill/log_source.h"

struct log_source
log_source(const struct netfc_set *set, struct p4_program *program)
{
	struct log_source source = {
		.set = set,
		.format = netfc_set_format(set),
		.log = netfc_set_find_table(set, "log"),
		.mi = netfc_set_find_table(set, "mi"),
		.exp = netfc_set_find_table(set, "exp"),
		.program = program,
	};

	source.fraction_bits = (unsigned)__builtin_ctz(netfc_inf_magnitude(source.format));
	source.exponent_bits = MAGNITUDE_BITS - source.fraction_bits;
	source.scale_bits = (unsigned)__builtin_ctz(netfc_set_scale(set));
	return source;
}

struct p4_table *
log_word_table(const struct log_source *source, const char *const *instances, const char *action,
	const char *key, unsigned bits)
{
	struct p4_table shape = {
		.key_count = 1,
		.key = {{key, bits, P4_EXACT}},
		.action_count = 1,
		.action = {{action, 1, {{"word", WORD_BITS}}}},
	};

	for (unsigned i = 0; i < P4_MAX_INSTANCES; i++)
		shape.instance[i] = instances[i];
	return p4_add_table(source->program, &shape);
}

struct p4_table *
log_paged_table(const struct log_source *source, const char *instance, const char *bit,
	const char *key, unsigned bits, enum p4_match match)
{
	return p4_add_table(source->program,
		&(struct p4_table){
			.instance = {instance},
			.key_count = 2,
			.key = {{bit, 1, P4_EXACT}, {key, bits, match}},
			.action_count = 1,
			.action = {{"set", 1, {{"word", WORD_BITS}}}},
		});
}

void
log_add_paged(struct p4_table *table, uint32_t page, uint32_t key, uint32_t mask, uint32_t word)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {page, key},
			.mask = {1, mask},
			.arg = {word},
		});
}
