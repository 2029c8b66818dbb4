/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAYS_H
#define PLAYS_H

/**
 * @file
 * Workers that something happens to, which each of them has to hear in time.
 */

#include "cases.h"
#include "server.h"
#include "workers.h"

/* What each worker does, and what it ought to hear. */
struct play {
	struct place place;
	struct netfc_allreduce_options options; /* but for switches and worker */
	int expected;
	int worker;          /* that is silent, or does something else; -1 */
	const char *mention; /* in the error's text */
};

/* One at a server's switch. */
struct play play_of(struct server *server);

/* Worker `w` of `n` joins. NULL: it can't, and has said so. */
struct netfc_allreduce *play_join(const struct play *play, unsigned int w, unsigned int n);

/* It leaves and is freed. Returns `wrong`. */
int play_leave(struct netfc_allreduce *comm, int wrong);

/* The sum of ones: `n` of them in every value. Returns the status; -1: a value is wrong. */
int play_reduce(struct netfc_allreduce *comm, unsigned int n);

/* It fails as expected, and says so; whatever is called next fails, too. 0: so it is. */
int
play_fails(const struct play *play, struct netfc_allreduce *comm, unsigned int w, unsigned int n);

/* A test of workers at a server of its own, `server`. */
#define SERVER_TEST(name)                                               \
	static void name##_at(struct server *server);                   \
	TEST(name)                                                      \
	{                                                               \
		struct server *server = server_start(&server_defaults); \
                                                                        \
		assert_non_null(server);                                \
		name##_at(server);                                      \
		server_stop(server);                                    \
	}                                                               \
	static void name##_at(struct server *server)

#endif /* PLAYS_H */
