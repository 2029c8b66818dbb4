/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

/* How many of the first `end` chunks of all switches go to switch `index` of `peers`. */
static uint64_t
share(uint64_t end, unsigned int index, unsigned int peers)
{
	return end > index ? (end - index - 1) / peers + 1 : 0;
}

/* Whose chunk it is; it is not done, so that it is in the queue. */
static struct netfc_allreduce_handle *
find_handle(const struct netfc_allreduce *comm, uint64_t number)
{
	struct netfc_allreduce_handle *handle = TAILQ_FIRST(&comm->queue);

	while (number - handle->first >= handle->chunks)
		handle = TAILQ_NEXT(handle, in_queue);
	return handle;
}

static void
begin(struct netfc_allreduce *comm, struct peer *peer, uint32_t at)
{
	struct slot *slot = &peer->slot[at];

	slot->handle = find_handle(comm, piece_number(comm, peer, slot->chunk));
	slot->times = 0;
	slot->doubtful = false;
	channel_queue(channel_of(peer, at), at);
}

static void
extend_peer(struct netfc_allreduce *comm, struct peer *peer)
{
	uint64_t from = peer->limit;
	uint64_t to = share(comm->next_chunk, peer->index, comm->peers);

	peer->limit = to;
	if (to > from + peer->slots)
		to = from + peer->slots;
	for (; from < to; from++) {
		uint32_t at = (uint32_t)from & (peer->slots - 1);

		if (peer->slot[at].handle == NULL)
			begin(comm, peer, at);
	}
}

void
window_extend(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle)
{
	handle->first = comm->next_chunk;
	comm->next_chunk += handle->chunks;
	for (unsigned int k = 0; k < comm->peers; k++)
		extend_peer(comm, &comm->peer[k]);
}

static void
finish(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle, uint64_t now)
{
	if (handle == TAILQ_FIRST(&comm->queue))
		comm->head_since = now;
	TAILQ_REMOVE(&comm->queue, handle, in_queue);
	comm->eager -= !handle->lazy;
	comm->stats.allreduces++;
	comm->stats.values += handle->values;
	handle->status = NETFC_ALLREDUCE_OK;
	pthread_cond_broadcast(&comm->done);
}

void
window_complete(struct netfc_allreduce *comm, struct peer *peer, uint32_t at, uint64_t now)
{
	struct slot *slot = &peer->slot[at];
	struct netfc_allreduce_handle *handle = slot->handle;

	channel_land(channel_of(peer, at), at);
	slot->handle = NULL;
	slot->times_before = slot->times;
	slot->chunk += peer->slots;
	if (--handle->left == 0)
		finish(comm, handle, now);
	if (slot->chunk < peer->limit)
		begin(comm, peer, at);
}

void
window_skip(struct netfc_allreduce *comm, uint64_t chunks)
{
	comm->next_chunk += chunks * comm->peers;
	for (unsigned int k = 0; k < comm->peers; k++) {
		struct peer *peer = &comm->peer[k];

		peer->limit += chunks;
		for (uint32_t i = 0; i < peer->slots; i++)
			peer->slot[i].chunk += chunks;
	}
}
