/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole switch under an aggregation's load that comes from memory: values per second of each
 * of its cores, every result compared with the exact one.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "json/json_value.h"
#include "json/json_file.h"
#include "option_value.h"
#include "run.h"

#undef PROGRAM
#define PROGRAM "netfc-aggregate-switch"

#define CHUNKS 64
#define MOST_EAL_ARGUMENTS 16

enum option_id {
	OPTION_WORKERS = OPTION_OWN,
	OPTION_BYTES,
	OPTION_FORMAT,
	OPTION_OP,
	OPTION_DATA,
	OPTION_SLOTS,
	OPTION_AHEAD,
	OPTION_LCORES,
	OPTION_HANDED_OVER,
	OPTION_FLOOD,
	OPTION_NO_ADDING,
	OPTION_PLAIN,
	OPTION_KEY,
	OPTION_SECONDS,
	OPTION_JSON,
};

static const struct option long_options[] = {
	{"workers", required_argument, NULL, OPTION_WORKERS},
	{"bytes", required_argument, NULL, OPTION_BYTES},
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"op", required_argument, NULL, OPTION_OP},
	{"data", required_argument, NULL, OPTION_DATA},
	{"slots", required_argument, NULL, OPTION_SLOTS},
	{"ahead", required_argument, NULL, OPTION_AHEAD},
	{"lcores", required_argument, NULL, OPTION_LCORES},
	{"handed-over", no_argument, NULL, OPTION_HANDED_OVER},
	{"flood", required_argument, NULL, OPTION_FLOOD},
	{"no-adding", no_argument, NULL, OPTION_NO_ADDING},
	{"plain", no_argument, NULL, OPTION_PLAIN},
	{"key", required_argument, NULL, OPTION_KEY},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"json", required_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, OPTION_HELP},
	{NULL, 0, NULL, 0},
};

struct measurement {
	struct load_options load;
	unsigned int format, op, kind;
	bool plain;      /* no vector instructions but what the program is compiled for */
	const char *key; /* file of the cluster's key; NULL: packets have no tags */
	const char *json;
};

static void
print_usage(FILE *out)
{
	fputs("Usage: " PROGRAM " [options] [-- EAL options]\n"
	      "The switch, aggregating packets that come from memory: million values a second of\n"
	      "its own time. Every result is compared with the exact one.\n"
	      "\n"
	      "  --workers N    workers, 1 to 64 (default 8)\n"
	      "  --bytes N      bytes of values in a packet, 4 to 1944 (default 1448)\n"
	      "  --format NAME  fp16, posit16, bf16, posit16_es2, fp32 (default), int32,\n"
	      "                 fp64 or int64\n"
	      "  --op NAME      sum (default), mean, min or max\n"
	      "  --data KIND    gradients (default), any, cancel, subnormal, overflow, zeros, sparse,\n"
	      "                 special\n"
	      "  --slots N      slots of the job, a power of two (default 512)\n"
	      "  --ahead N      chunks that a worker sends before the next worker does (default 32)\n"
	      "  --lcores N     lcores, each with a shard and a receive queue (default 1)\n"
	      "  --handed-over  packets come to another lcore than their shard's\n"
	      "  --flood N      N bad packets beside each good one, of seven kinds (default 0)\n"
	      "  --no-adding    receive and replicate alone\n"
	      "  --plain        in plain C\n"
	      "  --key FILE     packets have tags by this cluster's key (without --flood)\n"
	      "  --seconds S    of work to measure (default 2)\n"
	      "  --json FILE    write what was measured\n"
	      "\n"
	      "EAL options: --no-huge -m 1024 --no-pci, unless others are given.\n",
		out);
}

static int
take_names(int id, const char *text, struct measurement *options)
{
	switch (id) {
	case OPTION_FORMAT:
		options->format = aggregate_format_by_name(text);
		return options->format != 0
			? 0
			: option_refuse(stderr, "format", text, "a format's name");
	case OPTION_OP:
		options->op = aggregate_op_by_name(text);
		return aggregate_is_reduction(options->op)
			? 0
			: option_refuse(stderr, "op", text, "sum, mean, min or max");
	case OPTION_DATA:
		return option_name(
			stderr, "data", text, data_kind_words, DATA_KINDS, &options->kind);
	case OPTION_KEY:
		return option_text(stderr, "key", text, &options->key);
	case OPTION_JSON:
		return option_text(stderr, "json", text, &options->json);
	default:
		return -1;
	}
}

static int
take(int id, const char *text, struct measurement *options)
{
	struct load_options *load = &options->load;

	switch (id) {
	case OPTION_WORKERS:
		return option_u32(
			stderr, "workers", text, 1, AGGREGATE_MAX_WORKERS, &load->chunks.workers);
	case OPTION_BYTES:
		return option_u32(stderr, "bytes", text, 8, 1944, &load->chunks.bytes);
	case OPTION_SLOTS:
		return option_u32(stderr, "slots", text, 1, AGGREGATE_MAX_SLOTS, &load->slots);
	case OPTION_AHEAD:
		return option_u32(stderr, "ahead", text, 1, AGGREGATE_MAX_SLOTS, &load->ahead);
	case OPTION_LCORES:
		return option_u32(stderr, "lcores", text, 1, AGGREGATE_MAX_SHARDS, &load->lcores);
	case OPTION_FLOOD:
		return option_u32(stderr, "flood", text, 0, 1000, &load->flood);
	case OPTION_SECONDS:
		return option_real(stderr, "seconds", text, 0.1, 1000, &load->seconds);
	case OPTION_HANDED_OVER:
		load->handed_over = true;
		return 0;
	case OPTION_NO_ADDING:
		load->add = false;
		return 0;
	case OPTION_PLAIN:
		options->plain = true;
		return 0;
	default:
		return take_names(id, text, options);
	}
}

static int
settle(struct measurement *options)
{
	struct load_options *load = &options->load;
	uint32_t of_shard = load->slots / load->lcores;

	load->chunks.formats = 1u << options->format;
	load->chunks.ops = 1u << (options->op - AGGREGATE_SUM);
	load->chunks.kinds = 1u << options->kind;
	if (options->key != NULL && load->flood > 0) {
		fprintf(stderr, PROGRAM ": --flood: bad packets have no tags; give no --key\n");
		return -1;
	}
	if (load->slots % load->lcores != 0 || of_shard % load->ahead != 0 ||
		(load->slots & (load->slots - 1)) != 0) {
		fprintf(stderr,
			PROGRAM ": --slots %u: not a power of two, or no multiple of --lcores %u "
				"times --ahead %u\n",
			load->slots, load->lcores, load->ahead);
		return -1;
	}
	return 0;
}

/* The switch's command line. */
static int
run_switch(const struct measurement *options, int eal_count, char **eal)
{
	static char program[] = PROGRAM, vdev[] = "--vdev=net_null0,no-rx=1", end[] = "--",
		    no_huge[] = "--no-huge", m[] = "-m", mb[] = "1024", no_pci[] = "--no-pci",
		    no_telemetry[] = "--no-telemetry", l[] = "-l", match[] = "--match=direct",
		    plain[] = "--force-max-simd-bitwidth=64", address[] = "--address=10.0.0.1/8",
		    prefix[] = "--file-prefix=netfc-aggregate-switch";
	char lcores[16], mbufs[32], aggregate[64 + PATH_MAX];
	char *arguments[32 + MOST_EAL_ARGUMENTS];
	int count = 0;

	snprintf(lcores, sizeof(lcores), "0-%u", options->load.lcores - 1);
	snprintf(mbufs, sizeof(mbufs), "--mbufs=%u", 32767u);
	snprintf(aggregate, sizeof(aggregate), "--aggregate=slots=%u,bytes=%u,shards=%u%s%s",
		options->load.slots, options->load.chunks.bytes, options->load.lcores,
		options->key == NULL ? "" : ",key=", options->key == NULL ? "" : options->key);
	arguments[count++] = program;
	if (eal_count == 0) {
		arguments[count++] = no_huge;
		arguments[count++] = m;
		arguments[count++] = mb;
		arguments[count++] = no_pci;
		arguments[count++] = prefix;
	}
	for (int e = 0; e < eal_count && e < MOST_EAL_ARGUMENTS; e++)
		arguments[count++] = eal[e];
	if (options->plain)
		arguments[count++] = plain;
	arguments[count++] = no_telemetry;
	arguments[count++] = l;
	arguments[count++] = lcores;
	arguments[count++] = vdev;
	arguments[count++] = end;
	arguments[count++] = match;
	arguments[count++] = address;
	arguments[count++] = aggregate;
	arguments[count++] = mbufs;
	arguments[count] = NULL;
	/* The command line is parsed a second time. */
	optind = 0;
	return switch_run(count, arguments) == EXIT_DONE ? 0 : -1;
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Values per second of all lcores together: of each the median, and the best. */
struct rates {
	double median, best;
};

static struct rates
rates_of(const struct measurement *options, struct load_result *result)
{
	struct rates rates = {0, 0};

	for (uint32_t s = 0; s < options->load.lcores; s++) {
		struct load_counters *shard = &result->shard[s];

		if (shard->samples == 0)
			continue;
		qsort(shard->rate, shard->samples, sizeof(shard->rate[0]), by_size);
		rates.median += shard->rate[shard->samples / 2];
		rates.best += shard->rate[shard->samples - 1];
	}
	return rates;
}

static struct load_counters
sum_of(const struct measurement *options, const struct load_result *result)
{
	struct load_counters sum = {0};

	for (uint32_t s = 0; s < options->load.lcores; s++) {
		const struct load_counters *shard = &result->shard[s];

		sum.sent += shard->sent;
		sum.results += shard->results;
		sum.values += shard->values;
		sum.wrong += shard->wrong;
		sum.other += shard->other;
		sum.refusals += shard->refusals;
		for (enum bad_packet kind = 0; kind < BAD_PACKETS; kind++)
			sum.bad[kind] += shard->bad[kind];
	}
	return sum;
}

/* By its name, but for those that were made and not received when the switch ended. */
static bool
counts_bad(const struct measurement *options, const struct load_result *result,
	const struct load_counters *sum)
{
	const uint64_t *actions = result->counters.actions;
	const uint64_t counted[BAD_PACKETS] = {
		[BAD_SESSION] = actions[AGGREGATE_STALE_SESSION],
		[BAD_WORKER] = actions[AGGREGATE_UNKNOWN_WORKER],
		[BAD_ADDRESS] = actions[AGGREGATE_WRONG_ADDRESS],
		[BAD_MAGIC] = result->drops[DROP_NOT_NETFC],
		[BAD_CHECKSUM] = result->drops[DROP_MALFORMED],
		[BAD_LENGTH] = result->refused[NETFC_STATUS_LENGTH],
		[BAD_JOB] = actions[AGGREGATE_NO_JOB],
	};

	for (enum bad_packet kind = 0; kind < BAD_PACKETS; kind++)
		if (counted[kind] > sum->bad[kind] ||
			sum->bad[kind] - counted[kind] > options->load.lcores * LOAD_QUEUE)
			return false;
	return true;
}

/*
 * Whether the switch has counted what was sent. Packets that were made, but not received when it
 * ended, are no more than fit into the queues.
 */
static bool
adds_up(const struct measurement *options, const struct load_result *result,
	const struct load_counters *sum)
{
	const uint64_t *actions = result->counters.actions;

	if (sum->results > 0 && sum->wrong == 0 && sum->other == 0 &&
		actions[AGGREGATE_COMPLETED] * options->load.chunks.workers == sum->results &&
		actions[AGGREGATE_ADDED] + actions[AGGREGATE_COMPLETED] <= sum->sent &&
		result->counters.values >= sum->values && counts_bad(options, result, sum) &&
		actions[AGGREGATE_DUPLICATE] + actions[AGGREGATE_STALE] +
				actions[AGGREGATE_WINDOW] + actions[AGGREGATE_MISMATCH] ==
			0)
		return true;
	fprintf(stderr,
		PROGRAM ": wrong or missing results: %" PRIu64 " results, %" PRIu64
			" wrong, %" PRIu64 " other packets\n",
		sum->results, sum->wrong, sum->other);
	return false;
}

static json_t *
bad_object(const struct load_counters *sum)
{
	json_t *object = json_object();

	for (enum bad_packet kind = 0; kind < BAD_PACKETS; kind++)
		json_object_set_new(object, bad_packet_name(kind), json_count(sum->bad[kind]));
	return object;
}

static json_t *
counted_object(const struct load_result *result)
{
	json_t *object = json_object();

	for (enum aggregate_action a = 0; a < AGGREGATE_ACTION_COUNT; a++)
		json_object_set_new(
			object, aggregate_action_name(a), json_count(result->counters.actions[a]));
	return object;
}

static int
write_json(const struct measurement *options, const struct load_result *result, struct rates rates,
	const struct load_counters *sum)
{
	struct json_file *file;
	json_t *object;
	int written;

	if (options->json == NULL)
		return 0;
	if (json_file_open(PROGRAM ": --json", options->json, &file) != 0)
		return -1;
	object = json_pack(
		"{s:s, s:s, s:s, s:i, s:i, s:i, s:b, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}",
		"format", aggregate_format_name(options->format), "op",
		aggregate_op_name(options->op), "data", data_kind_words[options->kind], "workers",
		(int)options->load.chunks.workers, "bytes", (int)options->load.chunks.bytes,
		"lcores", (int)options->load.lcores, "adding", (int)options->load.add,
		"values_per_second", rates.median, "best", rates.best, "results",
		json_count(sum->results), "values", json_count(sum->values), "wrong",
		json_count(sum->wrong), "refusals", json_count(sum->refusals), "bad",
		bad_object(sum), "counted", counted_object(result));
	written = json_file_write(file, object);
	json_decref(object);
	return written;
}

static int
report(const struct measurement *options, struct load_result *result)
{
	struct load_counters sum = sum_of(options, result);
	struct rates rates = rates_of(options, result);

	printf("%s %s of %s: %.0f million values a second (best %.0f), %" PRIu64
	       " results, %" PRIu64 " wrong\n",
		aggregate_format_name(options->format), aggregate_op_name(options->op),
		data_kind_words[options->kind], rates.median * 1e-6, rates.best * 1e-6, sum.results,
		sum.wrong);
	if (write_json(options, result, rates, &sum) != 0)
		return -1;
	return adds_up(options, result, &sum) ? 0 : -1;
}

int
main(int argc, char **argv)
{
	static struct load_result result;
	struct measurement options = {
		.load = {.chunks = {.workers = 8, .bytes = 1448, .count = CHUNKS, .seed = 1},
			.lcores = 1,
			.slots = 512,
			.ahead = 32,
			.add = true,
			.seconds = 2},
		.format = AGGREGATE_FP32,
		.op = AGGREGATE_SUM,
		.kind = DATA_GRADIENTS,
	};
	int id, status = EXIT_RUNNING;
	struct chunks chunks;

	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (id == OPTION_HELP) {
			print_usage(stdout);
			return EXIT_DONE;
		}
		if (id == '?' || take(id, optarg, &options) != 0)
			return EXIT_CONFIGURATION;
	}
	if (settle(&options) != 0)
		return EXIT_CONFIGURATION;
	if (chunks_create(&options.load.chunks, &chunks) == 0) {
		hooks_set(&options.load, &chunks, &result);
		if (run_switch(&options, argc - optind, argv + optind) == 0 && result.status == 0 &&
			report(&options, &result) == 0)
			status = EXIT_DONE;
	}
	chunks_free(&chunks);
	return status;
}
