/* SPDX-License-Identifier: BSD-3-Clause */
#include "netfc_member.h"

#include <stdlib.h>

#include "aggregate_member.h"

#define MS UINT64_C(1000000)
#define RETRY (200 * MS)
#define LONGEST_ALIVE (2000 * MS)
#define QUESTIONS 4

struct netfc_member {
	struct aggregate_member member;
	struct aggregate_member_times times;
	struct aggregate_join join;
	struct netfc_member_answer answer;
};

const char *
netfc_member_version(void)
{
	return MEMBER_VERSION;
}

/* Signs of life are at least as frequent as a parent wants them to be. */
static struct aggregate_member_times
times_of(const struct netfc_member_job *job)
{
	const uint64_t alive =
		job->silence / QUESTIONS < LONGEST_ALIVE ? job->silence / QUESTIONS : LONGEST_ALIVE;

	return (struct aggregate_member_times){
		.ask = RETRY,
		.ask_most = RETRY,
		.wait = RETRY,
		.wait_most = RETRY,
		.leave = RETRY / 2,
		.leave_most = RETRY / 2,
		.leaves = 5,
		.questions = (uint32_t)(job->silence / alive) - 1,
		.alive = alive,
	};
}

static struct aggregate_join
join_of(const struct netfc_member_job *job)
{
	struct aggregate_join join = {
		.workers = job->workers,
		.slots = job->slots,
		.bytes = job->bytes,
		.features = AGGREGATE_FEATURE_LEAF,
		.place =
			{
				.levels = job->levels,
				.workers = job->tree_workers,
				.below = job->below,
			},
	};

	for (unsigned int l = 0; l < join.place.levels; l++)
		join.place.level[l] = (struct aggregate_level){
			.members = job->level[2 * l], .index = job->level[2 * l + 1]};
	return join;
}

struct netfc_member *
netfc_member_new(const struct netfc_member_job *job, uint64_t now)
{
	struct netfc_member *member = calloc(1, sizeof(*member));

	if (member == NULL)
		return NULL;
	member->times = times_of(job);
	member->join = join_of(job);
	aggregate_member_begin(
		&member->member, job->job, job->worker, job->token, job->incarnation);
	aggregate_member_ask(&member->member, &member->times, now);
	return member;
}

void
netfc_member_free(struct netfc_member *member)
{
	free(member);
}

static void
tell(struct netfc_member *member, enum aggregate_member_action action,
	struct netfc_member_answer *answer)
{
	member->answer.action = (uint8_t)action;
	member->answer.state = (uint8_t)member->member.state;
	member->answer.session = member->member.session;
	member->answer.due = aggregate_member_due(&member->member, &member->times, 0);
	*answer = member->answer;
}

void
netfc_member_leave(struct netfc_member *member, uint64_t now, struct netfc_member_answer *answer)
{
	aggregate_member_leave(&member->member, &member->times, AGGREGATE_REASON_NONE, now);
	tell(member, AGGREGATE_DO_NOTHING, answer);
}

size_t
netfc_member_poll(struct netfc_member *member, uint64_t now, uint8_t *payload,
	struct netfc_member_answer *answer)
{
	struct aggregate_message message;
	const enum aggregate_member_action action =
		aggregate_member_poll(&member->member, &member->times, 0, now, &message);

	tell(member, action, answer);
	if (action != AGGREGATE_DO_SEND)
		return 0;
	member->join.cookie = message.join.cookie;
	member->join.incarnation = message.join.incarnation;
	message.join = member->join;
	aggregate_build_request(payload, &message);
	return aggregate_message_bytes(&message);
}

void
netfc_member_take(struct netfc_member *member, uint64_t now, const uint8_t *payload, size_t length,
	struct netfc_member_answer *answer)
{
	enum aggregate_member_action action = AGGREGATE_DO_IGNORE;
	struct aggregate_message reply;

	if (aggregate_parse_reply(payload, length, &reply) == 0)
		action = aggregate_member_take(&member->member, &member->times, &reply, now);
	if (action == AGGREGATE_DO_ENTER) {
		member->answer.slots = reply.join.slots;
		member->answer.bytes = reply.join.bytes;
		member->answer.shards = reply.join.shards;
		member->answer.decided = reply.join.place.decided;
	} else if (action == AGGREGATE_DO_GIVE_UP || action == AGGREGATE_DO_END) {
		member->answer.code = reply.code;
		member->answer.reason = member->member.refused;
	}
	tell(member, action, answer);
}
