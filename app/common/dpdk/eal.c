/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "dpdk/eal.h"
#include "dpdk/hugepages.h"

int
eal_start(const char *program, int eal_argc, char **eal_argv)
{
	if (hugepages_check(program, eal_argc, eal_argv) != 0)
		return -1;
	if (rte_eal_init(eal_argc, eal_argv) >= 0)
		return 0;
	fprintf(stderr, "%s: the EAL does not start: %s\n", program, rte_strerror(rte_errno));
	return -1;
}

static bool
is_network_device(const char *name)
{
	static const char *const prefixes[] = {"net_", "eth_", "virtio_user"};

	for (unsigned int i = 0; i < RTE_DIM(prefixes); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

int
eal_check_virtual_devices(const char *program)
{
	struct rte_devargs *device;
	uint16_t id;

	RTE_EAL_DEVARGS_FOREACH ("vdev", device) {
		if (!is_network_device(device->name) ||
			rte_eth_dev_get_port_by_name(device->name, &id) == 0)
			continue;
		fprintf(stderr,
			"%s: --vdev=%s,%s: there is no such port; the lines above may say why\n",
			program, device->name, device->args != NULL ? device->args : "");
		return -1;
	}
	return 0;
}
