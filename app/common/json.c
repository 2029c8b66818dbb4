/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"

struct json_file {
	const char *who;
	const char *path;
	char *temporary; /* NULL: path is no regular file and is written as it is */
	FILE *stream;
};

static int
fail(const char *who, const char *path, const char *what)
{
	fprintf(stderr, "%s '%s': cannot %s: %s\n", who, path, what, strerror(errno));
	return -1;
}

static bool
is_standard_output(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* A device, pipe or the like: written to. A regular file is replaced when all is written. */
static bool
is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static void
free_file(struct json_file *file)
{
	free(file->temporary);
	free(file);
}

static int
close_file(struct json_file *file)
{
	return file->stream != stdout ? fclose(file->stream) : fflush(stdout);
}

/* A new file beside `path`, with an unpredictable name. */
static FILE *
open_temporary(struct json_file *file)
{
	FILE *stream;
	int fd;

	if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0) {
		file->temporary = NULL;
		return NULL;
	}
	fd = mkstemp(file->temporary);
	if (fd < 0)
		return NULL;
	stream = fchmod(fd, 0644) == 0 ? fdopen(fd, "w") : NULL;
	if (stream == NULL) {
		close(fd);
		unlink(file->temporary);
	}
	return stream;
}

static FILE *
open_stream(struct json_file *file)
{
	if (is_standard_output(file->path))
		return stdout;
	if (is_special(file->path))
		return fopen(file->path, "w");
	return open_temporary(file);
}

int
json_file_open(const char *who, const char *path, struct json_file **result)
{
	struct json_file *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return fail(who, path, "open");
	file->who = who;
	file->path = path;
	file->stream = open_stream(file);
	if (file->stream == NULL) {
		free_file(file);
		return fail(who, path, "open");
	}
	*result = file;
	return 0;
}

int
json_file_write(struct json_file **opened, json_t *object)
{
	struct json_file *file = *opened;
	bool written = json_dumpf(object, file->stream, JSON_INDENT(2)) == 0 &&
		fputc('\n', file->stream) != EOF;
	int result = 0;

	written = close_file(file) == 0 && written;
	if (!written || (file->temporary != NULL && rename(file->temporary, file->path) != 0)) {
		result = fail(file->who, file->path, "write");
		if (file->temporary != NULL)
			unlink(file->temporary);
	}
	free_file(file);
	*opened = NULL;
	json_decref(object);
	return result;
}

void
json_file_abandon(struct json_file *file)
{
	if (file == NULL)
		return;
	close_file(file);
	if (file->temporary != NULL)
		unlink(file->temporary);
	free_file(file);
}

json_t *
json_text(const char *text)
{
	json_t *string = json_string(text);
	char *copy;

	if (string != NULL)
		return string;
	copy = strdup(text);
	if (copy == NULL)
		return NULL;
	for (char *at = copy; *at != '\0'; at++) {
		if ((unsigned char)*at > 0x7f)
			*at = '?';
	}
	string = json_string(copy);
	free(copy);
	return string;
}
