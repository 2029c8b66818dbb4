/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#include "journal.h"

/* A stream: its lines get a priority each. */
struct marker {
	int (*priority)(void);
	bool within; /* the next byte is not the first of a line */
};

/* The journal says which file it is: what else stderr may be by now has no use for priorities. */
static bool
leads_to_journal(void)
{
	const char *said = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat status;

	return said != NULL && sscanf(said, "%ju:%ju", &device, &inode) == 2 &&
		fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device &&
		status.st_ino == inode;
}

/* At once, so that lines of several threads stay whole. */
static bool
write_part(struct marker *marker, const char *text, size_t length)
{
	char mark[] = "<0>";
	struct iovec parts[] = {
		{mark, marker->within ? 0 : sizeof(mark) - 1},
		{(char *)(uintptr_t)text, length},
	};

	mark[1] = (char)('0' + marker->priority());
	return writev(STDERR_FILENO, parts, 2) >= 0;
}

static ssize_t
write_lines(void *cookie, const char *text, size_t length)
{
	struct marker *marker = cookie;
	size_t done = 0;

	while (done < length) {
		const char *end = memchr(text + done, '\n', length - done);
		size_t part = end != NULL ? (size_t)(end + 1 - (text + done)) : length - done;

		if (!write_part(marker, text + done, part))
			return 0;
		marker->within = end == NULL;
		done += part;
	}
	return (ssize_t)length;
}

static int
close_marker(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *
journal_open(int (*priority)(void))
{
	const cookie_io_functions_t functions = {.write = write_lines, .close = close_marker};
	struct marker *marker = leads_to_journal() ? calloc(1, sizeof(*marker)) : NULL;
	FILE *stream;

	if (marker == NULL)
		return NULL;
	marker->priority = priority;
	stream = fopencookie(marker, "w", functions);
	if (stream == NULL)
		free(marker);
	else
		setvbuf(stream, NULL, _IOLBF, 0);
	return stream;
}

static int
of_errors(void)
{
	return LOG_ERR;
}

void
journal_mark_errors(void)
{
	FILE *stream = journal_open(of_errors);

	/* glibc's standard streams are variables. */
	if (stream != NULL)
		stderr = stream;
}
