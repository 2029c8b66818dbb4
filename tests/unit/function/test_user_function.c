/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of users' own: names, flags, and files, none of which is read unless it is whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "unit.h"

#define NAME_OFFSET 16
#define FORMAT_OFFSET 48
#define FLAGS_OFFSET (52 + 2 * NETFC_FUNCTION_ENTRIES)

static uint16_t z[NETFC_FUNCTION_ENTRIES];
static uint8_t flags[NETFC_FUNCTION_ENTRIES];

static const struct netfc_format *
format_of(const char *name)
{
	return netfc_format_by_name(name);
}

static struct netfc_user_function *
must_create(const char *name, const char *format)
{
	struct netfc_user_function *function = NULL;

	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++) {
		z[x] = (uint16_t)(x * 40503u) & low_mask(netfc_format_width(format_of(format)));
		flags[x] = (uint8_t)(x % 16);
	}
	assert_int_equal(
		netfc_user_function_create(name, format_of(format), z, flags, &function), NETFC_OK);
	return function;
}

TEST(names)
{
	static const char *const good[] = {"a", "relu", "x2", "abcdefghijklmnopqrstuvwxyz_1234",
		"to_", "min_", "to_celsius", "from_quarts", "to_fp", "to_point1"};
	static const char *const bad[] = {"", "Relu", "2x", "_a", "a-b", "a b", "a.b", "a\n",
		"abcdefghijklmnopqrstuvwxyz_12345", "sqrt", "to_q8", "fma", "min", "add", "query",
		"name", "to_q16", "from_q0", "to_int32", "from_fp16", "to_fp8_e4m3", "from_bf16",
		"to_posit32", "from_posit16_es2", "to_uint8"};
	struct netfc_user_function *function = NULL;

	for (size_t n = 0; n < sizeof(good) / sizeof(good[0]); n++)
		assert_true(netfc_user_function_is_name(good[n]));
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		assert_false(netfc_user_function_is_name(bad[n]));
		assert_int_equal(
			netfc_user_function_create(bad[n], format_of("fp16"), z, flags, &function),
			NETFC_ERR_NAME);
	}
	assert_null(function);
	netfc_user_function_free(NULL);
}

TEST(flags_that_do_not_exist)
{
	struct netfc_user_function *function = NULL;

	memset(flags, 0, sizeof(flags));
	flags[0xffff] = 16;
	assert_int_equal(netfc_user_function_create("f", format_of("fp16"), z, flags, &function),
		NETFC_ERR_ARGUMENT);
}

TEST(values_of_8_bits)
{
	struct netfc_user_function *function = must_create("f", "fp8_e4m3");

	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++) {
		assert_int_equal(netfc_user_function_z(function)[x], z[x % 256]);
		assert_int_equal(netfc_user_function_flags(function)[x], flags[x % 256]);
	}
	netfc_user_function_free(function);
	z[255] = 256;
	assert_int_equal(
		netfc_user_function_create("f", format_of("fp8_e4m3"), z, flags, &function),
		NETFC_ERR_ARGUMENT);
	assert_int_equal(netfc_user_function_create("f", netfc_fp32_format(), z, flags, &function),
		NETFC_ERR_FORMAT);
}

TEST(flags_by_their_definitions)
{
	struct netfc_user_function *function = NULL;

	memset(z, 0, sizeof(z));
	z[0x3c00] = 0x7e00;
	z[0x7e01] = 0x7e00;
	z[0x0000] = 0xfc00;
	z[0x7c00] = 0x7c00;
	assert_int_equal(
		netfc_user_function_create("f", format_of("fp16"), z, NULL, &function), NETFC_OK);
	assert_int_equal(netfc_user_function_flags(function)[0x3c00], NETFC_INVALID);
	assert_int_equal(netfc_user_function_flags(function)[0x7e01], 0);
	assert_int_equal(netfc_user_function_flags(function)[0x0000], NETFC_DIVBYZERO);
	assert_int_equal(netfc_user_function_flags(function)[0x7c00], 0);
	assert_int_equal(netfc_user_function_flags(function)[0x4000], 0);
	netfc_user_function_free(function);
}

static void
expect_same(const struct netfc_user_function *a, const struct netfc_user_function *b)
{
	assert_string_equal(netfc_user_function_name(a), netfc_user_function_name(b));
	assert_ptr_equal(netfc_user_function_format(a), netfc_user_function_format(b));
	assert_memory_equal(netfc_user_function_z(a), netfc_user_function_z(b), sizeof(z));
	assert_memory_equal(
		netfc_user_function_flags(a), netfc_user_function_flags(b), sizeof(flags));
}

TEST(files_there_and_back)
{
	static const char *const formats[] = {
		"fp16", "posit16", "bf16", "posit16_es2", "fp8_e4m3", "fp8_e5m2"};
	char path[] = "/tmp/netfc-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (unsigned f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		struct netfc_user_function *function =
			must_create("abcdefghijklmnopqrstuvwxyz_1234", formats[f]);
		struct netfc_user_function *again = NULL;

		assert_int_equal(netfc_user_function_save(function, path), NETFC_OK);
		assert_int_equal(netfc_user_function_load(path, &again), NETFC_OK);
		expect_same(function, again);
		netfc_user_function_free(again);
		netfc_user_function_free(function);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(netfc_user_function_load(path, &(struct netfc_user_function *){NULL}),
		NETFC_ERR_IO);
	assert_int_equal(errno, ENOENT);
}

/* The bytes of a file, with a byte changed and a checksum that fits again. */
static int
read_changed(uint8_t *data, size_t length, size_t offset, uint8_t value)
{
	struct netfc_user_function *function = NULL;
	uint8_t before = data[offset];
	uint32_t sum;
	int error;

	data[offset] = value;
	sum = (uint32_t)crc32_z(0, data, length - 4);
	for (unsigned b = 0; b < 4; b++)
		data[length - 4 + b] = (uint8_t)(sum >> (24 - 8 * b));
	error = netfc_user_function_deserialize(data, length, &function);
	netfc_user_function_free(function);
	data[offset] = before;
	return error;
}

TEST(files_that_are_not_whole)
{
	struct netfc_user_function *function = must_create("f", "bf16"), *again = NULL;
	uint8_t *data = NULL;
	size_t length;

	assert_int_equal(
		netfc_user_function_serialize(function, (void **)&data, &length), NETFC_OK);
	for (size_t cut = 0; cut < length; cut += cut < 200 ? 1 : 4999)
		assert_int_equal(netfc_user_function_deserialize(data, cut, &again),
			cut < 8 ? NETFC_ERR_FOREIGN : NETFC_ERR_TRUNCATED);
	data[FLAGS_OFFSET] ^= 1;
	assert_int_equal(netfc_user_function_deserialize(data, length, &again), NETFC_ERR_CHECKSUM);
	data[FLAGS_OFFSET] ^= 1;
	assert_int_equal(read_changed(data, length, 0, 'n'), NETFC_ERR_FOREIGN);
	assert_int_equal(read_changed(data, length, 11, 0), NETFC_ERR_OLD);
	assert_int_equal(read_changed(data, length, 11, 2), NETFC_ERR_NEW);
	assert_int_equal(read_changed(data, length, 15, 0), NETFC_ERR_TRAILING);
	assert_int_equal(read_changed(data, length, NAME_OFFSET, 'F'), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, NAME_OFFSET, 0), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, NAME_OFFSET + 31, 'f'), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, FORMAT_OFFSET, 0), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, FORMAT_OFFSET, 5), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, FORMAT_OFFSET, 8), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, FORMAT_OFFSET + 3, 1), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, FLAGS_OFFSET, 0x10), NETFC_ERR_CONTENT);
	assert_int_equal(read_changed(data, length, FLAGS_OFFSET, 0x0f), NETFC_OK);
	assert_null(again);
	free(data);
	netfc_user_function_free(function);
}
