/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "interface.h"
#include "json.h"
#include "observe/state.h"
#include "setup.h"

static json_t *
addresses_array(const struct addresses *addresses)
{
	json_t *array = json_array();

	for (unsigned int a = 0; a < addresses->count; a++) {
		char text[64];

		address_print(&addresses->address[a], text, sizeof(text));
		json_array_append_new(array, json_string(text));
	}
	return array;
}

/* What computes each table set in place of match stages. */
static json_t *
kernels_object(const struct app *app)
{
	json_t *kernels = json_object();

	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		const char *kernel = pipeline_describe_kernel(app_pipeline(app), format);

		if (kernel != NULL)
			json_object_set_new(kernels, netfc_set_name(app->sets.by_format[format]),
				json_string(kernel));
	}
	return kernels;
}

json_t *
state_config(const struct app *app)
{
	const struct options *options = &app->options;
	json_t *config = json_object();

	json_object_set_new(config, "version", json_string(NETFC_VERSION));
	json_object_set_new(config, "dpdk", json_string(rte_version()));
	json_object_set_new(config, "match", json_string(match_kind_name(options->match)));
	json_object_set_new(config, "kernels", kernels_object(app));
	json_object_set_new(config, "forward", json_string(forward_mode_name(options->forward)));
	json_object_set_new(config, "udp_port", json_integer(options->udp_port));
	json_object_set_new(config, "mtu", json_integer(options->mtu));
	json_object_set_new(config, "stations", json_integer(options->stations));
	json_object_set_new(config, "ageing_s", json_integer(options->ageing_s));
	json_object_set_new(config, "idle_exit_ms", json_integer(options->idle_exit_ms));
	json_object_set_new(config, "mbufs", json_count(pools_size(app)));
	json_object_set_new(config, "addresses", addresses_array(&options->addresses));
	if (app->slowloris != NULL)
		json_object_set_new(config, "slowloris", state_rules(app));
	return config;
}

static json_t *
set_object(const struct netfc_set *set, const char *origin)
{
	json_t *object = json_object();
	uint64_t entries = 0;

	for (unsigned int t = 0; t < netfc_set_table_count(set); t++)
		entries += netfc_table_size(netfc_set_table(set, t));
	json_object_set_new(object, "set", json_string(netfc_set_name(set)));
	json_object_set_new(object, "format", json_integer(netfc_format_id(netfc_set_format(set))));
	json_object_set_new(object, "scale",
		netfc_set_scale(set) != 0 ? json_integer(netfc_set_scale(set)) : json_null());
	json_object_set_new(object, "tables", json_integer(netfc_set_table_count(set)));
	json_object_set_new(object, "entries", json_count(entries));
	json_object_set_new(object, "origin", json_text(origin));
	return object;
}

json_t *
state_tables(const struct app *app)
{
	json_t *tables = json_object();

	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		const struct netfc_set *set = app->sets.by_format[format];

		if (set != NULL)
			json_object_set_new(tables, netfc_format_name(netfc_set_format(set)),
				set_object(set, app->sets.origin[format]));
	}
	return tables;
}

/* All formats of a function share its object. */
static void
add_function(json_t *functions, const struct loaded_function *function)
{
	json_t *object = json_object_get(functions, function->name), *formats;

	if (object == NULL) {
		object = json_object();
		json_object_set_new(object, "number", json_integer(function->number));
		json_object_set_new(object, "formats", json_object());
		json_object_set_new(functions, function->name, object);
	}
	formats = json_object_get(object, "formats");
	json_object_set_new(formats, netfc_format_name(function->format),
		json_text(function->path != NULL ? function->path : "built"));
}

json_t *
state_functions(const struct app *app)
{
	json_t *functions = json_object();

	for (unsigned int f = 0; f < app->functions.count; f++)
		add_function(functions, app->functions.function[f]);
	return functions;
}

json_t *
state_function(const struct app *app, unsigned int number)
{
	json_t *functions = state_functions(app), *function, *found = NULL;
	const char *name;

	json_object_foreach(functions, name, function)
	{
		if (json_integer_value(json_object_get(function, "number")) != number)
			continue;
		json_object_set_new(function, "name", json_text(name));
		found = json_incref(function);
	}
	json_decref(functions);
	return found;
}

static json_t *
stations_object(const struct fdb *table)
{
	const struct fdb_counters *counters = fdb_counters(table);
	json_t *stations = json_object();

	json_object_set_new(stations, "known", json_count(counters->stations));
	json_object_set_new(stations, "learned", json_count(counters->learned));
	json_object_set_new(stations, "aged", json_count(counters->aged));
	json_object_set_new(stations, "refused", json_count(counters->refused));
	return stations;
}

json_t *
state_bridge(const struct app *app)
{
	json_t *bridge;

	if (app->fdb == NULL)
		return NULL;
	bridge = stations_object(app->fdb);
	json_object_set_new(bridge, "capacity", json_integer(app->options.stations));
	json_object_set_new(bridge, "ageing_s", json_integer(app->options.ageing_s));
	return bridge;
}

json_t *
state_ports(const struct app *app)
{
	json_t *ports = json_array();

	for (unsigned int p = 0; p < app->port_count; p++)
		json_array_append_new(ports, json_integer(app->port[p].id));
	return ports;
}

/* As the kernel has it, where it has an interface for the port, else as the device has. */
static int
get_link(const struct port *port, struct rte_eth_link *link)
{
	const int error = rte_eth_link_get_nowait(port->id, link);
	const enum interface_state state = interface_state(port);

	if (state == INTERFACE_UNKNOWN)
		return error;
	link->link_status = state == INTERFACE_UP ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
	return 0;
}

/* The link, as far as anybody knows about it. */
static void
set_link(json_t *object, const struct port *port)
{
	struct rte_eth_link link = {0};

	if (!port_is_gone(port) && get_link(port, &link) != 0)
		return;
	json_object_set_new(object, "link_up", json_boolean(link.link_status));
	if (link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		json_object_set_new(object, "link_mbps", json_integer(link.link_speed));
}

static json_t *
port_object(const struct app *app, unsigned int index)
{
	const struct port *port = &app->port[index];
	json_t *object = json_object();
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_eth_stats stats;
	uint16_t mtu;

	json_object_set_new(object, "port", json_integer(port->id));
	json_object_set_new(object, "device", json_text(port->name));
	json_object_set_new(object, "gone", json_boolean(port_is_gone(port)));
	json_object_set_new(object, "driver", json_string(port->info.driver_name));
	rte_ether_format_addr(mac, sizeof(mac), &port->endpoint.mac);
	json_object_set_new(object, "mac", json_string(mac));
	if (!port_is_gone(port) && rte_eth_dev_get_mtu(port->id, &mtu) == 0)
		json_object_set_new(object, "mtu", json_integer(mtu));
	json_object_set_new(object, "rx_queues", json_integer(port->rx_queues));
	json_object_set_new(object, "tx_queues", json_integer(port->tx_queues));
	json_object_set_new(object, "steering_rules", json_integer(port->rules));
	if (app->options.forward != FORWARD_BRIDGE)
		json_object_set_new(object, "out", json_integer(app->port[port->out].id));
	set_link(object, port);
	if (totals_of_device(app, index, &stats))
		json_object_set_new(object, "counters", totals_device_json(&stats));
	return object;
}

json_t *
state_port(const struct app *app, unsigned int id)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (app->port[p].id == id)
			return port_object(app, p);
	}
	return NULL;
}

json_t *
state_lcores(const struct app *app)
{
	json_t *lcores = json_array();
	unsigned int lcore_id;

	(void)app;
	RTE_LCORE_FOREACH (lcore_id)
		json_array_append_new(lcores, json_integer(lcore_id));
	return lcores;
}

/* The receive queues that it polls: "PORT/QUEUE". */
static json_t *
paths_array(const struct app *app, const struct lcore *lcore)
{
	json_t *paths = json_array();

	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		const struct rx_queue *queue = &lcore->rx_queue[i];
		char text[16];

		snprintf(text, sizeof(text), "%u/%u", app->port[queue->port].id, queue->queue);
		json_array_append_new(paths, json_string(text));
	}
	return paths;
}

json_t *
state_lcore(const struct app *app, unsigned int id)
{
	struct totals totals;
	json_t *object;

	if (id >= RTE_MAX_LCORE || !rte_lcore_is_enabled(id))
		return NULL;
	object = json_object();
	json_object_set_new(object, "lcore", json_integer(id));
	json_object_set_new(object, "main", json_boolean(id == rte_get_main_lcore()));
	json_object_set_new(
		object, "numa_node", json_integer((json_int_t)rte_lcore_to_socket_id(id)));
	json_object_set_new(object, "paths", paths_array(app, &app->lcore[id]));
	totals_of_lcore(&app->lcore[id], &totals);
	totals_set(object, &app->functions, &totals);
	return object;
}

json_t *
state_stats(const struct app *app, const struct totals *totals)
{
	json_t *stats = json_object();

	totals_set(stats, &app->functions, totals);
	json_object_set_new(stats, "devices", totals_device_json(&totals->devices));
	if (app->fdb != NULL)
		json_object_set_new(stats, "stations", stations_object(app->fdb));
	if (app->slowloris != NULL)
		json_object_set_new(stats, "slowloris", state_slowloris(app));
	if (app->aggregation != NULL)
		json_object_set_new(stats, "aggregate", state_aggregate(app));
	if (app->options.latency)
		json_object_set_new(stats, "latency", latency_json(app));
	json_object_set_new(stats, "mbufs_in_use", json_count(pools_in_use(app)));
	json_object_set_new(stats, "mbufs_leaked", json_count(app->mbufs_leaked));
	json_object_set_new(stats, "seconds", json_real(app_seconds(app)));
	return stats;
}
