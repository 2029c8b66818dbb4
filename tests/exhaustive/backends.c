/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_memory.h>

#include "backends.h"
#include "ieee_flags.h"

/* ---- fp16 by the CPU's own arithmetic ---------------------------------------------------------
 */

#if defined(__x86_64__)
#define NAN_BITS 0x7e00
#define INF_BITS 0x7c00
#define MAGNITUDE 0x7fff
#define LANES 8

/*
 * In single precision: its 24 bits are twice the 11 bits of fp16 plus two, so that rounding twice
 * gives the same as rounding once.
 */
__attribute__((target("avx,f16c"))) static void
compute_some(enum netfc_op op, __m256 a, uint32_t first, uint16_t *z)
{
	uint16_t y[LANES];
	__m256 b, result;

	for (uint32_t l = 0; l < LANES; l++)
		y[l] = (uint16_t)(first + l);
	b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)y));
	result = op == NETFC_ADD  ? _mm256_add_ps(a, b)
		: op == NETFC_SUB ? _mm256_sub_ps(a, b)
		: op == NETFC_MUL ? _mm256_mul_ps(a, b)
				  : _mm256_div_ps(a, b);
	_mm_storeu_si128((__m128i *)z, _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
}

/* One x with every y: results, NaN being 0x7e00, and the flags that follow from their meaning. */
__attribute__((target("avx,f16c"))) static void
cpu_compute(enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags)
{
	const __m256 a = _mm256_cvtph_ps(_mm_set1_epi16((short)x));

	for (uint32_t first = 0; first < ROW; first += LANES)
		compute_some(op, a, first, &z[first]);
	for (uint32_t y = 0; y < ROW; y++) {
		z[y] = (z[y] & MAGNITUDE) > INF_BITS ? NAN_BITS : z[y];
		flags[y] = ieee_flags(op, x & MAGNITUDE, y & MAGNITUDE, z[y] & MAGNITUDE, INF_BITS);
	}
}

/* Whether this CPU has AVX and F16C. */
static bool
cpu_can(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
		(ecx & bit_F16C) != 0;
}

#else

static bool
cpu_can(void)
{
	return false;
}

static void
cpu_compute(enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags)
{
	(void)op, (void)x, (void)z, (void)flags;
}

#endif

/* ---- all backends
 * -------------------------------------------------------------------------------- */

static struct backend *
add_way(struct backends *backends)
{
	return &backends->backend[backends->count++];
}

static void
add_program(struct backends *backends, const struct netfc_set *set)
{
	struct backend *backend = add_way(backends);

	backend->set = set;
	snprintf(backend->name, sizeof(backend->name), "%s, step by step", netfc_set_name(set));
}

/* Add a kernel if it could be created, or pass the error on. */
static int
add_kernel(struct backends *backends, const char *engine, int error, struct vector_kernel *kernel)
{
	struct backend *backend;

	if (error != 0)
		return error == -ENOTSUP ? 0 : error;
	backend = add_way(backends);
	backend->kernel = kernel;
	snprintf(backend->name, sizeof(backend->name), "%s: %s", engine, kernel->description);
	return 0;
}

static int
create_stages(struct backends *backends, const struct netfc_set *set, enum match_kind kind)
{
	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);
		int error = match_create(netfc_table_is_match(table) ? kind : MATCH_DIRECT, table,
			SOCKET_ID_ANY, &backends->stages[kind][t]);

		if (error != 0)
			return error;
	}
	return 0;
}

/* The kernels that have all of the set, and those that look up in a match engine. */
static int
add_set_kernels(struct backends *backends, const struct netfc_set *set, enum vector_isa isa)
{
	static const enum match_kind kinds[] = {MATCH_DIRECT, MATCH_LPM};
	struct vector_kernel *kernel = NULL;
	int error = vector_create(set, NULL, isa, SOCKET_ID_ANY, &kernel);

	error = add_kernel(backends, "direct", error, kernel);
	for (unsigned int k = 0; k < RTE_DIM(kinds) && error == 0 && backends->log != NULL; k++) {
		error = vector_create(set, backends->stages[kinds[k]], isa, SOCKET_ID_ANY, &kernel);
		error = add_kernel(backends, match_kind_name(kinds[k]), error, kernel);
	}
	return error;
}

static int
find_log(struct backends *backends)
{
	int error;

	backends->log = backends->sets[0];
	add_program(backends, backends->log);
	error = create_stages(backends, backends->log, MATCH_DIRECT);
	if (error == 0)
		error = create_stages(backends, backends->log, MATCH_LPM);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best() && error == 0; isa++)
		error = add_set_kernels(backends, backends->log, isa);
	return error;
}

/* A kernel without tables is the reference itself in plain C, and for posits always. */
static int
find_exact(struct backends *backends)
{
	int error = 0;

	if (netfc_format_id(backends->format) == NETFC_FP16 && cpu_can())
		snprintf(add_way(backends)->name, sizeof(backends->backend[0].name), "the CPU");
	for (unsigned int s = 0; s < RTE_DIM(backends->sets) && backends->sets[s] != NULL; s++)
		add_program(backends, backends->sets[s]);
	for (enum vector_isa isa = VECTOR_PLAIN + 1;
		isa <= vector_isa_best() && !netfc_format_is_posit(backends->format) && error == 0;
		isa++) {
		struct vector_kernel *kernel;

		error = vector_fpu_create(backends->format, isa, SOCKET_ID_ANY, &kernel);
		error = add_kernel(backends, "fpu", error, kernel);
		if (error == 0)
			error = add_set_kernels(backends, backends->sets[0], isa);
	}
	return error;
}

int
backends_find(struct backends *backends, const char *name)
{
	static const char *const families[] = {"%s_exact", "%s_exact_small"};
	char set_name[64];

	*backends = (struct backends){.format = netfc_format_by_name(name)};
	if (backends->format == NULL) {
		if (netfc_set_build(name, &backends->sets[0]) != NETFC_OK ||
			netfc_set_family(backends->sets[0]) != NETFC_FAMILY_LOG)
			return -EINVAL;
		backends->format = netfc_set_format(backends->sets[0]);
		return find_log(backends);
	}
	for (unsigned int s = 0; s < RTE_DIM(families); s++) {
		snprintf(set_name, sizeof(set_name), families[s], name);
		if (netfc_set_build(set_name, &backends->sets[s]) != NETFC_OK && s == 0)
			return -EINVAL;
	}
	return find_exact(backends);
}

void
backends_free(struct backends *backends)
{
	for (unsigned int w = 0; w < backends->count; w++)
		vector_free(backends->backend[w].kernel);
	for (unsigned int kind = 0; kind < MATCH_KINDS; kind++) {
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(backends->stages[kind][t]);
	}
	for (unsigned int s = 0; s < RTE_DIM(backends->sets); s++)
		netfc_set_free(backends->sets[s]);
}

void
backends_expect(
	const struct backends *backends, enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags)
{
	for (uint32_t y = 0; y < ROW; y++) {
		struct netfc_result result = backends->log != NULL
			? netfc_calc(backends->log, op, x, (uint16_t)y)
			: netfc_exact(backends->format, op, x, (uint16_t)y);

		z[y] = result.z;
		flags[y] = result.flags;
	}
}

/* Between host and network byte order. */
static void
swap_row(const uint16_t *from, uint16_t *to)
{
	for (uint32_t l = 0; l < ROW; l++)
		to[l] = RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
			? (uint16_t)(from[l] << 8 | from[l] >> 8)
			: from[l];
}

static void
compute_slots(const struct vector_kernel *kernel, enum netfc_op op, const uint16_t *x_row,
	const uint16_t *y_row, uint16_t *z, uint8_t *flags)
{
	uint16_t x_slots[ROW], y_slots[ROW], z_slots[ROW];

	swap_row(x_row, x_slots);
	swap_row(y_row, y_slots);
	vector_run_lanes(
		kernel, op, &(struct vector_lanes){x_slots, y_slots, z_slots, flags, NULL, ROW});
	swap_row(z_slots, z);
}

void
backends_compute(const struct backend *backend, enum netfc_op op, const uint16_t *x_row,
	const uint16_t *y_row, uint16_t *z, uint8_t *flags)
{
	if (backend->set != NULL)
		netfc_compute(backend->set, op, x_row, y_row, z, flags, ROW);
	else if (backend->kernel != NULL)
		compute_slots(backend->kernel, op, x_row, y_row, z, flags);
	else
		cpu_compute(op, x_row[0], z, flags);
}
