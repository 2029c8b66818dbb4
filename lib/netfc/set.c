/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define FLOOR_SUFFIX "_floor"
/* Of correctly rounded sets of 8 bits whose results saturate. */
#define SAT_SUFFIX "_sat"

/* Families, and the suffixes of the names of sets without a scale. */
static const struct {
	const char *name, *suffix;
} families[] = {
	[NETFC_FAMILY_LOG] = {"log", NULL},
	[NETFC_FAMILY_EXACT] = {"exact", "_exact"},
	[NETFC_FAMILY_EXACT_SMALL] = {"exact_small", "_exact_small"},
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

/*
 * The layout with the fewest stages is made for these two; another IEEE format of 16 bits has the
 * one with the least memory alone. Posits have one correctly rounded layout; so have formats of
 * other widths, and no other set.
 */
static bool
has_format(enum netfc_family family, const struct netfc_format *format)
{
	if (format->width != 16)
		return family == NETFC_FAMILY_EXACT;
	if (family == NETFC_FAMILY_EXACT)
		return format->posit || format->id == NETFC_FP16 || format->id == NETFC_BF16;
	return family != NETFC_FAMILY_EXACT_SMALL || !format->posit;
}

static const struct family *
family_of(const struct netfc_set_id *id)
{
	if (id->format->id == NETFC_FP32)
		return &netfc_fp32_family;
	if (id->format->width == 8)
		return &netfc_fp8_family;
	if (id->family == NETFC_FAMILY_LOG)
		return &netfc_log_family;
	if (id->family == NETFC_FAMILY_EXACT && !id->format->posit)
		return &netfc_exact_family;
	return &netfc_small_family;
}

static bool
is_power_of_two(unsigned long value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/* Parse a number from `text` to `end`, without sign or leading zero. */
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

/* Cut the suffix off the text from `name` to `end`. False if it does not have it. */
static bool
cut_suffix(const char *name, const char **end, const char *suffix)
{
	size_t length = strlen(suffix);

	if ((size_t)(*end - name) <= length || memcmp(*end - length, suffix, length) != 0)
		return false;
	*end -= length;
	return true;
}

/* The format whose name is the text from `name` to `end`. */
static int
parse_format(const char *name, const char *end, struct netfc_set_id *id)
{
	char format[NETFC_SET_NAME_SIZE];

	memcpy(format, name, (size_t)(end - name));
	format[end - name] = '\0';
	id->format = strcmp(format, netfc_fp32_format()->name) == 0 ? netfc_fp32_format()
								    : netfc_format_by_name(format);
	return id->format != NULL && has_format(id->family, id->format) ? NETFC_OK
									: NETFC_ERR_FORMAT;
}

int
netfc_set_parse_name(const char *name, struct netfc_set_id *id)
{
	size_t length = strlen(name);
	const char *end = name + length, *scale;
	int error;

	if (length >= NETFC_SET_NAME_SIZE)
		return NETFC_ERR_NAME;
	*id = (struct netfc_set_id){.rounding = NETFC_NEAREST};
	for (unsigned f = NETFC_FAMILY_EXACT; f < FAMILIES; f++) {
		if (cut_suffix(name, &end, families[f].suffix)) {
			id->family = (enum netfc_family)f;
			return parse_format(name, end, id);
		}
	}
	if (cut_suffix(name, &end, SAT_SUFFIX)) {
		id->family = NETFC_FAMILY_EXACT;
		error = parse_format(name, end, id);
		if (error == NETFC_OK)
			id->format = netfc_format_saturating(id->format);
		return id->format != NULL ? error : NETFC_ERR_FORMAT;
	}
	if (cut_suffix(name, &end, FLOOR_SUFFIX))
		id->rounding = NETFC_FLOOR;
	for (scale = end; scale > name && scale[-1] != '_'; scale--)
		;
	if (scale < name + 2 || *scale != 'k')
		return NETFC_ERR_NAME;
	if (!parse_scale(scale + 1, end, &id->scale))
		return NETFC_ERR_NAME;
	error = parse_format(name, scale - 1, id);
	if (error != NETFC_OK)
		return error;
	if (!is_power_of_two(id->scale) || id->scale > id->format->max_scale)
		return NETFC_ERR_SCALE;
	return NETFC_OK;
}

void
netfc_set_format_name(const struct netfc_set_id *id, char *name)
{
	if (id->family != NETFC_FAMILY_LOG) {
		snprintf(name, NETFC_SET_NAME_SIZE, "%s%s", id->format->name,
			id->format->saturates ? SAT_SUFFIX : families[id->family].suffix);
		return;
	}
	snprintf(name, NETFC_SET_NAME_SIZE, "%s_k%u%s", id->format->name, id->scale,
		id->rounding == NETFC_FLOOR ? FLOOR_SUFFIX : "");
}

/* Names of the sets without a scale, which come last. */
static bool
known_name_without_scale(unsigned index, char *name)
{
	struct netfc_set_id id = {.rounding = NETFC_NEAREST};

	for (unsigned f = NETFC_FAMILY_EXACT; f < FAMILIES; f++) {
		id.family = (enum netfc_family)f;
		NETFC_FOREACH_FORMAT (id.format) {
			if (!has_format(id.family, id.format) || index-- > 0)
				continue;
			netfc_set_format_name(&id, name);
			return true;
		}
	}
	id.family = NETFC_FAMILY_EXACT;
	NETFC_FOREACH_FORMAT (id.format) {
		const struct netfc_format *saturating = netfc_format_saturating(id.format);

		if (saturating == NULL || index-- > 0)
			continue;
		id.format = saturating;
		netfc_set_format_name(&id, name);
		return true;
	}
	id.format = netfc_fp32_format();
	netfc_set_format_name(&id, name);
	return index == 0;
}

bool
netfc_set_known_name(unsigned index, char *name)
{
	struct netfc_set_id id = {.family = NETFC_FAMILY_LOG};

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
	return known_name_without_scale(index, name);
}

void
netfc_describe_tables(struct netfc_set *set, const struct netfc_table *tables, unsigned count)
{
	set->table_count = count + 1;
	for (unsigned t = 0; t < count; t++) {
		set->table[t] = tables[t];
		set->table[t].match = true;
		set->table[t].pages += set->table[t].pages == 0;
		set->table[t].copies += set->table[t].copies == 0;
	}
	set->table[count] = netfc_decide_table;
}

/* The last one. */
static struct netfc_table *
decide_table(struct netfc_set *set)
{
	return &set->table[set->table_count - 1];
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
netfc_set_alloc(const struct netfc_set_id *id, struct netfc_set **result)
{
	struct netfc_set *set = calloc(1, sizeof(*set));
	int error = NETFC_OK;

	if (set == NULL)
		return NETFC_ERR_NOMEM;
	set->id = *id;
	netfc_set_format_name(id, set->name);
	set->family = family_of(id);
	set->family->layout(set);
	for (unsigned t = 0; t < set->table_count && error == NETFC_OK; t++)
		error = alloc_table(&set->table[t]);
	if (error != NETFC_OK) {
		netfc_set_free(set);
		return error;
	}
	set->family->mark(set);
	netfc_decide_mark(decide_table(set));
	set->family->program(set);
	*result = set;
	return NETFC_OK;
}

int
netfc_set_fill(struct netfc_set *set)
{
	netfc_decide_fill(set->id.format, decide_table(set));
	return set->family->fill(set);
}

int
netfc_set_build(const char *name, struct netfc_set **result)
{
	struct netfc_set_id id;
	struct netfc_set *set;
	int error = netfc_set_parse_name(name, &id);

	if (error == NETFC_OK)
		error = netfc_set_alloc(&id, &set);
	if (error != NETFC_OK)
		return error;
	error = netfc_set_fill(set);
	if (error != NETFC_OK) {
		netfc_set_free(set);
		return error;
	}
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

enum netfc_family
netfc_set_family(const struct netfc_set *set)
{
	return set->id.family;
}

const char *
netfc_family_name(enum netfc_family family)
{
	return families[family].name;
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
	if (!set->measured)
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

const struct netfc_table *
netfc_set_find_table(const struct netfc_set *set, const char *name)
{
	for (unsigned t = 0; t < set->table_count; t++) {
		if (strcmp(set->table[t].name, name) == 0)
			return &set->table[t];
	}
	return NULL;
}

const struct netfc_program *
netfc_set_op_program(const struct netfc_set *set, enum netfc_op op)
{
	if (set->id.format->id == NETFC_FP32 && op == NETFC_DIV)
		return &set->program[NETFC_BRANCHES];
	return &set->program[netfc_op_branch(op)];
}

struct netfc_result
netfc_calc(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y)
{
	return set->family->calc(set, op, x, y);
}
