/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

int
main(void)
{
	return tests_run(NULL, NULL);
}
