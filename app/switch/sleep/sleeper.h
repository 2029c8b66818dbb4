/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLEEPER_H
#define SLEEPER_H

/** @file How an lcore sleeps while nothing comes. */

#include <stdbool.h>
#include <stdint.h>

/** Of one lcore, which alone writes here, except for the limit. Initially zero: it never sleeps. */
struct sleeper {
	uint32_t limit_us; /**< longest sleep; 0: none. Written by the thread that watches ports */
	uint32_t empty;    /**< rounds without packets, in a row */
	uint32_t missed;   /**< packets found in a row that no interrupt has announced */
	int epoll;         /**< where what wakes it arrives, if it is open */
	int bell;          /**< an eventfd that other lcores write to, likewise */
	bool opened;       /**< both */
	bool interrupts;   /**< all of its queues have them: wait for them */
	bool armed;        /**< they are enabled */
	bool wants_bell;   /**< it sleeps, or is about to; who rings the bell takes that back */
	bool timed_out;    /**< the last wait has ended without one */
};

#endif /* SLEEPER_H */
