/* SPDX-License-Identifier: BSD-3-Clause */
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "comm/comm.h"

static int
check_levels(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	unsigned int least = options->workers;

	for (unsigned int l = 0; l < options->levels; l++) {
		const struct netfc_allreduce_level *level = &options->level[l];

		if (level->members == 0 || level->members > NETFC_ALLREDUCE_MAX_WORKERS ||
			level->index >= level->members)
			return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
				"Option level[%u] is member %u of %u: give 0 to %u of up to %u.", l,
				level->index, level->members,
				level->members > 0 ? level->members - 1 : 0,
				NETFC_ALLREDUCE_MAX_WORKERS);
		least += level->members - 1;
	}
	if (options->tree_workers >= least &&
		options->tree_workers <= NETFC_ALLREDUCE_MAX_TREE_WORKERS)
		return NETFC_ALLREDUCE_OK;
	return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
		"Option tree_workers is %u: give the workers of the whole tree, %u to %u; this switch "
		"has %u, and each other member above one or more.",
		options->tree_workers, least, NETFC_ALLREDUCE_MAX_TREE_WORKERS, options->workers);
}

static int
tree_check(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	if (options->levels > NETFC_ALLREDUCE_MAX_LEVELS)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option levels is %u: give 0 to %u.", options->levels,
			NETFC_ALLREDUCE_MAX_LEVELS);
	if (!tree_is_there(options))
		return options->levels == 0
			? NETFC_ALLREDUCE_OK
			: error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
				  "Option levels is %u, and tree_workers 0: give the workers of "
				  "the whole tree.",
				  options->levels);
	return check_levels(comm, options);
}

#define MAX_BYTES 65480
#define MAX_RTO_US 60000000
#define MAX_SPIN_US 10000

/* Of the struct: that of the first release, and more than any will have. */
#define MIN_SIZE offsetof(struct netfc_allreduce_options, allow_token_0)
#define MAX_SIZE 4096

void
netfc_allreduce_options_init(struct netfc_allreduce_options *options, size_t size)
{
	static const struct netfc_allreduce_options defaults = {
		.workers = 1,
		.slots = 128,
		.rto_min_us = 1000,
		.rto_max_us = 1000000,
		.join_ms = 60000,
		.deadline_ms = 30000,
		.keepalive_ms = 1000,
		.silence_ms = 10000,
		.spin_us = 50,
		.gso = true,
	};

	memset(options, 0, size);
	memcpy(options, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
	options->size = size;
}

uint64_t
netfc_allreduce_draw_token(void)
{
	uint64_t token = 0;

	while (token == 0)
		if (getrandom(&token, sizeof(token), 0) != (ssize_t)sizeof(token))
			return 0;
	return token;
}

static int
check_range(struct netfc_allreduce *comm, const char *name, unsigned int value, unsigned int least,
	unsigned int greatest)
{
	if (value >= least && value <= greatest)
		return NETFC_ALLREDUCE_OK;
	return error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "Option %s is %u: give %u to %u.", name,
		value, least, greatest);
}

static int
check_switches(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	unsigned int i, k;

	if (options->switches == NULL || options->switch_count == 0 ||
		options->switch_count > NETFC_ALLREDUCE_MAX_SWITCHES)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option switches has %u addresses: give 1 to %u.",
			options->switches == NULL ? 0 : options->switch_count,
			NETFC_ALLREDUCE_MAX_SWITCHES);
	for (i = 0; i < options->switch_count; i++) {
		if (options->switches[i] == NULL)
			return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
				"Option switches: address %u is NULL.", i);
		for (k = 0; k < i; k++) {
			if (strcmp(options->switches[i], options->switches[k]) == 0)
				return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
					"Option switches has %s twice.", options->switches[i]);
		}
	}
	return NETFC_ALLREDUCE_OK;
}

static int
check_chunks(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	if (options->slots == 0 || options->slots > NETFC_ALLREDUCE_MAX_SLOTS ||
		(options->slots & (options->slots - 1)) != 0)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option slots is %u: give a power of two, 1 to %u.", options->slots,
			NETFC_ALLREDUCE_MAX_SLOTS);
	if (options->bytes > MAX_BYTES || options->bytes % 4 != 0)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option bytes is %u: give a multiple of 4, 4 to %u, or 0.", options->bytes,
			MAX_BYTES);
	return NETFC_ALLREDUCE_OK;
}

static int
check_workers(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	if (options->workers == 0 || options->workers > NETFC_ALLREDUCE_MAX_WORKERS)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option workers is %u: give 1 to %u; a tree of switches has more (option "
			"tree_workers).",
			options->workers, NETFC_ALLREDUCE_MAX_WORKERS);
	if (options->worker >= options->workers)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option worker is %u: there are %u workers, give 0 to %u.", options->worker,
			options->workers, options->workers - 1);
	return tree_check(comm, options);
}

static int
check_times(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	int status = check_range(comm, "rto_max_us", options->rto_max_us, 1, MAX_RTO_US);

	if (status == NETFC_ALLREDUCE_OK)
		status = check_range(
			comm, "rto_min_us", options->rto_min_us, 1, options->rto_max_us);
	if (status == NETFC_ALLREDUCE_OK)
		status = check_range(comm, "join_ms", options->join_ms, 1, UINT32_MAX);
	if (status == NETFC_ALLREDUCE_OK)
		status = check_range(comm, "deadline_ms", options->deadline_ms, 1, UINT32_MAX);
	if (status == NETFC_ALLREDUCE_OK)
		status = check_range(comm, "spin_us", options->spin_us, 0, MAX_SPIN_US);
	return status;
}

static int
check_device(struct netfc_allreduce *comm, const char *name)
{
	return if_nametoindex(name) != 0
		? NETFC_ALLREDUCE_OK
		: error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			  "Option interface: there is no network device %s.", name);
}

static int
check_xdp(struct netfc_allreduce *comm, const char *interface)
{
	char device[LINK_NAME_BYTES];

	if (link_device(interface, device))
		return check_device(comm, device);
	return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
		"Option interface, %s: give xdp:DEVICE or xdp:DEVICE,queue=N.", interface);
}

static int
check_interface(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	enum netfc_allreduce_path path = link_named(options->interface);

	if (path == NETFC_ALLREDUCE_UDP)
		return check_device(comm, options->interface);
	if (path == NETFC_ALLREDUCE_MEMIF && options->bind_address == NULL)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option interface, %s: no kernel knows this worker's address there; give it "
			"one of its own (option bind_address).",
			options->interface);
	if (options->switch_count != 1)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option interface, %s: it leads to one switch, and option switches has %u.",
			options->interface, options->switch_count);
	return path == NETFC_ALLREDUCE_XDP ? check_xdp(comm, options->interface)
					   : NETFC_ALLREDUCE_OK;
}

/* Nothing of switches goes with it. */
static int
check_memory(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	if (options->switch_count == 0 && options->interface == NULL &&
		options->bind_address == NULL && !tree_is_there(options) && options->token != 0)
		return NETFC_ALLREDUCE_OK;
	return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
		"Option memory, %s: workers that share memory have a token, and no options switches, "
		"interface, bind_address and tree_workers.",
		options->memory);
}

static int
check(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	int status;

	status = options->memory != NULL ? check_memory(comm, options)
					 : check_switches(comm, options);
	if (status == NETFC_ALLREDUCE_OK)
		status = check_workers(comm, options);
	if (status == NETFC_ALLREDUCE_OK && options->token == 0 && !options->allow_token_0)
		status = error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option token is 0, which anybody would guess: let one worker draw one "
			"(netfc_allreduce_draw_token()) and hand it to the others.");
	if (status == NETFC_ALLREDUCE_OK)
		status = check_chunks(comm, options);
	if (status == NETFC_ALLREDUCE_OK)
		status = check_times(comm, options);
	if (status == NETFC_ALLREDUCE_OK && options->interface != NULL)
		status = check_interface(comm, options);
	return status;
}

int
options_read(struct netfc_allreduce *comm, const struct netfc_allreduce_options *given,
	struct netfc_allreduce_options *options)
{
	if (given == NULL || given->size < MIN_SIZE || given->size > MAX_SIZE)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The options are not initialized: call netfc_allreduce_options_init() first.");
	netfc_allreduce_options_init(options, sizeof(*options));
	memcpy(options, given, given->size < sizeof(*options) ? given->size : sizeof(*options));
	/* Nobody has to know it. */
	if (options->token == 0 && options->workers == 1 && !tree_is_there(options))
		options->token = netfc_allreduce_draw_token();
	return check(comm, options);
}
