/* SPDX-License-Identifier: BSD-3-Clause */
/* The integer logarithms and powers: nearer to the real ones than their bounds, for every argument.
 */
#include <math.h>

#include "precise.h"
#include "unit.h"

/* The finest scale that is allowed; coarser ones ask for arguments of this one too. */
#define DEN 4096u

/* The longest fraction of a format's significand, that of posit16. */
#define FRACTION_BITS 12

#define ONE ((int128)1 << PRECISE_BITS)

/* |computed * 2^-bits - exact|. */
static double
error_of(int128 computed, unsigned bits, struct precise exact)
{
	int128 difference = computed * ((int128)1 << (PRECISE_BITS - bits)) - exact.floor;

	return ldexp((double)difference, -PRECISE_BITS);
}

/* Keep the error that is furthest from zero, and hold it against its bound. */
static void
keep_worst(double *worst, double error, double bound, uint64_t argument)
{
	if (fabs(error) >= bound)
		fail_msg("argument %#llx: off by %a, more than %a", (unsigned long long)argument,
			error, bound);
	if (fabs(error) > fabs(*worst))
		*worst = error;
}

static void
report_worst(const char *what, double worst, double bound)
{
	REPORT("%s: worst error %s2^%.2f, bound 2^%.0f\n", what, worst < 0 ? "-" : "",
		log2(fabs(worst)), log2(bound));
}

static double
log_bound(void)
{
	return ldexp((double)LOG_ERROR, -LOG_BITS);
}

TEST(log2_of_every_significand_of_a_format)
{
	double worst = 0;

	for (uint64_t fraction = 0; fraction < 1 << FRACTION_BITS; fraction++) {
		uint64_t significand = SIG_ONE | fraction << (63 - FRACTION_BITS);

		keep_worst(&worst,
			error_of(netfc_log2_significand(significand), LOG_BITS,
				precise_log2_significand(significand)),
			log_bound(), significand);
	}
	report_worst("log2 of a format's significand", worst, log_bound());
}

TEST(log2_of_any_significand)
{
	uint64_t seed = 1;
	double worst = 0;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t significand = SIG_ONE | next_random(&seed) >> i % 64;

		keep_worst(&worst,
			error_of(netfc_log2_significand(significand), LOG_BITS,
				precise_log2_significand(significand)),
			log_bound(), significand);
	}
	report_worst("log2 of any significand", worst, log_bound());
}

TEST(log2_of_a_power_of_two_is_exact)
{
	assert_true(netfc_log2_significand(SIG_ONE) == 0);
	for (uint32_t den = 1; den <= DEN; den *= 2)
		assert_true(netfc_log2_one_minus(den, den) == -(INT64_C(1) << LOG_BITS));
}

TEST(log2_of_one_plus_a_power)
{
	double worst = 0;

	for (uint32_t num = 1; num < LOG_TAIL * DEN; num++)
		keep_worst(&worst,
			error_of(netfc_log2_one_plus(num, DEN), LOG_BITS,
				precise_log2_one(1, num, DEN)),
			log_bound(), num);
	report_worst("log2(1 + 2^-x)", worst, log_bound());
}

TEST(log2_of_one_minus_a_power)
{
	double worst = 0;

	for (uint32_t num = 1; num < LOG_TAIL * DEN; num++)
		keep_worst(&worst,
			error_of(netfc_log2_one_minus(num, DEN), LOG_BITS,
				precise_log2_one(-1, num, DEN)),
			log_bound(), num);
	report_worst("log2(1 - 2^-x)", worst, log_bound());
}

TEST(coarser_fractions_are_reduced_ones)
{
	for (uint32_t den = 1; den < DEN; den *= 2) {
		uint32_t finer = DEN / den;

		for (uint32_t num = 1; num < LOG_TAIL * den; num++) {
			assert_true(netfc_log2_one_plus(num, den) ==
				netfc_log2_one_plus(num * finer, DEN));
			assert_true(netfc_log2_one_minus(num, den) ==
				netfc_log2_one_minus(num * finer, DEN));
		}
		for (uint32_t num = 0; num < den; num++)
			assert_true(netfc_exp2_fraction(num, den) ==
				netfc_exp2_fraction(num * finer, DEN));
	}
}

/* What the tables rest on where log2(1 +- 2^-x) is not computed. */
TEST(tails_are_as_small_as_said)
{
	assert_true(precise_log2_one(1, LOG_TAIL, 1).floor >= 0);
	assert_true(precise_log2_one(1, LOG_TAIL, 1).floor < ONE >> 38);
	assert_true(precise_log2_one(-1, LOG_TAIL, 1).floor < 0);
	assert_true(precise_log2_one(-1, LOG_TAIL, 1).floor > -(ONE >> 38));
}

TEST(exp2_of_every_fraction)
{
	double worst = 0, bound = ldexp((double)EXP_ERROR, -63);

	for (uint32_t num = 0; num < DEN; num++)
		keep_worst(&worst,
			error_of(netfc_exp2_fraction(num, DEN), 63, precise_exp2(num, DEN)), bound,
			num);
	report_worst("2^x", worst, bound);
}

/* Of a single root nothing is lost: the constants are 2^(1/den) rounded down. */
TEST(roots_are_rounded_down)
{
	for (uint32_t den = 2; den <= DEN; den *= 2)
		assert_true(netfc_exp2_fraction(1, den) ==
			(uint64_t)(precise_exp2(1, den).floor >> (PRECISE_BITS - 63)));
}
