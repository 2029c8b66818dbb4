/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

#include <aggregate_format.h>

#include "bench.h"
#include "data.h"
#include "option_value.h"
#include "options/aggregate_options.h"

/* As many as a port can be asked to send beside the others. */
#define MOST_FLOOD 10000
#define MOST_SHARE 90

static const struct number {
	const char *name;
	size_t offset; /* in struct aggregate_options */
	uint64_t value, least, greatest;
	const char *meaning;
} numbers[] = {
#define NUMBER_(key, value, least, greatest, meaning) \
	{#key, offsetof(struct aggregate_options, key), value, least, greatest, meaning},
	AGGREGATE_NUMBERS(NUMBER_)
#undef NUMBER_
};

static const struct share {
	const char *name;
	size_t offset;
	const char *meaning;
} shares[] = {
#define SHARE_(key, meaning) {#key, offsetof(struct aggregate_options, key), meaning},
	AGGREGATE_SHARES(SHARE_)
#undef SHARE_
};

/* Keys that are names: the index of each is its bit, but for formats. */
static const char *const format_names[] = {
	"fp16", "posit16", "bf16", "posit16_es2", "fp32", "int32", "fp64", "int64"};
static const uint8_t format_bits[] = {AGGREGATE_FP16, AGGREGATE_POSIT16, AGGREGATE_BF16,
	AGGREGATE_POSIT16_ES2, AGGREGATE_FP32, AGGREGATE_INT32, AGGREGATE_FP64, AGGREGATE_INT64};
static const char *const op_names[] = {"sum", "mean", "min", "max"};

static const struct names {
	const char *name;
	size_t offset;
	const char *const *names;
	unsigned int count;
	const uint8_t *bits; /* by index; NULL: the index */
} name_keys[] = {
	{"format", offsetof(struct aggregate_options, formats), format_names, RTE_DIM(format_names),
		format_bits},
	{"op", offsetof(struct aggregate_options, ops), op_names, RTE_DIM(op_names), NULL},
	{"data", offsetof(struct aggregate_options, kinds), data_kind_words, DATA_KINDS, NULL},
};

static void *
field(struct aggregate_options *options, size_t offset)
{
	return (char *)options + offset;
}

void
aggregate_options_default(struct aggregate_options *options)
{
	*options = (struct aggregate_options){
		.formats = 1u << AGGREGATE_FP32,
		.ops = 1,
		.kinds = 1u << DATA_GRADIENTS,
	};
	for (unsigned int n = 0; n < RTE_DIM(numbers); n++)
		*(uint64_t *)field(options, numbers[n].offset) = numbers[n].value;
}

void
aggregate_options_print_usage(FILE *out)
{
	fprintf(out,
		"  --aggregate[=KEY=VALUE[,...]]\n"
		"                       be the workers of an aggregation (dpdk-netfc --aggregate)\n"
		"                       and compare every result with the exact one. Keys:\n");
	for (unsigned int n = 0; n < RTE_DIM(numbers); n++)
		fprintf(out, "                         %-9s %s (default %" PRIu64 ")\n",
			numbers[n].name, numbers[n].meaning, numbers[n].value);
	for (unsigned int s = 0; s < RTE_DIM(shares); s++)
		fprintf(out, "                         %-9s percent of %s (default 0)\n",
			shares[s].name, shares[s].meaning);
	for (unsigned int k = 0; k < RTE_DIM(name_keys); k++) {
		fprintf(out, "                         %-9s", name_keys[k].name);
		for (unsigned int i = 0; i < name_keys[k].count; i++)
			fprintf(out, " %s%s", i > 0 ? "| " : "", name_keys[k].names[i]);
		fprintf(out, ", several joined by +, or all\n");
	}
	fprintf(out,
		"                         length    full (default) or any: values in a chunk\n"
		"                         key       file of the cluster's key: packets have tags\n");
}

static int
take_number(const struct number *number, const char *value, struct aggregate_options *options,
	FILE *errors)
{
	char option[32];

	snprintf(option, sizeof(option), "aggregate %s", number->name);
	return option_u64(errors, option, value, number->least, number->greatest,
		field(options, number->offset));
}

static int
take_share(const struct share *share, const char *value, struct aggregate_options *options,
	FILE *errors)
{
	double most = strcmp(share->name, "flood") == 0 ? MOST_FLOOD : MOST_SHARE;
	char option[32];

	snprintf(option, sizeof(option), "aggregate %s", share->name);
	return option_real(errors, option, value, 0, most, field(options, share->offset));
}

static unsigned int
bit_of(const struct names *key, unsigned int index)
{
	return 1u << (key->bits != NULL ? key->bits[index] : index);
}

/* NAME+NAME..., or all. */
static int
take_names(const struct names *key, char *value, struct aggregate_options *options, FILE *errors)
{
	unsigned int *set = field(options, key->offset), index;
	char option[32], *name;

	snprintf(option, sizeof(option), "aggregate %s", key->name);
	*set = 0;
	if (strcmp(value, "all") == 0) {
		for (index = 0; index < key->count; index++)
			*set |= bit_of(key, index);
		return 0;
	}
	while ((name = strsep(&value, "+")) != NULL) {
		if (option_name(errors, option, name, key->names, key->count, &index) != 0)
			return -1;
		*set |= bit_of(key, index);
	}
	return 0;
}

static int
take_length(const char *value, struct aggregate_options *options, FILE *errors)
{
	static const char *const names[] = {"full", "any"};
	unsigned int index;

	if (option_name(errors, "aggregate length", value, names, RTE_DIM(names), &index) != 0)
		return -1;
	options->any_length = index == 1;
	return 0;
}

static int
take_key_file(const char *path, struct aggregate_options *options, FILE *errors)
{
	if (path[0] == '\0' || strlen(path) >= sizeof(options->key)) {
		fprintf(errors, PROGRAM ": --aggregate key=: give the path of a file\n");
		return -1;
	}
	strcpy(options->key, path);
	return 0;
}

static int
refuse_key(const char *name, FILE *errors)
{
	fprintf(errors, PROGRAM ": --aggregate '%s': there is no such key; the keys are", name);
	for (unsigned int n = 0; n < RTE_DIM(numbers); n++)
		fprintf(errors, " %s,", numbers[n].name);
	for (unsigned int s = 0; s < RTE_DIM(shares); s++)
		fprintf(errors, " %s,", shares[s].name);
	for (unsigned int k = 0; k < RTE_DIM(name_keys); k++)
		fprintf(errors, " %s,", name_keys[k].name);
	fprintf(errors, " length, key\n");
	return -1;
}

static int
take_key(char *key, char *value, void *into, FILE *errors)
{
	struct aggregate_options *options = into;

	for (unsigned int n = 0; n < RTE_DIM(numbers); n++)
		if (strcmp(key, numbers[n].name) == 0)
			return take_number(&numbers[n], value, options, errors);
	for (unsigned int s = 0; s < RTE_DIM(shares); s++)
		if (strcmp(key, shares[s].name) == 0)
			return take_share(&shares[s], value, options, errors);
	for (unsigned int k = 0; k < RTE_DIM(name_keys); k++)
		if (strcmp(key, name_keys[k].name) == 0)
			return take_names(&name_keys[k], value, options, errors);
	if (strcmp(key, "length") == 0)
		return take_length(value, options, errors);
	if (strcmp(key, "key") == 0)
		return take_key_file(value, options, errors);
	return refuse_key(key, errors);
}

static int
check(const struct aggregate_options *options, FILE *errors)
{
	if ((options->slots & (options->slots - 1)) != 0) {
		fprintf(errors, PROGRAM ": --aggregate slots=%" PRIu64 ": not a power of two\n",
			options->slots);
		return -1;
	}
	if (options->bytes < 8 &&
		(options->formats & (1u << AGGREGATE_FP64 | 1u << AGGREGATE_INT64))) {
		fprintf(errors,
			PROGRAM ": --aggregate bytes=: give 8 or more for fp64 and int64\n");
		return -1;
	}
	if (options->key[0] != '\0' && options->flood > 0) {
		fprintf(errors,
			PROGRAM ": --aggregate flood=: bad packets have no tags; give no key=\n");
		return -1;
	}
	return 0;
}

int
aggregate_options_take(const char *text, struct aggregate_options *options, FILE *errors)
{
	options->on = true;
	if (text == NULL)
		return 0;
	if (option_pairs(errors, "aggregate", text, take_key, options) != 0)
		return -1;
	return check(options, errors);
}
