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

/* The stages' arrays, counted from the first of them; false if that reaches too far. */
static bool
count_from_first(const struct match_stage *stage, uintptr_t first, uint32_t *base)
{
	const uintptr_t bytes = (uintptr_t)stage->array.entries - first;

	*base = (uint32_t)(bytes / sizeof(uint32_t));
	return bytes / sizeof(uint32_t) <= INT32_MAX - MI_KEYS && bytes % sizeof(uint32_t) == 0;
}

static bool
use_stages(struct mixed_kernel *mixed, const struct log_shape *shape,
	struct match_stage *const *stages, unsigned int format)
{
	const uintptr_t first = (uintptr_t)mixed->entries;

	return count_from_first(stages[shape->log_table], first, &mixed->log.of[format]) &&
		count_from_first(stages[shape->mi_table], first, &mixed->mi.of[format]) &&
		count_from_first(stages[shape->exp_table], first, &mixed->exp.of[format]);
}

static bool
is_wide_array(const struct match_stage *stage)
{
	return stage != NULL && stage->array.entries != NULL &&
		stage->array.entry_size == sizeof(uint32_t);
}

/* The place before all arrays of the stages; false if one of them is no array. */
static bool
find_first(struct mixed_kernel *mixed, const struct log_shape *shape,
	struct match_stage *const *stages)
{
	const unsigned int tables[] = {shape->log_table, shape->mi_table, shape->exp_table};

	for (unsigned int t = 0; t < RTE_DIM(tables); t++) {
		const struct match_stage *stage = stages[tables[t]];

		if (!is_wide_array(stage))
			return false;
		if (mixed->entries == NULL || stage->array.entries < mixed->entries)
			mixed->entries = stage->array.entries;
	}
	return true;
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

typedef bool (*each_fn)(struct mixed_kernel *mixed, const struct log_shape *shape,
	struct match_stage *const *stages, unsigned int format, unsigned int place);

static bool
find_place(struct mixed_kernel *mixed, const struct log_shape *shape,
	struct match_stage *const *stages, unsigned int format, unsigned int place)
{
	(void)place;
	take_constants(mixed, shape, format);
	return stages == NULL || find_first(mixed, shape, stages);
}

static bool
fill(struct mixed_kernel *mixed, const struct log_shape *shape, struct match_stage *const *stages,
	unsigned int format, unsigned int place)
{
	if (stages != NULL)
		return use_stages(mixed, shape, stages, format);
	use_own(mixed, shape, format, place);
	return true;
}

/* For each set: find its shape, and do something with it. */
static int
for_each_set(struct mixed_kernel *mixed, const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], each_fn each)
{
	struct log_shape *shape = malloc(sizeof(*shape));
	unsigned int place = 0;
	int error = 0;

	if (shape == NULL)
		return -ENOMEM;
	for (unsigned int format = 0; format < NETFC_FORMAT_END && error == 0; format++) {
		if (sets[format] == NULL)
			continue;
		error = log_shape_find(sets[format], shape);
		if (error == 0 &&
			!each(mixed, shape, stages != NULL ? stages[format] : NULL, format,
				place++))
			error = -ENOTSUP;
	}
	free(shape);
	return error;
}

static unsigned int
count_sets(const struct netfc_set *const *sets)
{
	unsigned int count = 0;

	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		count += sets[format] != NULL;
	return count;
}

/* Arrays of its own; a gather of the last entry reads two bytes more. */
static int
create_own(struct mixed_kernel *mixed, unsigned int sets, int socket_id)
{
	mixed->own = rte_zmalloc_socket("netfc_mixed",
		((size_t)sets * ENTRIES + 1) * sizeof(uint16_t), RTE_CACHE_LINE_SIZE, socket_id);
	mixed->entries = mixed->own;
	return mixed->own != NULL ? 0 : -ENOMEM;
}

static int
create(struct mixed_kernel *mixed, const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], int socket_id)
{
	int error = 0;

#ifdef RTE_ARCH_X86_64
	mixed->kernel.run.lanes = stages == NULL ? mixed_run_narrow_avx512 : mixed_run_wide_avx512;
#endif
	if (stages == NULL)
		error = create_own(mixed, count_sets(sets), socket_id);
	if (error == 0)
		error = for_each_set(mixed, sets, stages, find_place);
	return error == 0 ? for_each_set(mixed, sets, stages, fill) : error;
}

static bool
has_kernel(enum vector_isa isa)
{
#ifdef RTE_ARCH_X86_64
	return isa >= VECTOR_AVX512;
#else
	(void)isa;
	return false;
#endif
}

static void
mixed_free(struct vector_kernel *kernel)
{
	rte_free(((struct mixed_kernel *)kernel)->own);
	rte_free(kernel);
}

int
vector_mixed_create(const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel)
{
	struct mixed_kernel *mixed;
	int error;

	if (!has_kernel(isa))
		return -ENOTSUP;
	mixed = rte_zmalloc_socket("netfc_mixed", sizeof(*mixed), RTE_CACHE_LINE_SIZE, socket_id);
	if (mixed == NULL)
		return -ENOMEM;
	mixed->kernel.free = mixed_free;
	error = create(mixed, sets, stages, socket_id);
	if (error != 0) {
		mixed_free(&mixed->kernel);
		return error;
	}
	*kernel = &mixed->kernel;
	return 0;
}
