/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/device.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>

#include "net/address.h"

bool
device_mac(int fd, const char *name, uint8_t mac[6])
{
	struct ifreq request = {0};

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &request) != 0)
		return false;
	memcpy(mac, request.ifr_hwaddr.sa_data, 6);
	errno = EPROTOTYPE;
	return request.ifr_hwaddr.sa_family == ARPHRD_ETHER;
}

static bool
is_same(const struct sockaddr *found, const uint8_t *ip, size_t bytes)
{
	uint8_t other[16];

	return found != NULL && address_ip(found, other) == bytes && memcmp(other, ip, bytes) == 0;
}

bool
device_has(const char *name, const uint8_t *ip, size_t bytes)
{
	struct ifaddrs *all, *each;
	bool has = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (each = all; each != NULL && !has; each = each->ifa_next)
		has = strcmp(each->ifa_name, name) == 0 && is_same(each->ifa_addr, ip, bytes);
	freeifaddrs(all);
	return has;
}
