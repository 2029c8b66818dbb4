/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_version.h>

#include "aggregate/aggregation.h"
#include "observe/state.h"
#include "setup.h"
#include "ctrl_thread.h"

static void
print_slowloris(const struct app *app)
{
	const struct slowloris_options *options = &app->options.slowloris;
	const struct slowloris_memory memory = slowloris_memory(app->slowloris);

	printf("  slowloris over %g connections per byte, %" PRIu32 " connections, %" PRIu32
	       " ms: drop %s%s\n",
		options->threshold, options->least, options->time_ms,
		slowloris_policy_name(options->policy), options->dry_run ? " (dry run)" : "");
	printf("            up to %" PRIu32 " connections (%.0f bytes each), %" PRIu32
	       " destinations (%.0f bytes each)\n",
		options->connections, (double)memory.connections / options->connections,
		options->destinations, (double)memory.destinations / options->destinations);
}

static void
print_aggregation(const struct aggregation *aggregation)
{
	const struct aggregate_limits *limits = &aggregation->limits;

	printf("  aggregate up to %u jobs of %u workers, %u slots of %u bytes in %u shard%s "
	       "(%.0f MB): %s\n",
		limits->jobs, limits->workers, limits->slots, limits->bytes, limits->shards,
		limits->shards == 1 ? "" : "s", (double)aggregation->bytes / 1e6,
		aggregate_isa_name(limits->isa));
}

static void
print_parent(const struct parent_link *parent_link)
{
	const struct neighbour *neighbour = &parent_link->neighbour;
	char parent[64], own[64], next[64];

	address_print(&parent_link->parent, parent, sizeof(parent));
	address_print(&neighbour->own, own, sizeof(own));
	address_print(&neighbour->address, next, sizeof(next));
	printf("  parent    %s, UDP port %u, %s%s, from %s\n", parent, parent_link->port,
		parent_link->through_gateway ? "behind the gateway " : "on the link",
		parent_link->through_gateway ? next : "", own);
}

static void
print_function(const struct loaded_function *function)
{
	printf("  function  %s, operation %u, %s (%s)\n", function->name, function->number,
		netfc_format_name(function->format),
		function->path != NULL ? function->path : "built");
}

void
report_configuration(const struct app *app)
{
	const struct options *options = &app->options;
	json_t *config = state_config(app), *text;
	const char *name;
	size_t a;

	printf(PROGRAM " " NETFC_VERSION ", %s\n", rte_version());
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		const struct netfc_set *set = app->sets.by_format[format];

		if (set != NULL)
			printf("  tables    %s, format %u: %s (%s)\n", netfc_set_name(set), format,
				netfc_format_title(netfc_set_format(set)),
				app->sets.origin[format]);
	}
	for (unsigned int f = 0; f < app->functions.count; f++)
		print_function(app->functions.function[f]);
	printf("  match     %s\n", match_kind_name(options->match));
	json_object_foreach(json_object_get(config, "kernels"), name, text)
		printf("  kernel    %s: %s\n", name, json_string_value(text));
	printf("  forward   %s\n", forward_mode_name(options->forward));
	printf("  UDP port  %u\n", options->udp_port);
	if (options->idle_exit_ms != 0)
		printf("  idle exit %" PRIu32 " ms\n", options->idle_exit_ms);
	if (options->forward == FORWARD_BRIDGE)
		printf("  bridge    %" PRIu32 " stations, forgotten after %" PRIu32 " s\n",
			options->stations, options->ageing_s);
	if (options->slowloris.on)
		print_slowloris(app);
	if (app->aggregation != NULL)
		print_aggregation(app->aggregation);
	if (app->aggregation != NULL && app->aggregation->parent_link != NULL)
		print_parent(app->aggregation->parent_link);
	json_array_foreach(json_object_get(config, "addresses"), a, text)
		printf("  address   %s\n", json_string_value(text));
	for (unsigned int p = 0; p < app->port_count; p++) {
		const struct port *port = &app->port[p];

		printf("  port %-4u %s, %u receive and %u transmit queue%s\n", port->id,
			port->info.driver_name, port->rx_queues, port->tx_queues,
			port->tx_queues == 1 ? "" : "s");
	}
	queues_print(app);
	json_decref(config);
	fflush(stdout);
}

void
report_ready(const struct app *app)
{
	printf("Ready; Ctrl-C or SIGTERM ends it%s\n",
		app->options.idle_exit_ms != 0 ? ", as does a time without packets" : "");
	fflush(stdout);
}

struct periodic {
	struct app *app;
	double seconds; /* until `before` was counted */
	struct totals before;
	struct ticker ticker;
};

static uint64_t
rate(uint64_t before, uint64_t after, double seconds)
{
	return (uint64_t)((double)(after - before) / seconds);
}

/* What has happened between two times, in seconds. */
static void
print_line(const struct totals *before, const struct totals *after, double from, double to)
{
	const double seconds = to - from;
	const struct packet_counters *packets = &after->packets, *earlier = &before->packets;
	uint64_t cycles = packets->cycles - earlier->cycles;
	uint64_t busy = packets->busy_cycles - earlier->busy_cycles;

	printf("after %" PRIu64 " s: %" PRIu64 " packets/s in, %" PRIu64 " out, %" PRIu64
	       " taken up, %" PRIu64 " dropped, %" PRIu64 " requests/s, %" PRIu64
	       " lanes/s, load %" PRIu64 "%%\n",
		(uint64_t)to, rate(earlier->rx_packets, packets->rx_packets, seconds),
		rate(earlier->tx_packets, packets->tx_packets, seconds),
		totals_taken_up(after) - totals_taken_up(before),
		totals_dropped(after) - totals_dropped(before),
		rate(before->pipeline.netfc_packets, after->pipeline.netfc_packets, seconds),
		rate(before->pipeline.lanes, after->pipeline.lanes, seconds),
		cycles != 0 ? (busy * 100 + cycles / 2) / cycles : 0);
	fflush(stdout);
}

static void
sum(struct app *app, struct totals *totals)
{
	pthread_mutex_lock(&app->state_lock);
	totals_of_all(app, totals);
	pthread_mutex_unlock(&app->state_lock);
}

static void
print_next(void *arg)
{
	struct periodic *periodic = arg;
	struct totals after;
	double seconds;

	sum(periodic->app, &after);
	seconds = ticker_seconds(&periodic->ticker);
	print_line(&periodic->before, &after, periodic->seconds, seconds);
	periodic->before = after;
	periodic->seconds = seconds;
}

int
periodic_start(struct app *app, uint32_t interval_s, struct periodic **result)
{
	struct periodic *periodic = calloc(1, sizeof(*periodic));

	if (periodic == NULL)
		return REPORT("no memory for periodic statistics\n");
	periodic->app = app;
	sum(app, &periodic->before);
	if (ticker_start(&periodic->ticker, "netfc-stats", interval_s * (uint64_t)NS_PER_S,
		    print_next, periodic) != 0) {
		free(periodic);
		return -1;
	}
	*result = periodic;
	return 0;
}

void
periodic_stop(struct periodic *periodic)
{
	if (periodic != NULL)
		ticker_stop(&periodic->ticker);
	free(periodic);
}
