/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of the switch: what is taken, what is refused, how they are printed. */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "endpoint/addresses.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
assert_prints(const struct address *address, const char *expected)
{
	char text[64];

	address_print(address, text, sizeof(text));
	assert_string_equal(text, expected);
}

TEST(good_ones_are_taken)
{
	static const struct {
		const char *text, *printed;
	} good[] = {
		{"192.0.2.1", "192.0.2.1"},
		{"192.0.2.1/24", "192.0.2.1"},
		{"192.0.2.1/24@0", "192.0.2.1@0"},
		{"192.0.2.1@65534", "192.0.2.1@65534"},
		{"192.0.2.1/24@0:0", "192.0.2.1@0:0"},
		{"2001:db8::1@7:65534", "2001:db8::1@7:65534"},
		{"1.0.0.1/0", "1.0.0.1"},
		{"223.255.255.254/4", "223.255.255.254"},
		{"10.0.0.0/31", "10.0.0.0"},
		{"10.0.0.255/31@7", "10.0.0.255@7"},
		{"10.0.0.255/32", "10.0.0.255"},
		{"10.0.0.0", "10.0.0.0"},
		{"2001:db8::1", "2001:db8::1"},
		{"2001:DB8:0:0::0:1/64@12", "2001:db8::1@12"},
		{"2001:db8::/64", "2001:db8::"},
		{"fe80::1/0", "fe80::1"},
		{"::2/128", "::2"},
		{"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/1@3",
			"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff@3"},
	};

	for (unsigned int i = 0; i < COUNT(good); i++) {
		struct addresses addresses = {0};

		assert_int_equal(addresses_add(&addresses, good[i].text), 0);
		assert_int_equal(addresses.count, 1);
		assert_prints(&addresses.address[0], good[i].printed);
	}
}

TEST(fields_are_in_network_order)
{
	static const uint8_t four[] = {192, 0, 2, 1};
	static const uint8_t six[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x01};
	struct addresses addresses = {0};

	assert_int_equal(addresses_add(&addresses, "192.0.2.1/24@258"), 0);
	assert_int_equal(addresses_add(&addresses, "2001:db8::1"), 0);
	assert_int_equal(addresses.address[0].family, 4);
	assert_int_equal(addresses.address[0].port, 258);
	assert_memory_equal(addresses.address[0].bytes, four, sizeof(four));
	assert_int_equal(addresses.address[1].family, 6);
	assert_int_equal(addresses.address[1].port, EVERY_PORT);
	assert_memory_equal(addresses.address[1].bytes, six, sizeof(six));
}

/* Each refusal leaves what is there as it is. */
static void
assert_refused(struct addresses *addresses, const char *text)
{
	struct addresses before = *addresses;

	if (addresses_add(addresses, text) != -1)
		fail_msg("'%s' was taken", text);
	assert_int_equal(addresses->count, before.count);
	assert_memory_equal(
		addresses->address, before.address, before.count * sizeof(before.address[0]));
}

TEST(what_does_not_parse_is_refused)
{
	static const char *const bad[] = {"", " ", "/", "@", "/24@0", "10.0.0", "10.0.0.1.2",
		"10.0.0.256", "10.0.0.01x", "10.0.0.-1", "10.0.0.1 ", " 10.0.0.1",
		"10.0.0.1,10.0.0.2", "localhost", "0x0a000001", "10.0.0.1/", "10.0.0.1/33",
		"10.0.0.1/-1", "10.0.0.1/+24", "10.0.0.1/24/24", "10.0.0.1/ 24", "10.0.0.1/24x",
		"10.0.0.1/255.255.255.0", "10.0.0.1/18446744073709551640", "10.0.0.1@",
		"10.0.0.1@x", "10.0.0.1@-1", "10.0.0.1@ 1", "10.0.0.1@65535", "10.0.0.1@65536",
		"10.0.0.1@0@0", "10.0.0.1@0:", "10.0.0.1@:0", "10.0.0.1@0:x", "10.0.0.1@0:65535",
		"10.0.0.1@0:0:0", "10.0.0.1:0", "10.0.0.1@0/24", "10.0.0.1@18446744073709551616",
		"2001:db8::1::2", "2001:db8::12345", "2001:db8::1/129", "fe80::1%eth0",
		"[2001:db8::1]", "2001:db8", ":::"};
	struct addresses addresses = {0};
	char endless[512];

	assert_int_equal(addresses_add(&addresses, "192.0.2.1"), 0);
	for (unsigned int i = 0; i < COUNT(bad); i++)
		assert_refused(&addresses, bad[i]);
	memset(endless, '1', sizeof(endless) - 1);
	for (unsigned int length = 16; length < sizeof(endless); length++) {
		endless[length] = '\0';
		assert_refused(&addresses, endless);
		endless[length] = '1';
	}
}

TEST(what_no_host_can_have_is_refused)
{
	static const char *const bad[] = {"0.0.0.0", "0.1.2.3/8", "127.0.0.1", "127.255.255.254/8",
		"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "10.0.0.0/24",
		"10.0.0.255/24", "10.255.255.255/8", "192.0.2.3/30", "192.0.2.0/30", "128.0.0.0/1",
		"::", "::/0", "::1", "::1/64", "ff02::1", "ff00::", "ffff::1"};
	struct addresses addresses = {0};

	for (unsigned int i = 0; i < COUNT(bad); i++)
		assert_refused(&addresses, bad[i]);
}

TEST(clashes_are_refused)
{
	static const char *const clashes[] = {"10.0.0.1", "10.0.0.1/8", "10.0.0.1@0", "10.0.0.2@1",
		"10.0.0.2", "10.0.0.2/24", "2001:db8:0::0:1", "2001:DB8::1@3", "2001:db8::2@4"};
	struct addresses addresses = {0};

	assert_int_equal(addresses_add(&addresses, "10.0.0.1/24"), 0);
	assert_int_equal(addresses_add(&addresses, "10.0.0.2@1"), 0);
	assert_int_equal(addresses_add(&addresses, "2001:db8::1"), 0);
	assert_int_equal(addresses_add(&addresses, "2001:db8::2@4"), 0);
	for (unsigned int i = 0; i < COUNT(clashes); i++)
		assert_refused(&addresses, clashes[i]);
}

/* Ports are networks of their own; and the same bytes in another family are another address. */
TEST(equal_ones_may_live_apart)
{
	static const char *const good[] = {
		"10.0.0.1@0", "10.0.0.1@1", "2001:db8::1@0", "2001:db8::1@1", "a00:1::"};
	struct addresses addresses = {0};

	for (unsigned int i = 0; i < COUNT(good); i++)
		assert_int_equal(addresses_add(&addresses, good[i]), 0);
	assert_int_equal(addresses.count, COUNT(good));
}

TEST(there_is_an_end_to_them)
{
	struct addresses addresses = {0};
	char text[32];

	for (unsigned int i = 0; i < MAX_ADDRESSES; i++) {
		snprintf(text, sizeof(text), "10.0.1.%u", i);
		assert_int_equal(addresses_add(&addresses, text), 0);
	}
	assert_refused(&addresses, "10.0.2.1");
	assert_int_equal(addresses.count, MAX_ADDRESSES);
	assert_prints(&addresses.address[MAX_ADDRESSES - 1], "10.0.1.63");
}

TEST(another_host_has_an_address_alone)
{
	static const char *const wrong[] = {"", "192.0.2.9/24", "192.0.2.9@1", "224.0.0.1",
		"127.0.0.1", "::", "::1", "ff02::1", "host"};
	struct address address;

	assert_true(address_read("192.0.2.9", &address));
	assert_prints(&address, "192.0.2.9");
	assert_true(address_read("fe80::9", &address));
	assert_prints(&address, "fe80::9");
	for (unsigned int i = 0; i < COUNT(wrong); i++)
		assert_false(address_read(wrong[i], &address));
}

/* The address of the link, else the first of the family. */
TEST(an_address_is_chosen_by_where_to)
{
	static const struct {
		const char *to, *from;
	} choices[] = {
		{"10.2.200.9", "10.2.0.1"},
		{"10.3.0.127", "10.3.0.1"},
		{"10.3.0.129", "10.1.0.1"},
		{"198.51.100.1", "10.1.0.1"},
		{"fe80::9", "fe80::1"},
		{"2001:db8::9", "2001:db8:1::1"},
	};
	struct addresses addresses = {0};
	struct address to;

	assert_int_equal(addresses_add(&addresses, "10.1.0.1"), 0);
	assert_true(address_read("2001:db8::9", &to));
	assert_null(addresses_towards(&addresses, &to));
	assert_int_equal(addresses_add(&addresses, "10.2.0.1/16"), 0);
	assert_int_equal(addresses_add(&addresses, "10.3.0.1/25"), 0);
	assert_int_equal(addresses_add(&addresses, "2001:db8:1::1"), 0);
	assert_int_equal(addresses_add(&addresses, "fe80::1/64"), 0);
	for (unsigned int i = 0; i < COUNT(choices); i++) {
		assert_true(address_read(choices[i].to, &to));
		assert_prints(addresses_towards(&addresses, &to), choices[i].from);
	}
}
