/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"
#include "loaded.h"

/* One format has none. */
#define SETS_OF_FAMILY 3
static const char *const set_names[FAMILIES][SETS_OF_FAMILY] = {
	[LOGARITHMS] = {"fp16_k1024", "posit16_k512", "bf16_k128_floor"},
	[CORRECTLY_ROUNDED] = {"fp16_exact_small", "posit16_exact", "bf16_exact_small"},
};
static struct netfc_set *sets[FAMILIES][NETFC_FORMAT_END];
/* Of binary32; lpm, whose tables would take 64 MB each, has none. */
static struct netfc_set *wide_set;
/* Of 8 bits, likewise; the other format of theirs has no set. */
static struct netfc_set *narrow_set;

/* Functions, one of them a user's own, of fp16; one of bf16, too. */
#define FUNCTIONS 4
static uint16_t results[FUNCTIONS][NETFC_FUNCTION_ENTRIES];
static uint8_t result_flags[FUNCTIONS][NETFC_FUNCTION_ENTRIES];
static const struct pipeline_function functions[FUNCTIONS] = {
	{"known", KNOWN_FUNCTION, NETFC_FP16, results[0], result_flags[0]},
	{"known", 99, NETFC_FP16, results[1], result_flags[1]},
	{"own", USER_FUNCTION, NETFC_FP16, results[2], result_flags[2]},
	{"known", KNOWN_FUNCTION, NETFC_BF16, results[3], result_flags[3]},
};

static void
build_sets(void)
{
	for (unsigned int s = 0; s < FAMILIES * SETS_OF_FAMILY; s++) {
		struct netfc_set *set;

		FUZZ_CHECK(netfc_set_build(set_names[s / SETS_OF_FAMILY][s % SETS_OF_FAMILY],
				   &set) == NETFC_OK);
		sets[s / SETS_OF_FAMILY][netfc_format_id(netfc_set_format(set))] = set;
	}
	FUZZ_CHECK(netfc_set_build("fp32_exact", &wide_set) == NETFC_OK);
	FUZZ_CHECK(netfc_set_build("fp8_e4m3_exact", &narrow_set) == NETFC_OK);
}

/* A user's function has any flags with any result. */
static void
build_own(uint16_t *z, uint8_t *flags)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++) {
		z[x] = (uint16_t)(x * 40503);
		flags[x] = x % 16;
	}
}

static void
build_functions(void)
{
	for (unsigned int f = 0; f < FUNCTIONS; f++) {
		if (functions[f].number == USER_FUNCTION)
			build_own(results[f], result_flags[f]);
		else
			FUZZ_CHECK(
				netfc_function_table(netfc_function_by_number(functions[f].number),
					netfc_format_by_id(functions[f].format), results[f],
					result_flags[f]) == NETFC_OK);
	}
}

void
loaded_build(void)
{
	build_sets();
	build_functions();
}

void
loaded_free(void)
{
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		netfc_set_free(sets[LOGARITHMS][format]);
		netfc_set_free(sets[CORRECTLY_ROUNDED][format]);
	}
	netfc_set_free(wide_set);
	netfc_set_free(narrow_set);
}

void
loaded_configure(struct pipeline_config *config, enum family family)
{
	config->functions = functions;
	config->function_count = FUNCTIONS;
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		config->sets[format] = sets[family][format];
	if (config->match == MATCH_LPM)
		return;
	config->sets[NETFC_FP32] = wide_set;
	config->sets[NETFC_FP8_E4M3] = narrow_set;
}

static const struct pipeline_function *
find_function(const struct netfc_hdr *header)
{
	for (unsigned int f = 0; f < FUNCTIONS; f++) {
		if (functions[f].number == header->op && functions[f].format == header->format)
			return &functions[f];
	}
	return NULL;
}

struct netfc_result
loaded_reference(
	enum family family, const struct netfc_hdr *header, uint16_t x, uint16_t y, uint16_t z)
{
	const struct netfc_set *set = sets[family][header->format];
	const struct pipeline_function *function = find_function(header);

	if (function != NULL)
		return (struct netfc_result){function->z[x], function->flags[x]};
	if (header->op >= NETFC_MIN && header->op < NETFC_EXTRA_END)
		return netfc_extra(netfc_format_by_id(header->format), header->op, x, y, z);
	FUZZ_CHECK(header->op >= NETFC_ADD && header->op <= NETFC_DIV && set != NULL);
	return family == CORRECTLY_ROUNDED ? netfc_exact(netfc_set_format(set), header->op, x, y)
					   : netfc_calc(set, header->op, x, y);
}
