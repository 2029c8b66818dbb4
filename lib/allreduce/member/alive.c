/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life of who has joined: keep-alives, and questions to a switch that is silent. */
#include "clock.h"
#include "member/talk.h"

/* How often a switch is probed at least before it counts as down. */
#define QUESTIONS 8

static struct aggregate_member_times
keepalive_times(const struct member *member)
{
	return (struct aggregate_member_times){
		.alive = member->worker->options->keepalive_ms * NS_PER_MS};
}

/* Sooner than a keep-alive, which is no question, and puts the next one off. */
static struct aggregate_member_times
question_times(const struct member *member)
{
	const struct netfc_allreduce_options *options = member->worker->options;
	const uint64_t silence = options->silence_ms * NS_PER_MS;
	const uint64_t most = options->keepalive_ms * NS_PER_MS * 3 / 4;
	uint64_t pause = silence / (QUESTIONS + 1);

	if (most != 0 && pause > most)
		pause = most;
	return (struct aggregate_member_times){
		.alive = pause,
		.questions = pause == 0 ? 0 : (uint32_t)(silence / pause) - 1,
	};
}

static enum aggregate_member_action
say(struct member *member, const struct aggregate_member_times *times, uint64_t since, uint64_t now)
{
	const enum aggregate_member_action action = join_say(member, times, since, now);

	if (action == AGGREGATE_DO_SEND)
		member->said = now;
	return action;
}

uint64_t
member_question_due(const struct member *member, uint64_t since)
{
	const struct aggregate_member_times times = question_times(member);

	if (member->worker->options->silence_ms == 0)
		return NEVER;
	return aggregate_member_due(&member->machine, &times, since);
}

enum aggregate_member_action
member_question(struct member *member, uint64_t since, uint64_t now)
{
	const struct aggregate_member_times times = question_times(member);
	const enum aggregate_member_action action = say(member, &times, since, now);

	if (action == AGGREGATE_DO_BLAME) {
		member_fail(member, MEMBER_SILENT);
		member->problem.questions = times.questions;
		member->problem.ns = now - since;
	}
	return action;
}

uint64_t
member_keepalive_due(const struct member *member)
{
	const struct aggregate_member_times times = keepalive_times(member);

	if (times.alive == 0)
		return NEVER;
	return aggregate_member_due(&member->machine, &times, member->said);
}

bool
member_keepalive(struct member *member, uint64_t now)
{
	const struct aggregate_member_times times = keepalive_times(member);

	return say(member, &times, member->said, now) == AGGREGATE_DO_SEND;
}
