/* SPDX-License-Identifier: BSD-3-Clause */
#include "member/talk.h"

#include <stdio.h>

#define ETHERNET_MTU 1500
/* Of values in a chunk, as option bytes has it. */
#define MAX_BYTES 65480
/* So often a size is tried: fewer would take a lossy path for a narrow one. */
#define TRIES 4
#define NOTICE_BYTES 512

/* Bytes of a chunk's packet beside its values. */
static unsigned int
overhead(const struct member *member)
{
	return address_header_bytes(&member->link->address) + AGGREGATE_HEADER_BYTES +
		(unsigned int)keys_bytes(member->worker);
}

/* Bytes of values in packets of at most `mtu`. */
static unsigned int
values_in(const struct member *member, unsigned int mtu)
{
	unsigned int other = overhead(member);

	return mtu > other + PATH_MIN_BYTES ? (mtu - other) / 4 * 4 : PATH_MIN_BYTES;
}

unsigned int
member_path_bytes(const struct member *member)
{
	unsigned int mtu = link_mtu(member->link);
	unsigned int bytes = values_in(member, mtu == 0 ? ETHERNET_MTU : mtu);

	return bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

void
path_begin(const struct member *member, struct path *path, unsigned int granted)
{
	unsigned int bytes = granted < member->asked_bytes ? granted : member->asked_bytes;

	if (path->times == 0 && bytes > values_in(member, ETHERNET_MTU))
		path->trying = bytes;
}

/* Report it, if the user wants to know. */
static void
notify(const struct member *member, const struct path *path)
{
	const struct netfc_allreduce_options *options = member->worker->options;
	char text[NOTICE_BYTES];

	if (options->notice == NULL)
		return;
	snprintf(text, sizeof(text),
		"Packets of %u bytes do not get to switch %s and back, though this host's device "
		"takes them: chunks are cut to %u bytes of values.",
		path->trying + overhead(member), member->link->address.text, member->asked_bytes);
	options->notice(options->notice_context, text);
}

/* Chunks of so many bytes do not pass, where packets may have `mtu`. */
static bool
fail(struct member *member, enum member_fault fault, unsigned int bytes, unsigned int mtu)
{
	member_fail(member, fault);
	member->problem.bytes = bytes;
	member->problem.packet = bytes + overhead(member);
	member->problem.mtu = mtu;
	member->problem.fit = values_in(member, mtu);
	return false;
}

bool
path_is_silent(struct member *member, struct path *path)
{
	if (path->trying == 0 || ++path->times < TRIES)
		return true;
	if (member->worker->options->bytes != 0)
		return fail(member, MEMBER_TOO_LONG, path->trying, ETHERNET_MTU);
	member->asked_bytes = values_in(member, ETHERNET_MTU);
	notify(member, path);
	path->trying = 0;
	return true;
}

bool
member_path_takes(struct member *member, unsigned int bytes)
{
	unsigned int mtu = link_mtu(member->link);

	return mtu == 0 || bytes + overhead(member) <= mtu || fail(member, MEMBER_MTU, bytes, mtu);
}
