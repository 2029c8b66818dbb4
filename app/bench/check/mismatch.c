/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include <rte_common.h>

#include "check/check.h"
#include "encoding.h"
#include "options/options.h"

static const struct {
	const char *name, *meaning;
} kinds[MISMATCH_KINDS] = {
#define MISMATCH_TEXT_(symbol, name, meaning) [MISMATCH_##symbol] = {name, meaning},
	MISMATCHES(MISMATCH_TEXT_)
#undef MISMATCH_TEXT_
};

const char *
mismatch_name(enum mismatch kind)
{
	return kinds[kind].name;
}

const char *
mismatch_meaning(enum mismatch kind)
{
	return kinds[kind].meaning;
}

const char *
mismatch_status_name(unsigned int code)
{
	static const char *const names[] = {
#define STATUS_NAME_(symbol, value, name, meaning) [value] = (name),
		NETFC_STATUS_CODES(STATUS_NAME_)
#undef STATUS_NAME_
	};

	return code < RTE_DIM(names) ? names[code] : "unknown";
}

void
mismatch_note(struct mismatches *mismatches, const struct mismatch_example *example)
{
	uint64_t before = mismatches->replies[example->kind]++;

	if (before < MISMATCH_EXAMPLES_OF_KIND && mismatches->example_count < MISMATCH_EXAMPLES)
		mismatches->examples[mismatches->example_count++] = *example;
}

static void
print_result(FILE *out, const struct mismatch_example *example, const struct netfc_format *format)
{
	char x[NUMBER_SIZE], y[NUMBER_SIZE], expected[NUMBER_SIZE], got[NUMBER_SIZE];
	const char *symbol = netfc_op_symbol(example->op);
	const int digits = encoding_digits(format);

	encoding_text(format, example->x, x);
	encoding_text(format, example->y, y);
	fprintf(out, "lane %" PRIu32 ": ", example->lane);
	if (symbol != NULL)
		fprintf(out, "%s %s %s", x, symbol, y);
	else
		fprintf(out, "%s of %s (and %s)", value_op_name(example->op), x, y);
	fprintf(out, " = 0x%0*" PRIx32 " (%s), not 0x%0*" PRIx32 " (%s)", digits, example->got,
		encoding_text(format, example->got, got), digits, example->expected,
		encoding_text(format, example->expected, expected));
	fprintf(out, "; x 0x%0*" PRIx32 ", y 0x%0*" PRIx32, digits, example->x, digits, example->y);
}

static void
print_example(FILE *out, const struct mismatch_example *example, const struct netfc_format *format)
{
	fprintf(out, "    id 0x%08" PRIx32 ", ", example->id);
	switch (example->kind) {
	case MISMATCH_RESULTS:
		print_result(out, example, format);
		break;
	case MISMATCH_OPERANDS:
		fprintf(out, "lane %" PRIu32 ": an operand is 0x%0*" PRIx32 ", not 0x%0*" PRIx32,
			example->lane, encoding_digits(format), example->got,
			encoding_digits(format), example->expected);
		break;
	case MISMATCH_REFUSED:
		fprintf(out, "status 0x%02" PRIx32 ": error %s", example->got,
			mismatch_status_name(example->got >> NETFC_STATUS_CODE_SHIFT & 7));
		break;
	case MISMATCH_ID:
	case MISMATCH_ADDRESSES:
	case MISMATCH_UNCOMPUTED:
		fprintf(out, "%s", mismatch_meaning(example->kind));
		break;
	default:
		fprintf(out, "%s: 0x%" PRIx32 ", not 0x%" PRIx32, mismatch_name(example->kind),
			example->got, example->expected);
	}
	fputc('\n', out);
}

void
mismatch_print(FILE *out, const struct mismatches *mismatches, const struct netfc_format *format)
{
	bool any = false;

	for (unsigned int kind = 0; kind < MISMATCH_KINDS; kind++) {
		if (mismatches->replies[kind] == 0)
			continue;
		if (!any)
			fprintf(out, "Wrong replies\n");
		any = true;
		fprintf(out, "  %-18s %15" PRIu64 "  (%s)\n", kinds[kind].name,
			mismatches->replies[kind], kinds[kind].meaning);
	}
	if (!any)
		return;
	if (mismatches->lanes != 0)
		fprintf(out, "  %-18s %15" PRIu64 "\n", "lanes with wrong z", mismatches->lanes);
	fprintf(out, "  The first of them:\n");
	for (unsigned int e = 0; e < mismatches->example_count; e++)
		print_example(out, &mismatches->examples[e], format);
}
