/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "dpdk/reflect.h"
#include "measure.h"
#include "mix.h"
#include "option_value.h"

static int
fail(const char *path, const char *what)
{
	fprintf(stderr, PROGRAM ": '%s': %s\n", path, what);
	return -1;
}

/* ---- sets ---- */

static int
build_set(struct mix *mix, const char *name)
{
	struct netfc_set *set;
	unsigned int format;

	if (option_build_set(stderr, name, &set) != 0)
		return -1;
	format = netfc_format_id(netfc_set_format(set));
	if (mix->set[format] != NULL) {
		netfc_set_free(set);
		return fail(name, "there is another table set of its format");
	}
	mix->set[format] = set;
	return 0;
}

static int
build_sets(struct mix *mix, const char *sets)
{
	char *list = strdup(sets), *rest = list, *name;
	int result = list == NULL ? fail(sets, strerror(ENOMEM)) : 0;

	while (result == 0 && (name = strsep(&rest, ",")) != NULL)
		result = build_set(mix, name);
	free(list);
	return result;
}

/* ---- functions ---- */

static int
add_function(struct mix *mix, const struct netfc_function *known, const struct netfc_format *format)
{
	struct mix_functions *functions = mix->functions;
	const char *name = netfc_function_name(known);
	struct mix_entries *entries = malloc(sizeof(*entries));
	const unsigned int f = functions->count;
	int error;

	if (entries == NULL)
		return fail(name, strerror(ENOMEM));
	if (f == EXTENDED_GROUPS) {
		free(entries);
		return fail(name, "too many functions");
	}
	functions->entries[f] = entries;
	functions->function[f] = (struct pipeline_function){
		.name = name,
		.number = (uint8_t)netfc_function_number(known),
		.format = (uint8_t)netfc_format_id(format),
		.z = entries->z,
		.flags = entries->flags,
	};
	functions->count++;
	error = netfc_function_table(known, format, entries->z, entries->flags);
	return error == NETFC_OK ? 0 : fail(name, netfc_strerror(error));
}

static int
build_function(struct mix *mix, const char *name)
{
	const struct netfc_function *known = netfc_function_by_name(name);
	int result = 0;

	if (known == NULL)
		return fail(name, "no function of that name; see netfc-tables list --functions");
	for (unsigned int format = 0; format < NETFC_FORMAT_END && result == 0; format++) {
		if (mix->set[format] != NULL)
			result = add_function(mix, known, netfc_format_by_id(format));
	}
	return result;
}

static int
build_functions(struct mix *mix, const char *functions)
{
	char *list, *rest, *name;
	int result = 0;

	mix->functions = calloc(1, sizeof(*mix->functions));
	list = strdup(functions != NULL ? functions : "");
	if (mix->functions == NULL || list == NULL)
		result = fail("functions", strerror(ENOMEM));
	rest = functions != NULL ? list : NULL;
	while (result == 0 && (name = strsep(&rest, ",")) != NULL)
		result = build_function(mix, name);
	free(list);
	return result;
}

static void
free_functions(struct mix_functions *functions)
{
	for (unsigned int f = 0; functions != NULL && f < functions->count; f++)
		free(functions->entries[f]);
	free(functions);
}

/* ---- frames ---- */

static int
count_frames(const char *path, pcap_t *file, uint32_t *count)
{
	struct pcap_pkthdr *record;
	const uint8_t *frame;

	for (*count = 0; pcap_next_ex(file, &record, &frame) == 1; (*count)++)
		if (record->caplen > MIX_FRAME_BYTES || record->caplen < record->len)
			return fail(path, "a frame is cut or longer than 2048 bytes");
	return *count > 0 ? 0 : fail(path, "no frames in it");
}

static int
allocate(struct mix *mix, uint32_t count)
{
	mix->pool = rte_pktmbuf_pool_create(
		"mix", PIPELINE_BURST, 0, 0, RTE_PKTMBUF_HEADROOM + MIX_FRAME_BYTES, SOCKET_ID_ANY);
	mix->length = calloc(count, sizeof(*mix->length));
	mix->frames = calloc(count, MIX_FRAME_BYTES);
	if (mix->pool == NULL || mix->length == NULL || mix->frames == NULL ||
		rte_pktmbuf_alloc_bulk(mix->pool, mix->burst, PIPELINE_BURST) != 0) {
		fprintf(stderr, PROGRAM ": no memory for %u packets\n", count);
		return -1;
	}
	mix->packet_count = count;
	return 0;
}

static uint8_t *
frame_of(const struct mix *mix, uint32_t packet)
{
	return mix->frames + (size_t)packet * MIX_FRAME_BYTES;
}

static void
keep_frames(struct mix *mix, pcap_t *file)
{
	struct pcap_pkthdr *record;
	const uint8_t *frame;

	for (uint32_t p = 0; p < mix->packet_count && pcap_next_ex(file, &record, &frame) == 1;
		p++) {
		memcpy(frame_of(mix, p), frame, record->caplen);
		mix->length[p] = (uint16_t)record->caplen;
	}
}

/* Twice through the file: how many frames there are, and then what they are. */
static int
read_frames(struct mix *mix, const char *path)
{
	char message[PCAP_ERRBUF_SIZE];
	pcap_t *file = pcap_open_offline(path, message);
	uint32_t count = 0;
	int result;

	if (file == NULL)
		return fail(path, message);
	result = count_frames(path, file, &count);
	pcap_close(file);
	if (result != 0 || allocate(mix, count) != 0)
		return -1;
	file = pcap_open_offline(path, message);
	if (file == NULL)
		return fail(path, message);
	keep_frames(mix, file);
	pcap_close(file);
	return 0;
}

/* ---- the pipeline ---- */

static int
create_pipeline(struct mix *mix, enum match_kind kind)
{
	struct pipeline_config config = {
		.match = kind,
		.isa = vector_isa_best(),
		.udp_port = NETFC_UDP_PORT,
		.socket_id = SOCKET_ID_ANY,
		.functions = mix->functions->function,
		.function_count = mix->functions->count,
	};
	int error;

	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++)
		config.sets[format] = mix->set[format];
	error = pipeline_create(&config, &mix->pipeline);
	if (error != 0) {
		fprintf(stderr, PROGRAM ": cannot make the pipeline: %s\n", rte_strerror(-error));
		return -1;
	}
	mix->worker = pipeline_worker_create(mix->pipeline, SOCKET_ID_ANY);
	return mix->worker != NULL ? 0 : fail("worker", strerror(ENOMEM));
}

int
mix_create(struct mix *mix, const char *path, const char *sets, const char *functions,
	enum match_kind kind)
{
	*mix = (struct mix){0};
	if (build_sets(mix, sets) != 0 || build_functions(mix, functions) != 0 ||
		read_frames(mix, path) != 0)
		return -1;
	return create_pipeline(mix, kind);
}

void
mix_free(struct mix *mix)
{
	if (mix->burst[0] != NULL)
		rte_pktmbuf_free_bulk(mix->burst, PIPELINE_BURST);
	free(mix->length);
	free(mix->frames);
	rte_mempool_free(mix->pool);
	pipeline_worker_free(mix->worker);
	pipeline_free(mix->pipeline);
	free_functions(mix->functions);
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++)
		netfc_set_free(mix->set[format]);
}

/* ---- times ---- */

/* A burst as it came, written just now, as by a device that puts packets into the cache. */
static void
restore(const struct mix *mix, uint32_t first, uint16_t count)
{
	for (uint16_t p = 0; p < count; p++) {
		const uint16_t length = mix->length[first + p];

		rte_pktmbuf_reset(mix->burst[p]);
		memcpy(rte_pktmbuf_append(mix->burst[p], length), frame_of(mix, first + p), length);
	}
}

static uint64_t
measure_classify(struct mix *mix, uint16_t count)
{
	struct frame frames[PIPELINE_BURST];
	struct classified classified;
	uint64_t start = rte_rdtsc_precise();

	classified_clear(&classified);
	classify(pipeline_classifier(mix->pipeline), mix->burst, frames, 0, count, &classified);
	return rte_rdtsc_precise() - start;
}

struct mix_cycles
mix_measure(struct mix *mix)
{
	struct frame frames[PIPELINE_BURST];
	struct mix_cycles cycles = {0, 0, 0};

	for (uint32_t first = 0; first < mix->packet_count; first += PIPELINE_BURST) {
		uint16_t count =
			(uint16_t)RTE_MIN(mix->packet_count - first, (uint32_t)PIPELINE_BURST);
		uint64_t start, computed;

		restore(mix, first, count);
		cycles.classify += measure_classify(mix, count);
		restore(mix, first, count);
		start = rte_rdtsc_precise();
		pipeline_process(mix->worker, mix->burst, frames, count);
		computed = rte_rdtsc_precise();
		reflect(mix->burst, frames, count);
		cycles.pipeline += computed - start;
		cycles.reflect += rte_rdtsc_precise() - computed;
	}
	return cycles;
}
