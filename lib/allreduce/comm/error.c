/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *meaning;
} statuses[NETFC_ALLREDUCE_STATUS_COUNT] = {
#define STATUS_(symbol, name, meaning) {name, meaning},
	NETFC_ALLREDUCE_STATUSES(STATUS_)
#undef STATUS_
};

const char *
netfc_allreduce_status_name(int status)
{
	return (unsigned int)status < NETFC_ALLREDUCE_STATUS_COUNT ? statuses[status].name : NULL;
}

const char *
netfc_allreduce_status_meaning(int status)
{
	return (unsigned int)status < NETFC_ALLREDUCE_STATUS_COUNT ? statuses[status].meaning
								   : NULL;
}

static void
write_error(struct netfc_allreduce *comm, int failed_switch, const char *format, va_list arguments)
{
	comm->silent = -1;
	comm->silent_level = 0;
	comm->failed_switch = failed_switch;
	vsnprintf(comm->error, sizeof(comm->error), format, arguments);
}

int
error_set(struct netfc_allreduce *comm, enum netfc_allreduce_status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_error(comm, -1, format, arguments);
	va_end(arguments);
	return (int)status;
}

int
error_set_for(struct netfc_allreduce *comm, const struct peer *peer,
	enum netfc_allreduce_status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_error(comm, (int)peer->member.index, format, arguments);
	va_end(arguments);
	return (int)status;
}

int
error_of_call(struct netfc_allreduce *comm, const struct peer *peer, const char *what, int error)
{
	const char *text = peer->link.address.text;

	if (error == ECONNREFUSED)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_REFUSED,
			"Nothing listens on UDP port %s: is the switch running, with --aggregate "
			"and this address and port?",
			text);
	if (error == EMSGSIZE)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"The path to switch %s does not take packets with chunks of %u bytes: let "
			"all workers ask for less (option bytes), or set a larger MTU.",
			text, comm->bytes);
	if (error == ENETUNREACH || error == EHOSTUNREACH)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"There is no route to switch %s: check its address and \"ip route\".",
			text);
	if (error == EPERM || error == EACCES)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"A firewall on this host or on the way forbids packets to switch %s: see "
			"\"nft list ruleset\".",
			text);
	return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM, "Cannot %s switch %s: %s.", what,
		text, strerror(error));
}

/* What to do about an AF_XDP socket that cannot be: the rest of a sentence. */
static const char *
xdp_advice(int error)
{
	switch (error) {
	case EPERM:
		return "; it takes root, or CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF";
	case EBUSY:
		return "; another program or communicator has it (ip link show, bpftool net)";
	case EINVAL:
		return "; there may be no such queue (ethtool -l says how many there are)";
	case ENETDOWN:
		return "; turn the device on (ip link set DEVICE up)";
	case ENOBUFS:
		return "; let the process lock more memory (ulimit -l)";
	case EAFNOSUPPORT:
		return "; this kernel has no AF_XDP";
	default:
		return "";
	}
}

int
error_of_link(struct netfc_allreduce *comm, const struct peer *peer, const char *interface,
	const struct link_problem *problem)
{
	const char *why = strerror(problem->error);

	switch (problem->fault) {
	case LINK_NO_MEMIF:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"Option interface, %s: %s; there has to be a switch with a port "
			"net_memif0,role=server,socket=PATH,socket-abstract=no that nobody uses.",
			interface, why);
	case LINK_FOREIGN:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Option interface, %s: packets to switch %s would come from %s, which is none "
			"of its addresses (option bind_address; ip address show %s).",
			interface, peer->link.address.text, problem->local, problem->device);
	case LINK_NO_ETHERNET:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Option interface, %s: it is no Ethernet device.", interface);
	case LINK_NO_XDP:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"Option interface, %s: can't %s: %s%s.", interface, problem->what, why,
			xdp_advice(problem->error));
	default:
		return error_of_call(comm, peer, problem->what, problem->error);
	}
}

int
error_of_silence(struct netfc_allreduce *comm, const struct peer *peer)
{
	if (link_misses(&peer->link))
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"Packets of switch %s come to another queue of the device than option interface "
			"names: steer them (ethtool -N), or have one queue (ethtool -L).",
			peer->link.address.text);
	if (peer->link.soft_error != 0)
		return error_of_call(comm, peer, "reach", peer->link.soft_error);
	return NETFC_ALLREDUCE_OK;
}

void
error_break(struct netfc_allreduce *comm, int status)
{
	struct call *call;

	if (comm->life == ALLREDUCE_JOINED) {
		comm->life = ALLREDUCE_BROKEN;
		failure_begin(comm, status);
	}
	while ((call = TAILQ_FIRST(&comm->calls.queue)) != NULL) {
		TAILQ_REMOVE(&comm->calls.queue, call, in_queue);
		((struct netfc_allreduce_handle *)call)->status = status;
	}
	comm->eager = 0;
	lock_wake(comm);
}
