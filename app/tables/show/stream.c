/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of calc: all lines that have arrived are answered, in batches, before it waits for
 * more. So it is fast in a pipe and never holds an answer back.
 */

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "encoding.h"
#include "netfc.h"
#include "show/show.h"

/* ---- lines ----------------------------------------------------------------------------------- */

/* Parse and answer a line of the stream. */

/* The longest line that is not hexadecimal: operands may have all digits of a double. */
#define TEXT_BYTES 4096
#define MAX_WORDS 3

/* The rest of a line. */
struct rest {
	const char *at, *end;
};

static void
skip_blanks(struct rest *rest)
{
	while (rest->at < rest->end && (*rest->at == ' ' || *rest->at == '\t'))
		rest->at++;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to so many hex digits, and a blank or the end. */
static bool
take_hex(struct rest *rest, unsigned most, uint32_t *word)
{
	uint32_t value = 0;
	unsigned digits = 0;

	skip_blanks(rest);
	for (; rest->at < rest->end && hex_digit(*rest->at) >= 0; rest->at++, digits++)
		value = value << 4 | (uint32_t)hex_digit(*rest->at);
	*word = value;
	return digits >= 1 && digits <= most &&
		(rest->at == rest->end || *rest->at == ' ' || *rest->at == '\t');
}

static bool
at_end(struct rest *rest)
{
	skip_blanks(rest);
	return rest->at == rest->end;
}

/* An operation's name, and a blank. */
static bool
take_op(struct rest *rest, enum netfc_op *op)
{
	char name[8];
	size_t length = 0;

	skip_blanks(rest);
	while (rest->at < rest->end && *rest->at != ' ' && *rest->at != '\t') {
		if (length == sizeof(name) - 1 || *rest->at == '\0')
			return false;
		name[length++] = *rest->at++;
	}
	name[length] = '\0';
	return parse_op(name, op);
}

static const char *
parse_hex_line(const struct stream_options *options, struct rest rest, struct operation *operation)
{
	static const char *const expected[] = {
		"OP X Y or OP X Y Z F, all but OP in hex digits",
		"X Y or X Y Z F, all in hex digits",
	};
	const unsigned most = (unsigned)encoding_digits(netfc_set_format(options->set));
	uint32_t skipped;

	if (!options->op_given && !take_op(&rest, &operation->op))
		return expected[0];
	if (!take_hex(&rest, most, &operation->x) || !take_hex(&rest, most, &operation->y))
		return expected[options->op_given];
	if (!at_end(&rest) &&
		!(take_hex(&rest, most, &skipped) && take_hex(&rest, most, &skipped) &&
			at_end(&rest)))
		return expected[options->op_given];
	return NULL;
}

/* The words of a terminated line; -1 if there are more than MAX_WORDS. */
static int
split(char *text, const char **word)
{
	int count = 0;
	char *rest;

	for (text = strtok_r(text, " \t", &rest); text != NULL;
		text = strtok_r(NULL, " \t", &rest)) {
		if (count == MAX_WORDS)
			return -1;
		word[count++] = text;
	}
	return count;
}

static const char *
parse_text_line(const struct stream_options *options, const char *line, size_t length,
	struct operation *operation)
{
	static const char *const expected[] = {
		"OP X Y (such as: mul 1.5 0x3c00)",
		"X Y (such as: 1.5 0x3c00)",
	};
	const struct netfc_format *format = netfc_set_format(options->set);
	const char *word[MAX_WORDS], **operand = options->op_given ? word : word + 1;
	char text[TEXT_BYTES];

	if (length >= sizeof(text) || memchr(line, '\0', length) != NULL)
		return expected[options->op_given];
	memcpy(text, line, length);
	text[length] = '\0';
	if (split(text, word) != (options->op_given ? 2 : 3))
		return expected[options->op_given];
	if ((!options->op_given && !parse_op(word[0], &operation->op)) ||
		!parse_encoding(format, operand[0], false, &operation->x) ||
		!parse_encoding(format, operand[1], false, &operation->y))
		return expected[options->op_given];
	return NULL;
}

/* Read a line, which is not terminated. NULL, or what was expected. */
static const char *
parse_line(const struct stream_options *options, const char *line, size_t length,
	struct operation *operation)
{
	operation->op = options->op;
	if (options->hex)
		return parse_hex_line(options, (struct rest){line, line + length}, operation);
	return parse_text_line(options, line, length, operation);
}

static char *
put_hex(char *at, unsigned value, unsigned digits, char last)
{
	for (unsigned d = digits; d-- > 0;)
		*at++ = "0123456789ABCDEF"[value >> 4 * d & 15];
	*at++ = last;
	return at;
}

static bool
print_hex(const struct stream_options *options, const struct operation *operation,
	struct netfc_result result)
{
	const unsigned digits = (unsigned)encoding_digits(netfc_set_format(options->set));
	char line[48], *at = line;
	size_t length;

	if (!options->op_given) {
		at = stpcpy(at, netfc_op_name(operation->op));
		*at++ = ' ';
	}
	at = put_hex(at, operation->x, digits, ' ');
	at = put_hex(at, operation->y, digits, ' ');
	at = put_hex(at, result.z, digits, ' ');
	at = put_hex(at, result.flags, 2, '\n');
	length = (size_t)(at - line);
	return fwrite(line, 1, length, stdout) == length;
}

static bool
print_json_line(const struct outcome *outcome, const char *set)
{
	json_t *object = outcome_json(outcome, set);
	bool written = object != NULL && json_dumpf(object, stdout, JSON_COMPACT) == 0 &&
		putchar('\n') != EOF;

	json_decref(object);
	return written;
}

static bool
print_text(const struct outcome *outcome)
{
	const struct netfc_format *format = outcome->format;
	char x[NUMBER_SIZE], y[NUMBER_SIZE], z[NUMBER_SIZE], exact[NUMBER_SIZE];
	char flags[FLAGS_SIZE];
	int digits = encoding_digits(format);

	return printf("%s %s %s = %s 0x%0*x, exact %s 0x%0*x, accuracy %.4f %%, exceptions: %s\n",
		       encoding_text(format, outcome->operation.x, x),
		       netfc_op_symbol(outcome->operation.op),
		       encoding_text(format, outcome->operation.y, y),
		       encoding_text(format, outcome->netfc.z, z), digits, outcome->netfc.z,
		       encoding_text(format, outcome->exact.z, exact), digits, outcome->exact.z,
		       100 * outcome->accuracy, flags_text(outcome->netfc.flags, flags)) > 0;
}

/* Write the answer to a line to standard output. False if writing failed. */
static bool
print_answer(const struct stream_options *options, const struct operation *operation,
	struct netfc_result result)
{
	struct outcome outcome;

	if (options->hex && !options->json)
		return print_hex(options, operation, result);
	outcome = compare_result(netfc_set_format(options->set), operation, result);
	if (options->json)
		return print_json_line(&outcome, netfc_set_name(options->set));
	return print_text(&outcome);
}

/* ---- the stream ------------------------------------------------------------------------------ */

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
	return report_error(STATUS_FAILED, "cannot write to standard output: %s", strerror(errno));
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
	return report_error(STATUS_INPUT, "standard input, line %llu: expected %s, but got '%s%s'",
		stream->line, expected, shown, length > SHOWN_BYTES ? "..." : "");
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
		if (got < 0)
			return report_error(
				STATUS_FAILED, "cannot read standard input: %s", strerror(errno));
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

	if (stream == NULL)
		return out_of_memory();
	stream->options = options;
	stream->batch.op = options->op_given ? options->op : NETFC_ADD;
	status = answer_all(stream);
	free(stream);
	return status;
}
