/* SPDX-License-Identifier: BSD-3-Clause */
#include "aggregate_action.h"

static const struct {
	const char *name, *meaning;
	enum aggregate_send send;
	uint8_t reason;
} actions[AGGREGATE_ACTION_COUNT] = {
#define ACTION_(symbol, name, send, reason, meaning) \
	[AGGREGATE_##symbol] = {#name, meaning, AGGREGATE_SEND_##send, AGGREGATE_REASON_##reason},
	AGGREGATE_ACTIONS(ACTION_)
#undef ACTION_
};

const char *
aggregate_action_name(enum aggregate_action action)
{
	return actions[action].name;
}

const char *
aggregate_action_meaning(enum aggregate_action action)
{
	return actions[action].meaning;
}

enum aggregate_send
aggregate_action_send(enum aggregate_action action)
{
	return actions[action].send;
}

uint8_t
aggregate_action_reason(enum aggregate_action action)
{
	return actions[action].reason;
}
