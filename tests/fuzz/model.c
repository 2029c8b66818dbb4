/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact.h"
#include "fuzz.h"
#include "model.h"
#include "outcomes.h"

#define LANES (BYTES / 2)

/* A chunk of a job, as the model has it. */
struct record {
	uint16_t job;
	uint32_t chunk;
	uint8_t op, format, owner, workers;
	uint16_t count;
	uint64_t seen;
	bool complete;
	uint64_t values[LANES][WORKERS];
};

#define MAX_RECORDS 256

static struct record records[MAX_RECORDS];
static unsigned int record_count;
static const struct aggregate_table *table;
static unsigned int isa;

void
model_start(const struct aggregate_table *followed, unsigned int chosen_isa)
{
	table = followed;
	isa = chosen_isa;
	record_count = 0;
}

bool
model_is_full(void)
{
	return record_count + 1 >= MAX_RECORDS;
}

static struct record *
find_record(uint16_t job, uint32_t chunk)
{
	for (unsigned int r = 0; r < record_count; r++) {
		if (records[r].job == job && records[r].chunk == chunk)
			return &records[r];
	}
	return NULL;
}

bool
model_find_job(uint16_t number, struct aggregate_info *info)
{
	for (uint16_t index = 0; index < JOBS; index++) {
		if (aggregate_table_info(table, index, info) && info->job == number)
			return true;
	}
	return false;
}

void
model_forget_ended(void)
{
	struct aggregate_info info;

	for (unsigned int r = record_count; r-- > 0;) {
		if (!model_find_job(records[r].job, &info))
			records[r] = records[--record_count];
	}
}

static bool
agrees(const struct record *record, const struct aggregate_message *request)
{
	return record->op == request->op && record->format == request->format &&
		record->count == request->count && record->owner == request->owner;
}

/* A worker's values have been added: for the first time, to a chunk that agrees. */
static struct record *
note(const struct aggregate_message *request)
{
	struct record *record = find_record(request->job, request->id);
	struct aggregate_info info;

	if (record == NULL) {
		FUZZ_CHECK(record_count < MAX_RECORDS && model_find_job(request->job, &info));
		record = &records[record_count++];
		*record = (struct record){.job = request->job,
			.chunk = request->id,
			.op = request->op,
			.format = request->format,
			.owner = request->owner,
			.workers = info.workers,
			.count = request->count};
	}
	FUZZ_CHECK(!record->complete && request->worker < record->workers);
	FUZZ_CHECK((record->seen >> request->worker & 1) == 0);
	FUZZ_CHECK(agrees(record, request) && record->count <= LANES);
	record->seen |= UINT64_C(1) << request->worker;
	for (uint32_t lane = 0; lane < record->count && request->values != NULL; lane++)
		record->values[lane][request->worker] =
			data_get(record->format, request->values, lane);
	return record;
}

static void
check_copy(const struct record *record, const uint8_t *result)
{
	for (uint32_t lane = 0; lane < record->count; lane++)
		FUZZ_CHECK(data_get(record->format, result, lane) ==
			record->values[lane][record->owner - AGGREGATE_OWNER]);
}

/* The result is the exact one of all workers' values, rounded once, or what the owner has given. */
static void
check_result(const struct record *record, const uint8_t *result, unsigned int flags)
{
	unsigned int expected = 0;

	if (record->op == AGGREGATE_COPY) {
		check_copy(record, result);
		return;
	}
	FUZZ_CHECK(record->seen == (UINT64_C(1) << record->workers) - 1);
	for (uint32_t lane = 0; lane < record->count; lane++) {
		const struct oracle_result exact = oracle_reduce(
			record->op, record->format, record->values[lane], record->workers);

		FUZZ_CHECK(data_get(aggregate_results_format(record->format), result, lane) ==
			exact.bits);
		expected |= exact.flags;
	}
	FUZZ_CHECK(flags == expected);
}

/* Whether a worker gets the result: all, the owner, or all but the owner. */
static bool
is_for(const struct record *record, unsigned int worker)
{
	bool is_owner = record->owner == AGGREGATE_OWNER + worker;

	if (record->count == 0)
		return false;
	if (record->op == AGGREGATE_COPY)
		return !is_owner;
	return record->owner == 0 || is_owner;
}

void
model_check_result(const struct aggregate_message *result)
{
	static const uint8_t zeros[LANES * sizeof(uint64_t)];
	const struct record *record = find_record(result->job, result->id);
	const uint8_t *values = result->reason == AGGREGATE_ZEROS ? zeros : result->values;

	FUZZ_CHECK(record != NULL);
	FUZZ_CHECK(result->reason != AGGREGATE_ZEROS || result->values == NULL);
	FUZZ_CHECK((values != NULL) == is_for(record, result->worker));
	FUZZ_CHECK((result->reason == AGGREGATE_ACKNOWLEDGED) == (values == NULL));
	if (values != NULL)
		check_result(record, values, result->flags);
}

void
model_follow(const struct aggregate_message *request, const struct aggregate_outcome *outcome)
{
	struct record *record = find_record(request->job, request->id);

	/* A process that is started anew ends the job, if it is the last of its members. */
	if (request->op == AGGREGATE_JOIN)
		model_forget_ended();
	switch (outcome->action) {
	case AGGREGATE_ADDED:
		note(request);
		break;
	case AGGREGATE_COMPLETED:
		record = note(request);
		record->complete = true;
		check_result(record, outcome->entry->result, outcome->entry->flags);
		if (record->op == AGGREGATE_COPY)
			outcomes_copied(record->count);
		else
			outcomes_completed(isa, record->op, record->format, record->workers);
		break;
	case AGGREGATE_STALLED:
		/* Not added, but told of the first one that called something else. */
		if (record != NULL && !agrees(record, request))
			break;
		/* Values are added even if others have failed. */
		if (record == NULL || (record->seen >> request->worker & 1) == 0)
			record = note(request);
		FUZZ_CHECK(!record->complete);
		/* Others may be missing because of a worker that has failed. */
		FUZZ_CHECK(outcome->absence == AGGREGATE_ABSENT_FAILED ||
			outcome->absence == AGGREGATE_ABSENT_SILENT ||
			(record->seen >> (outcome->reason - AGGREGATE_MISSING) & 1) == 0);
		break;
	case AGGREGATE_DUPLICATE:
		FUZZ_CHECK(record != NULL && !record->complete &&
			(record->seen >> request->worker & 1) != 0);
		break;
	case AGGREGATE_REPEATED:
		FUZZ_CHECK(record != NULL && record->complete);
		break;
	case AGGREGATE_LEFT:
		model_forget_ended();
		break;
	default:
		break;
	}
}
