/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_flow.h>
#include <rte_lcore.h>

#include "setup.h"

/*
 * What rules match, besides the UDP port. Devices differ: some have no room for the address, some
 * want the protocol although a UDP item implies it, and some want all rules to be of one form.
 */
struct form {
	bool address, protocol;
};

static const struct form forms[] = {{true, false}, {true, true}, {false, true}, {false, false}};

/* Packets to that UDP port, and to that address if the form has it, get that queue. */
struct rule {
	const struct address *address;
	uint16_t udp_port, queue;
};

/* Those of a port, while they are made. */
struct steering {
	const struct app *app;
	struct port *port;
	struct form form;
	struct rte_flow_error error;
};

/* What an IP item matches, or which bits of it count. */
union ip_spec {
	struct rte_flow_item_ipv4 ipv4;
	struct rte_flow_item_ipv6 ipv6;
};

static struct rte_flow_item
ip_item(const struct form *form, const struct address *address, union ip_spec *spec,
	union ip_spec *mask)
{
	const bool ip4 = address->family == 4;
	void *to = ip4 ? (void *)&spec->ipv4.hdr.dst_addr : (void *)&spec->ipv6.hdr.dst_addr;
	void *to_mask = ip4 ? (void *)&mask->ipv4.hdr.dst_addr : (void *)&mask->ipv6.hdr.dst_addr;
	const size_t bytes = ip4 ? 4 : 16;

	memset(spec, 0, sizeof(*spec));
	memset(mask, 0, sizeof(*mask));
	if (form->address) {
		memcpy(to, address->bytes, bytes);
		memset(to_mask, 0xff, bytes);
	}
	if (form->protocol) {
		*(ip4 ? &spec->ipv4.hdr.next_proto_id : &spec->ipv6.hdr.proto) = IPPROTO_UDP;
		*(ip4 ? &mask->ipv4.hdr.next_proto_id : &mask->ipv6.hdr.proto) = UINT8_MAX;
	}
	return (struct rte_flow_item){
		.type = ip4 ? RTE_FLOW_ITEM_TYPE_IPV4 : RTE_FLOW_ITEM_TYPE_IPV6,
		.spec = spec,
		.mask = mask,
	};
}

static int
add_rule(struct steering *steering, const struct rule *rule)
{
	static const struct rte_flow_attr incoming = {.ingress = 1};
	const struct rte_flow_item_udp udp = {.hdr.dst_port = rte_cpu_to_be_16(rule->udp_port)};
	const struct rte_flow_item_udp udp_mask = {.hdr.dst_port = RTE_BE16(UINT16_MAX)};
	const struct rte_flow_action_queue queue = {.index = rule->queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	union ip_spec spec, mask;
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		ip_item(&steering->form, rule->address, &spec, &mask),
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};

	if (rte_flow_create(steering->port->id, &incoming, pattern, actions, &steering->error) ==
		NULL)
		return -1;
	steering->port->rules++;
	return 0;
}

/* The lcore's first queue of a port; ANY_QUEUE: it has none there. */
static uint16_t
queue_of(const struct app *app, const struct lcore *lcore, const struct port *port)
{
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		if (&app->port[lcore->rx_queue[i].port] == port)
			return lcore->rx_queue[i].queue;
	}
	return ANY_QUEUE;
}

/* Without addresses, a rule for each family will do. */
static bool
is_repeated(const struct steering *steering, unsigned int a)
{
	const struct address *address = steering->port->endpoint.address;

	for (unsigned int before = 0; before < a && !steering->form.address; before++) {
		if (address[before].family == address[a].family)
			return true;
	}
	return false;
}

static int
add_shard_rules(struct steering *steering, const struct lcore *lcore)
{
	const struct app *app = steering->app;
	const struct endpoint *endpoint = &steering->port->endpoint;
	struct rule rule = {
		.udp_port = (uint16_t)(app->options.aggregate.port + lcore->shard_index),
		.queue = queue_of(app, lcore, steering->port),
	};

	if (!lcore->aggregates || rule.queue == ANY_QUEUE)
		return 0;
	for (unsigned int a = 0; a < endpoint->count; a++) {
		rule.address = &endpoint->address[a];
		if (!is_repeated(steering, a) && add_rule(steering, &rule) != 0)
			return -1;
	}
	return 0;
}

static int
add_request_rules(struct steering *steering)
{
	const struct endpoint *endpoint = &steering->port->endpoint;

	for (unsigned int a = 0; a < endpoint->count; a++) {
		const struct address *address = &endpoint->address[a];
		const struct rule rule = {
			.address = address,
			.udp_port = steering->app->options.udp_port,
			.queue = address->queue,
		};

		if (address->queue != ANY_QUEUE && add_rule(steering, &rule) != 0)
			return -1;
	}
	return 0;
}

/* All of a port's rules, or none. */
static int
add_rules(struct steering *steering)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		if (add_shard_rules(steering, &steering->app->lcore[lcore_id]) != 0)
			return -1;
	}
	return add_request_rules(steering);
}

/* Addresses of the port that name a queue. */
static unsigned int
count_pinned(const struct port *port)
{
	unsigned int pinned = 0;

	for (unsigned int a = 0; a < port->endpoint.count; a++)
		pinned += port->endpoint.address[a].queue != ANY_QUEUE;
	return pinned;
}

static int
steer_port(struct steering *steering)
{
	for (unsigned int f = 0; f < RTE_DIM(forms); f++) {
		if (!forms[f].address && count_pinned(steering->port) > 0)
			continue;
		steering->form = forms[f];
		if (add_rules(steering) == 0)
			return 0;
		steer_stop(steering->port);
		/* No other form would help. */
		if (rte_errno == ENOSYS || rte_errno == EEXIST)
			return -1;
	}
	return -1;
}

/* Shards whose lcore has a queue of the port. */
static unsigned int
count_shards(const struct app *app, const struct port *port)
{
	unsigned int shards = 0, lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &app->lcore[lcore_id];

		shards += lcore->aggregates && queue_of(app, lcore, port) != ANY_QUEUE;
	}
	return shards;
}

static void
print_shards(const struct app *app, const struct port *port)
{
	unsigned int shards = count_shards(app, port);

	if (shards < app->shard_count)
		printf("  steering  port %u: no queue for %u of the %u lcores that aggregate: "
		       "their packets are handed over\n",
			port->id, app->shard_count - shards, app->shard_count);
}

static void
print_result(const struct steering *steering, int result)
{
	const struct port *port = steering->port;
	const char *message = steering->error.message;

	if (result == 0)
		printf("  steering  port %u: by the device, rules: %u (shards: %u, addresses: %u)\n",
			port->id, port->rules, count_shards(steering->app, port),
			count_pinned(port));
	else
		printf("  steering  port %u: %s refuses rules (%s): it chooses queues itself%s\n",
			port->id, port->info.driver_name,
			message != NULL ? message : rte_strerror(rte_errno),
			steering->app->shard_count > 0
				? ", and lcores hand over packets of other lcores"
				: "");
}

int
steer_check(const struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		const struct port *port = &app->port[p];

		for (unsigned int a = 0; a < port->endpoint.count; a++) {
			const struct address *address = &port->endpoint.address[a];
			char text[64];

			if (address->queue == ANY_QUEUE || address->queue < port->rx_queues)
				continue;
			address_print(address, text, sizeof(text));
			return REPORT("--address '%s': port %u has %u receive queue%s\n", text,
				port->id, port->rx_queues, port->rx_queues == 1 ? "" : "s");
		}
	}
	return 0;
}

void
steer_start(struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		struct steering steering = {.app = app, .port = &app->port[p]};

		if (steering.port->endpoint.count == 0)
			continue;
		print_shards(app, steering.port);
		if (steering.port->rx_queues == 1 ||
			count_shards(app, steering.port) + count_pinned(steering.port) == 0)
			continue;
		print_result(&steering, steer_port(&steering));
	}
}

void
steer_stop(struct port *port)
{
	struct rte_flow_error error;

	if (port->rules > 0)
		rte_flow_flush(port->id, &error);
	port->rules = 0;
}
