/* SPDX-License-Identifier: BSD-3-Clause */
#include "file_bytes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Behind the magic. */
#define VERSION_OFFSET 8
#define LENGTH_OFFSET 12
/* All files are much smaller; a larger one is not read. */
#define MAX_FILE_BYTES (64u << 20)

static uint32_t
checksum(const uint8_t *data, size_t length)
{
	return (uint32_t)crc32_z(0, data, length);
}

void
put_checksum(uint8_t *data, size_t length)
{
	put_number(data + length - FILE_CHECKSUM_BYTES,
		checksum(data, length - FILE_CHECKSUM_BYTES), FILE_CHECKSUM_BYTES);
}

int
netfc_check_file(const uint8_t *data, size_t length, const char *magic, uint32_t version,
	size_t header_bytes)
{
	uint32_t written, stated;

	if (length < FILE_MAGIC_BYTES || memcmp(data, magic, FILE_MAGIC_BYTES) != 0)
		return NETFC_ERR_FOREIGN;
	if (length < header_bytes + FILE_CHECKSUM_BYTES)
		return NETFC_ERR_TRUNCATED;
	written = get_number(data + VERSION_OFFSET, 4);
	if (written != version)
		return written < version ? NETFC_ERR_OLD : NETFC_ERR_NEW;
	stated = get_number(data + LENGTH_OFFSET, 4);
	if (length != stated)
		return length < stated ? NETFC_ERR_TRUNCATED : NETFC_ERR_TRAILING;
	if (get_number(data + length - FILE_CHECKSUM_BYTES, FILE_CHECKSUM_BYTES) !=
		checksum(data, length - FILE_CHECKSUM_BYTES))
		return NETFC_ERR_CHECKSUM;
	return NETFC_OK;
}

static bool
write_and_close(FILE *file, const void *data, size_t length)
{
	bool written = fwrite(data, 1, length, file) == length;

	return fclose(file) == 0 && written;
}

/* Write all bytes to a new file, and make it readable for all. */
static bool
write_all(int fd, const void *data, size_t length)
{
	FILE *file = fchmod(fd, 0644) == 0 ? fdopen(fd, "wb") : NULL;

	if (file != NULL)
		return write_and_close(file, data, length);
	close(fd);
	return false;
}

/* Write a new file beside `path`, then rename it to `path`. `template` is for mkstemp(). */
static int
replace_file(const char *path, char *template, const void *data, size_t length)
{
	int fd = mkstemp(template), saved;

	if (fd < 0)
		return NETFC_ERR_IO;
	if (write_all(fd, data, length) && rename(template, path) == 0)
		return NETFC_OK;
	saved = errno;
	unlink(template);
	errno = saved;
	return NETFC_ERR_IO;
}

/* A device, pipe or the like: written to, because a rename would replace it. */
static bool
is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static int
write_special(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	return file != NULL && write_and_close(file, data, length) ? NETFC_OK : NETFC_ERR_IO;
}

int
netfc_write_file(const char *path, const void *data, size_t length)
{
	char *template = NULL;
	int error;

	if (is_special(path))
		return write_special(path, data, length);
	if (asprintf(&template, "%s.XXXXXX", path) < 0)
		return NETFC_ERR_NOMEM;
	error = replace_file(path, template, data, length);
	free(template);
	return error;
}

static int
read_all(FILE *file, void **data, size_t *length)
{
	struct stat status;
	uint8_t *buffer;

	if (fstat(fileno(file), &status) != 0)
		return NETFC_ERR_IO;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return NETFC_ERR_IO;
	}
	if (status.st_size > (off_t)MAX_FILE_BYTES)
		return NETFC_ERR_FOREIGN;
	/* One more byte than the size, to notice a file that grows. */
	*length = (size_t)status.st_size + 1;
	buffer = malloc(*length);
	if (buffer == NULL)
		return NETFC_ERR_NOMEM;
	*length = fread(buffer, 1, *length, file);
	if (ferror(file)) {
		free(buffer);
		return NETFC_ERR_IO;
	}
	*data = buffer;
	return NETFC_OK;
}

int
netfc_read_file(const char *path, void **data, size_t *length)
{
	FILE *file = fopen(path, "rb");
	int error, saved;

	if (file == NULL)
		return NETFC_ERR_IO;
	error = read_all(file, data, length);
	saved = errno;
	fclose(file);
	errno = saved;
	return error;
}
