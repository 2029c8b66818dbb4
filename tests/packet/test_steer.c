/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering rules, given to a device of the test's own: it takes the rules that it can, and says
 * which queue a packet would go to.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_flow.h>

#include "cases.h"
#include "eal.h"
#include "setup.h"

#define LCORES 4
#define PORT 20040
#define REQUESTS 20038
#define NO_RULE UINT16_MAX
#define MAX_RULES 64

struct taken {
	uint8_t family, address[16], address_mask[16], protocol_mask;
	uint16_t udp_port, queue;
};

static struct app app;

/* The device. */
static struct {
	bool none, wants_protocol, no_addresses;
	unsigned int room, asked, count;
	struct taken rule[MAX_RULES];
} device;

/* ---- in place of the library's ------------------------------------------------------------- */

static struct rte_flow *
refuse(struct rte_flow_error *error, int code, const char *why)
{
	*error = (struct rte_flow_error){.message = why};
	rte_errno = code;
	return NULL;
}

static void
read_ip(const struct rte_flow_item *item, struct taken *rule)
{
	if (item->type == RTE_FLOW_ITEM_TYPE_IPV4) {
		const struct rte_flow_item_ipv4 *spec = item->spec, *mask = item->mask;

		rule->family = 4;
		memcpy(rule->address, &spec->hdr.dst_addr, 4);
		memcpy(rule->address_mask, &mask->hdr.dst_addr, 4);
		rule->protocol_mask = mask->hdr.next_proto_id;
		assert_true(rule->protocol_mask == 0 || spec->hdr.next_proto_id == IPPROTO_UDP);
	} else {
		const struct rte_flow_item_ipv6 *spec = item->spec, *mask = item->mask;

		assert_int_equal(item->type, RTE_FLOW_ITEM_TYPE_IPV6);
		rule->family = 6;
		memcpy(rule->address, &spec->hdr.dst_addr, 16);
		memcpy(rule->address_mask, &mask->hdr.dst_addr, 16);
		rule->protocol_mask = mask->hdr.proto;
		assert_true(rule->protocol_mask == 0 || spec->hdr.proto == IPPROTO_UDP);
	}
}

static struct taken
read_rule(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions)
{
	struct taken rule = {0};
	const struct rte_flow_item_udp *udp = pattern[2].spec, *mask = pattern[2].mask;
	const struct rte_flow_action_queue *queue = actions[0].conf;

	assert_true(attr->ingress && !attr->egress && attr->group == 0);
	assert_int_equal(pattern[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_null(pattern[0].spec);
	read_ip(&pattern[1], &rule);
	assert_int_equal(pattern[2].type, RTE_FLOW_ITEM_TYPE_UDP);
	assert_int_equal(mask->hdr.dst_port, RTE_BE16(UINT16_MAX));
	assert_int_equal(mask->hdr.src_port, 0);
	assert_int_equal(pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	assert_int_equal(actions[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	assert_int_equal(actions[1].type, RTE_FLOW_ACTION_TYPE_END);
	rule.udp_port = rte_be_to_cpu_16(udp->hdr.dst_port);
	rule.queue = queue->index;
	return rule;
}

struct rte_flow *
rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct taken rule = read_rule(attr, pattern, actions);

	assert_int_equal(port, app.port[0].id);
	device.asked++;
	if (device.none)
		return refuse(error, ENOSYS, NULL);
	if (device.wants_protocol && rule.protocol_mask == 0)
		return refuse(error, EINVAL, "no protocol");
	if (device.no_addresses && rule.address_mask[0] != 0)
		return refuse(error, ENOTSUP, "an address");
	if (device.count == device.room)
		return refuse(error, ENOSPC, "the table is full");
	device.rule[device.count++] = rule;
	return (struct rte_flow *)&device.rule[device.count];
}

int
rte_flow_flush(uint16_t port, struct rte_flow_error *error)
{
	(void)port, (void)error;
	device.count = 0;
	return 0;
}

/* ---- the switch ------------------------------------------------------------------------------ */

/* Where a rule leads packets to. */
static uint16_t
queue_for(const struct address *to, uint16_t udp_port)
{
	for (unsigned int r = 0; r < device.count; r++) {
		const struct taken *rule = &device.rule[r];
		bool same = rule->family == to->family && rule->udp_port == udp_port;

		for (unsigned int b = 0; b < (to->family == 4 ? 4 : 16); b++)
			same = same &&
				((rule->address[b] ^ to->bytes[b]) & rule->address_mask[b]) == 0;
		if (same)
			return rule->queue;
	}
	return NO_RULE;
}

static struct address
address_of(const char *text)
{
	struct addresses addresses = {0};

	assert_int_equal(addresses_add(&addresses, text), 0);
	return addresses.address[0];
}

static void
give_address(const char *text)
{
	struct endpoint *endpoint = &app.port[0].endpoint;

	endpoint->address[endpoint->count++] = address_of(text);
}

/* Lcore l has queue LCORES - 1 - l, and shard l if there are that many. */
static int
set_up(void **state)
{
	(void)state;
	memset(&app, 0, sizeof(app));
	memset(&device, 0, sizeof(device));
	device.room = MAX_RULES;
	app.options.udp_port = REQUESTS;
	app.options.aggregate.port = PORT;
	app.port_count = 1;
	app.port[0].rx_queues = LCORES;
	app.port[0].info.driver_name = "net_test";
	for (uint16_t l = 0; l < LCORES; l++) {
		app.lcore[l].rx_queue_count = 1;
		app.lcore[l].rx_queue[0].queue = (uint16_t)(LCORES - 1 - l);
	}
	return 0;
}

static void
make_shards(unsigned int count)
{
	app.shard_count = count;
	for (uint16_t l = 0; l < count; l++) {
		app.lcore[l].aggregates = true;
		app.lcore[l].shard_index = l;
	}
}

static void
assert_steered(const char *address, unsigned int shards)
{
	const struct address to = address_of(address);

	for (uint16_t s = 0; s < shards; s++)
		assert_int_equal(queue_for(&to, (uint16_t)(PORT + s)), LCORES - 1 - s);
	assert_int_equal(queue_for(&to, (uint16_t)(PORT + shards)), NO_RULE);
	assert_int_equal(queue_for(&to, REQUESTS), NO_RULE);
}

TEST_WITH(a_shards_port_leads_to_its_lcore, set_up, NULL)
{
	const struct address other = address_of("10.0.0.3");

	make_shards(LCORES);
	give_address("10.0.0.2");
	give_address("2001:db8::2");
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 2 * LCORES);
	assert_steered("10.0.0.2", LCORES);
	assert_steered("2001:db8::2", LCORES);
	assert_int_equal(queue_for(&other, PORT), NO_RULE);
	steer_stop(&app.port[0]);
	assert_int_equal(app.port[0].rules, 0);
	assert_int_equal(device.count, 0);
}

TEST_WITH(one_shard_is_steered_too, set_up, NULL)
{
	make_shards(1);
	give_address("10.0.0.2");
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 1);
	assert_steered("10.0.0.2", 1);
}

TEST_WITH(devices_are_asked_in_other_words, set_up, NULL)
{
	make_shards(2);
	give_address("10.0.0.2");
	give_address("10.0.0.3");
	give_address("2001:db8::2");
	device.wants_protocol = true;
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 6);
	assert_steered("10.0.0.3", 2);
	steer_stop(&app.port[0]);
	device.no_addresses = true;
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 4);
	assert_steered("10.0.0.3", 2);
	assert_steered("2001:db8::2", 2);
}

TEST_WITH(all_rules_or_none, set_up, NULL)
{
	make_shards(LCORES);
	give_address("10.0.0.2");
	device.room = LCORES - 1;
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 0);
	assert_int_equal(device.count, 0);
	device.room = MAX_RULES;
	device.none = true;
	device.asked = 0;
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 0);
	assert_int_equal(device.asked, 1);
}

TEST_WITH(requests_go_to_the_queue_of_their_address, set_up, NULL)
{
	const struct address pinned = address_of("10.0.0.2"), other = address_of("10.0.0.3");

	give_address("10.0.0.2@0:2");
	give_address("10.0.0.3");
	assert_int_equal(steer_check(&app), 0);
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 1);
	assert_int_equal(queue_for(&pinned, REQUESTS), 2);
	assert_int_equal(queue_for(&pinned, PORT), NO_RULE);
	assert_int_equal(queue_for(&other, REQUESTS), NO_RULE);
	steer_stop(&app.port[0]);
	/* Without addresses, all requests would go there. */
	device.no_addresses = true;
	steer_start(&app);
	assert_int_equal(app.port[0].rules, 0);
	app.port[0].rx_queues = 2;
	assert_int_equal(steer_check(&app), -1);
}

TEST_WITH(nothing_is_asked_where_there_is_no_choice, set_up, NULL)
{
	make_shards(2);
	steer_start(&app); /* no address */
	give_address("10.0.0.2");
	app.lcore[0].rx_queue_count = app.lcore[1].rx_queue_count = 0;
	steer_start(&app); /* no queue of an lcore that aggregates */
	app.lcore[0].rx_queue_count = 1;
	app.port[0].rx_queues = 1;
	steer_start(&app); /* one queue */
	assert_int_equal(device.asked, 0);
}

int
main(void)
{
	return start_lcores(LCORES) == 0 ? tests_run(NULL, NULL) : 1;
}
