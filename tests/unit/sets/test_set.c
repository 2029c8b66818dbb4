/* SPDX-License-Identifier: BSD-3-Clause */
/* Table sets: their names, and what they say of themselves and of their tables. */
#include <string.h>

#include "log/log_family.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Four formats' powers of two (11, 10, 8 and 9), each plain and floor; four exact, two exact and
 * small; binary32.
 */
#define KNOWN_SETS 87

TEST(names_say_what_a_set_is)
{
	static const struct {
		const char *name;
		enum netfc_format_id format;
		unsigned scale;
		enum netfc_rounding rounding;
	} good[] = {
		{"fp16_k1024", NETFC_FP16, 1024, NETFC_NEAREST},
		{"fp16_k1", NETFC_FP16, 1, NETFC_NEAREST},
		{"fp16_exact", NETFC_FP16, 0, NETFC_NEAREST},
		{"bf16_exact_small", NETFC_BF16, 0, NETFC_NEAREST},
		{"posit16_es2_exact", NETFC_POSIT16_ES2, 0, NETFC_NEAREST},
		{"fp32_exact", NETFC_FP32, 0, NETFC_NEAREST},
		{"bf16_exact", NETFC_BF16, 0, NETFC_NEAREST},
		{"fp16_k2_floor", NETFC_FP16, 2, NETFC_FLOOR},
		{"posit16_k512_floor", NETFC_POSIT16, 512, NETFC_FLOOR},
		{"bf16_k128", NETFC_BF16, 128, NETFC_NEAREST},
		{"posit16_es2_k256_floor", NETFC_POSIT16_ES2, 256, NETFC_FLOOR},
	};

	for (unsigned g = 0; g < COUNT(good); g++) {
		char name[NETFC_SET_NAME_SIZE];
		struct netfc_set_id id;

		assert_int_equal(netfc_set_parse_name(good[g].name, &id), NETFC_OK);
		assert_int_equal(netfc_format_id(id.format), good[g].format);
		assert_int_equal(id.scale, good[g].scale);
		assert_int_equal(id.rounding, good[g].rounding);
		netfc_set_format_name(&id, name);
		assert_string_equal(name, good[g].name);
	}
}

TEST(bad_names_are_refused_for_what_is_wrong)
{
	static const struct {
		const char *name;
		int error;
	} bad[] = {
		{"", NETFC_ERR_NAME},
		{"_", NETFC_ERR_NAME},
		{"k1024", NETFC_ERR_NAME},
		{"_k1024", NETFC_ERR_NAME},
		{"_floor", NETFC_ERR_NAME},
		{"fp16", NETFC_ERR_NAME},
		{"fp16_", NETFC_ERR_NAME},
		{"fp16_k", NETFC_ERR_NAME},
		{"fp16_k_floor", NETFC_ERR_NAME},
		{"fp16_1024", NETFC_ERR_NAME},
		{"fp16_K1024", NETFC_ERR_NAME},
		{"fp16_k01024", NETFC_ERR_NAME},
		{"fp16_k+1024", NETFC_ERR_NAME},
		{"fp16_k-1", NETFC_ERR_NAME},
		{"fp16_k0x400", NETFC_ERR_NAME},
		{"fp16_k1024 ", NETFC_ERR_NAME},
		{" fp16_k1024", NETFC_ERR_FORMAT},
		{"fp16_k1024_flor", NETFC_ERR_NAME},
		{"fp16_k1024_floor_", NETFC_ERR_NAME},
		{"fp16_k1024_floor_floor", NETFC_ERR_NAME},
		{"fp16_k1024_FLOOR", NETFC_ERR_NAME},
		{"fp16_k1024.netfc", NETFC_ERR_NAME},
		{"fp16_k99999999999999999999", NETFC_ERR_NAME},
		{"fp16_k1024_a_name_that_goes_on_and_on", NETFC_ERR_NAME},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa_k1", NETFC_ERR_NAME},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaa_k1", NETFC_ERR_FORMAT},
		{"fp8_k2", NETFC_ERR_FORMAT},
		{"FP16_k1024", NETFC_ERR_FORMAT},
		{"fp8_exact", NETFC_ERR_FORMAT},
		{"posit16_exact_small", NETFC_ERR_FORMAT},
		{"fp32_exact_small", NETFC_ERR_FORMAT},
		{"fp32_k1", NETFC_ERR_FORMAT},
		{"fp16_exact_smal", NETFC_ERR_NAME},
		{"_exact", NETFC_ERR_NAME},
		{"fp16_exact_floor", NETFC_ERR_NAME},
		{"fp16_k4_exact", NETFC_ERR_FORMAT},
		{"posit16_es1_k2", NETFC_ERR_FORMAT},
		{"fp16_floor_k2", NETFC_ERR_FORMAT},
		{"fp16_k3", NETFC_ERR_SCALE},
		{"fp16_k1023", NETFC_ERR_SCALE},
		{"fp16_k2048", NETFC_ERR_SCALE},
		{"fp16_k65536_floor", NETFC_ERR_SCALE},
		{"posit16_k1024", NETFC_ERR_SCALE},
		{"bf16_k256", NETFC_ERR_SCALE},
		{"posit16_es2_k512", NETFC_ERR_SCALE},
	};

	for (unsigned b = 0; b < COUNT(bad); b++) {
		struct netfc_set *set = NULL;
		struct netfc_set_id id;
		int error = netfc_set_parse_name(bad[b].name, &id);

		if (error != bad[b].error)
			fail_msg("\"%s\": %s", bad[b].name, netfc_strerror(error));
		assert_int_equal(netfc_set_build(bad[b].name, &set), bad[b].error);
		assert_null(set);
	}
}

/* Whatever the message, a scale of zero is none. */
TEST(a_scale_of_zero_is_refused)
{
	struct netfc_set_id id;

	assert_int_not_equal(netfc_set_parse_name("fp16_k0", &id), NETFC_OK);
	assert_int_not_equal(netfc_set_parse_name("fp16_k0_floor", &id), NETFC_OK);
}

TEST(known_names_are_all_that_there_are)
{
	char names[KNOWN_SETS + 1][NETFC_SET_NAME_SIZE];
	unsigned count = 0;

	while (count <= KNOWN_SETS && netfc_set_known_name(count, names[count]))
		count++;
	assert_int_equal(count, KNOWN_SETS);
	for (unsigned a = 0; a < count; a++) {
		char again[NETFC_SET_NAME_SIZE];
		struct netfc_set_id id;

		assert_int_equal(netfc_set_parse_name(names[a], &id), NETFC_OK);
		netfc_set_format_name(&id, again);
		assert_string_equal(again, names[a]);
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(names[a], names[b]);
	}
}

TEST(a_set_says_what_it_is)
{
	struct netfc_set *set = must_build("posit16_k8_floor");

	assert_string_equal(netfc_set_name(set), "posit16_k8_floor");
	assert_int_equal(netfc_format_id(netfc_set_format(set)), NETFC_POSIT16);
	assert_int_equal(netfc_set_scale(set), 8);
	assert_int_equal(netfc_set_rounding(set), NETFC_FLOOR);
	netfc_set_free(set);
	netfc_set_free(NULL);
}

TEST(tables_say_what_they_are)
{
	static const struct {
		const char *name, *pages[MAX_PAGES];
		unsigned key_bits, value_bits, page_count, copies, index_bits;
		bool key_signed, value_signed, match;
	} expected[] = {
		{"log", {"log"}, 15, 16, 1, 2, 15, false, true, true},
		{"mi", {"mi0", "mi1", "mi2"}, 16, 16, 3, 1, 18, true, true, true},
		{"exp", {"exp"}, 16, 15, 1, 1, 16, true, false, true},
		{"decide", {"decide"}, 10, 28, 1, 1, 10, false, false, false},
	};
	struct netfc_set *set = must_build("bf16_k1");

	assert_int_equal(netfc_set_table_count(set), COUNT(expected));
	for (unsigned t = 0; t < COUNT(expected); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);

		assert_string_equal(netfc_table_name(table), expected[t].name);
		assert_ptr_equal(netfc_set_find_table(set, expected[t].name), table);
		assert_int_equal(netfc_table_key_bits(table), expected[t].key_bits);
		assert_int_equal(netfc_table_value_bits(table), expected[t].value_bits);
		assert_int_equal(netfc_table_pages(table), expected[t].page_count);
		assert_int_equal(netfc_table_copies(table), expected[t].copies);
		assert_int_equal(netfc_table_index_bits(table), expected[t].index_bits);
		assert_int_equal(netfc_table_key_signed(table), expected[t].key_signed);
		assert_int_equal(netfc_table_value_signed(table), expected[t].value_signed);
		assert_int_equal(netfc_table_is_match(table), expected[t].match);
		assert_int_equal(
			netfc_table_size(table), expected[t].page_count << expected[t].key_bits);
		for (unsigned page = 0; page < expected[t].page_count; page++)
			assert_string_equal(
				netfc_table_page_name(table, page), expected[t].pages[page]);
	}
	assert_null(netfc_set_table(set, COUNT(expected)));
	assert_null(netfc_set_find_table(set, "mi0"));
	netfc_set_free(set);
}

TEST(entries_fit_their_widths)
{
	struct netfc_set *set = must_build("fp16_k1024_floor");

	for (unsigned t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);

		for (uint32_t i = 0; i < netfc_table_size(table); i++)
			assert_int_equal(
				netfc_table_entries(table)[i] >> netfc_table_value_bits(table), 0);
	}
	netfc_set_free(set);
}

/* Whatever is looked up for two finite operands must not be compressed away. */
static void
expect_reachable(const struct netfc_set *set, uint16_t x, uint16_t y)
{
	const struct netfc_table *log = netfc_set_table(set, TABLE_LOG);
	const struct netfc_table *mi = netfc_set_table(set, TABLE_MI);
	int32_t i = log_word(netfc_table_entries(log)[x]),
		j = log_word(netfc_table_entries(log)[y]);
	int32_t theta = saturate(j - i);

	assert_true(netfc_table_reachable(log, x));
	assert_true(netfc_table_reachable(log, y));
	if (theta > log_guard_words(set) || theta < -log_guard_words(set))
		return;
	assert_true(netfc_table_reachable(mi, (uint16_t)theta));
	if (x != y)
		assert_true(netfc_table_reachable(mi, (x > y ? 1u : 2u) << 16 | (uint16_t)theta));
}

TEST(what_operations_look_up_is_reachable)
{
	static const char *const names[] = {
		"fp16_k1024", "posit16_k512_floor", "bf16_k128", "posit16_es2_k256"};
	uint64_t seed = 1;

	for (unsigned n = 0; n < COUNT(names); n++) {
		struct netfc_set *set = must_build(names[n]);
		uint32_t end = set->id.format->inf;

		for (unsigned i = 0; i < 1000000; i++)
			expect_reachable(set, (uint16_t)(1 + next_random(&seed) % (end - 1)),
				(uint16_t)(1 + next_random(&seed) % (end - 1)));
		for (uint32_t x = 1; x + 1 < end; x++) {
			expect_reachable(set, (uint16_t)x, (uint16_t)(x + 1));
			expect_reachable(set, (uint16_t)(x + 1), (uint16_t)x);
			expect_reachable(set, (uint16_t)x, (uint16_t)x);
		}
		netfc_set_free(set);
	}
}

/* A switch has no entry there, and its default is 0. */
TEST(a_key_beyond_a_table_finds_nothing)
{
	uint32_t memory[] = {1, 2, 3, 4, 5};
	const struct netfc_set set = {.table = {{.key_bits = 1, .pages = 2, .entries = memory}}};
	const struct netfc_step step = {.kind = NETFC_STEP_LOOKUP, .dst = NETFC_Z, .a = NETFC_X};
	struct netfc_lanes lanes;

	for (unsigned l = 0; l < COUNT(memory); l++)
		lanes.field[NETFC_X][l] = l;
	netfc_run_step(&set, &step, &lanes, COUNT(memory));
	for (unsigned l = 0; l + 1 < COUNT(memory); l++)
		assert_int_equal(lanes.field[NETFC_Z][l], memory[l]);
	assert_int_equal(lanes.field[NETFC_Z][COUNT(memory) - 1], 0);
}

TEST(an_exact_set_has_no_scale)
{
	struct netfc_set *set = must_build("bf16_exact");

	assert_string_equal(netfc_set_name(set), "bf16_exact");
	assert_int_equal(netfc_set_family(set), NETFC_FAMILY_EXACT);
	assert_string_equal(netfc_family_name(netfc_set_family(set)), "exact");
	assert_int_equal(netfc_set_scale(set), 0);
	netfc_set_free(set);
	set = must_build("fp16_exact_small");
	assert_int_equal(netfc_set_family(set), NETFC_FAMILY_EXACT_SMALL);
	netfc_set_free(set);
}

TEST(errors_are_described)
{
	for (int error = NETFC_ERR_ORDER; error <= NETFC_OK; error++) {
		assert_true(strlen(netfc_strerror(error)) > 0);
		assert_string_not_equal(netfc_strerror(error), netfc_strerror(1));
		for (int other = NETFC_ERR_ORDER; other < error; other++)
			assert_string_not_equal(netfc_strerror(error), netfc_strerror(other));
	}
	assert_non_null(netfc_strerror(1));
	assert_string_equal(netfc_strerror(NETFC_ERR_ORDER - 1), netfc_strerror(1));
}
