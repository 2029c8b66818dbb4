/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

int
main(int argc, char **argv)
{
	return switch_run(argc, argv);
}
