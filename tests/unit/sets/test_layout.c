/* SPDX-License-Identifier: BSD-3-Clause */
/* Table-set files as bytes: always the same ones, laid out as documented, read back as written. */
#include "bytes.h"

static void
expect_same_set(const struct netfc_set *a, const struct netfc_set *b)
{
	assert_string_equal(netfc_set_name(a), netfc_set_name(b));
	assert_ptr_equal(netfc_set_format(a), netfc_set_format(b));
	assert_int_equal(netfc_set_family(a), netfc_set_family(b));
	assert_int_equal(netfc_set_scale(a), netfc_set_scale(b));
	assert_int_equal(netfc_set_rounding(a), netfc_set_rounding(b));
	assert_int_equal(netfc_set_table_count(a), netfc_set_table_count(b));
	for (unsigned t = 0; t < netfc_set_table_count(a); t++) {
		const struct netfc_table *table_a = netfc_set_table(a, t);
		const struct netfc_table *table_b = netfc_set_table(b, t);
		uint32_t size = netfc_table_size(table_a);

		assert_int_equal(size, netfc_table_size(table_b));
		assert_memory_equal(netfc_table_entries(table_a), netfc_table_entries(table_b),
			size * sizeof(uint32_t));
		for (uint32_t i = 0; i < size; i++)
			assert_int_equal(netfc_table_reachable(table_a, i),
				netfc_table_reachable(table_b, i));
	}
}

/* The largest scale of each format, plain and floor; the correctly rounded sets. */
static const char *const default_sets[] = {
	"fp16_k1024",
	"fp16_k1024_floor",
	"posit16_k512",
	"posit16_k512_floor",
	"bf16_k128",
	"bf16_k128_floor",
	"posit16_es2_k256",
	"posit16_es2_k256_floor",
	"fp16_exact",
	"fp16_exact_small",
	"bf16_exact",
	"bf16_exact_small",
	"posit16_exact",
	"posit16_es2_exact",
	"fp32_exact",
};

static void
expect_round_trip(const char *name)
{
	struct bytes bytes = bytes_of(name), again = bytes_of(name);
	struct netfc_set *built = must_build(name), *read = NULL;
	struct netfc_margin margin;
	void *data;
	size_t length;

	assert_int_equal(bytes.length, again.length);
	assert_memory_equal(bytes.data, again.data, bytes.length);
	assert_int_equal(netfc_set_deserialize(bytes.data, bytes.length, &read), NETFC_OK);
	expect_same_set(built, read);
	assert_int_equal(netfc_set_margin(built, &margin),
		netfc_set_family(built) == NETFC_FAMILY_LOG ? NETFC_OK : NETFC_ERR_ARGUMENT);
	assert_int_equal(netfc_set_margin(read, &margin), NETFC_ERR_ARGUMENT);
	assert_int_equal(netfc_set_serialize(read, &data, &length), NETFC_OK);
	assert_int_equal(length, bytes.length);
	assert_memory_equal(data, bytes.data, length);
	free(data);
	free(bytes.data);
	free(again.data);
	netfc_set_free(built);
	netfc_set_free(read);
}

TEST(sets_are_read_back_and_always_the_same_bytes)
{
	for (unsigned n = 0; n < sizeof(default_sets) / sizeof(default_sets[0]); n++)
		expect_round_trip(default_sets[n]);
}

TEST(the_layout_is_as_documented)
{
	struct bytes bytes = bytes_of("posit16_es2_k256_floor");
	static const uint8_t header[BYTES_DESCRIPTOR] =
		"NetFCset\0\0\0\1\0\011\020\154posit16_es2_k256_floor\0\0\0\0\0\0\0\0\0\0"
		"\4\1\4\0\0\0\1\0"
		"log\0\0\0\0\0\017\020\1\2"
		"mi\0\0\0\0\0\0\020\020\3\2"
		"exp\0\0\0\0\0\020\017\1\2"
		"decide\0\0\012\034\1\4";

	assert_int_equal(bytes.length,
		BYTES_DESCRIPTOR + 2 * 0x8000 + 3 * 2 * 0x10000 + 2 * 0x10000 + 4 * 1024 + 4);
	assert_memory_equal(bytes.data, header, sizeof(header));
	/* log2 of the least posit, 2^-56: -56 * 256, after the entry of zero. */
	assert_int_equal(bytes.data[BYTES_DESCRIPTOR + 2], 0xc8);
	assert_int_equal(bytes.data[BYTES_DESCRIPTOR + 3], 0x00);
	free(bytes.data);
}
