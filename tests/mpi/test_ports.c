/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of a switch that shares memory with communicators, and their addresses. */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "ports.h"

static void
check(const char *interface, const char *first, unsigned int n, const char *wanted,
	const char *address)
{
	struct port port;

	assert_null(ports_get(interface, first, n, &port));
	assert_string_equal(port.interface, wanted);
	assert_string_equal(port.address, address);
}

TEST(ports_are_counted)
{
	struct port port;

	check("memif:/run/m", "10.0.0.1", 0, "memif:/run/m,id=0", "10.0.0.1");
	check("memif:/run/m,id=3", "10.0.0.1", 0, "memif:/run/m,id=3", "10.0.0.1");
	check("memif:/run/m,id=3-5", "10.0.0.255", 2, "memif:/run/m,id=5", "10.0.1.1");
	check("memif:/run/m,id=0-9", "fd00::ffff", 1, "memif:/run/m,id=1", "fd00::1:0");
	assert_string_equal(ports_get("memif:/run/m,id=3-5", "10.0.0.1", 3, &port), "");
	assert_string_equal(ports_get("memif:/run/m", "10.0.0.1", 1, &port), "");
}

TEST(wrong_ones_are_told)
{
	static const char *const ranges[] = {"", "x", "-1", "3-", "5-3", "1-2-3", "1,2", " 1"};
	char interface[64];
	struct port port;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		snprintf(interface, sizeof(interface), "memif:/run/m,id=%s", ranges[i]);
		assert_non_null(strstr(ports_get(interface, "10.0.0.1", 0, &port), "a number"));
	}
	assert_non_null(strstr(ports_get("memif:/run/m", NULL, 0, &port), "BIND_ADDRESS"));
	assert_non_null(strstr(ports_get("memif:/run/m", "10.0.0", 0, &port), "BIND_ADDRESS"));
	assert_true(ports_are_meant("memif:/run/m"));
	assert_false(ports_are_meant("xdp:eth0"));
	assert_false(ports_are_meant(NULL));
}
