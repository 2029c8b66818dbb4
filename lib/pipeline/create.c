/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipeline is made: a kernel for each group. */

#include <errno.h>

#include <rte_byteorder.h>
#include <rte_malloc.h>

#include "classify.h"
#include "extended.h"
#include "kernel_groups.h"
#include "internal.h"
#include "isa.h"

/* The pipeline has a kernel from now on. */
static void
keep(struct pipeline *pipeline, struct vector_kernel *kernel)
{
	pipeline->kernel[pipeline->kernel_count++] = kernel;
}

static int
add_set(struct pipeline *pipeline, const struct pipeline_config *config, unsigned int format)
{
	struct vector_kernel *kernel = NULL;
	int error = vector_create_engine(config->sets[format], config->match, config->isa,
		config->socket_id, pipeline->match[format], &kernel);

	if (error != 0)
		return error;
	keep(pipeline, kernel);
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV && error == 0; op++)
		error = groups_add(&pipeline->groups, format, op, "", kernel);
	return error;
}

/*
 * Min, max, compare and fma need no tables: every format of 8 and 16 bits has them. A table set
 * says what becomes of sums that are too large.
 */
static int
add_extended(struct pipeline *pipeline, const struct pipeline_config *config,
	const struct netfc_format *format)
{
	const struct netfc_set *set = config->sets[netfc_format_id(format)];
	struct vector_kernel *kernel;
	int error = extended_create(set != NULL ? netfc_set_format(set) : format, config->isa,
		config->socket_id, &kernel);

	if (error != 0)
		return error;
	keep(pipeline, kernel);
	for (unsigned int op = NETFC_MIN; op < NETFC_EXTRA_END && error == 0; op++)
		error = groups_add(&pipeline->groups, netfc_format_id(format), op,
			netfc_extra_name(op), kernel);
	return error;
}

static const struct netfc_format *
format_of(unsigned int id)
{
	return id == NETFC_FP32 ? netfc_fp32_format() : netfc_format_by_id(id);
}

static int
add_function(struct pipeline *pipeline, const struct pipeline_config *config,
	const struct pipeline_function *function)
{
	struct vector_kernel *kernel;
	int error;

	if (function->z == NULL)
		error = extended_conversion_create(netfc_function_by_number(function->number),
			format_of(function->format), config->isa, config->socket_id, &kernel);
	else
		error = extended_function_create(
			8 * netfc_wire_slot_bytes(function->number, function->format), function->z,
			function->flags, config->isa, config->socket_id, &kernel);
	if (error != 0)
		return error;
	keep(pipeline, kernel);
	return groups_add(
		&pipeline->groups, function->format, function->number, function->name, kernel);
}

/*
 * The mixed kernel takes longer for each lane than a group's own kernel, but the latter is called
 * once for each group. With so many lanes a group, both take as long: FOLDED_GROUP_LANES if all of
 * the groups' kernels are folded, else GROUP_LANES. With `lpm`, the mixed kernel is always faster.
 */
#define FOLDED_GROUP_LANES 5u
#define GROUP_LANES 32u

static void
choose_group_lanes(struct pipeline *pipeline, enum match_kind match)
{
	pipeline->part_bits = BATCH_PAIRS;
	pipeline->group_lanes = match == MATCH_LPM ? (unsigned int)BATCH_LANES : FOLDED_GROUP_LANES;
	for (unsigned int g = 0; g < GATHERED_GROUPS; g++) {
		const struct vector_kernel *kernel = pipeline->groups.group[g].kernel;

		pipeline->gathered_groups += kernel != NULL;
		if (kernel != NULL && !kernel->takes_op_pairs)
			pipeline->part_bits = BATCH_ALONE;
		if (kernel != NULL && !kernel->tables_in_registers)
			pipeline->group_lanes = RTE_MAX(pipeline->group_lanes, GROUP_LANES);
	}
}

/* A kernel for bursts of several formats or operations, where there is one. */
static int
add_mixed(struct pipeline *pipeline, const struct pipeline_config *config)
{
	struct match_stage *const(*stages)[NETFC_MAX_TABLES] =
		config->match == MATCH_LPM ? pipeline->match : NULL;
	struct vector_kernel *kernel = NULL;
	int error = -ENOTSUP;

	choose_group_lanes(pipeline, config->match);
	if (config->match == MATCH_DIRECT || config->match == MATCH_LPM)
		error = vector_mixed_create(
			config->sets, stages, config->isa, config->socket_id, &kernel);
	if (error == 0) {
		keep(pipeline, kernel);
		pipeline->mixed = kernel;
	}
	return error == -ENOTSUP ? 0 : error;
}

static int
add_kernels(struct pipeline *pipeline, const struct pipeline_config *config)
{
	const struct netfc_format *format;
	int error = 0;

	for (unsigned int f = 0; f < NETFC_SET_FORMAT_END && error == 0; f++) {
		if (config->sets[f] != NULL)
			error = add_set(pipeline, config, f);
	}
	if (error == 0)
		error = add_mixed(pipeline, config);
	NETFC_FOREACH_FORMAT (format) {
		if (error == 0)
			error = add_extended(pipeline, config, format);
	}
	for (unsigned int f = 0; f < config->function_count && error == 0; f++)
		error = add_function(pipeline, config, &config->functions[f]);
	return error;
}

static void
init_classifier(struct classifier *classifier, uint16_t udp_port, enum vector_isa isa,
	const struct groups *groups)
{
	*classifier =
		(struct classifier){.classify = VECTOR_CHOOSE(classify, isa), .groups = groups};
	for (unsigned int p = 0; p < CLASSIFY_VECTOR; p++)
		classifier->udp_port[p] = rte_cpu_to_be_16(udp_port);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		if (groups_number(groups, format, NETFC_ADD) != 0)
			memset(classifier->loaded[format], UINT8_MAX,
				sizeof(classifier->loaded[format]));
	}
}

int
pipeline_create(const struct pipeline_config *config, struct pipeline **result)
{
	struct pipeline *pipeline;
	int error;

	pipeline = rte_zmalloc_socket(
		"pipeline", sizeof(*pipeline), RTE_CACHE_LINE_SIZE, config->socket_id);
	if (pipeline == NULL)
		return -ENOMEM;
	groups_clear(&pipeline->groups);
	pipeline->slow_path =
		(struct slow_path){config->udp_port, config->queries, &pipeline->groups};
	pipeline->compute_gathered = VECTOR_CHOOSE(batch_compute, config->isa);
	error = add_kernels(pipeline, config);
	if (error != 0) {
		pipeline_free(pipeline);
		return error;
	}
	init_classifier(&pipeline->classifier, config->udp_port, config->isa, &pipeline->groups);
	*result = pipeline;
	return 0;
}

void
pipeline_free(struct pipeline *pipeline)
{
	if (pipeline == NULL)
		return;
	for (unsigned int k = 0; k < pipeline->kernel_count; k++)
		vector_free(pipeline->kernel[k]);
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(pipeline->match[format][t]);
	}
	rte_free(pipeline);
}

const char *
pipeline_describe_kernel(const struct pipeline *pipeline, unsigned int format)
{
	const unsigned int group = groups_number(&pipeline->groups, format, NETFC_ADD);
	const struct vector_kernel *kernel = pipeline->groups.group[group].kernel;

	return kernel != NULL && kernel->description[0] != '\0' ? kernel->description : NULL;
}

const struct classifier *
pipeline_classifier(const struct pipeline *pipeline)
{
	return &pipeline->classifier;
}
