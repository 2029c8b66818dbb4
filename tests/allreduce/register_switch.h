/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGISTER_SWITCH_H
#define REGISTER_SWITCH_H

/**
 * @file
 * A switch with registers for a few lanes of one format: it knows one job beforehand, wants every
 * packet to have all lanes, and sends sums that workers round (aggregate_registers.h). On a UDP
 * socket of this machine, in a thread.
 */

#include <stdint.h>

#include <aggregate_format.h>

struct register_switch_options {
	enum aggregate_format format; /* that aggregate_registers_has() */
	unsigned int lanes, slots, workers;
	uint16_t job;
	uint64_t token;
};

struct register_switch;

/* Start one on any port. NULL: it can't be. */
struct register_switch *register_switch_start(const struct register_switch_options *options);

uint16_t register_switch_port(const struct register_switch *self);

/* Chunks that were complete. */
unsigned int register_switch_completed(const struct register_switch *self);

void register_switch_stop(struct register_switch *self);

#endif /* REGISTER_SWITCH_H */
