/* SPDX-License-Identifier: BSD-3-Clause */
/* The direct layout of the paper's family. */
#include "export/fill/log_source.h"

/* Posits are looked up with their sign, so that no absolute value is needed. */
void
log_direct(const struct log_source *source)
{
	static const char *const instances[P4_MAX_INSTANCES] = {"log_x.log", "log_y.log"};
	bool posit = netfc_format_is_posit(source->format);
	struct p4_table *table = log_word_table(
		source, instances, "set", "operand", MAGNITUDE_BITS + (posit ? 1 : 0));
	const uint32_t *entries = netfc_table_entries(source->log);

	for (uint32_t bits = 0; bits <= p4_low_bits(table->key[0].bits); bits++) {
		uint16_t magnitude = netfc_magnitude(source->format, (uint16_t)bits);

		if (netfc_table_reachable(source->log, magnitude))
			p4_add_word(table, bits, entries[magnitude]);
	}
}

/* The number of bits of theta that matter within the guard. */
static unsigned
theta_bits(const struct log_source *source)
{
	return netfc_format_is_posit(source->format) ? WORD_BITS : WORD_BITS - 1;
}

/*
 * If the signs differ, the sign of theta selects mi1 or mi2. For theta = 0 these are equal.
 */
void
mi_direct(const struct log_source *source)
{
	unsigned bits = theta_bits(source);
	struct p4_table *table =
		log_paged_table(source, "mi.mi", "differ", "theta", bits, P4_EXACT);
	const uint32_t *entries = netfc_table_entries(source->mi);

	for (uint32_t differ = 0; differ <= 1; differ++) {
		for (int32_t theta = INT16_MIN; theta <= INT16_MAX; theta++) {
			uint32_t page = differ == 0 ? 0 : theta <= 0 ? 1 : 2;
			uint32_t index = page << WORD_BITS | (uint16_t)theta;

			if (netfc_table_reachable(source->mi, index))
				log_add_paged(table, differ, (uint32_t)theta & p4_low_bits(bits),
					p4_low_bits(bits), entries[index]);
		}
	}
}

/* As the key has the sign, the entry is z itself, for posits as well. */
void
exp_direct(const struct log_source *source)
{
	struct p4_table *table =
		log_paged_table(source, "power.exp", "negative", "n", WORD_BITS, P4_EXACT);
	const uint32_t *entries = netfc_table_entries(source->exp);

	for (uint32_t negative = 0; negative <= 1; negative++) {
		for (uint32_t n = 0; n <= UINT16_MAX; n++)
			log_add_paged(table, negative, n, UINT16_MAX,
				netfc_with_sign(
					source->format, (uint16_t)entries[n], negative != 0));
	}
}
