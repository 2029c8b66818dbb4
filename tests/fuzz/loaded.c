/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"
#include "loaded.h"

/* One format of 16 bits has none, and one of 8 bits. */
#define SETS_OF_FAMILY 5
static const char *const set_names[FAMILIES][SETS_OF_FAMILY] = {
	[LOGARITHMS] = {"fp16_k1024", "posit16_k512", "bf16_k128_floor", "fp32_exact",
		"fp8_e4m3_exact"},
	[CORRECTLY_ROUNDED] = {"fp16_exact_small", "posit16_exact", "bf16_exact_small",
		"fp32_exact", "fp8_e4m3_sat"},
};
static struct netfc_set *sets[FAMILIES][NETFC_SET_FORMAT_END];

/*
 * Functions, one of them a user's own, and conversions whose slots are as wide as either format's.
 * Those with 32 bits have no table.
 */
#define TABLES 7
static uint16_t results[TABLES][NETFC_FUNCTION_ENTRIES];
static uint8_t result_flags[TABLES][NETFC_FUNCTION_ENTRIES];
static const struct pipeline_function functions[] = {
	{"known", KNOWN_FUNCTION, NETFC_FP16, results[0], result_flags[0]},
	{"to_bf16", TO_BF16, NETFC_FP16, results[1], result_flags[1]},
	{"own", USER_FUNCTION, NETFC_FP16, results[2], result_flags[2]},
	{"known", KNOWN_FUNCTION, NETFC_BF16, results[3], result_flags[3]},
	{"known", KNOWN_FUNCTION, NETFC_FP8_E4M3, results[4], result_flags[4]},
	{"to_bf16", TO_BF16, NETFC_FP8_E4M3, results[5], result_flags[5]},
	{"to_fp8_e4m3", NETFC_TO_FP8_FIRST, NETFC_FP8_E5M2, results[6], result_flags[6]},
	{"to_fp32", NETFC_TO_FP32, NETFC_FP16, NULL, NULL},
	{"to_fp32", NETFC_TO_FP32, NETFC_FP8_E4M3, NULL, NULL},
	{"to_fp8_e4m3", NETFC_TO_FP8_FIRST, NETFC_FP32, NULL, NULL},
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
	for (unsigned int f = 0; f < TABLES; f++) {
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
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		netfc_set_free(sets[LOGARITHMS][format]);
		netfc_set_free(sets[CORRECTLY_ROUNDED][format]);
	}
}

void
loaded_configure(struct pipeline_config *config, enum family family)
{
	/* lpm would take 64 MB for each of their tables. */
	const unsigned int end =
		config->match == MATCH_LPM ? NETFC_FORMAT_END : NETFC_SET_FORMAT_END;

	config->functions = functions;
	config->function_count = RTE_DIM(functions);
	for (unsigned int format = 0; format < end; format++)
		config->sets[format] = sets[family][format];
}

static const struct netfc_format *
format_of(unsigned int id)
{
	return id == NETFC_FP32 ? netfc_fp32_format() : netfc_format_by_id(id);
}

static const struct pipeline_function *
find_function(const struct netfc_hdr *header)
{
	for (unsigned int f = 0; f < RTE_DIM(functions); f++) {
		if (functions[f].number == header->op && functions[f].format == header->format)
			return &functions[f];
	}
	return NULL;
}

static struct netfc_result
function_reference(const struct pipeline_function *function, uint32_t x)
{
	struct netfc_result result;

	if (function->z != NULL)
		return (struct netfc_result){function->z[x], function->flags[x]};
	FUZZ_CHECK(
		netfc_function_lanes(netfc_function_by_number(function->number),
			format_of(function->format), &x, &result.z, &result.flags, 1) == NETFC_OK);
	return result;
}

struct netfc_result
loaded_reference(
	enum family family, const struct netfc_hdr *header, uint32_t x, uint32_t y, uint32_t z)
{
	const struct netfc_set *set = sets[family][header->format];
	const struct pipeline_function *function = find_function(header);
	const struct netfc_format *format =
		set != NULL ? netfc_set_format(set) : format_of(header->format);

	if (function != NULL)
		return function_reference(function, x);
	if (header->op >= NETFC_MIN && header->op < NETFC_EXTRA_END)
		return netfc_extra(format, header->op, x, y, z);
	FUZZ_CHECK(header->op >= NETFC_ADD && header->op <= NETFC_DIV && set != NULL);
	return family == CORRECTLY_ROUNDED || netfc_format_width(format) != 16
		? netfc_exact(format, header->op, x, y)
		: netfc_calc(set, header->op, x, y);
}
