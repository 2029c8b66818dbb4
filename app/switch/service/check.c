/* SPDX-License-Identifier: BSD-3-Clause */
#include "aggregate/aggregation.h"
#include "dpdk/requirements.h"
#include "service/service.h"

/* Table sets and functions have been loaded, and options parsed. */
enum exit_status
service_check(const struct options *options, int eal_argc, char **eal_argv)
{
	struct aggregate_secret *secret;

	if (aggregation_read_key(&options->aggregate, &secret) != 0)
		return EXIT_CONFIGURATION;
	aggregate_secret_free(secret);
	return requirements_check(eal_argc, eal_argv);
}
