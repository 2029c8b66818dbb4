/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the library by themselves: byte order, round-trip times, addresses. */
#include <string.h>

#include <aggregate_format.h>

#include "cases.h"
#include "link/link.h"
#include "clock.h"
#include "window/rtt.h"

/* Every length up to two AVX-512 vectors and more, at every alignment. */
TEST(test_swap)
{
	uint8_t from[512], to[512];

	for (unsigned int i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 37);
	for (unsigned int bytes = 2; bytes <= 4; bytes += 2) {
		for (unsigned int count = 0; count <= 80; count++) {
			unsigned int at = count % 61;

			memset(to, 0xee, sizeof(to));
			aggregate_swap_values(to + at, from + at / 2, count, bytes);
			for (unsigned int i = 0; i < count * bytes; i++)
				assert_int_equal(to[at + i],
					from[at / 2 + i / bytes * bytes + (bytes - 1 - i % bytes)]);
			assert_int_equal(to[at + count * bytes], 0xee);
		}
	}
}

TEST(test_rtt)
{
	struct rtt rtt;

	rtt_init(&rtt, NS_PER_MS, 100 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 0), 20 * NS_PER_MS);
	/* RFC 6298: the first sample R gives R + 4 * R / 2. */
	rtt_sample(&rtt, 2 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 0), 6 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 1), 12 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 4), 96 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 5), 100 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, UINT32_MAX), 100 * NS_PER_MS);
	/* Steady ones bring it down to its least. */
	for (int i = 0; i < 200; i++)
		rtt_sample(&rtt, 50 * NS_PER_US);
	assert_int_equal(rtt_timeout(&rtt, 0), NS_PER_MS);
	assert_int_equal(rtt.least, 50 * NS_PER_US);
	/* One late worker counts for little, many late ones for what they are. */
	rtt_sample(&rtt, 10 * NS_PER_S);
	assert_in_range(rtt_timeout(&rtt, 0), NS_PER_MS, 4 * NS_PER_MS);
	for (int i = 0; i < 400; i++)
		rtt_sample(&rtt, 80 * NS_PER_MS);
	assert_in_range(rtt_timeout(&rtt, 0), 80 * NS_PER_MS, 100 * NS_PER_MS);
	/* However steady: another worker may be late. */
	rtt_init(&rtt, NS_PER_MS, 100 * NS_PER_MS);
	for (int i = 0; i < 200; i++)
		rtt_sample(&rtt, 16 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 0), 24 * NS_PER_MS);
	/* Some samples contain what another worker waited for: the others say what it takes. */
	rtt_init(&rtt, NS_PER_MS, 100 * NS_PER_MS);
	for (int i = 0; i < 200; i++)
		rtt_sample(&rtt, (i % 4 == 0 ? 1 : 20) * NS_PER_MS);
	assert_in_range(rtt_timeout(&rtt, 0), 2 * NS_PER_MS, 6 * NS_PER_MS);
	/* Results that come twice show that this is too short; in time it is forgotten. */
	for (int i = 0; i < 12; i++)
		rtt_too_short(&rtt);
	assert_in_range(rtt_timeout(&rtt, 0), 4 * NS_PER_MS, 12 * NS_PER_MS);
	for (int i = 0; i < 20000; i++)
		rtt_sample(&rtt, NS_PER_MS);
	assert_in_range(rtt_timeout(&rtt, 0), NS_PER_MS, 2 * NS_PER_MS);
	/* A slow link's queue was empty before a window filled it; and is later again. */
	rtt_init(&rtt, NS_PER_MS, 100 * NS_PER_MS);
	rtt_sample(&rtt, 100 * NS_PER_US);
	for (int i = 0; i < 4; i++)
		rtt_full_window(&rtt, 12 * NS_PER_MS);
	assert_int_equal(rtt_timeout(&rtt, 0), 12 * NS_PER_MS);
	rtt_sample(&rtt, 100 * NS_PER_US);
	assert_in_range(rtt_timeout(&rtt, 0), 11 * NS_PER_MS, 12 * NS_PER_MS);
	for (int i = 0; i < 400; i++)
		rtt_sample(&rtt, 100 * NS_PER_US);
	assert_int_equal(rtt_timeout(&rtt, 0), NS_PER_MS);
	/* One late worker: at most twice the time-out. */
	rtt_full_window(&rtt, 10 * NS_PER_S);
	assert_int_equal(rtt_timeout(&rtt, 0), 2 * NS_PER_MS);
	rtt_init(&rtt, NS_PER_MS, 100 * NS_PER_MS);
	rtt_sample(&rtt, 0);
	assert_int_equal(rtt_timeout(&rtt, 0), NS_PER_MS);
}

TEST(test_address)
{
	static const char *const pairs[][2] = {
		{"127.0.0.1", "127.0.0.1:20040"},
		{"127.0.0.1:5", "127.0.0.1:5"},
		{"::1", "[::1]:20040"},
		{"[::1]", "[::1]:20040"},
		{"[2001:db8::2]:65535", "[2001:db8::2]:65535"},
		{"2001:db8::2", "[2001:db8::2]:20040"},
		{"fe80::1%lo", "[fe80::1%lo]:20040"},
		{"[fe80::1%lo]:7", "[fe80::1%lo]:7"},
		{"::ffff:127.0.0.1", "127.0.0.1:20040"},
		{"[::ffff:127.0.0.1]:7", "127.0.0.1:7"},
	};
	struct address address;

	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		assert_null(address_parse(&address, pairs[i][0], 20040));
		assert_string_equal(address.text, pairs[i][1]);
		assert_int_equal(address_header_bytes(&address), pairs[i][1][0] == '[' ? 48 : 28);
	}
	assert_non_null(strstr(address_parse(&address, "fe80::1", 20040), "needs its interface"));
}
