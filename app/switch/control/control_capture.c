/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

#include "capture/capture.h"
#include "control/control_capture.h"

/* Take a number if the request has it. */
static int
get_number(const json_t *request, const char *name, json_int_t least, json_int_t greatest,
	json_int_t *number, FILE *errors)
{
	const json_t *value = json_object_get(request, name);

	if (value == NULL)
		return 0;
	*number = json_integer_value(value);
	if (json_is_integer(value) && *number >= least && *number <= greatest)
		return 0;
	fprintf(errors,
		"'%s': expected a number from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT,
		name, least, greatest);
	return -1;
}

static int
start(struct app *app, const json_t *request, FILE *errors)
{
	const char *file = json_string_value(json_object_get(request, "file"));
	json_int_t snaplen = CAPTURE_SNAPLEN, packets = 0, bytes = CAPTURE_BYTES;
	struct capture_request wanted = {.path = file};

	if (file == NULL || file[0] == '\0') {
		fprintf(errors, "'file' is missing, or no text");
		return -1;
	}
	if (get_number(request, "snaplen", CAPTURE_LEAST_SNAPLEN, CAPTURE_MOST_SNAPLEN, &snaplen,
		    errors) != 0 ||
		get_number(request, "packets", 0, INT64_MAX, &packets, errors) != 0 ||
		get_number(request, "bytes", 0, INT64_MAX, &bytes, errors) != 0)
		return -1;
	wanted.snaplen = (uint32_t)snaplen;
	wanted.packets = (uint64_t)packets;
	wanted.bytes = (uint64_t)bytes;
	return capture_start(app, &wanted, errors);
}

static int
stop(struct app *app, const json_t *request, FILE *errors)
{
	(void)request;
	return capture_stop(app, errors);
}

static int
show(struct app *app, const json_t *request, FILE *errors)
{
	(void)app;
	(void)request;
	(void)errors;
	return 0;
}

static const struct action {
	const char *name;
	int (*function)(struct app *app, const json_t *request, FILE *errors);
} actions[] = {
	{"start", start},
	{"stop", stop},
	{"show", show},
};

int
control_capture(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	const char *name = json_string_value(json_object_get(request, "action"));

	for (unsigned int a = 0; a < RTE_DIM(actions); a++) {
		if (name == NULL || strcmp(actions[a].name, name) != 0)
			continue;
		if (actions[a].function(app, request, errors) != 0)
			return -1;
		pthread_mutex_lock(&app->state_lock);
		json_object_set_new(answer, "capture", capture_json(app));
		pthread_mutex_unlock(&app->state_lock);
		return 0;
	}
	fprintf(errors, "'action': expected one of start stop show");
	return -1;
}
