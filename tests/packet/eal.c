/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "eal.h"

static int
first_allowed_cpu(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			return cpu;
	}
	return 0;
}

int
eal_start(unsigned int lcores)
{
	char line[256], map[32], *argv[32], *rest = line;
	int argc = 0;

	if (lcores == 1)
		snprintf(map, sizeof(map), "0@%d", first_allowed_cpu());
	else
		snprintf(map, sizeof(map), "0-%u", lcores - 1);
	snprintf(line, sizeof(line),
		"test --no-huge -m 1024 --no-pci --no-telemetry --no-shconf --log-level=*:error "
		"--file-prefix netfc-test-%ld --lcores %s",
		(long)getpid(), map);
	while (argc < (int)RTE_DIM(argv) && rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	return rte_eal_init(argc, argv) < 0 ? -rte_errno : 0;
}
