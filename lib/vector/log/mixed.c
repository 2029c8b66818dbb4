/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "log/log.h"
#include "log/mixed.h"

/* Its three tables, in this order, in an array of the kernel's own. */
#define LOG_ENTRIES 0x8000u
#define MI_ENTRIES 0x30000u
#define EXP_ENTRIES 0x10000u
#define ENTRIES (LOG_ENTRIES + MI_ENTRIES + EXP_ENTRIES)
/* Any key of an miTable, whatever a lane that is not used holds. */
#define MI_KEYS 0x40000

_Static_assert(NETFC_FORMAT_END <= MIXED_FORMATS, "a vector has the bases of all formats");
_Static_assert(ENTRIES >= MI_KEYS, "no key reaches beyond the array");

static void
copy_entries(uint16_t *to, const struct netfc_table *table, uint32_t most)
{
	const uint32_t *entries = netfc_table_entries(table);
	const uint32_t size = RTE_MIN(netfc_table_size(table), most);

	for (uint32_t key = 0; key < size; key++)
		to[key] = (uint16_t)entries[key];
}

static void
use_own(struct mixed_kernel *mixed, const struct log_shape *shape, unsigned int format,
	unsigned int place)
{
	const uint32_t first = place * ENTRIES;

	mixed->log.of[format] = first;
	mixed->mi.of[format] = first + LOG_ENTRIES;
	mixed->exp.of[format] = first + LOG_ENTRIES + MI_ENTRIES;
	copy_entries(mixed->own + mixed->log.of[format],
		netfc_set_table(shape->set, shape->log_table), LOG_ENTRIES);
	copy_entries(mixed->own + mixed->mi.of[format],
		netfc_set_table(shape->set, shape->mi_table), MI_ENTRIES);
	copy_entries(mixed->own + mixed->exp.of[format],
		netfc_set_table(shape->set, shape->exp_table), EXP_ENTRIES);
}

/* The index of a stage's first entry; false if it is no array, or one too far away. */
static bool
find_base(const struct mixed_kernel *mixed, const struct match_stage *stage, uint32_t *base)
{
	const uintptr_t first = (uintptr_t)mixed->entries;
	const intptr_t bytes = (intptr_t)((uintptr_t)stage->array.entries - first);
	const intptr_t entries = bytes / (intptr_t)sizeof(uint32_t);

	*base = (uint32_t)entries;
	return stage->array.entries != NULL && stage->array.entry_size == sizeof(uint32_t) &&
		bytes % (intptr_t)sizeof(uint32_t) == 0 && entries >= INT32_MIN &&
		entries <= INT32_MAX - MI_KEYS;
}

static bool
use_stages(struct mixed_kernel *mixed, const struct log_shape *shape,
	struct match_stage *const *stages, unsigned int format)
{
	if (mixed->entries == NULL)
		mixed->entries = stages[shape->log_table]->array.entries;
	return find_base(mixed, stages[shape->log_table], &mixed->log.of[format]) &&
		find_base(mixed, stages[shape->mi_table], &mixed->mi.of[format]) &&
		find_base(mixed, stages[shape->exp_table], &mixed->exp.of[format]);
}

static void
take_constants(struct mixed_kernel *mixed, const struct log_shape *shape, unsigned int format)
{
	mixed->inf.of[format] = (uint16_t)shape->inf;
	mixed->nan.of[format] = netfc_nan(shape->format);
	mixed->least.of[format] = (uint16_t)RTE_MAX(-shape->guard_words, INT16_MIN);
	mixed->greatest.of[format] = (uint16_t)RTE_MIN(shape->guard_words, INT16_MAX);
	mixed->posit.of[format] = shape->posit ? UINT16_MAX : 0;
}

static int
fill(struct mixed_kernel *mixed, const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], struct log_shape *shape)
{
	unsigned int place = 0;
	int error = 0;

	for (unsigned int format = 0; format < NETFC_FORMAT_END && error == 0; format++) {
		if (sets[format] == NULL)
			continue;
		error = log_shape_find(sets[format], shape);
		if (error != 0)
			break;
		take_constants(mixed, shape, format);
		if (stages == NULL)
			use_own(mixed, shape, format, place++);
		else if (!use_stages(mixed, shape, stages[format], format))
			error = -ENOTSUP;
	}
	return error;
}

/* Arrays of its own; a gather of the last entry reads two bytes more. */
static size_t
own_entries(const struct netfc_set *const *sets)
{
	size_t count = 0;

	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		count += sets[format] != NULL;
	return count * ENTRIES + 1;
}

int
mixed_create(const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], int socket_id,
	struct vector_kernel **kernel)
{
	const size_t own = stages == NULL ? own_entries(sets) : 0;
	struct log_shape *shape = malloc(sizeof(*shape));
	struct mixed_kernel *mixed;
	int error = -ENOMEM;

	mixed = rte_zmalloc_socket("netfc_mixed", sizeof(*mixed) + own * sizeof(mixed->own[0]),
		RTE_CACHE_LINE_SIZE, socket_id);
	if (mixed != NULL && shape != NULL) {
		mixed->entries = stages == NULL ? mixed->own : NULL;
		mixed->kernel.run.lanes =
			stages == NULL ? mixed_run_narrow_avx512 : mixed_run_wide_avx512;
		error = fill(mixed, sets, stages, shape);
	}
	free(shape);
	if (error != 0)
		rte_free(mixed);
	else
		*kernel = &mixed->kernel;
	return error;
}
