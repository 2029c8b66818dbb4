/* SPDX-License-Identifier: BSD-3-Clause */
#include "network.h"

#include <stdlib.h>

struct network
network_start(const struct server_options *options, const struct relay_options *bad)
{
	struct network network = {.server = server_start(options)};
	struct relay_options before;

	if (network.server == NULL)
		abort();
	network.place = place_at(server_port(network.server));
	if (bad == NULL)
		return network;
	before = *bad;
	before.to = server_port(network.server);
	before.shards = options->shards == 0 ? 1 : options->shards;
	network.relay = relay_start(&before);
	if (network.relay == NULL)
		abort();
	network.place = place_at(relay_port(network.relay));
	return network;
}

void
network_stop(struct network *network)
{
	if (network->relay != NULL)
		relay_stop(network->relay);
	server_stop(network->server);
}
