/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>

#include "answers.h"
#include "fuzz.h"
#include "reached.h"

/* More lanes than any kernel takes at a time, so that it comes round again, and has a rest. */
#define MANY_LANES 33

enum outcome {
	FEW, /* lanes computed */
	MANY,
	REFUSED, /* with the status code in the operation's place */
	OUTCOMES
};

#define NO_FORMAT NETFC_SET_FORMAT_END /* stands for all greater ones, too */
#define FORMATS (NO_FORMAT + 1u)

static unsigned int
number_of(unsigned int worker, enum outcome outcome, unsigned int format, unsigned int op)
{
	return ((worker * OUTCOMES + outcome) * FORMATS + format) * (UINT8_MAX + 1u) + op;
}

static void
expect_computed(unsigned int worker, unsigned int format, unsigned int op)
{
	for (enum outcome outcome = FEW; outcome <= MANY; outcome++)
		reached_expect(number_of(worker, outcome, format, op),
			"worker %u: format %u, operation %u, %s lanes", worker, format, op,
			outcome == FEW ? "few" : "many");
}

/* Of which there is one size. */
static void
expect_answer(unsigned int worker, unsigned int format, unsigned int op)
{
	reached_expect(number_of(worker, FEW, format, op), "worker %u: format %u, operation %u",
		worker, format, op);
}

static void
expect_refused(unsigned int worker, unsigned int format, enum netfc_status code)
{
	reached_expect(number_of(worker, REFUSED, format, code),
		"worker %u: format %u, refused with code %u", worker, format, code);
}

/* Of 8 or 16 bits: there are operations without a set. */
static bool
is_small(unsigned int format)
{
	return netfc_format_by_id(format) != NULL;
}

static void
expect_operations(unsigned int worker, const struct pipeline_config *config)
{
	for (unsigned int format = NETFC_FP16; format < NETFC_SET_FORMAT_END; format++) {
		for (unsigned int op = NETFC_ADD; op <= NETFC_DIV && config->sets[format] != NULL;
			op++)
			expect_computed(worker, format, op);
		for (unsigned int op = NETFC_MIN; op < NETFC_EXTRA_END && is_small(format); op++)
			expect_computed(worker, format, op);
		if (is_small(format))
			expect_answer(worker, format, NETFC_OP_NAME);
	}
	for (unsigned int f = 0; f < config->function_count; f++)
		expect_computed(worker, config->functions[f].format, config->functions[f].number);
	if (config->queries)
		expect_answer(worker, NETFC_FP16, NETFC_OP_QUERY);
}

static void
expect_refusals(unsigned int worker, const struct pipeline_config *config)
{
	for (unsigned int format = 0; format < FORMATS; format++) {
		bool has_lanes =
			is_small(format) || (format < NO_FORMAT && config->sets[format] != NULL);

		expect_refused(worker, format, NETFC_STATUS_VERSION);
		expect_refused(worker, format, NETFC_STATUS_OP);
		/* All that there is, there is of fp16. */
		if (format != NETFC_FP16)
			expect_refused(worker, format, NETFC_STATUS_FORMAT);
		if (has_lanes)
			expect_refused(worker, format, NETFC_STATUS_LENGTH);
	}
	if (!config->queries)
		expect_refused(worker, NETFC_FP16, NETFC_STATUS_QUERY);
}

void
answers_expect(unsigned int worker, const struct pipeline_config *config)
{
	expect_operations(worker, config);
	expect_refusals(worker, config);
}

void
answers_reached(unsigned int worker, const struct netfc_hdr *reply)
{
	unsigned int format = RTE_MIN(reply->format, NO_FORMAT);
	unsigned int code = (reply->status & ~NETFC_STATUS_REPLY) >> NETFC_STATUS_CODE_SHIFT;

	if (code != NETFC_STATUS_OK)
		reached(number_of(worker, REFUSED, format, code));
	else
		reached(number_of(worker, rte_be_to_cpu_16(reply->count) < MANY_LANES ? FEW : MANY,
			format, reply->op));
}
