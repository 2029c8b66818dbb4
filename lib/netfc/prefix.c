/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The prefixes found so far. */
struct list {
	struct netfc_prefix *prefix;
	size_t count, capacity;
	bool failed; /* out of memory */
};

static void
append(struct list *list, uint32_t key, unsigned length, uint32_t value)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity * 2 + 64;
		struct netfc_prefix *grown =
			realloc(list->prefix, capacity * sizeof(*list->prefix));

		if (grown == NULL) {
			list->failed = true;
			return;
		}
		list->prefix = grown;
		list->capacity = capacity;
	}
	list->prefix[list->count++] =
		(struct netfc_prefix){.key = key, .value = value, .length = (uint8_t)length};
}

/* A table or a page of it: keys of `bits` bits; keys beyond the table's end cannot occur. */
struct keys {
	const struct netfc_table *table;
	uint32_t first; /* index of key 0 */
	uint32_t size;
	unsigned bits;
};

static bool
occurs(const struct keys *keys, uint32_t key)
{
	return key < keys->size && netfc_table_reachable(keys->table, keys->first + key);
}

static uint32_t
value_of(const struct keys *keys, uint32_t key)
{
	return keys->table->entries[keys->first + key];
}

/* The values of all keys below a prefix. */
enum uniform {
	NONE_OCCUR,
	ALL_EQUAL,
	DIFFERENT
};

static enum uniform
join(enum uniform left, uint32_t left_value, enum uniform right, uint32_t right_value)
{
	if (left == NONE_OCCUR)
		return right;
	if (right == NONE_OCCUR)
		return left;
	if (left == ALL_EQUAL && right == ALL_EQUAL && left_value == right_value)
		return ALL_EQUAL;
	return DIFFERENT;
}

/*
 * Merge the keys below a prefix. If all are equal, nothing is appended and the caller may merge
 * further; otherwise the largest equal parts are appended.
 */
static enum uniform
merge(const struct keys *keys, struct list *list, uint32_t key, unsigned length, uint32_t *value)
{
	uint32_t middle, left_value = 0, right_value = 0;
	enum uniform left, right, both;

	if (length == keys->bits) {
		*value = occurs(keys, key) ? value_of(keys, key) : 0;
		return occurs(keys, key) ? ALL_EQUAL : NONE_OCCUR;
	}
	middle = key | UINT32_C(1) << (keys->bits - length - 1);
	left = merge(keys, list, key, length + 1, &left_value);
	right = merge(keys, list, middle, length + 1, &right_value);
	both = join(left, left_value, right, right_value);
	*value = left == ALL_EQUAL ? left_value : right_value;
	if (both == DIFFERENT && left == ALL_EQUAL)
		append(list, key, length + 1, left_value);
	if (both == DIFFERENT && right == ALL_EQUAL)
		append(list, middle, length + 1, right_value);
	return both;
}

static void
cover_merged(const struct keys *keys, struct list *list)
{
	uint32_t value;

	if (merge(keys, list, 0, 0, &value) == ALL_EQUAL)
		append(list, 0, 0, value);
}

/*
 * The values of a node that lead to the fewest prefixes, ascending. None means that no key below
 * occurs and any value will do.
 */
struct choice {
	uint32_t *value;
	uint32_t count;
};

/* ORTC's tree: node[depth] has the choices of all nodes of that depth; node[0] is the root. */
struct tree {
	struct choice *node[33];
	uint32_t *memory[33];
};

static uint32_t
intersect(struct choice a, struct choice b, uint32_t *out)
{
	uint32_t count = 0, i = 0, j = 0;

	while (i < a.count && j < b.count) {
		if (a.value[i] < b.value[j]) {
			i++;
		} else if (a.value[i] > b.value[j]) {
			j++;
		} else {
			out[count++] = a.value[i++];
			j++;
		}
	}
	return count;
}

static uint32_t
unite(struct choice a, struct choice b, uint32_t *out)
{
	uint32_t count = 0, i = 0, j = 0;

	while (i < a.count || j < b.count) {
		if (j == b.count || (i < a.count && a.value[i] < b.value[j]))
			out[count++] = a.value[i++];
		else
			out[count++] = b.value[j++];
	}
	return count;
}

/* The choice of a node: the intersection of its halves' choices, or if empty their union. */
static uint32_t
combine(struct choice a, struct choice b, uint32_t *out)
{
	uint32_t count;

	if (a.count == 0 || b.count == 0)
		return unite(a, b, out);
	count = intersect(a, b, out);
	return count != 0 ? count : unite(a, b, out);
}

static bool
grow_leaves(const struct keys *keys, struct tree *tree)
{
	uint32_t leaves = UINT32_C(1) << keys->bits;

	tree->node[keys->bits] = calloc(leaves, sizeof(struct choice));
	tree->memory[keys->bits] = malloc(leaves * sizeof(uint32_t));
	if (tree->node[keys->bits] == NULL || tree->memory[keys->bits] == NULL)
		return false;
	for (uint32_t key = 0; key < leaves; key++) {
		struct choice *leaf = &tree->node[keys->bits][key];

		leaf->value = &tree->memory[keys->bits][key];
		if (occurs(keys, key)) {
			*leaf->value = value_of(keys, key);
			leaf->count = 1;
		}
	}
	return true;
}

/* The nodes of a depth from those below, which have at least as many values together. */
static bool
grow_level(struct tree *tree, unsigned depth)
{
	/* cover_optimal() frees all levels; the analyzer loses count of them. */
	/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */
	uint32_t nodes = UINT32_C(1) << depth;
	const struct choice *below = tree->node[depth + 1];
	size_t values = 0;
	uint32_t *out;

	for (uint32_t n = 0; n < 2 * nodes; n++)
		values += below[n].count;
	tree->node[depth] = calloc(nodes, sizeof(struct choice));
	tree->memory[depth] = malloc((values + 1) * sizeof(uint32_t));
	if (tree->node[depth] == NULL || tree->memory[depth] == NULL)
		return false;
	/* NOLINTEND(clang-analyzer-unix.Malloc) */
	out = tree->memory[depth];
	for (uint32_t n = 0; n < nodes; n++) {
		struct choice *node = &tree->node[depth][n];

		node->value = out;
		node->count = combine(below[2 * n], below[2 * n + 1], out);
		out += node->count;
	}
	return true;
}

static bool
contains(struct choice choice, uint32_t value)
{
	uint32_t low = 0, high = choice.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (choice.value[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < choice.count && choice.value[low] == value;
}

/* Keep the inherited value if it is among the node's choices, else append a prefix. */
static void
choose(const struct keys *keys, const struct tree *tree, struct list *list, uint32_t node,
	unsigned depth, bool inherited, uint32_t value)
{
	struct choice choice = tree->node[depth][node];

	if (choice.count == 0)
		return;
	if (!inherited || !contains(choice, value)) {
		value = choice.value[0];
		append(list, depth == 0 ? 0 : node << (keys->bits - depth), depth, value);
	}
	if (depth == keys->bits)
		return;
	choose(keys, tree, list, 2 * node, depth + 1, true, value);
	choose(keys, tree, list, 2 * node + 1, depth + 1, true, value);
}

static void
cover_optimal(const struct keys *keys, struct list *list)
{
	struct tree tree;
	bool grown;

	memset(&tree, 0, sizeof(tree));
	grown = grow_leaves(keys, &tree);
	for (unsigned depth = keys->bits; grown && depth-- > 0;)
		grown = grow_level(&tree, depth);
	if (grown)
		choose(keys, &tree, list, 0, 0, false, 0);
	list->failed |= !grown;
	for (unsigned depth = 0; depth <= keys->bits; depth++) {
		free(tree.node[depth]);
		free(tree.memory[depth]);
	}
} /* NOLINT(clang-analyzer-unix.Malloc) */

static int
shorter_first(const void *a, const void *b)
{
	const struct netfc_prefix *p = a, *q = b;

	if (p->length != q->length)
		return p->length < q->length ? -1 : 1;
	return p->key < q->key ? -1 : p->key > q->key;
}

int
netfc_table_cover(const struct netfc_table *table, int page, enum netfc_cover cover,
	struct netfc_prefix **prefixes, size_t *count)
{
	struct keys keys = {.table = table};
	struct list list = {0};

	if (page < -1 || page >= (int)table->pages)
		return NETFC_ERR_ARGUMENT;
	keys.first = page < 0 ? 0 : (uint32_t)page << table->key_bits;
	keys.size = page < 0 ? netfc_table_size(table) : UINT32_C(1) << table->key_bits;
	keys.bits = page < 0 ? netfc_table_index_bits(table) : table->key_bits;
	if (cover == NETFC_COVER_MERGED)
		cover_merged(&keys, &list);
	else if (cover == NETFC_COVER_OPTIMAL)
		cover_optimal(&keys, &list);
	else
		return NETFC_ERR_ARGUMENT;
	if (list.failed) {
		free(list.prefix);
		return NETFC_ERR_NOMEM;
	}
	if (list.count > 0)
		qsort(list.prefix, list.count, sizeof(*list.prefix), shorter_first);
	*prefixes = list.prefix;
	*count = list.count;
	return NETFC_OK;
}
