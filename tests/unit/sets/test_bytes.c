/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged and forged table-set files: each is refused for the reason that it has. */
#include "bytes.h"

/* The set whose file is damaged. */
#define NAME "fp16_k1"

/* Read from a copy of just that length, so that reading beyond it is noticed. */
static int
read_error(const uint8_t *data, size_t length)
{
	struct netfc_set *set = NULL;
	uint8_t *copy = malloc(length + (length == 0));
	int error;

	assert_non_null(copy);
	memcpy(copy, data, length);
	error = netfc_set_deserialize(copy, length, &set);
	free(copy);
	if (error != NETFC_OK)
		assert_null(set);
	netfc_set_free(set);
	return error;
}

static int
expected_of_flip(size_t at, uint8_t value, uint8_t flipped)
{
	if (at < BYTES_VERSION)
		return NETFC_ERR_FOREIGN;
	if (at < BYTES_LENGTH)
		return at == BYTES_LENGTH - 1 && flipped == 0 ? NETFC_ERR_OLD : NETFC_ERR_NEW;
	if (at < BYTES_NAME)
		return flipped > value ? NETFC_ERR_TRUNCATED : NETFC_ERR_TRAILING;
	return NETFC_ERR_CHECKSUM;
}

TEST(every_flipped_bit_of_a_header_is_noticed)
{
	struct bytes bytes = bytes_of(NAME);

	for (size_t at = 0; at < BYTES_DESCRIPTOR; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint8_t value = bytes.data[at], flipped = value ^ (uint8_t)(1 << bit);

			bytes.data[at] = flipped;
			assert_int_equal(read_error(bytes.data, bytes.length),
				expected_of_flip(at, value, flipped));
			bytes.data[at] = value;
		}
	}
	free(bytes.data);
}

TEST(flipped_entries_and_checksums_are_noticed)
{
	struct bytes bytes = bytes_of(NAME);
	uint64_t seed = 1;

	for (unsigned i = 0; i < 200; i++) {
		size_t entries = bytes.length - BYTES_DESCRIPTOR, random = next_random(&seed);
		/* The checksum's own bytes first. */
		size_t at = i < 4 ? bytes.length - 1 - i : BYTES_DESCRIPTOR + random % entries;

		bytes.data[at] ^= (uint8_t)(1 << i % 8);
		assert_int_equal(read_error(bytes.data, bytes.length), NETFC_ERR_CHECKSUM);
		bytes.data[at] ^= (uint8_t)(1 << i % 8);
	}
	assert_int_equal(read_error(bytes.data, bytes.length), NETFC_OK);
	free(bytes.data);
}

TEST(truncated_files_are_noticed)
{
	struct bytes bytes = bytes_of(NAME);
	size_t length = 0;

	/* Without its magic a file is of another kind. */
	for (; length < BYTES_VERSION; length++)
		assert_int_equal(read_error(bytes.data, length), NETFC_ERR_FOREIGN);
	for (; length < BYTES_DESCRIPTOR + 20; length++)
		assert_int_equal(read_error(bytes.data, length), NETFC_ERR_TRUNCATED);
	for (; length < bytes.length - 20; length += 9973)
		assert_int_equal(read_error(bytes.data, length), NETFC_ERR_TRUNCATED);
	for (length = bytes.length - 20; length < bytes.length; length++)
		assert_int_equal(read_error(bytes.data, length), NETFC_ERR_TRUNCATED);
	free(bytes.data);
}

TEST(trailing_bytes_are_noticed)
{
	static const size_t more[] = {1, 2, 4, 12, 4096};
	struct bytes bytes = bytes_of(NAME);

	for (unsigned m = 0; m < sizeof(more) / sizeof(more[0]); m++) {
		uint8_t *longer = calloc(1, bytes.length + more[m]);

		assert_non_null(longer);
		memcpy(longer, bytes.data, bytes.length);
		assert_int_equal(read_error(longer, bytes.length + more[m]), NETFC_ERR_TRAILING);
		free(longer);
	}
	free(bytes.data);
}

TEST(other_versions_are_told_apart)
{
	struct bytes bytes = bytes_of(NAME);

	bytes_put32(bytes.data + BYTES_VERSION, NETFC_FILE_VERSION - 1);
	bytes_sign(bytes);
	assert_int_equal(read_error(bytes.data, bytes.length), NETFC_ERR_OLD);
	bytes_put32(bytes.data + BYTES_VERSION, NETFC_FILE_VERSION + 1);
	bytes_sign(bytes);
	assert_int_equal(read_error(bytes.data, bytes.length), NETFC_ERR_NEW);
	bytes_put32(bytes.data + BYTES_VERSION, UINT32_MAX);
	bytes_sign(bytes);
	assert_int_equal(read_error(bytes.data, bytes.length), NETFC_ERR_NEW);
	free(bytes.data);
}

/* Everything after the length follows from the name. */
TEST(headers_that_contradict_themselves_are_refused)
{
	struct bytes bytes = bytes_of(NAME);

	for (size_t at = BYTES_NAME; at < BYTES_DESCRIPTOR; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			bytes.data[at] ^= (uint8_t)(1 << bit);
			bytes_sign(bytes);
			assert_int_equal(read_error(bytes.data, bytes.length), NETFC_ERR_CONTENT);
			bytes.data[at] ^= (uint8_t)(1 << bit);
		}
	}
	free(bytes.data);
}

static void
expect_renamed(const char *name, size_t bytes_of_name, int error)
{
	struct bytes bytes = bytes_of(NAME);

	memcpy(bytes.data + BYTES_NAME, name, bytes_of_name);
	bytes_sign(bytes);
	assert_int_equal(read_error(bytes.data, bytes.length), error);
	free(bytes.data);
}

TEST(names_of_other_sets_are_refused)
{
	char endless[NETFC_SET_NAME_SIZE];

	memset(endless, 'a', sizeof(endless));
	expect_renamed(endless, sizeof(endless), NETFC_ERR_CONTENT);
	expect_renamed("fp16_k2", sizeof("fp16_k2"), NETFC_ERR_CONTENT);
	expect_renamed("fp16_k1_floor", sizeof("fp16_k1_floor"), NETFC_ERR_CONTENT);
	expect_renamed("bf16_k1", sizeof("bf16_k1"), NETFC_ERR_CONTENT);
	expect_renamed("", 1, NETFC_ERR_CONTENT);
	/* Something after the name's end. */
	expect_renamed("fp16_k1\0x", sizeof("fp16_k1\0x"), NETFC_ERR_CONTENT);
	expect_renamed("fp16_k1", sizeof("fp16_k1"), NETFC_OK);
}

/* The length fits the file, but not the set. */
TEST(a_file_without_its_last_table_is_refused)
{
	struct bytes bytes = bytes_of(NAME);

	bytes.length -= 4 * 1024;
	bytes_put32(bytes.data + BYTES_LENGTH, (uint32_t)bytes.length);
	bytes_sign(bytes);
	assert_int_equal(read_error(bytes.data, bytes.length), NETFC_ERR_CONTENT);
	free(bytes.data);
}

/* Every checksum right, but not even all tables are described. */
TEST(a_file_that_is_all_header_is_refused)
{
	struct bytes bytes = bytes_of(NAME);
	uint8_t end[4];

	for (bytes.length = BYTES_HEADER; bytes.length < BYTES_DESCRIPTOR + 4; bytes.length++) {
		memcpy(end, bytes.data + bytes.length - 4, sizeof(end));
		bytes_put32(bytes.data + BYTES_LENGTH, (uint32_t)bytes.length);
		bytes_sign(bytes);
		assert_int_equal(read_error(bytes.data, bytes.length),
			bytes.length < BYTES_HEADER + 4 ? NETFC_ERR_TRUNCATED : NETFC_ERR_CONTENT);
		memcpy(bytes.data + bytes.length - 4, end, sizeof(end));
	}
	free(bytes.data);
}

static void
expect_with_byte(size_t at, uint8_t value, int error)
{
	struct bytes bytes = bytes_of(NAME);

	bytes.data[at] = value;
	bytes_sign(bytes);
	assert_int_equal(read_error(bytes.data, bytes.length), error);
	free(bytes.data);
}

TEST(values_wider_than_their_table_allows_are_refused)
{
	const size_t exp = BYTES_DESCRIPTOR + 2 * 0x8000 + 3 * 2 * 0x10000;
	const size_t decide = exp + 2 * 0x10000;

	expect_with_byte(exp, 0x7f, NETFC_OK);
	expect_with_byte(exp, 0x80, NETFC_ERR_CONTENT);
	expect_with_byte(exp + 2 * 0xffff, 0x80, NETFC_ERR_CONTENT);
	expect_with_byte(decide, 0x0f, NETFC_OK);
	expect_with_byte(decide, 0x10, NETFC_ERR_CONTENT);
	expect_with_byte(decide + 4 * 1023, 0x80, NETFC_ERR_CONTENT);
}

/* Engines would look up what tables have nothing for; finite numbers alone have logarithms. */
TEST(logarithms_in_no_order_are_refused)
{
	const size_t log = BYTES_DESCRIPTOR;

	expect_with_byte(log + 2 * 0x3c00, 0x7f, NETFC_ERR_ORDER);
	expect_with_byte(log + 2 * 0x3c00, 0x80, NETFC_ERR_ORDER);
	expect_with_byte(log + 2 * 0x7bff, 0x80, NETFC_ERR_ORDER);
	expect_with_byte(log + 2 * 0x7bff, 0x7f, NETFC_OK);
	expect_with_byte(log + 2 * 0x7c00, 0x80, NETFC_OK);
	expect_with_byte(log, 0x7f, NETFC_OK);
}
