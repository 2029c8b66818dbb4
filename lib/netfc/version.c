/* SPDX-License-Identifier: BSD-3-Clause */
#include "netfc_version.h"

const char *
netfc_version(void)
{
	return NETFC_VERSION;
}
