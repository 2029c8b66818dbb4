/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded by test_reluctant_device.py: devices that refuse what they are asked for, and one whose
 * driver says at once that it was reset. */
#include <errno.h>

#include <rte_ethdev.h>

int
rte_eth_promiscuous_enable(uint16_t port)
{
	(void)port;
	return -EIO;
}

/* As drivers that deliver whatever comes. */
int
rte_eth_allmulticast_enable(uint16_t port)
{
	(void)port;
	return -ENOTSUP;
}

int
rte_eth_dev_callback_register(
	uint16_t port, enum rte_eth_event_type event, rte_eth_dev_cb_fn function, void *argument)
{
	(void)port;
	if (event == RTE_ETH_EVENT_INTR_RESET)
		function(0, event, argument, NULL);
	return 0;
}
