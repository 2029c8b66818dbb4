/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"
#include "packets.h"
#include "pipeline_fixture.h"

static void
build_set(struct pipeline_fixture *f, const char *name)
{
	enum netfc_format_id format;
	struct netfc_set *set;

	assert_int_equal(netfc_set_build(name, &set), NETFC_OK);
	format = netfc_format_id(netfc_set_format(set));
	f->set[format] = set;
	f->config.sets[format] = set;
}

void
fixture_set_up(struct pipeline_fixture *f, const char *const *set_names, unsigned int set_count)
{
	f->pool = rte_pktmbuf_pool_create("test", 8191, 0, 0, 2176, SOCKET_ID_ANY);
	assert_non_null(f->pool);
	f->config = (struct pipeline_config){.match = MATCH_DIRECT,
		.isa = vector_isa_best(),
		.udp_port = NETFC_UDP_PORT,
		.queries = true,
		.socket_id = SOCKET_ID_ANY};
	for (unsigned int s = 0; s < set_count; s++)
		build_set(f, set_names[s]);
}

void
fixture_tear_down(struct pipeline_fixture *f)
{
	fixture_free_pipeline(f);
	assert_int_equal(rte_mempool_in_use_count(f->pool), 0);
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++)
		netfc_set_free(f->set[format]);
	rte_mempool_free(f->pool);
}

void
fixture_create_pipeline(struct pipeline_fixture *f)
{
	assert_int_equal(pipeline_create(&f->config, &f->pipeline), 0);
	f->worker = pipeline_worker_create(f->pipeline, SOCKET_ID_ANY);
	assert_non_null(f->worker);
}

void
fixture_free_pipeline(struct pipeline_fixture *f)
{
	pipeline_worker_free(f->worker);
	pipeline_free(f->pipeline);
	f->worker = NULL;
	f->pipeline = NULL;
}

void
fixture_process(struct pipeline_fixture *f, struct fixture_burst *burst, uint32_t cut)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];

	for (unsigned int i = 0; i < burst->count; i++) {
		mbufs[i] = packet_of(f->pool, burst->bytes[i], burst->length[i], cut);
		assert_non_null(mbufs[i]);
	}
	pipeline_process(f->worker, mbufs, burst->frame, (uint16_t)burst->count);
	for (unsigned int i = 0; i < burst->count; i++)
		packet_bytes(mbufs[i], burst->bytes[i]);
	rte_pktmbuf_free_bulk(mbufs, burst->count);
}
