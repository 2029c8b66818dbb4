/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "destinations.h"
#include "table.h"

int
destinations_create(struct destinations *destinations, const struct slowloris_config *config)
{
	const uint32_t capacity = config->destinations;

	destinations->capacity = capacity;
	destinations->secret = hash_secret_draw();
	destinations->hash = table_create("destinations", destinations, capacity, sizeof(uint32_t),
		config->socket_id, config->qsbr);
	destinations->record = rte_zmalloc_socket("destinations",
		(size_t)table_records(capacity) * sizeof(*destinations->record),
		RTE_CACHE_LINE_SIZE, config->socket_id);
	return destinations->hash != NULL && destinations->record != NULL ? 0 : -ENOMEM;
}

void
destinations_destroy(struct destinations *destinations)
{
	rte_hash_free(destinations->hash);
	rte_free(destinations->record);
}

uint32_t
destinations_find(const struct destinations *destinations, uint32_t address)
{
	int32_t position = rte_hash_lookup_with_hash(
		destinations->hash, &address, hash_address(&destinations->secret, address));

	return destinations_known(destinations, position);
}

uint32_t
destinations_add(struct destinations *destinations, uint32_t address, uint32_t now)
{
	struct destination *destination;
	int32_t position;

	if (destinations->count == destinations->capacity)
		return NONE;
	position = rte_hash_add_key_with_hash(
		destinations->hash, &address, hash_address(&destinations->secret, address));
	if (position < 0)
		return NONE;
	destination = &destinations->record[position];
	/* Other lcores may have found the key already: they wait for `used`. */
	*destination = (struct destination){.address = address, .seen = now, .rotated = now};
	__atomic_store_n(&destination->used, 1, __ATOMIC_RELEASE);
	destinations->count++;
	destinations->high = RTE_MAX(destinations->high, (uint32_t)position + 1);
	return (uint32_t)position;
}

void
destinations_remove(struct destinations *destinations, uint32_t index)
{
	struct destination *destination = &destinations->record[index];

	__atomic_store_n(&destination->used, 0, __ATOMIC_RELEASE);
	rte_hash_del_key_with_hash(destinations->hash, &destination->address,
		hash_address(&destinations->secret, destination->address));
	destinations->count--;
}

void
destination_read(const struct destination *destination, struct slowloris_registers *registers)
{
	*registers = (struct slowloris_registers){
		.address = rte_be_to_cpu_32(load_u32(&destination->address)),
		.connections = load_u32(&destination->connections),
		.established = load_u32(&destination->established),
		.bytes = __atomic_load_n(&destination->bytes, __ATOMIC_RELAXED),
		.ratio = __atomic_load_n(&destination->ratio, __ATOMIC_RELAXED),
		.alarm = __atomic_load_n(&destination->alarm, __ATOMIC_RELAXED) != 0,
	};
}
