/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of calc: all lines that have arrived are answered, in batches, before it waits for
 * more. So it is fast in a pipe and never holds an answer back.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "show/stream.h"

#define INPUT_BYTES (1 << 16)
/* Characters of a bad line in the message. */
#define SHOWN_BYTES 60

/* Requests of one operation that have not been answered yet. */
struct batch {
	unsigned count;
	enum netfc_op op;
	uint32_t x[NETFC_BATCH], y[NETFC_BATCH];
	struct netfc_result answer[NETFC_BATCH];
};

struct stream {
	const struct stream_options *options;
	unsigned long long line; /* number of the line at hand */
	struct batch batch;
	size_t filled; /* of input */
	char input[INPUT_BYTES];
};

static int
write_failed(void)
{
	complain("cannot write to standard output: %s", strerror(errno));
	return STATUS_FAILED;
}

static int
answer_batch(struct stream *stream)
{
	struct batch *batch = &stream->batch;
	bool written = true;

	compute_lanes(
		stream->options->set, batch->op, batch->x, batch->y, batch->answer, batch->count);
	for (unsigned b = 0; b < batch->count && written; b++)
		written = print_answer(stream->options,
			&(struct operation){batch->op, batch->x[b], batch->y[b]}, batch->answer[b]);
	batch->count = 0;
	return written ? STATUS_DONE : write_failed();
}

static int
bad_line(const struct stream *stream, const char *line, size_t length, const char *expected)
{
	char shown[SHOWN_BYTES + 1];
	size_t s;

	for (s = 0; s < length && s < SHOWN_BYTES; s++)
		shown[s] = isprint((unsigned char)line[s]) ? line[s] : '?';
	shown[s] = '\0';
	complain("standard input, line %llu: expected %s, but got '%s%s'", stream->line, expected,
		shown, length > SHOWN_BYTES ? "..." : "");
	return STATUS_INPUT;
}

static int
take_line(struct stream *stream, const char *line, size_t length)
{
	struct batch *batch = &stream->batch;
	struct operation operation;
	const char *expected;
	int status = STATUS_DONE;

	stream->line++;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	expected = parse_line(stream->options, line, length, &operation);
	if (expected != NULL)
		return bad_line(stream, line, length, expected);
	if (batch->count == NETFC_BATCH || batch->op != operation.op)
		status = answer_batch(stream);
	batch->op = operation.op;
	batch->x[batch->count] = operation.x;
	batch->y[batch->count] = operation.y;
	batch->count++;
	return status;
}

/* Answer all complete lines in the input; the rest moves to its front. */
static int
take_lines(struct stream *stream)
{
	const char *line = stream->input, *end = stream->input + stream->filled, *newline;
	int status = STATUS_DONE;

	while (status == STATUS_DONE &&
		(newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		status = take_line(stream, line, (size_t)(newline - line));
		line = newline + 1;
	}
	stream->filled = (size_t)(end - line);
	if (status == STATUS_DONE && stream->filled == INPUT_BYTES) {
		stream->line++;
		status = bad_line(stream, line, stream->filled, "a shorter line");
	}
	memmove(stream->input, line, stream->filled);
	return status;
}

/* Write the answers to all lines taken so far, even if the next one is bad. */
static int
flush_answers(struct stream *stream, int status)
{
	int answered = stream->batch.count > 0 ? answer_batch(stream) : STATUS_DONE;

	if (answered == STATUS_DONE && fflush(stdout) != 0)
		answered = write_failed();
	return answered == STATUS_DONE ? status : answered;
}

static int
answer_all(struct stream *stream)
{
	int status = STATUS_DONE;
	ssize_t got;

	while (status == STATUS_DONE) {
		got = read(
			STDIN_FILENO, stream->input + stream->filled, INPUT_BYTES - stream->filled);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			complain("cannot read standard input: %s", strerror(errno));
			return STATUS_FAILED;
		}
		stream->filled += (size_t)got;
		if (got > 0)
			status = take_lines(stream);
		else if (stream->filled > 0)
			status = take_line(stream, stream->input, stream->filled);
		status = flush_answers(stream, status);
		if (got == 0)
			break;
	}
	return status;
}

int
run_stream(const struct stream_options *options)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int status;

	if (stream == NULL) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	stream->options = options;
	stream->batch.op = options->op_given ? options->op : NETFC_ADD;
	status = answer_all(stream);
	free(stream);
	return status;
}
