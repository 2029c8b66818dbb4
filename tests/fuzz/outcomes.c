/* SPDX-License-Identifier: BSD-3-Clause */
#include "outcomes.h"
#include "reached.h"

/* A kernel begins with the first values, adds what comes between, and ends with the last. */
enum company {
	ALONE,
	TWO,
	MORE,
	COMPANIES
};
static const char *const company_names[COMPANIES] = {"one worker", "two workers", "more workers"};

/* Numbers of kinds: actions have their own. */
#define FIRST_REFUSAL 256u
#define FIRST_COPY 384u
#define FIRST_RESULT 512u

static unsigned int
result_number(unsigned int isa, unsigned int op, unsigned int format, enum company company)
{
	unsigned int lot = (isa * COMPANIES + company) * AGGREGATE_FORMAT_END + format;

	return FIRST_RESULT + lot * (AGGREGATE_MAX + 1u) + op;
}

static void
expect_result(unsigned int isa, unsigned int op, unsigned int format)
{
	for (enum company company = ALONE; company < COMPANIES; company++)
		reached_expect(result_number(isa, op, format, company),
			"instruction set %u: %s of %s, %s", isa, aggregate_op_name(op),
			aggregate_format_name(format), company_names[company]);
}

static void
expect_results(unsigned int isa)
{
	for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MAX; op++) {
		for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++)
			if (aggregate_is_format(format))
				expect_result(isa, op, format);
	}
}

void
outcomes_expect(void)
{
	/* What trees add is not reached by a switch without parent that takes no digits. */
	for (unsigned int action = 0; action < AGGREGATE_NO_DIGITS; action++)
		reached_expect(action, "%s", aggregate_action_name(action));
	for (unsigned int code = NETFC_STATUS_VERSION; code <= NETFC_STATUS_LENGTH; code++)
		reached_expect(FIRST_REFUSAL + code, "refused with code %u", code);
	reached_expect(FIRST_COPY, "a barrier");
	reached_expect(FIRST_COPY + 1, "a copy");
	for (unsigned int isa = 0; isa < OUTCOMES_ISAS; isa++)
		expect_results(isa);
}

void
outcomes_completed(unsigned int isa, unsigned int op, unsigned int format, unsigned int workers)
{
	enum company company = workers == 1 ? ALONE : workers == 2 ? TWO : MORE;

	reached(result_number(isa, op, format, company));
}

void
outcomes_copied(unsigned int count)
{
	reached(FIRST_COPY + (count > 0));
}

void
outcomes_action(enum aggregate_action action)
{
	reached(action);
}

void
outcomes_refused(uint8_t code)
{
	reached(FIRST_REFUSAL + code);
}
