/* SPDX-License-Identifier: BSD-3-Clause */
#include "member/path.h"

#include <stdio.h>

#include <aggregate_wire.h>

#include "comm/error.h"
#include "member/keys.h"
#include "link/link.h"

#define ETHERNET_MTU 1500
/* Of values in a chunk, as option bytes has it. */
#define MAX_BYTES 65480
/* So often a size is tried: fewer would take a lossy path for a narrow one. */
#define TRIES 4
#define NOTICE_BYTES 512

/* Bytes of a chunk's packet beside its values. */
static unsigned int
overhead(const struct netfc_allreduce *comm, const struct peer *peer)
{
	return address_header_bytes(&peer->link.address) + AGGREGATE_HEADER_BYTES +
		(unsigned int)keys_bytes(comm);
}

/* Bytes of values in packets of at most `mtu`. */
static unsigned int
values_in(const struct netfc_allreduce *comm, const struct peer *peer, unsigned int mtu)
{
	unsigned int other = overhead(comm, peer);

	return mtu > other + PATH_MIN_BYTES ? (mtu - other) / 4 * 4 : PATH_MIN_BYTES;
}

unsigned int
path_bytes(const struct netfc_allreduce *comm, const struct peer *peer)
{
	unsigned int mtu = link_mtu(&peer->link);
	unsigned int bytes = values_in(comm, peer, mtu == 0 ? ETHERNET_MTU : mtu);

	return bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

void
path_begin(const struct netfc_allreduce *comm, const struct peer *peer, struct path *path,
	unsigned int granted)
{
	unsigned int bytes = granted < peer->asked_bytes ? granted : peer->asked_bytes;

	if (path->times == 0 && bytes > values_in(comm, peer, ETHERNET_MTU))
		path->trying = bytes;
}

/* Report it, if the user wants to know. */
static void
notify(const struct netfc_allreduce *comm, const struct peer *peer, const struct path *path)
{
	const struct netfc_allreduce_options *options = &comm->options;
	char text[NOTICE_BYTES];

	if (options->notice == NULL)
		return;
	snprintf(text, sizeof(text),
		"Packets of %u bytes do not get to switch %s and back, though this host's device "
		"takes them: chunks are cut to %u bytes of values.",
		path->trying + overhead(comm, peer), peer->link.address.text, peer->asked_bytes);
	options->notice(options->notice_context, text);
}

int
path_is_silent(struct netfc_allreduce *comm, struct peer *peer, struct path *path)
{
	if (!path_is_tried(path) || ++path->times < TRIES)
		return NETFC_ALLREDUCE_OK;
	if (comm->options.bytes != 0)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks of %u bytes make packets of %u, which do not get to switch %s and "
			"back: let all workers set option bytes to %u, or to 0.",
			path->trying, path->trying + overhead(comm, peer), peer->link.address.text,
			values_in(comm, peer, ETHERNET_MTU));
	peer->asked_bytes = values_in(comm, peer, ETHERNET_MTU);
	notify(comm, peer, path);
	path->trying = 0;
	return NETFC_ALLREDUCE_OK;
}

int
path_check(struct netfc_allreduce *comm, const struct peer *peer)
{
	unsigned int mtu = link_mtu(&peer->link);

	if (mtu == 0 || comm->bytes + overhead(comm, peer) <= mtu)
		return NETFC_ALLREDUCE_OK;
	return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
		"Chunks of %u bytes make packets of %u, and the path to switch %s takes %u (its MTU): "
		"let all workers set option bytes to %u.",
		comm->bytes, comm->bytes + overhead(comm, peer), peer->link.address.text, mtu,
		values_in(comm, peer, mtu));
}
