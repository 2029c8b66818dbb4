/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables build --function NAME: values in, a file out; calc and show with such a file. */
#include "user/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "encoding.h"
#include "json.h"
#include "set/set.h"
#include "show/show.h"
#include "user/samples.h"

static int
check_options(const struct user_options *options)
{
	if ((options->from == NULL) == (options->expression == NULL))
		return wrong_operands(
			&build_command, "--function needs either --from or --expression");
	if (netfc_user_function_is_name(options->function))
		return STATUS_DONE;
	return report_error(STATUS_INPUT,
		"build: '%s' is not a name for your own function: expected a lower-case letter, then "
		"up to 30 letters, digits or underscores; not a name in netfc-tables list "
		"--functions, nor one that reads as a conversion, such as to_q16 or from_fp32",
		options->function);
}

/* One that saturates has the name of its table set. */
static int
find_format(const char *name, const struct netfc_format **format)
{
	struct netfc_set_id id;

	*format = netfc_format_by_name(name != NULL ? name : "fp16");
	if (*format == NULL && netfc_set_parse_name(name, &id) == NETFC_OK &&
		netfc_format_saturates(id.format))
		*format = id.format;
	if (*format != NULL)
		return STATUS_DONE;
	return report_error(STATUS_INPUT,
		"build: '%s' is not a format of your own functions; known are fp16, posit16, "
		"bf16, posit16_es2, fp8_e4m3 and fp8_e5m2, and fp8_e4m3_sat and fp8_e5m2_sat, in "
		"which too large results become the greatest number",
		name);
}

int
user_build(const struct user_options *options, struct user_report *report)
{
	const struct netfc_format *format = NULL;
	int status = check_options(options), error;

	if (status == STATUS_DONE)
		status = find_format(options->format, &format);
	if (status != STATUS_DONE)
		return status;
	report->samples = calloc(1, sizeof(*report->samples));
	if (report->samples == NULL)
		return out_of_memory();
	report->samples->format = format;
	status = options->from != NULL ? samples_read(options->from, report->samples)
				       : samples_evaluate(options->expression, report->samples);
	if (status != STATUS_DONE)
		return status;
	samples_count(report->samples);
	error = netfc_user_function_create(options->function, format, report->samples->z,
		report->samples->flags, &report->function);
	if (error == NETFC_OK)
		return STATUS_DONE;
	return report_error(
		STATUS_FAILED, "build: %s: %s", options->function, netfc_strerror(error));
}

void
user_report_free(struct user_report *report)
{
	netfc_user_function_free(report->function);
	free(report->samples);
}

void
user_report_text(const struct user_report *report)
{
	const struct samples *samples = report->samples;
	char bytes[GROUPED_SIZE], entries[GROUPED_SIZE], x[NUMBER_SIZE];

	printf("%s: wrote %s, %s bytes, %s entries of %s, in %.0f ms\n",
		netfc_user_function_name(report->function), report->path,
		grouped((unsigned long long)report->bytes, bytes),
		grouped(samples_entries(samples), entries), netfc_format_name(samples->format),
		report->milliseconds);
	if (samples->has_error && samples->error == 0)
		puts("Every normal result is exact.");
	else if (samples->has_error)
		printf("Greatest relative error of a normal result: %.3g, at x = %s "
		       "(0x%0*x).\n",
			samples->error, encoding_text(samples->format, samples->worst, x),
			encoding_digits(samples->format), samples->worst);
	else
		puts("Values are encodings: their errors are not known.");
	for (unsigned bit = 0; bit < 4; bit++) {
		if (samples->exceptions[bit] != 0)
			printf("%s: %u of %s arguments\n", flag_name((enum netfc_flag)(1u << bit)),
				samples->exceptions[bit], entries);
	}
}

int
user_report_json(const struct user_report *report)
{
	const struct samples *samples = report->samples;
	json_t *exceptions = json_object();

	for (unsigned bit = 0; bit < 4; bit++)
		json_object_set_new(exceptions, flag_name((enum netfc_flag)(1u << bit)),
			json_integer(samples->exceptions[bit]));
	return print_json(json_pack("{s:s, s:s, s:o, s:I, s:f, s:o, s:o, s:o}", "function",
		netfc_user_function_name(report->function), "format",
		netfc_format_name(samples->format), "file", json_text(report->path), "bytes",
		(json_int_t)report->bytes, "milliseconds", report->milliseconds,
		"greatest_relative_error",
		samples->has_error ? json_real(samples->error) : json_null(), "at",
		samples->has_error ? json_word(samples->worst, encoding_digits(samples->format))
				   : json_null(),
		"exceptions", exceptions));
}

bool
is_user_operand(const char *operand)
{
	return has_suffix(operand, NETFC_FUNCTION_FILE_SUFFIX);
}

static int
load(const char *path, struct netfc_user_function **function)
{
	int error = netfc_user_function_load(path, function);

	if (error == NETFC_OK)
		return STATUS_DONE;
	return report_error(error == NETFC_ERR_NOMEM ? STATUS_FAILED : STATUS_INPUT,
		"cannot load %s: %s", path,
		error == NETFC_ERR_FOREIGN ? "not a function file" : load_error(error));
}

int
calc_user(char **operands, int count, bool hex, bool json)
{
	struct netfc_user_function *function;
	struct calculation c = {.count = 1};
	int status = load(operands[0], &function);

	if (status != STATUS_DONE)
		return status;
	c.op = netfc_user_function_name(function);
	c.format = netfc_user_function_format(function);
	c.from = c.to = format_slot(c.format);
	status = calculation_read(&c, operands + 1, count - 1, hex);
	if (status == STATUS_DONE) {
		c.result = (struct netfc_result){netfc_user_function_z(function)[c.operand[0]],
			netfc_user_function_flags(function)[c.operand[0]]};
		status = calculation_print(&c, json);
	}
	netfc_user_function_free(function);
	return status;
}

int
show_user(char **operands, int count, bool json)
{
	struct netfc_user_function *function;
	struct entries entries = {0};
	int status = load(operands[0], &function);

	if (status != STATUS_DONE)
		return status;
	entries.format = netfc_user_function_format(function);
	entries.from = entries.to = format_slot(entries.format);
	entries.own = function;
	status = show_entries(&entries, operands + 1, count - 1, json);
	netfc_user_function_free(function);
	return status;
}
