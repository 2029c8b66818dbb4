/* SPDX-License-Identifier: BSD-3-Clause */
/* Table-set files on disk: they appear whole or not at all, and what cannot be read says why. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"

#define DIRECTORY_SIZE 128
#define PATH_SIZE (DIRECTORY_SIZE + NAME_MAX + 1)
#define NAME "bf16_k1_floor"

/* A directory of the test's own, gone with all that is in it at the end. */
static char directory[DIRECTORY_SIZE];
static char path[PATH_SIZE];

static int
make_directory(void **state __attribute__((unused)))
{
	const char *parent = getenv("TMPDIR");

	snprintf(directory, sizeof(directory), "%s/netfc-test-XXXXXX",
		parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/set.netfc", directory);
	return 0;
}

/* Count the files; the names . and .. are none. */
static unsigned
files_in_directory(void)
{
	DIR *entries = opendir(directory);
	unsigned count = 0;

	assert_non_null(entries);
	while (readdir(entries) != NULL)
		count++;
	closedir(entries);
	return count - 2;
}

static int
remove_directory(void **state __attribute__((unused)))
{
	unlink(path);
	assert_int_equal(files_in_directory(), 0);
	assert_int_equal(rmdir(directory), 0);
	return 0;
}

static void
write_file(const void *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void
expect_file(struct bytes bytes)
{
	uint8_t *data = malloc(bytes.length + 1);
	FILE *file = fopen(path, "rb");

	assert_non_null(data);
	assert_non_null(file);
	assert_int_equal(fread(data, 1, bytes.length + 1, file), bytes.length);
	assert_memory_equal(data, bytes.data, bytes.length);
	fclose(file);
	free(data);
}

static void
expect_load_error(const char *from, int error, int number)
{
	struct netfc_set *set = NULL;

	errno = 0;
	assert_int_equal(netfc_set_load(from, &set), error);
	assert_int_equal(errno, number);
	assert_null(set);
}

static void
expect_save_error(const char *to, int number)
{
	struct netfc_set *set = must_build(NAME);

	errno = 0;
	assert_int_equal(netfc_set_save(set, to), NETFC_ERR_IO);
	assert_int_equal(errno, number);
	netfc_set_free(set);
}

TEST_WITH(a_saved_set_is_loaded, make_directory, remove_directory)
{
	struct netfc_set *set = must_build(NAME), *loaded = NULL;
	struct bytes bytes = bytes_of(NAME);

	assert_int_equal(netfc_set_save(set, path), NETFC_OK);
	assert_int_equal(files_in_directory(), 1);
	expect_file(bytes);
	assert_int_equal(netfc_set_load(path, &loaded), NETFC_OK);
	assert_string_equal(netfc_set_name(loaded), NAME);
	free(bytes.data);
	netfc_set_free(set);
	netfc_set_free(loaded);
}

TEST_WITH(saving_replaces_what_is_there, make_directory, remove_directory)
{
	struct netfc_set *set = must_build(NAME);
	struct bytes bytes = bytes_of(NAME);

	write_file("something else", 14);
	assert_int_equal(netfc_set_save(set, path), NETFC_OK);
	assert_int_equal(files_in_directory(), 1);
	expect_file(bytes);
	free(bytes.data);
	netfc_set_free(set);
}

/* So is its temporary file, as long as a file system takes it. */
TEST_WITH(a_set_is_saved_under_the_longest_name, make_directory, remove_directory)
{
	struct netfc_set *set = must_build(NAME);
	struct bytes bytes = bytes_of(NAME);
	char name[NAME_MAX + 1];

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	for (unsigned times = 0; times < 2; times++) {
		assert_int_equal(netfc_set_save(set, path), NETFC_OK);
		assert_int_equal(files_in_directory(), 1);
		expect_file(bytes);
	}
	free(bytes.data);
	netfc_set_free(set);
}

TEST_WITH(saving_into_nowhere_fails, make_directory, remove_directory)
{
	char nowhere[PATH_SIZE];

	snprintf(nowhere, sizeof(nowhere), "%s/missing/set.netfc", directory);
	expect_save_error(nowhere, ENOENT);
	assert_int_equal(files_in_directory(), 0);
}

TEST_WITH(saving_over_a_directory_fails_and_leaves_nothing, make_directory, remove_directory)
{
	assert_int_equal(mkdir(path, 0700), 0);
	expect_save_error(path, EISDIR);
	assert_int_equal(files_in_directory(), 1);
	assert_int_equal(rmdir(path), 0);
}

/* As if the disk were full after the first bytes. */
TEST_WITH(a_write_that_fails_keeps_the_old_file, make_directory, remove_directory)
{
	struct bytes old = {(uint8_t[]){'o', 'l', 'd'}, 3};
	struct rlimit before, little;

	write_file(old.data, old.length);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	little = (struct rlimit){1000, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	expect_save_error(path, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	expect_file(old);
	assert_int_equal(files_in_directory(), 1);
}

static void
expect_symlink(void)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
}

/* Not put in its place, which would take it away from everybody. */
TEST_WITH(a_device_is_written_to, make_directory, remove_directory)
{
	struct netfc_set *set = must_build(NAME);

	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(netfc_set_save(set, path), NETFC_OK);
	expect_symlink();
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/full", path), 0);
	expect_save_error(path, ENOSPC);
	expect_symlink();
	assert_int_equal(files_in_directory(), 1);
	netfc_set_free(set);
}

static mode_t
mode_of(const char *file)
{
	struct stat status;

	assert_int_equal(stat(file, &status), 0);
	return status.st_mode & 07777;
}

static void
save(const char *file)
{
	struct netfc_set *set = must_build(NAME);

	assert_int_equal(netfc_set_save(set, file), NETFC_OK);
	netfc_set_free(set);
}

TEST_WITH(a_new_file_has_the_mode_that_the_umask_leaves, make_directory, remove_directory)
{
	mode_t before = umask(027);

	save(path);
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(unlink(path), 0);
	umask(077);
	save(path);
	assert_int_equal(mode_of(path), 0600);
	umask(before);
}

TEST_WITH(what_is_replaced_keeps_its_mode_and_owner, make_directory, remove_directory)
{
	struct stat status;

	write_file("old", 3);
	assert_int_equal(chmod(path, 0604), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(path, 12345, 54321), 0);
	save(path);
	assert_int_equal(mode_of(path), 0604);
	assert_int_equal(stat(path, &status), 0);
	if (geteuid() == 0) {
		assert_int_equal(status.st_uid, 12345);
		assert_int_equal(status.st_gid, 54321);
	}
	assert_int_equal(files_in_directory(), 1);
}

TEST_WITH(links_go_on_to_lead_to_the_file, make_directory, remove_directory)
{
	char target[PATH_SIZE], other[PATH_SIZE];
	struct bytes bytes = bytes_of(NAME);
	struct stat status;

	snprintf(target, sizeof(target), "%s/target", directory);
	snprintf(other, sizeof(other), "%s/other", directory);
	/* One that leads nowhere yet, then to a file; then another name of a longer file. */
	assert_int_equal(symlink("target", path), 0);
	for (unsigned i = 0; i < 2; i++) {
		save(path);
		expect_symlink();
		assert_int_equal(stat(target, &status), 0);
		assert_int_equal(status.st_size, bytes.length);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(truncate(target, (off_t)bytes.length + 1000), 0);
	assert_int_equal(link(target, path), 0);
	save(path);
	assert_int_equal(stat(target, &status), 0);
	assert_int_equal(status.st_nlink, 2);
	assert_int_equal(status.st_size, bytes.length);
	expect_file(bytes);
	assert_int_equal(files_in_directory(), 2);
	assert_int_equal(unlink(target), 0);
	free(bytes.data);
}

static void *
feed(void *data)
{
	const struct bytes *bytes = data;

	write_file(bytes->data, bytes->length);
	return NULL;
}

TEST_WITH(a_pipe_is_read_to_its_end, make_directory, remove_directory)
{
	struct bytes bytes = bytes_of(NAME);
	struct netfc_set *set;
	pthread_t thread;

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&thread, NULL, feed, &bytes), 0);
	assert_int_equal(netfc_set_load(path, &set), NETFC_OK);
	pthread_join(thread, NULL);
	assert_string_equal(netfc_set_name(set), NAME);
	netfc_set_free(set);
	free(bytes.data);
	/* Said to be empty, and longer than a header. */
	expect_load_error("/proc/cpuinfo", NETFC_ERR_FOREIGN, 0);
}

TEST_WITH(what_is_no_file_cannot_be_loaded, make_directory, remove_directory)
{
	char missing[PATH_SIZE];

	snprintf(missing, sizeof(missing), "%s/missing.netfc", directory);
	expect_load_error(missing, NETFC_ERR_IO, ENOENT);
	expect_load_error(directory, NETFC_ERR_IO, EISDIR);
}

TEST_WITH(files_of_another_kind_are_refused, make_directory, remove_directory)
{
	static const char text[] =
		"#!/bin/sh\necho this is no table set, but longer than a header\n";

	write_file(text, sizeof(text));
	expect_load_error(path, NETFC_ERR_FOREIGN, 0);
	write_file("", 0);
	expect_load_error(path, NETFC_ERR_FOREIGN, 0);
	/* Far too large, whatever is in it. */
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	expect_load_error(path, NETFC_ERR_FOREIGN, 0);
}

TEST_WITH(damaged_files_are_refused, make_directory, remove_directory)
{
	struct bytes bytes = bytes_of(NAME);

	write_file(bytes.data, bytes.length / 2);
	expect_load_error(path, NETFC_ERR_TRUNCATED, 0);
	bytes.data[BYTES_DESCRIPTOR + 100] ^= 1;
	write_file(bytes.data, bytes.length);
	expect_load_error(path, NETFC_ERR_CHECKSUM, 0);
	free(bytes.data);
}
