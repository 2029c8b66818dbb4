/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of every instruction set against the one-lane reference, and what makes none. */
/* The width of vectors was experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <rte_common.h>
#include <rte_memory.h>
#include <rte_vect.h>

#include "cases.h"
#include "kernel_check.h"

static const char *const set_names[] = {TABLE_SETS};

/* A kernel, or NULL where the set has none; sets whose kernel a figure depends on must have it. */
static struct vector_kernel *
create(const struct netfc_set *set, enum vector_isa isa)
{
	struct vector_kernel *kernel = NULL;
	int error = vector_create(set, NULL, isa, SOCKET_ID_ANY, &kernel);

	if (error != 0) {
		assert_int_equal(error, -ENOTSUP);
		assert_null(kernel);
	}
	return kernel;
}

/* Skips the test on a processor without an instruction set. */
static void
need(enum vector_isa isa)
{
	if (isa <= vector_isa_best())
		return;
	print_message("skipped: this processor has no %s\n", vector_isa_name(isa));
	skip();
}

/* The EAL's width is that of its drivers, too, which choose their ways by it. */
TEST(asking_for_the_best_changes_nothing)
{
	const uint16_t bits = rte_vect_get_max_simd_bitwidth();

	vector_isa_best();
	assert_int_equal(rte_vect_get_max_simd_bitwidth(), bits);
}

/* A test of every instruction set there is code for, or of those with vectors; which the processor
 * lacks is skipped. */
#define TEST_BY(name, number)                  \
	TEST(name##_by_##number)               \
	{                                      \
		need(VECTOR_PLAIN + (number)); \
		name(VECTOR_PLAIN + (number)); \
	}
#define VECTORS_TEST(name)                     \
	static void name(enum vector_isa isa); \
	TEST_BY(name, 1)                       \
	TEST_BY(name, 2)                       \
	static void name(enum vector_isa isa)
#define ISA_TEST(name)                         \
	static void name(enum vector_isa isa); \
	TEST_BY(name, 0)                       \
	TEST_BY(name, 1)                       \
	TEST_BY(name, 2)                       \
	static void name(enum vector_isa isa)

_Static_assert(VECTOR_ISAS == 3, "each instruction set is tested");

ISA_TEST(kernels_agree_with_the_reference)
{
	for (unsigned int s = 0; s < RTE_DIM(set_names); s++) {
		struct vector_kernel *kernel;
		struct netfc_set *set;

		assert_int_equal(netfc_set_build(set_names[s], &set), NETFC_OK);
		kernel = create(set, isa);
		if (kernel != NULL)
			kernel_check(&(struct subject){set_names[s], set, NULL, kernel});
		vector_free(kernel);
		netfc_set_free(set);
	}
}

#ifdef RTE_ARCH_X86_64
/* Of two scaling factors, as there are many: the greatest ones are checked above. */
static void
check_some(const struct netfc_set_id *id, const struct subject *subject)
{
	if (id->scale == 1 || id->scale == 64)
		kernel_check(subject);
}

/* Every format and scaling factor, to nearest: AVX-512 has all but mi in registers. */
TEST(nearest_sets_are_folded)
{
	char name[NETFC_SET_NAME_SIZE];

	need(VECTOR_AVX512);
	for (unsigned int s = 0; netfc_set_known_name(s, name); s++) {
		struct vector_kernel *kernel;
		struct netfc_set_id id;
		struct netfc_set *set;

		assert_int_equal(netfc_set_parse_name(name, &id), NETFC_OK);
		if (id.family != NETFC_FAMILY_LOG || id.rounding != NETFC_NEAREST)
			continue;
		assert_int_equal(netfc_set_build(name, &set), NETFC_OK);
		kernel = create(set, VECTOR_AVX512);
		if (kernel == NULL || !kernel->tables_in_registers)
			fail_msg("%s: no kernel with its tables in registers", name);
		check_some(&id, &(struct subject){name, set, NULL, kernel});
		vector_free(kernel);
		netfc_set_free(set);
	}
}
#endif

/* The kernel between the look-ups, of every one of the paper's sets. */
ISA_TEST(joined_steps_agree_with_the_reference)
{
	for (unsigned int s = 0; s < RTE_DIM(set_names); s++) {
		struct match_stage *stages[NETFC_MAX_TABLES] = {NULL};
		struct vector_kernel *kernel;
		struct netfc_set *set;

		assert_int_equal(netfc_set_build(set_names[s], &set), NETFC_OK);
		if (netfc_set_family(set) != NETFC_FAMILY_LOG) {
			netfc_set_free(set);
			continue;
		}
		for (unsigned int t = 0; t < netfc_set_table_count(set); t++)
			assert_int_equal(match_create(MATCH_DIRECT, netfc_set_table(set, t),
						 SOCKET_ID_ANY, &stages[t]),
				0);
		assert_int_equal(vector_create(set, stages, isa, SOCKET_ID_ANY, &kernel), 0);
		kernel_check(&(struct subject){set_names[s], set, NULL, kernel});
		vector_free(kernel);
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(stages[t]);
		netfc_set_free(set);
	}
}

ISA_TEST(fpu_rounds_correctly)
{
	const struct netfc_format *format;

	NETFC_FOREACH_FORMAT (format) {
		struct vector_kernel *kernel;

		if (netfc_format_width(format) != 16) /* test_fp8_kernels.c has all pairs */
			continue;
		/* Posits have no vector code, IEEE formats nothing else that needs a test. */
		if (netfc_format_is_posit(format) != (isa == VECTOR_PLAIN))
			continue;
		assert_int_equal(vector_fpu_create(format, isa, SOCKET_ID_ANY, &kernel), 0);
		kernel_check(&(struct subject){netfc_format_name(format), NULL, format, kernel});
		vector_free(kernel);
	}
}

/*
 * As a library that was compiled with -ffast-math leaves it: the thread takes subnormal numbers for
 * zeros, or not. Returns false where that is not known.
 */
static bool
flush_subnormals(bool flush)
{
#if defined(__x86_64__)
	_MM_SET_FLUSH_ZERO_MODE(flush ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
	_MM_SET_DENORMALS_ZERO_MODE(flush ? _MM_DENORMALS_ZERO_ON : _MM_DENORMALS_ZERO_OFF);
	return true;
#elif defined(__aarch64__)
	const uint64_t mode = flush ? UINT64_C(1) << 24 | UINT64_C(1) << 19 : 0; /* FZ, FZ16 */

	__asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
	return true;
#else
	(void)flush;
	return false;
#endif
}

/* The kernel of a set, or of its format alone, of a thread that flushes: there is none, or it is
 * right. */
static void
check_flushed(const struct netfc_set *set, bool alone, enum vector_isa isa)
{
	const struct netfc_format *format = netfc_set_format(set);
	struct vector_kernel *kernel = NULL;
	int error;

	flush_subnormals(true);
	error = alone ? vector_fpu_create(format, isa, SOCKET_ID_ANY, &kernel)
		      : vector_create(set, NULL, isa, SOCKET_ID_ANY, &kernel);
	if (error == 0)
		kernel_check(&(struct subject){netfc_set_name(set), NULL, format, kernel});
	flush_subnormals(false);
	assert_true(error == 0 || error == -ENOTSUP);
	vector_free(kernel);
}

ISA_TEST(kernels_do_not_flush_subnormals)
{
	static const char *const names[] = {"fp16_exact", "bf16_exact"};

	if (!flush_subnormals(false))
		skip();
	for (unsigned int s = 0; s < RTE_DIM(names); s++) {
		struct netfc_set *set;

		assert_int_equal(netfc_set_build(names[s], &set), NETFC_OK);
		check_flushed(set, true, isa);
		check_flushed(set, false, isa);
		netfc_set_free(set);
	}
}

/* Change an entry that some operation can reach, and that others of the set belong to. */
static void
check_changed(struct netfc_set *set, const char *name, uint32_t index, uint32_t change,
	enum vector_isa isa)
{
	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);
		uint32_t *entry;

		if (strcmp(netfc_table_name(table), name) != 0)
			continue;
		assert_true(netfc_table_reachable(table, index));
		entry = (uint32_t *)(uintptr_t)&netfc_table_entries(table)[index];
		*entry ^= change;
		assert_null(create(set, isa));
		*entry ^= change;
		return;
	}
	fail_msg("no table %s", name);
}

/* Correctly rounded sets: one kernel, if the tables are those of the name. */
VECTORS_TEST(exact_sets_have_a_kernel)
{
	static const char *const names[] = {"fp16_exact", "bf16_exact"};

	for (unsigned int s = 0; s < RTE_DIM(names); s++) {
		struct vector_kernel *kernel;
		struct netfc_set *set;

		assert_int_equal(netfc_set_build(names[s], &set), NETFC_OK);
		kernel = create(set, isa);
		assert_non_null(kernel);
		kernel_check(&(struct subject){names[s], NULL, netfc_set_format(set), kernel});
		check_changed(set, "exps", 1, 1, isa);
		check_changed(set, "decide",
			netfc_decide_key(0, NETFC_FINITE, NETFC_FINITE, 1, 0, NETFC_GREATER), 1,
			isa);
		vector_free(kernel);
		netfc_set_free(set);
	}
}

/* Posits have no conversion in the processor: their steps are faster than integers in its place. */
TEST(exact_posits_have_none)
{
	struct netfc_set *set;

	assert_int_equal(netfc_set_build("posit16_exact", &set), NETFC_OK);
	assert_null(create(set, vector_isa_best()));
	netfc_set_free(set);
}

/* A set from a file may hold anything: no kernel may differ from it. */
ISA_TEST(changed_sets_have_no_kernel)
{
	struct vector_kernel *kernel;
	struct netfc_set *set;

	assert_int_equal(netfc_set_build("fp16_k1024", &set), NETFC_OK);
	kernel = create(set, isa);
	if (kernel != NULL) {
		check_changed(set, "log", 0x3c01, 2, isa);
		check_changed(set, "log", 0x0001, 0x10, isa);
		check_changed(set, "mi", 0x00001, 1, isa);
		check_changed(set, "mi", 0x1ff00, 1, isa);
		check_changed(set, "mi", 0x20100, 1, isa);
		check_changed(set, "mi", 15360, 1, isa);
		check_changed(set, "exp", 1, 1, isa);
		check_changed(set, "exp", 0x8000, 1, isa);
		check_changed(set, "exp", 0x7fff, 1, isa);
		check_changed(set, "decide",
			netfc_decide_key(0, NETFC_FINITE, NETFC_FINITE, 1, 0, NETFC_GREATER),
			UINT32_C(1) << 20, isa);
		check_changed(set, "decide",
			netfc_decide_key(3, NETFC_INF, NETFC_NAN, 0, 1, NETFC_LESS), 1, isa);
	}
	vector_free(kernel);
	netfc_set_free(set);
}

/* The same of the forms that tables in registers have of other formats. */
static void
check_changed_form(const char *name, uint32_t one, enum vector_isa isa)
{
	struct vector_kernel *kernel;
	struct netfc_set *set;

	assert_int_equal(netfc_set_build(name, &set), NETFC_OK);
	kernel = create(set, isa);
	if (kernel != NULL) {
		check_changed(set, "log", one + 1, 2, isa);
		check_changed(set, "log", one + 0x100, 1, isa);
		check_changed(set, "mi", 0x00001, 1, isa);
		check_changed(set, "exp", 1, 1, isa);
		check_changed(set, "exp", 0x8000, 1, isa);
		check_changed(set, "exp", 0x7fff, 1, isa);
	}
	vector_free(kernel);
	netfc_set_free(set);
}

ISA_TEST(changed_sets_of_other_forms_have_no_kernel)
{
	check_changed_form("bf16_k128", 0x3f80, isa);
	check_changed_form("fp16_k512", 0x3c00, isa);
	check_changed_form("posit16_k512", 0x4000, isa);
	check_changed_form("posit16_es2_k256", 0x4000, isa);
}
