/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"
#include "fuzz.h"
#include "model.h"
#include "oracle.h"
#include "outcomes.h"

#define LANES (BYTES / 2)

/* A chunk of a job, as the model has it. */
struct record {
	uint16_t job;
	uint32_t chunk;
	uint8_t op, format, workers;
	uint16_t count;
	uint64_t seen;
	bool complete;
	uint64_t values[LANES][WORKERS];
};

#define MOST_RECORDS 256

static struct record records[MOST_RECORDS];
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
	return record_count + 1 >= MOST_RECORDS;
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

/* A worker's values have been added: for the first time, to a chunk that agrees. */
static struct record *
note(const struct aggregate_message *request)
{
	struct record *record = find_record(request->job, request->id);
	struct aggregate_info info;

	if (record == NULL) {
		FUZZ_CHECK(record_count < MOST_RECORDS && model_find_job(request->job, &info));
		record = &records[record_count++];
		*record = (struct record){.job = request->job,
			.chunk = request->id,
			.op = request->op,
			.format = request->format,
			.workers = info.workers,
			.count = request->count};
	}
	FUZZ_CHECK(!record->complete && request->worker < record->workers);
	FUZZ_CHECK((record->seen >> request->worker & 1) == 0);
	FUZZ_CHECK(record->op == request->op && record->format == request->format &&
		record->count == request->count && record->count <= LANES);
	record->seen |= UINT64_C(1) << request->worker;
	for (uint32_t lane = 0; lane < record->count; lane++)
		record->values[lane][request->worker] =
			data_get(record->format, request->values, lane);
	return record;
}

/* The result is the exact one of all workers' values, rounded once. */
static void
check_result(const struct record *record, const uint8_t *result, unsigned int flags)
{
	unsigned int expected = 0;

	FUZZ_CHECK(record->seen == (UINT64_C(1) << record->workers) - 1);
	for (uint32_t lane = 0; lane < record->count; lane++) {
		const struct oracle_result exact = oracle_reduce(
			record->op, record->format, record->values[lane], record->workers);

		FUZZ_CHECK(data_get(record->format, result, lane) == exact.bits);
		expected |= exact.flags;
	}
	FUZZ_CHECK(flags == expected);
}

void
model_check_result(uint16_t job, uint32_t chunk, const uint8_t *result, unsigned int flags)
{
	const struct record *record = find_record(job, chunk);

	FUZZ_CHECK(record != NULL);
	check_result(record, result, flags);
}

void
model_follow(const struct aggregate_message *request, const struct aggregate_outcome *outcome)
{
	struct record *record = find_record(request->job, request->id);

	switch (outcome->action) {
	case AGGREGATE_ADDED:
		note(request);
		break;
	case AGGREGATE_COMPLETED:
		record = note(request);
		record->complete = true;
		check_result(record, outcome->entry->result, outcome->entry->flags);
		outcomes_completed(isa, record->op, record->format, record->workers);
		break;
	case AGGREGATE_STALLED:
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
