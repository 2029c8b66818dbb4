/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define FLOOR_SUFFIX "_floor"

static bool
is_power_of_two(unsigned long value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/* The number that all of `text` up to `end` is: no sign, no leading zero. */
static bool
parse_scale(const char *text, const char *end, unsigned *scale)
{
	*scale = 0;
	if (text == end || *text == '0' || end - text > 6)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return false;
		*scale = *scale * 10 + (unsigned)(*text - '0');
	}
	return true;
}

int
netfc_set_parse_name(const char *name, struct netfc_set_id *id)
{
	char format[NETFC_SET_NAME_SIZE];
	size_t length = strlen(name), floor_length = strlen(FLOOR_SUFFIX);
	const char *end = name + length, *scale;

	if (length >= NETFC_SET_NAME_SIZE)
		return NETFC_ERR_NAME;
	id->rounding = NETFC_NEAREST;
	if (length > floor_length && strcmp(end - floor_length, FLOOR_SUFFIX) == 0) {
		id->rounding = NETFC_FLOOR;
		end -= floor_length;
	}
	for (scale = end; scale > name && scale[-1] != '_'; scale--)
		;
	if (scale < name + 2 || *scale != 'k')
		return NETFC_ERR_NAME;
	if (!parse_scale(scale + 1, end, &id->scale))
		return NETFC_ERR_NAME;
	memcpy(format, name, (size_t)(scale - 1 - name));
	format[scale - 1 - name] = '\0';
	id->format = netfc_format_by_name(format);
	if (id->format == NULL)
		return NETFC_ERR_FORMAT;
	if (!is_power_of_two(id->scale) || id->scale > id->format->max_scale)
		return NETFC_ERR_SCALE;
	return NETFC_OK;
}

void
netfc_set_format_name(const struct netfc_set_id *id, char *name)
{
	snprintf(name, NETFC_SET_NAME_SIZE, "%s_k%u%s", id->format->name, id->scale,
		id->rounding == NETFC_FLOOR ? FLOOR_SUFFIX : "");
}

bool
netfc_set_known_name(unsigned index, char *name)
{
	struct netfc_set_id id;

	NETFC_FOREACH_FORMAT (id.format) {
		for (id.scale = id.format->max_scale; id.scale > 0; id.scale /= 2) {
			if (index < 2) {
				id.rounding = index == 0 ? NETFC_NEAREST : NETFC_FLOOR;
				netfc_set_format_name(&id, name);
				return true;
			}
			index -= 2;
		}
	}
	return false;
}

static int
alloc_table(struct netfc_table *table)
{
	uint32_t size = netfc_table_size(table);

	table->entries = calloc(size, sizeof(*table->entries));
	table->reachable = calloc((size + 63) / 64, sizeof(*table->reachable));
	return table->entries != NULL && table->reachable != NULL ? NETFC_OK : NETFC_ERR_NOMEM;
}

int
netfc_set_alloc(const char *name, struct netfc_set **result)
{
	struct netfc_set_id id;
	struct netfc_set *set;
	int error;

	error = netfc_set_parse_name(name, &id);
	if (error != NETFC_OK)
		return error;
	set = calloc(1, sizeof(*set));
	if (set == NULL)
		return NETFC_ERR_NOMEM;
	set->id = id;
	netfc_set_format_name(&id, set->name);
	set->family = &netfc_log_family;
	set->family->layout(set);
	for (unsigned t = 0; t < set->table_count && error == NETFC_OK; t++)
		error = alloc_table(&set->table[t]);
	if (error != NETFC_OK) {
		netfc_set_free(set);
		return error;
	}
	set->family->mark(set);
	set->family->program(set);
	*result = set;
	return NETFC_OK;
}

int
netfc_set_build(const char *name, struct netfc_set **result)
{
	struct netfc_set *set;
	int error;

	error = netfc_set_alloc(name, &set);
	if (error != NETFC_OK)
		return error;
	error = set->family->fill(set);
	if (error != NETFC_OK) {
		netfc_set_free(set);
		return error;
	}
	set->built = true;
	*result = set;
	return NETFC_OK;
}

void
netfc_set_free(struct netfc_set *set)
{
	if (set == NULL)
		return;
	for (unsigned t = 0; t < set->table_count; t++) {
		free(set->table[t].entries);
		free(set->table[t].reachable);
	}
	free(set);
}

const char *
netfc_set_name(const struct netfc_set *set)
{
	return set->name;
}

const struct netfc_format *
netfc_set_format(const struct netfc_set *set)
{
	return set->id.format;
}

unsigned
netfc_set_scale(const struct netfc_set *set)
{
	return set->id.scale;
}

enum netfc_rounding
netfc_set_rounding(const struct netfc_set *set)
{
	return set->id.rounding;
}

int
netfc_set_margin(const struct netfc_set *set, struct netfc_margin *margin)
{
	if (!set->built)
		return NETFC_ERR_ARGUMENT;
	*margin = set->margin;
	return NETFC_OK;
}

const struct netfc_program *
netfc_set_program(const struct netfc_set *set, enum netfc_branch branch)
{
	return &set->program[branch];
}

unsigned
netfc_set_table_count(const struct netfc_set *set)
{
	return set->table_count;
}

const struct netfc_table *
netfc_set_table(const struct netfc_set *set, unsigned index)
{
	return index < set->table_count ? &set->table[index] : NULL;
}

struct netfc_result
netfc_calc(const struct netfc_set *set, enum netfc_op op, uint16_t x, uint16_t y)
{
	return set->family->calc(set, op, x, y);
}
