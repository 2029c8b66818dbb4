/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>

#include "option.h"
#include "options/options.h"

#define EXPECTED "(PORT,QUEUE,LCORE)[,(PORT,QUEUE,LCORE)...], as in (0,0,1),(0,1,2)"

/* A number and the character behind it. */
static const char *
take_number(const char *text, char end, uint16_t *number)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (!isdigit((unsigned char)*text) || *rest != end || value > UINT16_MAX)
		return NULL;
	*number = (uint16_t)value;
	return rest + 1;
}

static const char *
take_place(const char *text, struct queue_place *place)
{
	if (*text++ != '(')
		return NULL;
	text = take_number(text, ',', &place->port);
	if (text != NULL)
		text = take_number(text, ',', &place->queue);
	return text != NULL ? take_number(text, ')', &place->lcore) : NULL;
}

static int
add_place(FILE *errors, const char *option, const char *text, struct queue_config *config,
	struct queue_place place)
{
	char expected[80];

	for (unsigned int p = 0; p < config->count; p++) {
		if (config->place[p].port != place.port || config->place[p].queue != place.queue)
			continue;
		snprintf(expected, sizeof(expected),
			"each queue once; queue %u of port %u is there twice", place.queue,
			place.port);
		return option_refuse(errors, option, text, expected);
	}
	if (config->count == MAX_QUEUE_PLACES)
		return option_refuse(errors, option, text, "1024 queues at the most");
	config->place[config->count++] = place;
	return 0;
}

int
queue_config_parse(FILE *errors, const char *option, const char *text, void *field)
{
	struct queue_config *config = field;
	const char *rest = text;

	config->count = 0;
	for (;;) {
		struct queue_place place;

		rest = take_place(rest, &place);
		if (rest == NULL || (*rest != '\0' && *rest != ','))
			return option_refuse(errors, option, text, EXPECTED);
		if (add_place(errors, option, text, config, place) != 0)
			return -1;
		if (*rest++ == '\0')
			return 0;
	}
}
