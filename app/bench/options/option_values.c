/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options/option_values.h"

#define EXPECTED_SIZE 96

int
wrong_value(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, PROGRAM ": --%s '%s': expected %s\n", option, value, expected);
	return -1;
}

int
value_text(const char *option, const char *text, const char **value)
{
	if (text[0] == '\0')
		return wrong_value(option, text, "a name");
	*value = text;
	return 0;
}

int
value_u64(const char *option, const char *text, uint64_t least, uint64_t greatest, uint64_t *value)
{
	char expected[EXPECTED_SIZE], *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *value >= least &&
		*value <= greatest)
		return 0;
	snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, least,
		greatest);
	return wrong_value(option, text, expected);
}

int
value_u32(const char *option, const char *text, uint32_t least, uint32_t greatest, uint32_t *value)
{
	uint64_t number;

	if (value_u64(option, text, least, greatest, &number) != 0)
		return -1;
	*value = (uint32_t)number;
	return 0;
}

int
value_u16(const char *option, const char *text, uint16_t least, uint16_t greatest, uint16_t *value)
{
	uint64_t number;

	if (value_u64(option, text, least, greatest, &number) != 0)
		return -1;
	*value = (uint16_t)number;
	return 0;
}

int
value_real(const char *option, const char *text, double least, double greatest, double *value)
{
	char expected[EXPECTED_SIZE], *end;

	*value = strtod(text, &end);
	if (isdigit((unsigned char)text[0]) && strpbrk(text, "xX") == NULL && *end == '\0' &&
		*value >= least && *value <= greatest)
		return 0;
	snprintf(expected, sizeof(expected), "a decimal number from %g to %g", least, greatest);
	return wrong_value(option, text, expected);
}

int
value_set(const char *text, const char **value)
{
	struct netfc_set_id id;
	int error = netfc_set_parse_name(text, &id);

	*value = text;
	if (error == NETFC_OK)
		return 0;
	fprintf(stderr, PROGRAM ": --set '%s': %s; 'netfc-tables list' names all sets\n", text,
		netfc_strerror(error));
	return -1;
}

int
value_op(const char *text, unsigned int *value)
{
	*value = 0;
	if (strcmp(text, "all") == 0)
		return 0;
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		if (strcmp(text, netfc_op_name(op)) == 0) {
			*value = op;
			return 0;
		}
	}
	return wrong_value("op", text, "add, sub, mul, div or all");
}

int
value_match(const char *text, enum match_kind *value)
{
	*value = match_kind_by_name(text);
	/* Replies are compared with the table set's results. */
	return *value != MATCH_KINDS && *value != MATCH_FPU
		? 0
		: wrong_value("match", text, "lpm, hash or direct");
}

int
value_mac(const char *option, const char *text, bool source, struct rte_ether_addr *value)
{
	if (rte_ether_unformat_addr(text, value) == 0 && !rte_is_zero_ether_addr(value) &&
		!(source && rte_is_multicast_ether_addr(value)))
		return 0;
	return wrong_value(option, text,
		source ? "the MAC address of one station, such as 02:00:00:00:00:01"
		       : "a MAC address such as 02:00:00:00:00:02");
}

/* Neither nobody nor many. */
static bool
is_one_host(const uint8_t *bytes, bool ip6)
{
	static const uint8_t nobody[IP_BYTES];

	if (ip6)
		return memcmp(bytes, nobody, IP_BYTES) != 0 && bytes[0] != 0xff;
	return bytes[0] != 0 && bytes[0] < 224;
}

int
value_ip(const char *option, const char *text, uint8_t *bytes, unsigned int *version)
{
	bool ip6 = strchr(text, ':') != NULL;

	memset(bytes, 0, IP_BYTES);
	*version = ip6 ? 6 : 4;
	if (inet_pton(ip6 ? AF_INET6 : AF_INET, text, bytes) == 1 && is_one_host(bytes, ip6))
		return 0;
	return wrong_value(
		option, text, "the IP address of one host, such as 198.18.0.1 or 2001:2::1");
}
