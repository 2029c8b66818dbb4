/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may ask about its communicator at any time, in any thread. */
#include <string.h>

#include "comm/comm.h"

const char *
netfc_allreduce_version(void)
{
	return ALLREDUCE_VERSION;
}

/* To take the lock for reading. */
static struct netfc_allreduce *
writable(const struct netfc_allreduce *comm)
{
	return (struct netfc_allreduce *)(uintptr_t)comm;
}

const char *
netfc_allreduce_error(const struct netfc_allreduce *given)
{
	struct netfc_allreduce *comm = writable(given);
	const char *text;

	if (!lock_enter(comm))
		return "The communicator is that of another process, from which this one is forked: "
		       "let each process make one of its own, and join as a worker of its own.";
	if (strcmp(comm->told[comm->telling], comm->error) != 0) {
		comm->telling = (comm->telling + 1) % ALLREDUCE_TOLD;
		memcpy(comm->told[comm->telling], comm->error, sizeof(comm->error));
	}
	text = comm->told[comm->telling];
	lock_leave(comm);
	return text;
}

int
netfc_allreduce_silent_worker(const struct netfc_allreduce *comm)
{
	unsigned int level;
	int member = netfc_allreduce_silent_member(comm, &level);

	return level == 0 ? member : -1;
}

int
netfc_allreduce_silent_member(const struct netfc_allreduce *given, unsigned int *level)
{
	struct netfc_allreduce *comm = writable(given);
	int member;

	*level = 0;
	if (!lock_enter(comm))
		return -1;
	*level = comm->silent_level;
	member = comm->silent;
	lock_leave(comm);
	return member;
}

int
netfc_allreduce_failed_switch(const struct netfc_allreduce *given)
{
	struct netfc_allreduce *comm = writable(given);
	int failed;

	if (!lock_enter(comm))
		return -1;
	failed = comm->failed_switch;
	lock_leave(comm);
	return failed;
}

void
netfc_allreduce_info(struct netfc_allreduce *comm, struct netfc_allreduce_info *info)
{
	*info = (struct netfc_allreduce_info){0};
	if (!lock_enter(comm))
		return;
	if (comm->life != ALLREDUCE_APART) {
		info->switches = comm->peers;
		info->bytes = comm->bytes;
		for (unsigned int k = 0; k < comm->peers; k++) {
			info->slots += comm->peer[k].member.slots;
			info->sockets += comm->peer[k].link.ports;
			info->gso |= comm->peer[k].link.gso;
			info->gro |= comm->peer[k].link.gro;
			info->path = link_path(&comm->peer[k].link);
		}
	}
	if (comm->local != NULL) {
		info->path = NETFC_ALLREDUCE_LOCAL;
		info->slots = local_slots(comm);
	}
	info->memory = info->path == NETFC_ALLREDUCE_MEMIF;
	lock_leave(comm);
}

void
netfc_allreduce_stats(struct netfc_allreduce *comm, struct netfc_allreduce_stats *stats)
{
	*stats = (struct netfc_allreduce_stats){0};
	if (!lock_enter(comm))
		return;
	*stats = comm->stats;
	for (unsigned int k = 0; k < comm->peers; k++) {
		for (unsigned int s = 0; s < comm->peer[k].window.channels; s++) {
			const struct rtt *rtt = &comm->peer[k].window.channel[s].rtt;

			if (rtt->smoothed > stats->rtt_ns)
				stats->rtt_ns = rtt->smoothed;
			if (rtt->timeout > stats->rto_ns)
				stats->rto_ns = rtt->timeout;
			if (rtt->least > 0 &&
				(stats->rtt_min_ns == 0 || rtt->least < stats->rtt_min_ns))
				stats->rtt_min_ns = rtt->least;
		}
	}
	lock_leave(comm);
}
