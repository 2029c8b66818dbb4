/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <aggregate_format.h>

#include "bench.h"
#include "exact.h"
#include "options/options.h"

/* As many as a port can be asked to send beside the others. */
#define MAX_FLOOD 10000
#define MAX_SHARE 90

static const char *const into_names[] = {
	[AGGREGATE_INTO_SAME] = "same",
	[AGGREGATE_FP16] = "fp16",
	[AGGREGATE_BF16] = "bf16",
	[AGGREGATE_FP32] = "fp32",
};
static const char *const op_names[] = {"sum", "mean", "min", "max", "copy"};
static const char *const length_names[] = {[LENGTH_FULL] = "full", [LENGTH_ANY] = "any"};
static const char *const receiver_names[] = {[RESULTS_TO_ALL] = "all", [RESULTS_TO_ONE] = "one"};
static const char *const queue_names[] = {[QUEUE_OF_SHARD] = "shard", [QUEUE_OF_OTHER] = "other"};

#define FIELD(field) OPTION_FIELD(struct aggregate_options, field)

const struct option_row bench_aggregate_keys[BENCH_AGGREGATE_KEYS] = {
	{"workers", FIELD(workers), OPTION_RANGE(1, 64, 8), .meaning = "workers of the job"},
	{"slots", FIELD(slots), OPTION_RANGE(1, 32768, 128),
		.meaning = "maximum number of chunks in flight, a power of two"},
	{"bytes", FIELD(bytes), OPTION_RANGE(4, 9000, 1448),
		.meaning = "maximum bytes of values in a chunk; with behind= or parent= 8 less, as "
			   "a leaf grants them"},
	{"chunks", FIELD(chunks), OPTION_RANGE(0, UINT32_MAX, 0),
		.meaning = "chunks to send; 0: for --seconds"},
	{"different", FIELD(different), OPTION_RANGE(1, 100000, 64),
		.meaning = "distinct chunks; then the same ones are sent again"},
	{"job", FIELD(job), OPTION_RANGE(0, 65534, 1), .meaning = "number of the job"},
	{"token", FIELD(token), OPTION_RANGE(0, UINT64_MAX - 1, 1), .meaning = "secret of the job"},
	{"port", FIELD(port), OPTION_RANGE(1, 65535, 20040),
		.meaning = "the switch's first UDP port"},
	{"retry", FIELD(retry), OPTION_RANGE(1, 60000, 100),
		.meaning = "ms after which a request is sent again"},
	{"give_up", FIELD(give_up), OPTION_RANGE(1, 3600, 10),
		.meaning = "seconds without any result that end the run"},
	{"loss", FIELD(loss), OPTION_REAL_RANGE(0, MAX_SHARE, 0),
		.meaning = "percent of packets lost in either direction, drawn with --seed"},
	{"duplicate", FIELD(duplicate), OPTION_REAL_RANGE(0, MAX_SHARE, 0),
		.meaning = "percent of packets duplicated, likewise"},
	{"reorder", FIELD(reorder), OPTION_REAL_RANGE(0, MAX_SHARE, 0),
		.meaning = "percent of packets overtaken by later ones, likewise"},
	{"flood", FIELD(flood), OPTION_REAL_RANGE(0, MAX_FLOOD, 0),
		.meaning = "bad packets in addition, in percent of the workers' packets"},
	{"format", FIELD(formats),
		OPTION_NAMED_BY(aggregate_format_name, AGGREGATE_FP16, AGGREGATE_FORMAT_END,
			1u << AGGREGATE_FP32),
		.several = true, .meaning = "format of the values"},
	{"into", FIELD(into), OPTION_NAMES(into_names, AGGREGATE_INTO_SAME),
		.meaning = "format of the results: the values' or, of a sum or mean, another"},
	{"op", FIELD(ops), OPTION_NAMES(op_names, 1), .several = true, .meaning = "operation"},
	{"data", FIELD(kinds), .names = data_kind_words, .name_count = DATA_KINDS,
		.preset = 1u << DATA_GRADIENTS, .several = true, .meaning = "kind of values"},
	{"length", FIELD(length), OPTION_NAMES(length_names, LENGTH_FULL),
		.meaning = "values in a chunk: full, or any number up to bytes"},
	{"results", FIELD(results), OPTION_NAMES(receiver_names, RESULTS_TO_ALL),
		.meaning = "who gets the result of a reduction: all workers, or one"},
	{"queue", FIELD(queue), OPTION_NAMES(queue_names, QUEUE_OF_SHARD),
		.meaning = "which lcore of --inline gets a chunk: its shard's, or the other, which "
			   "hands it over"},
	{"key", FIELD(key), .meaning = "file of the cluster's key: packets carry tags"},
	{"place", FIELD(place), .value = "INDEXofMEMBERS[+...]", .parse = value_place,
		.meaning = "place of the switch in a tree whose leaves all have the same number of "
			   "workers: its index among the members of the switch above, and so on"},
	{"behind", FIELD(behind), OPTION_RANGE(1, 64, 0),
		.meaning = "workers behind each worker, which is a leaf and sends their exact sums "
			   "(default: none)"},
	{"parent", FIELD(parent), .value = "IP", .parse = value_ip,
		.meaning = "parent of the --inline switch, which reaches it over the other ports"},
};

unsigned int
bench_aggregate_format(const struct aggregate_options *options, unsigned int format)
{
	return AGGREGATE_INTO(format, options->into);
}

static unsigned int
all_leaves(const struct aggregate_place *place)
{
	unsigned int leaves = 1;

	for (unsigned int l = 0; l < place->levels; l++)
		leaves *= place->level[l].members;
	return leaves;
}

static unsigned int
workers_here(const struct aggregate_options *options)
{
	return (unsigned int)(options->workers * RTE_MAX(options->behind, UINT64_C(1)));
}

unsigned int
bench_aggregate_all_workers(const struct aggregate_options *options)
{
	return all_leaves(&options->place) * workers_here(options);
}

unsigned int
bench_aggregate_first_worker(const struct aggregate_options *options)
{
	unsigned int leaf = 0;

	for (unsigned int l = options->place.levels; l-- > 0;)
		leaf = leaf * options->place.level[l].members + options->place.level[l].index;
	return leaf * workers_here(options);
}

uint32_t
bench_aggregate_value_bytes(const struct aggregate_options *options)
{
	const uint32_t bytes = (uint32_t)options->bytes;
	const bool below_leaf = options->behind != 0 || options->parent.version != 0;

	return below_leaf && bytes >= 2 * AGGREGATE_PART_BYTES ? bytes - AGGREGATE_PART_BYTES
							       : bytes;
}

static bool
has_ops_but(const struct aggregate_options *options, unsigned int most)
{
	return options->ops >> (most - AGGREGATE_SUM + 1) != 0;
}

static int
refuse_key(const char *key, const char *why)
{
	return REPORT("--aggregate %s=: %s\n", key, why);
}

/* What the members of a tree cannot do. */
static int
check_tree(const struct aggregate_options *options)
{
	if (options->place.levels == 0 && options->behind == 0)
		return 0;
	if (bench_aggregate_all_workers(options) > AGGREGATE_MAX_WORKERS)
		return refuse_key(options->behind != 0 ? "behind" : "place",
			"more than 64 workers in all; give fewer workers=");
	if (options->results == RESULTS_TO_ONE || has_ops_but(options, AGGREGATE_MAX))
		return refuse_key("place", "trees support neither results=one nor op=copy");
	if (options->behind != 0 && (has_ops_but(options, AGGREGATE_MEAN) || options->flood > 0))
		return refuse_key("behind", "exact sums are of op=sum+mean, without flood=");
	if (all_leaves(&options->place) > 1 && options->chunks == 0)
		return refuse_key("place", "give chunks=N, the same at all leaves");
	return 0;
}

/* Every operation of every format has to have such results. */
static int
check_into(const struct aggregate_options *options)
{
	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++)
		for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_COPY; op++) {
			if ((options->formats >> format & 1) == 0 ||
				(options->ops >> (op - AGGREGATE_SUM) & 1) == 0 ||
				aggregate_has_format(op, bench_aggregate_format(options, format)))
				continue;
			return REPORT("--aggregate into=%s: op=%s of format=%s has no such "
				      "results; sum and mean of fp8_e4m3 and fp8_e5m2 have, and "
				      "into=fp32 of fp16 and bf16\n",
				into_names[options->into], aggregate_op_name(op),
				aggregate_format_name(format));
		}
	return 0;
}

int
bench_aggregate_check(const struct aggregate_options *options)
{
	if ((options->slots & (options->slots - 1)) != 0)
		return REPORT(
			"--aggregate slots=%" PRIu64 ": not a power of two\n", options->slots);
	if (options->bytes < 8 &&
		(options->formats & (1u << AGGREGATE_FP64 | 1u << AGGREGATE_INT64)) != 0)
		return REPORT("--aggregate bytes=: give 8 or more for fp64 and int64\n");
	if (options->key[0] != '\0' && options->flood > 0)
		return REPORT("--aggregate flood=: bad packets have no tags; give no key=\n");
	return check_tree(options) == 0 ? check_into(options) : -1;
}
