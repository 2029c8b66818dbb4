/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "eal.h"

#define MAX_CPUS 8u

/* The first CPUs that the process may use, as --lcores takes them: "0,1". */
static void
list_cpus(char *list, size_t size, unsigned int most)
{
	size_t length = 0;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE && most > 0; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		length += (size_t)snprintf(
			list + length, size - length, "%s%d", length > 0 ? "," : "", cpu);
		most--;
	}
}

int
start_lcores(unsigned int lcores)
{
	char line[256], cpus[64] = "", *argv[32], *rest = line;
	int argc = 0;

	list_cpus(cpus, sizeof(cpus), RTE_MIN(lcores, MAX_CPUS));
	snprintf(line, sizeof(line),
		"test --no-huge -m 1024 --no-pci --no-telemetry --no-shconf --log-level=*:error "
		"--file-prefix netfc-test-%ld --lcores (0-%u)@(%s)",
		(long)getpid(), lcores - 1, cpus);
	while (argc < (int)RTE_DIM(argv) && rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	return rte_eal_init(argc, argv) < 0 ? -rte_errno : 0;
}
