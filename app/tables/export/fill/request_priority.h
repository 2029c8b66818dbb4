/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REQUEST_PRIORITY_H
#define REQUEST_PRIORITY_H

/** Priorities of refusals: the protocol checks version, operation and format, in this order. */
enum request_priority {
	PASSES_ALL,
	NO_FORMAT,
	NO_OP,
	NO_VERSION
};

#endif /* REQUEST_PRIORITY_H */
