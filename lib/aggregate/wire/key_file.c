/* SPDX-License-Identifier: BSD-3-Clause */
/* A cluster's key as a file has it. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate_tag.h"

#define DIGITS (2 * AGGREGATE_CLUSTER_KEY_BYTES)

/* One byte more than the longest: what is longer shows. */
struct content {
	uint8_t bytes[DIGITS + 2];
	size_t length;
};

struct error_text {
	const char *path;
	char *text;
	size_t room;
};

__attribute__((format(printf, 2, 3))) static int
set_error(const struct error_text *error, const char *format, ...)
{
	int used = snprintf(error->text, error->room, "key file %s: ", error->path);
	va_list arguments;

	if (used < 0 || (size_t)used >= error->room)
		return -1;
	va_start(arguments, format);
	vsnprintf(error->text + used, error->room - (size_t)used, format, arguments);
	va_end(arguments);
	return -1;
}

/*
 * Whether it is in the folder of a service's credentials (systemd's LoadCredential=), which only
 * the service may enter. The group's bits of such a file are the mask of its access control list.
 */
static bool
is_credential(const char *path)
{
	const char *folder = secure_getenv("CREDENTIALS_DIRECTORY");
	size_t length = folder != NULL ? strlen(folder) : 0;

	return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/' &&
		strchr(path + length + 1, '/') == NULL;
}

static int
check_file(int fd, const struct error_text *error)
{
	mode_t others = S_IRWXO | (is_credential(error->path) ? 0 : S_IRWXG);
	struct stat status;

	if (fstat(fd, &status) != 0)
		return set_error(error, "%m");
	if (!S_ISREG(status.st_mode))
		return set_error(error, "not a regular file");
	if ((status.st_mode & others) != 0)
		return set_error(error, "mode %04o lets others than its owner use it; chmod 600 %s",
			(unsigned int)status.st_mode & 07777, error->path);
	return 0;
}

static int
read_content(int fd, struct content *content, const struct error_text *error)
{
	ssize_t got;

	content->length = 0;
	do {
		got = read(fd, content->bytes + content->length,
			sizeof(content->bytes) - content->length);
		if (got > 0)
			content->length += (size_t)got;
	} while ((got > 0 && content->length < sizeof(content->bytes)) ||
		(got < 0 && errno == EINTR));
	return got < 0 ? set_error(error, "%m") : 0;
}

static uint8_t
digit_value(uint8_t digit)
{
	return (uint8_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

static int
decode_digits(const struct content *content, uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES],
	const struct error_text *error)
{
	for (size_t i = 0; i < DIGITS; i++)
		if (!isxdigit(content->bytes[i]))
			return set_error(error, "character %zu is no hexadecimal digit", i + 1);
	for (size_t i = 0; i < AGGREGATE_CLUSTER_KEY_BYTES; i++)
		key[i] = (uint8_t)(digit_value(content->bytes[2 * i]) << 4 |
			digit_value(content->bytes[2 * i + 1]));
	return 0;
}

static int
decode(const struct content *content, uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES],
	const struct error_text *error)
{
	size_t length = content->length;

	if (length == AGGREGATE_CLUSTER_KEY_BYTES) {
		memcpy(key, content->bytes, length);
		return 0;
	}
	if (length == DIGITS || (length == DIGITS + 1 && content->bytes[DIGITS] == '\n'))
		return decode_digits(content, key, error);
	return set_error(error, "%s%zu bytes; a key is %d bytes, or %d hexadecimal digits",
		length > DIGITS + 1 ? "more than " : "",
		length > DIGITS + 1 ? (size_t)DIGITS + 1 : length, AGGREGATE_CLUSTER_KEY_BYTES,
		DIGITS);
}

static int
read_key(int fd, uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES], const struct error_text *error)
{
	struct content content;
	int result = check_file(fd, error);

	if (result == 0)
		result = read_content(fd, &content, error);
	if (result == 0)
		result = decode(&content, key, error);
	explicit_bzero(&content, sizeof(content));
	return result;
}

struct aggregate_secret *
aggregate_secret_read(const char *path, char *error, size_t error_bytes)
{
	const struct error_text text = {path, error, error_bytes};
	uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES];
	struct aggregate_secret *secret = NULL;
	/* A FIFO is to be refused, not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		set_error(&text, "%m");
		return NULL;
	}
	if (read_key(fd, key, &text) == 0) {
		secret = aggregate_secret_create(key);
		if (secret == NULL)
			set_error(&text, "out of memory");
	}
	explicit_bzero(key, sizeof(key));
	close(fd);
	return secret;
}
