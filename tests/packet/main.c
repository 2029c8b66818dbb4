/* SPDX-License-Identifier: BSD-3-Clause */
/* Of tests that need the EAL before they run, and nothing else. */
#include "cases.h"
#include "eal.h"

int
main(void)
{
	return start_lcores(1) == 0 ? tests_run(NULL, NULL) : 1;
}
