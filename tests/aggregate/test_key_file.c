/* SPDX-License-Identifier: BSD-3-Clause */
/* A cluster's key as files have it, and what is said of those that have none. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "cases.h"

#define DIGITS "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static char folder[] = "/tmp/test_key_file.XXXXXX";
static char path[sizeof(folder) + 8];
static char error[AGGREGATE_SECRET_ERROR_BYTES];
static uint8_t raw[AGGREGATE_CLUSTER_KEY_BYTES];

static int
start(void **state)
{
	(void)state;
	for (uint8_t i = 0; i < sizeof(raw); i++)
		raw[i] = i;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/key", folder);
	return 0;
}

static int
stop(void **state)
{
	(void)state;
	return rmdir(folder);
}

static int
remove_file(void **state)
{
	(void)state;
	return remove(path);
}

/* A new file: what a mode keeps everybody from writing is not written again. */
static void
write_file(const void *content, size_t length, mode_t mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, length), length);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void
take_tag(const struct aggregate_secret *secret, uint8_t tag[AGGREGATE_TAG_BYTES])
{
	uint8_t packet[AGGREGATE_HEADER_BYTES + AGGREGATE_TAG_BYTES] = {0};
	struct aggregate_tag_key key;

	aggregate_tag_join_key(secret, AGGREGATE_TO_SWITCH, &key);
	aggregate_tag_make(&key, packet, AGGREGATE_HEADER_BYTES, 0);
	memcpy(tag, packet + AGGREGATE_HEADER_BYTES, AGGREGATE_TAG_BYTES);
}

static void
expect_key(const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES])
{
	struct aggregate_secret *read = aggregate_secret_read(path, error, sizeof(error));
	struct aggregate_secret *made = aggregate_secret_create(key);
	uint8_t tag[AGGREGATE_TAG_BYTES], expected[AGGREGATE_TAG_BYTES];

	assert_non_null(read);
	assert_non_null(made);
	take_tag(read, tag);
	take_tag(made, expected);
	assert_memory_equal(tag, expected, sizeof(tag));
	aggregate_secret_free(read);
	aggregate_secret_free(made);
}

static void
expect_error(const char *what)
{
	char expected[AGGREGATE_SECRET_ERROR_BYTES];

	error[0] = '\0';
	assert_null(aggregate_secret_read(path, error, sizeof(error)));
	snprintf(expected, sizeof(expected), "key file %s: %s", path, what);
	assert_string_equal(error, expected);
}

TEST_WITH(a_key_is_read, NULL, remove_file)
{
	uint8_t ones[AGGREGATE_CLUSTER_KEY_BYTES];

	write_file(raw, sizeof(raw), 0600);
	expect_key(raw);
	write_file(raw, sizeof(raw), 0400);
	expect_key(raw);
	write_file(DIGITS, 64, 0600);
	expect_key(raw);
	write_file(DIGITS "\n", 65, 0600);
	expect_key(raw);
	memset(ones, 0xfa, sizeof(ones));
	write_file("fafafafafafafafafafafafafafafafaFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFA", 64, 0600);
	expect_key(ones);
}

/* 32 bytes are the key, whatever they are. */
TEST_WITH(any_bytes_are_a_key, NULL, remove_file)
{
	uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES];

	memset(key, '\n', sizeof(key));
	write_file(key, sizeof(key), 0600);
	expect_key(key);
	memset(key, '0', sizeof(key));
	write_file(key, sizeof(key), 0600);
	expect_key(key);
}

TEST_WITH(other_lengths_are_refused, NULL, remove_file)
{
	uint8_t many[1000] = {0};

	write_file(many, 0, 0600);
	expect_error("0 bytes; a key is 32 bytes, or 64 hexadecimal digits");
	write_file(many, 31, 0600);
	expect_error("31 bytes; a key is 32 bytes, or 64 hexadecimal digits");
	write_file(many, 33, 0600);
	expect_error("33 bytes; a key is 32 bytes, or 64 hexadecimal digits");
	write_file(DIGITS, 63, 0600);
	expect_error("63 bytes; a key is 32 bytes, or 64 hexadecimal digits");
	write_file(DIGITS "0", 65, 0600);
	expect_error("65 bytes; a key is 32 bytes, or 64 hexadecimal digits");
	write_file(DIGITS "\n\n", 66, 0600);
	expect_error("more than 65 bytes; a key is 32 bytes, or 64 hexadecimal digits");
	write_file(many, sizeof(many), 0600);
	expect_error("more than 65 bytes; a key is 32 bytes, or 64 hexadecimal digits");
}

TEST_WITH(other_characters_are_refused, NULL, remove_file)
{
	static const char others[] = "/:@G`g \n\x80\xff";

	for (size_t place = 0; place < 64; place += 21)
		for (const char *other = others; *other != '\0'; other++) {
			char digits[] = DIGITS, what[64];

			digits[place] = *other;
			write_file(digits, 64, 0600);
			snprintf(what, sizeof(what), "character %zu is no hexadecimal digit",
				place + 1);
			expect_error(what);
		}
}

TEST_WITH(files_open_to_others_are_refused, NULL, remove_file)
{
	for (mode_t bit = S_IXOTH; bit <= S_IRGRP; bit = (mode_t)(bit << 1)) {
		char what[sizeof(path) + 80];

		write_file(raw, sizeof(raw), 0600 | bit);
		snprintf(what, sizeof(what),
			"mode %04o lets others than its owner use it; chmod 600 %s",
			(unsigned int)(0600 | bit), path);
		expect_error(what);
	}
}

/* systemd makes them with an access control list, whose mask shows as the group's bits. */
TEST_WITH(a_credential_may_have_a_list, NULL, remove_file)
{
	char below[sizeof(folder)];

	write_file(raw, sizeof(raw), 0440);
	setenv("CREDENTIALS_DIRECTORY", folder, 1);
	expect_key(raw);
	write_file(raw, sizeof(raw), 0444);
	assert_null(aggregate_secret_read(path, error, sizeof(error)));
	write_file(raw, sizeof(raw), 0440);
	snprintf(below, sizeof(below), "%.*s", (int)sizeof(folder) - 2, folder);
	setenv("CREDENTIALS_DIRECTORY", below,
		1); /* another folder, whose name begins this one's */
	assert_null(aggregate_secret_read(path, error, sizeof(error)));
	setenv("CREDENTIALS_DIRECTORY", "/tmp", 1);
	assert_null(aggregate_secret_read(path, error, sizeof(error)));
	setenv("CREDENTIALS_DIRECTORY", "", 1);
	assert_null(aggregate_secret_read(path, error, sizeof(error)));
	unsetenv("CREDENTIALS_DIRECTORY");
}

TEST_WITH(a_link_is_followed, NULL, remove_file)
{
	char target[sizeof(path) + 8];

	write_file(raw, sizeof(raw), 0600);
	snprintf(target, sizeof(target), "%s.target", path);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	expect_key(raw);
	assert_int_equal(remove(target), 0);
	expect_error("No such file or directory");
}

TEST_WITH(what_is_no_file_is_refused, NULL, remove_file)
{
	expect_error("No such file or directory");
	assert_int_equal(mkdir(path, 0700), 0);
	expect_error("not a regular file");
	assert_int_equal(rmdir(path), 0);
	/* Nobody writes to it: to wait would be for ever. */
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_error("not a regular file");
}

/* As somebody to whom permissions apply. */
TEST_WITH(what_cannot_be_read_is_refused, NULL, remove_file)
{
	const uid_t nobody = 65534;
	bool is_root = geteuid() == 0;

	assert_int_equal(chmod(folder, 0711), 0);
	write_file(raw, sizeof(raw), is_root ? 0600 : 0000);
	if (is_root)
		assert_int_equal(seteuid(nobody), 0);
	expect_error("Permission denied");
	if (is_root)
		assert_int_equal(seteuid(0), 0);
}

TEST(messages_fit_their_room)
{
	for (size_t room = 1; room < 100; room++) {
		memset(error, 'x', sizeof(error));
		assert_null(aggregate_secret_read("/", error, room));
		assert_true(strnlen(error, room) < room);
		assert_int_equal(error[room], 'x');
	}
	assert_string_equal(error, "key file /: not a regular file");
}

int
main(void)
{
	return tests_run(start, stop);
}
