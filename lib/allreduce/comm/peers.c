/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include <aggregate_registers.h>
#include <aggregate_wire.h>

#include "clock.h"

/* Results that come twice need buffers beside those that are awaited. */
#define RESERVE 2

static int
out_of_memory(struct netfc_allreduce *comm)
{
	return error_set(comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory for the slots.");
}

/* The local address, if one was asked for; of the family of the switch's. */
static int
find_bind(struct netfc_allreduce *comm, const char *text, const struct peer *peer,
	struct address *address)
{
	const char *problem = address_parse(address, text, 0);

	if (problem != NULL)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "Option bind_address, %s: %s.",
			text, problem);
	if (address_port(address) != 0)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option bind_address, %s: give an address without a port; each shard of a "
			"switch needs one of its own, which the kernel chooses.",
			text);
	if (address->storage.ss_family != peer->link.address.storage.ss_family)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option bind_address, %s, and switch %s: one is IPv4, the other IPv6.",
			text, peer->link.address.text);
	return NETFC_ALLREDUCE_OK;
}

static int
open_port(struct netfc_allreduce *comm, struct peer *peer,
	const struct netfc_allreduce_options *options)
{
	struct link_problem problem;
	struct address from;
	int status = NETFC_ALLREDUCE_OK;

	if (options->bind_address != NULL)
		status = find_bind(comm, options->bind_address, peer, &from);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	if (link_open(&peer->link, options->interface, options->bind_address == NULL ? NULL : &from,
		    &problem))
		return NETFC_ALLREDUCE_OK;
	return error_of_link(comm, peer, options->interface, &problem);
}

/* One that has been named before, by another name: it would get chunks of two as those of one. */
static const struct peer *
find_same(const struct netfc_allreduce *comm, const struct peer *peer)
{
	for (const struct peer *other = comm->peer; other < peer; other++) {
		if (strcmp(other->link.address.text, peer->link.address.text) == 0)
			return other;
	}
	return NULL;
}

static int
open_peer(
	struct netfc_allreduce *comm, unsigned int k, const struct netfc_allreduce_options *options)
{
	struct peer *peer = &comm->peer[k];
	const char *text = options->switches[k];
	const char *problem = address_parse(&peer->link.address, text, NETFC_ALLREDUCE_PORT);

	peer->member = (struct member){.worker = &comm->worker,
		.link = &peer->link,
		.window = &peer->window,
		.index = k,
		.incarnation = netfc_allreduce_draw_token(),
		.late = -1};
	if (peer->member.incarnation == 0)
		return error_set(comm, NETFC_ALLREDUCE_SYSTEM, "The system has no random numbers.");
	if (problem != NULL)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Option switches, \"%s\": %s.", text, problem);
	if (find_same(comm, peer) != NULL)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Option switches has %s twice: \"%s\" is one that is before it.",
			peer->link.address.text, text);
	rtt_init(&peer->member.rtt, options->rto_min_us * NS_PER_US,
		options->rto_max_us * NS_PER_US);
	return open_port(comm, peer, options);
}

int
peers_open(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	int status = NETFC_ALLREDUCE_OK;

	comm->peer = calloc(options->switch_count, sizeof(*comm->peer));
	if (comm->peer == NULL)
		return out_of_memory(comm);
	while (comm->peers < options->switch_count && status == NETFC_ALLREDUCE_OK)
		status = open_peer(comm, comm->peers++, options);
	for (unsigned int k = 0; k < comm->peers && status == NETFC_ALLREDUCE_OK; k++)
		comm->peer[k].member.asked_bytes = options->bytes != 0
			? options->bytes
			: member_path_bytes(&comm->peer[k].member);
	return status;
}

static int
make_window(struct netfc_allreduce *comm, struct peer *peer)
{
	struct window *window = &peer->window;
	const unsigned int in_shard =
		(peer->member.slots + peer->member.shards - 1) / peer->member.shards;

	*window = (struct window){.calls = &comm->calls,
		.stats = &comm->stats,
		.index = peer->member.index,
		.of = comm->peers,
		.slots = peer->member.slots,
		.channels = peer->member.shards};
	if (!window_init(window, &peer->member.rtt))
		return out_of_memory(comm);
	for (unsigned int s = 0; s < peer->link.ports; s++) {
		link_reserve(&peer->link, s, RESERVE * in_shard, comm->batch.stride);
		if (comm->options.gso)
			link_join_packets(&peer->link, s);
	}
	return NETFC_ALLREDUCE_OK;
}

static int
complete(struct netfc_allreduce *comm, struct peer *peer,
	const struct netfc_allreduce_options *options)
{
	int status = member_path_takes(&peer->member, comm->bytes) ? NETFC_ALLREDUCE_OK
								   : error_of_member(comm, peer);

	while (status == NETFC_ALLREDUCE_OK && peer->link.ports < peer->member.shards)
		status = open_port(comm, peer, options);
	peer->member.said = clock_now();
	return status == NETFC_ALLREDUCE_OK ? make_window(comm, peer) : status;
}

/*
 * Bytes after the header of a request or a result. Switches with registers for so many values want
 * all of them in every chunk, and may send sums, four times as long.
 */
static unsigned int
most_bytes(const struct netfc_allreduce *comm)
{
	unsigned int most = comm->bytes;

	for (unsigned int k = 0; k < comm->peers; k++) {
		unsigned int least = comm->peer[k].member.least;

		if (least > 0 && least * (AGGREGATE_SUMS_BYTES / 2) > most)
			most = least * (AGGREGATE_SUMS_BYTES / 2);
		if (least > 0 && comm->bytes * (AGGREGATE_SUMS_BYTES / 2) > most)
			most = comm->bytes * (AGGREGATE_SUMS_BYTES / 2);
	}
	return most;
}

int
peers_complete(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	int status = NETFC_ALLREDUCE_OK;

	comm->bytes = comm->peer[0].member.bytes;
	for (unsigned int k = 1; k < comm->peers; k++) {
		if (comm->peer[k].member.bytes < comm->bytes)
			comm->bytes = comm->peer[k].member.bytes;
	}
	if (!batch_init(&comm->batch,
		    AGGREGATE_HEADER_BYTES + most_bytes(comm) + keys_bytes(&comm->worker)))
		return out_of_memory(comm);
	for (unsigned int k = 0; k < comm->peers && status == NETFC_ALLREDUCE_OK; k++)
		status = complete(comm, &comm->peer[k], options);
	return status;
}

void
peers_close(struct netfc_allreduce *comm)
{
	for (unsigned int k = 0; k < comm->peers; k++) {
		struct peer *peer = &comm->peer[k];

		link_close(&peer->link);
		window_free(&peer->window);
	}
	free(comm->peer);
	comm->peer = NULL;
	comm->peers = 0;
	batch_free(&comm->batch);
}
