/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOT_DIGITS_H
#define SLOT_DIGITS_H

/** @file An entry's members that send digits: which of their parts are in, and the totals. */

#include "aggregate_slot.h"

/** What is in of a member. */
struct member_parts {
	uint64_t seen;    /**< bit p: part p */
	uint16_t covered; /**< lanes */
	uint8_t parts;    /**< how many there are; 0: none has come */
};

struct aggregate_digit_sums {
	unsigned int formats; /**< that there is room for */
	uint32_t workers;     /**< likewise */
	uint64_t whole;       /**< bit w: all of worker w's parts are in */
	bool any;             /**< whether the totals are in use */
	struct aggregate_totals totals;
	struct member_parts *members;
	uint64_t *lanes;     /**< by member, a bit for each lane that is in */
	size_t lanes_bytes;  /**< of a member */
	void *memory;        /**< of the totals; clear wherever they have not been */
	size_t memory_bytes; /**< all of it, still to be cleared; 0: that is done */
};

/** The entry is begun anew. */
void digits_begin(struct aggregate_digit_sums *digits);

/** Whether an entry can take digits of a format. */
static inline bool
digits_are_taken(const struct aggregate_entry *entry, unsigned int format)
{
	return entry->digits != NULL &&
		(entry->digits->formats >> aggregate_values_format(format) & 1) != 0;
}

/** Members that are in by digits, a bit each. */
static inline uint64_t
digits_whole(const struct aggregate_entry *entry)
{
	return entry->digits == NULL ? 0 : entry->digits->whole;
}

/** Whether parts of a worker have come. */
static inline bool
digits_have(const struct aggregate_entry *entry, unsigned int worker)
{
	return entry->digits != NULL && entry->digits->members[worker].parts != 0;
}

/** Whether a part can be a member's first of a chunk. */
bool digits_can_begin(const struct aggregate_part *part, uint32_t count);

/**
 * A part of a worker that is not in yet.
 *
 * @return COMPLETED: it is now; ADDED: others are missing; DUPLICATE; BAD_PARTS
 */
enum aggregate_action
digits_take(struct aggregate_entry *entry, const struct aggregate_message *chunk);

/** The totals, clear if nothing was in them yet. */
struct aggregate_totals *digits_totals(struct aggregate_entry *entry);

#endif /* SLOT_DIGITS_H */
