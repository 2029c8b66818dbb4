/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_wire.h>
#include <ip_headers.h>

#include "embedded.h"
#include "options/options.h"

int
value_op(FILE *errors, const char *option, const char *text, void *field)
{
	const struct netfc_function *function;
	unsigned int *value = field;

	*value = 0;
	if (strcmp(text, "all") == 0)
		return 0;
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		if (strcmp(text, netfc_op_name(op)) == 0) {
			*value = op;
			return 0;
		}
	}
	*value = netfc_extra_by_name(text);
	function = netfc_function_by_name(text);
	if (function != NULL)
		*value = netfc_function_number(function);
	/* A third operand is where the result goes, and so cannot be wrong before. */
	if (*value != 0 && netfc_extra_operands(*value) == 2)
		return 0;
	return option_refuse(errors, option, text,
		"add, sub, mul, div, all, min, max, compare, or a function of netfc-tables list "
		"--functions");
}

const char *
value_op_name(unsigned int op)
{
	const struct netfc_function *function = netfc_function_by_number(op);

	if (function != NULL)
		return netfc_function_name(function);
	return op < NETFC_MIN ? netfc_op_name(op) : netfc_extra_name(op);
}

static bool
read_mac(const char *text, struct rte_ether_addr *value)
{
	return rte_ether_unformat_addr(text, value) == 0 && !rte_is_zero_ether_addr(value);
}

int
value_src_mac(FILE *errors, const char *option, const char *text, void *field)
{
	if (read_mac(text, field) && !rte_is_multicast_ether_addr(field))
		return 0;
	return option_refuse(
		errors, option, text, "the MAC address of one station, such as 02:00:00:00:00:01");
}

int
value_dst_mac(FILE *errors, const char *option, const char *text, void *field)
{
	if (read_mac(text, field))
		return 0;
	return option_refuse(errors, option, text, "a MAC address such as 02:00:00:00:00:02");
}

int
value_ip(FILE *errors, const char *option, const char *text, void *field)
{
	bool ip6 = strchr(text, ':') != NULL;
	struct ip_address *address = field;

	*address = (struct ip_address){.version = ip6 ? 6 : 4};
	if (inet_pton(ip6 ? AF_INET6 : AF_INET, text, address->bytes) == 1 &&
		ip_is_host(address->bytes, ip6))
		return 0;
	return option_refuse(errors, option, text,
		"the IP address of one host, such as 198.18.0.1 or 2001:2::1");
}

/* A number after `before`; -1: there is none. */
static long
read_number(const char **text, const char *before)
{
	const size_t length = strlen(before);
	const char *digits = *text + length;
	char *end;
	long number;

	if (strncmp(*text, before, length) != 0 || digits[0] < '0' || digits[0] > '9')
		return -1;
	number = strtol(digits, &end, 10);
	*text = end;
	return number;
}

int
value_place(FILE *errors, const char *option, const char *text, void *field)
{
	struct aggregate_place *place = field;
	const char *at = text;

	*place = (struct aggregate_place){.levels = 0};
	do {
		long index = read_number(&at, place->levels == 0 ? "" : "+");
		long members = read_number(&at, "of");

		if (place->levels == AGGREGATE_MAX_LEVELS || index < 0 || index >= members ||
			members > AGGREGATE_MAX_WORKERS)
			return option_refuse(errors, option, text,
				"INDEXofMEMBERS, of up to 64 members, for up to 4 levels, from "
				"below: 1of2+0of3");
		place->level[place->levels++] =
			(struct aggregate_level){(uint8_t)members, (uint8_t)index};
	} while (*at != '\0');
	return 0;
}

int
value_lcores(FILE *errors, const char *option, const char *text, void *field)
{
	const struct option_row number = {
		.name = option, .kind = OPTION_U32, OPTION_RANGE(1, EMBEDDED_MAX_LCORES, 1)};

	return option_take(errors, &number, text != NULL ? text : "1", field);
}
