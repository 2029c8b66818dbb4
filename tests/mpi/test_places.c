/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is whose worker, as all ranks find it from what each tells. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "places.h"

#define RANKS 6
#define MOST 8192

/* Nodes and switches by letters: a rank each. */
static struct places *
find(const char *nodes, const char *switches, bool by_nodes, enum places_status wanted)
{
	struct place_record records[MOST] = {0};
	struct places *places;
	int ranks = (int)strlen(nodes);

	for (int rank = 0; rank < ranks; rank++)
		records[rank] = (struct place_record){
			.node = (uint64_t)nodes[rank], .switches = (uint64_t)switches[rank]};
	assert_int_equal(places_find(&places, records, ranks, by_nodes), wanted);
	return places;
}

static void
assert_member(
	const struct places *places, int rank, int first, unsigned int leaf, unsigned int worker)
{
	const struct place_member *member = &places->member[places->of_rank[rank]];

	assert_int_equal(member->rank, first);
	assert_int_equal(member->leaf, leaf);
	assert_int_equal(member->worker, worker);
}

TEST(first_rank_of_each_node_speaks)
{
	struct places *places = find("abbacb", "xxxxxx", true, PLACES_OK);

	assert_int_equal(places->members, 3);
	assert_int_equal(places->leaves, 1);
	assert_int_equal(places->workers[0], 3);
	assert_member(places, 3, 0, 0, 0);
	assert_member(places, 5, 1, 0, 1);
	assert_member(places, 4, 4, 0, 2);
	assert_int_equal(places->member[1].ranks, 3);
	free(places);
}

TEST(switches_are_leaves_in_the_order_of_their_first_ranks)
{
	struct places *places = find("abcdef", "yxyxxx", true, PLACES_OK);

	assert_int_equal(places->leaves, 2);
	assert_int_equal(places->workers[0], 2);
	assert_int_equal(places->workers[1], 4);
	assert_member(places, 0, 0, 0, 0);
	assert_member(places, 2, 2, 0, 1);
	assert_member(places, 5, 5, 1, 3);
	free(places);
}

TEST(a_node_uses_the_switch_of_its_first_rank)
{
	struct places *places = find("abab", "xyyx", true, PLACES_OK);

	assert_member(places, 2, 0, 0, 0);
	assert_member(places, 3, 1, 1, 0);
	free(places);
}

TEST(each_rank_is_a_member_where_nodes_are_none)
{
	struct places *places = find("aaaaaa", "xxxxxx", false, PLACES_OK);

	assert_int_equal(places->members, RANKS);
	assert_member(places, 5, 5, 0, 5);
	free(places);
}

TEST(there_are_limits)
{
	char nodes[MOST + 1], switches[MOST + 1];

	memset(nodes, 'a', sizeof(nodes));
	memset(switches, 'x', sizeof(switches));
	nodes[65] = '\0';
	free(find(nodes, switches, false, PLACES_TOO_MANY));
	free(find(nodes, switches, true, PLACES_OK));
	switches[64] = 'y';
	free(find(nodes, switches, false, PLACES_OK));
	nodes[65] = 'a';
	nodes[MOST] = '\0';
	free(find(nodes, switches, true, PLACES_OK));
	for (int rank = 0; rank < 65; rank++)
		switches[rank] = (char)(32 + rank);
	free(find(nodes, switches, false, PLACES_TOO_MANY));
}

TEST(names)
{
	struct places *places = find("abbacb", "xxxxxx", true, PLACES_OK);
	char text[32], narrow[16];

	places_name(places, RANKS, 0, 1, text, sizeof(text));
	assert_string_equal(text, "ranks 1, 2, 5");
	places_name(places, RANKS, 0, 2, text, sizeof(text));
	assert_string_equal(text, "rank 4");
	free(places);
	places = find("aaaaaaaaaaaaaaaaaaaa", "xxxxxxxxxxxxxxxxxxxx", true, PLACES_OK);
	places_name(places, 20, 0, 0, narrow, sizeof(narrow));
	assert_string_equal(narrow, "ranks 0, 1, ...");
	free(places);
}

TEST(addresses)
{
	assert_true(places_switches("10.0.0.2") == places_switches("10.0.0.2:20040"));
	assert_true(places_switches("a,b") == places_switches(" a:20040, b "));
	assert_true(places_switches("fd00::2") == places_switches("fd00::2"));
	assert_true(places_switches("[fd00::2]") == places_switches("[fd00::2]:20040"));
	assert_true(places_switches("10.0.0.2") != places_switches("10.0.0.2:20041"));
	assert_true(places_switches("fd00::2") != places_switches("fd00::2:20040"));
	assert_true(places_switches("a,b") != places_switches("ab"));
	assert_true(places_switches("a,b") != places_switches("b,a"));
}
