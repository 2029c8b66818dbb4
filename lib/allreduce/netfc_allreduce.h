/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_ALLREDUCE_H
#define NETFC_ALLREDUCE_H

/**
 * @file
 * Allreduce by the network: every worker of a job gives a vector, the switch adds them up, and
 * every worker gets the sum: exact, rounded once, the same bits for all, in whatever order and
 * with whatever losses packets came. Sockets only, no DPDK.
 *
 * @code
 * struct netfc_allreduce *comm = netfc_allreduce_new();
 * struct netfc_allreduce_options options;
 * const char *switches[] = {"10.0.0.2"};
 *
 * netfc_allreduce_options_init(&options, sizeof(options));
 * options.switches = switches;
 * options.switch_count = 1;
 * options.token = secret_of_this_run;
 * options.worker = rank;
 * options.workers = 4;
 * if (netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_OK ||
 *	netfc_allreduce(comm, gradients, count, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_MEAN) !=
 *		NETFC_ALLREDUCE_OK)
 *	fprintf(stderr, "%s\n", netfc_allreduce_error(comm));
 * netfc_allreduce_leave(comm);
 * netfc_allreduce_free(comm);
 * @endcode
 *
 * ## What all workers have to agree on
 * Job number, token, number of workers, slots, bytes of a chunk if they ask for a number, the list
 * of switches and its order; and then on one sequence of collectives, each with the same count,
 * format, operation and root. The switches detect most differences (NETFC_ALLREDUCE_MISMATCH), but
 * not if one worker calls two allreduces where another calls one of both lengths together.
 *
 * ## How a vector is cut
 * A communicator numbers its chunks throughout its life: g = 0, 1, 2, ... All values of an
 * allreduce but the last chunk's fill chunks as large as the least that any switch grants. Chunk g
 * goes to switch g mod K of K, as chunk number (g div K) mod 2^32 of the job there. Vectors of a
 * part for each worker are cut part by part, and the parts' chunks taken in turn.
 *
 * ## When something fails
 * The values of all allreduces that were not done are undefined then (some may be results, others
 * still what was given), and every further call says NETFC_ALLREDUCE_BROKEN until
 * netfc_allreduce_join() has been called again, by all workers. The switches are told at once, and
 * tell the other workers. The old job stays with the switch until all of its workers have left or
 * it times out; to go on before that, take another job number. Late packets of the old job do not
 * affect the new one, whatever its number and token: each job has its own session, drawn by its
 * switch. NETFC_ALLREDUCE_OK is returned for complete results only.
 *
 * An error of a system call on a socket (nothing listens there, no route, forbidden) counts as a
 * lost packet, since anybody can forge the ICMP messages behind it: only the deadline or silence
 * ends an allreduce.
 *
 * A worker that was started anew has no place in a job that goes on, since it would number its
 * chunks from 0: joining says NETFC_ALLREDUCE_TAKEN, and the others hear that it has restarted if
 *it has the address and port that it had. Let all workers join again.
 *
 * NETFC_ALLREDUCE_FULL and NETFC_ALLREDUCE_NO_SLOTS may pass when other jobs end: join again later.
 * NETFC_ALLREDUCE_TAKEN is another job's number, or a place that another process has: who may
 *choose a number takes another one.
 *
 * ## Threads
 * Every communicator has a thread of its own, which works on started allreduces when nobody waits
 * for them. A communicator may be used by several threads, but netfc_allreduce_join(), _leave() and
 * _free() only while no other call on it runs. Different communicators share nothing.
 *
 * ## Forks
 * A communicator is the process's that made it: the place in the job is one process's. In a process
 * forked from that one each function on it is an error, NETFC_ALLREDUCE_BROKEN, and touches
 * neither the job nor the parent; netfc_allreduce_free() gives back what the child has of it, but
 * for its handles. A forked process can make communicators of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
/* Some functions and structures have one name, which hides a constructor that nobody calls. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/** What the shared library shows. */
#define NETFC_ALLREDUCE_API __attribute__((visibility("default")))

#define NETFC_ALLREDUCE_PORT 20040 /**< of switches named without one */
#define NETFC_ALLREDUCE_MAX_SWITCHES 16
#define NETFC_ALLREDUCE_MAX_WORKERS 64 /**< of a switch */
#define NETFC_ALLREDUCE_MAX_LEVELS 4   /**< of switches above a leaf */
#define NETFC_ALLREDUCE_MAX_TREE_WORKERS 16777216
#define NETFC_ALLREDUCE_MAX_SLOTS 32768
#define NETFC_ALLREDUCE_MAX_COUNT (UINT64_C(1) << 40) /**< values of an allreduce */

/** A worker's place in a job. */
struct netfc_allreduce;

/** A collective that was started. */
struct netfc_allreduce_handle;

/** Formats of values: in arrays in host byte order, aligned as the compiler does. */
enum netfc_allreduce_format {
	NETFC_ALLREDUCE_FP16 = 1,        /**< IEEE 754 binary16, in uint16_t */
	NETFC_ALLREDUCE_POSIT16 = 2,     /**< posit<16,1>, in uint16_t */
	NETFC_ALLREDUCE_BF16 = 3,        /**< bfloat16, in uint16_t */
	NETFC_ALLREDUCE_POSIT16_ES2 = 4, /**< posit<16,2>, in uint16_t */
	NETFC_ALLREDUCE_FP32 = 5,        /**< IEEE 754 binary32, float */
	NETFC_ALLREDUCE_INT32 = 6,       /**< int32_t; sums saturate */
	NETFC_ALLREDUCE_FP64 = 7,        /**< IEEE 754 binary64, double */
	NETFC_ALLREDUCE_FP8_E4M3 = 8,    /**< OCP OFP8 E4M3, in uint8_t; too large: NaN */
	NETFC_ALLREDUCE_FP8_E5M2 = 9,    /**< OCP OFP8 E5M2, in uint8_t */
	NETFC_ALLREDUCE_INT64 = 10,      /**< int64_t; sums saturate */
};

/**
 * In place of a format: values of one, and results of another, in an array of their own. Of sums
 * and means, results can be FP16, BF16 or FP32 of FP8_E4M3 and FP8_E5M2, and FP32 of FP16 and BF16;
 * they are rounded once, from the exact sum. A sum of many FP8 is too large for FP8.
 */
#define NETFC_ALLREDUCE_INTO(values, results) ((values) | (results) << 4)

/** Operations. */
enum netfc_allreduce_op {
	NETFC_ALLREDUCE_SUM = 33, /**< the exact sum, rounded once to nearest, ties to even */
	NETFC_ALLREDUCE_MEAN =
		34,               /**< the exact sum over the number of all workers, rounded once */
	NETFC_ALLREDUCE_MIN = 35, /**< IEEE 754-2019 minimum: NaN prevails, -0 is less than +0 */
	NETFC_ALLREDUCE_MAX = 36, /**< IEEE 754-2019 maximum */
};

/** Collectives. */
enum netfc_collective_kind {
	NETFC_COLLECTIVE_ALLREDUCE,      /**< the results go to all workers */
	NETFC_COLLECTIVE_REDUCE,         /**< the results go to the root */
	NETFC_COLLECTIVE_REDUCE_SCATTER, /**< of each worker's part, to that worker */
	NETFC_COLLECTIVE_ALLGATHER,      /**< each worker's bytes, to all others */
	NETFC_COLLECTIVE_BROADCAST,      /**< the root's bytes, to all others */
	NETFC_COLLECTIVE_BARRIER,        /**< nothing: done when all workers have called it */
	/** Allreduce; `values` is a struct netfc_allreduce_totals of this worker's */
	NETFC_COLLECTIVE_DIGITS,
	NETFC_COLLECTIVE_KINDS,
};

/** A collective's arguments; those that a kind does not use are ignored. */
struct netfc_collective {
	unsigned int kind;   /**< enum netfc_collective_kind */
	unsigned int format; /**< reductions: enum netfc_allreduce_format, NETFC_ALLREDUCE_INTO() */
	unsigned int op;     /**< reductions: enum netfc_allreduce_op */
	unsigned int root;   /**< reduce, broadcast: a worker */
	/** What this worker gives: `count`; reduce-scatter: a part of `count` for each worker, in
	 * their order. Broadcast: the root's only. */
	const void *values;
	/** Where results go, `count`; all-gather: `count` for each worker. It may be where `values`
	 * are, if they have one format; with parts, this worker's own place among them. Reduce: the
	 * root's only. */
	void *result;
	uint64_t count; /**< values; all-gather and broadcast: bytes */
};

/** Exact sums, lane by lane, of a worker that has several vectors to add: plain integers. */
struct netfc_allreduce_totals;

/** Exception flags of results (IEEE 754-2019, section 7). */
enum netfc_allreduce_flag {
	NETFC_ALLREDUCE_INVALID = 1,   /**< NaN or NaR of no such value */
	NETFC_ALLREDUCE_OVERFLOW = 4,  /**< infinite, of finite values; integers: saturated */
	NETFC_ALLREDUCE_UNDERFLOW = 8, /**< zero, and the exact result is not */
};

/** What functions return: X(symbol, name, meaning). */
#define NETFC_ALLREDUCE_STATUSES(X)                                                         \
	X(OK, "ok", "done")                                                                 \
	X(PENDING, "pending", "not done yet")                                               \
	X(ARGUMENT, "argument", "an argument or option is out of range")                    \
	X(MEMORY, "memory", "out of memory")                                                \
	X(SYSTEM, "system", "a system call failed")                                         \
	X(INTERRUPTED, "interrupted", "a signal came while joining")                        \
	X(BROKEN, "broken", "not joined, or something failed since: join again")            \
	X(ABORTED, "aborted", "netfc_allreduce_abort() or _leave() was called")             \
	X(TIMEOUT, "timeout", "a switch does not answer")                                   \
	X(REFUSED, "refused", "nothing listens there")                                      \
	X(OFF, "off", "the switch does not aggregate")                                      \
	X(WAITING, "waiting", "not all workers have joined in time")                        \
	X(NO_JOB, "no-job", "the switch does not know the job: restarted, or it timed out") \
	X(MISMATCH, "mismatch", "other workers ask for something else")                     \
	X(FULL, "full", "no job is left, or the switch takes fewer workers")                \
	X(WINDOW, "window", "the chunk is further ahead than the job's slots allow")        \
	X(SILENT, "silent", "a worker is silent")                                           \
	X(PROTOCOL, "protocol", "the switch answers what it should not")                    \
	X(LEFT, "left", "a worker has left the job")                                        \
	X(FAILED, "failed", "another worker has failed")                                    \
	X(TAKEN, "taken", "another process has the place, or another job the number")       \
	X(NO_SLOTS, "no-slots", "no slot is left")

enum netfc_allreduce_status {
#define NETFC_ALLREDUCE_STATUS_ENUM_(symbol, name, meaning) NETFC_ALLREDUCE_##symbol,
	NETFC_ALLREDUCE_STATUSES(NETFC_ALLREDUCE_STATUS_ENUM_)
#undef NETFC_ALLREDUCE_STATUS_ENUM_
	NETFC_ALLREDUCE_STATUS_COUNT
};

/** A level of a tree of switches: which of a switch's members is meant. */
struct netfc_allreduce_level {
	unsigned int members; /**< that send to it, 1 .. NETFC_ALLREDUCE_MAX_WORKERS */
	unsigned int index;   /**< 0 .. members - 1 */
};

/** What to join, and how; netfc_allreduce_options_init() fills in what [ ] says. Else it is 0. */
struct netfc_allreduce_options {
	size_t size; /**< as netfc_allreduce_options_init() was told */
	/**
	 * "10.0.0.2", "10.0.0.2:20040", "2001:db8::2", "[2001:db8::2]:20040", "switch1:20040":
	 * the port is that of the switch's first shard. Several share the load: every worker sends
	 * to each of them, and all name them in the same order. They are no leaves of one tree, of
	 * which a worker names its own alone (tree_workers).
	 */
	const char *const *switches;
	unsigned int switch_count; /**< 1 .. NETFC_ALLREDUCE_MAX_SWITCHES */

	/**
	 * The job's secret: one worker draws it, netfc_allreduce_draw_token(), and hands it on [0:
	 * refused, unless there is one worker only]
	 */
	uint64_t token;
	uint16_t job;         /**< [0] */
	unsigned int worker;  /**< 0 .. workers - 1 [0] */
	unsigned int workers; /**< at this switch, 1 .. NETFC_ALLREDUCE_MAX_WORKERS [1] */

	const char *bind_address; /**< local address to send from, without a port [NULL: any] */
	/**
	 * Device to send by; or "memif:PATH", "memif:PATH,id=N" and a bind_address that is nobody
	 * else's: memory shared with a switch on this machine, by its port
	 * net_memif0,role=server,socket=PATH,socket-abstract=no,id=N; or "xdp:DEVICE",
	 * "xdp:DEVICE,queue=N": past the kernel's protocols, by AF_XDP, with the capabilities
	 * CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF [NULL: as routed]
	 */
	const char *interface;

	unsigned int slots; /**< chunks in flight for each switch, a power of two [128] */
	/**
	 * Of values in a chunk at most, a multiple of 4, 4 .. 65480 [0: as many as the switch
	 * grants and all workers' paths take, which joining finds out]. 1448 make a packet of 1500
	 * bytes over IPv4, 1428 over IPv6; 8 less with a key
	 */
	unsigned int bytes;

	unsigned int
		rto_min_us; /**< least time until a packet is sent again, 1 .. rto_max_us [1000]
			     */
	unsigned int rto_max_us; /**< greatest, 1 .. 60,000,000 [1,000,000] */
	unsigned int join_ms;    /**< how long to wait for switches and workers when joining, from 1
				  [60,000] */
	/** How long an allreduce may take once those before it are done, from 1 [30,000]. */
	unsigned int deadline_ms;
	/**
	 * How long to go on when the switch says that a worker is silent, for which it has waited
	 * its own time already (`--aggregate stall=`) [0]. A worker that is late, but alive, is
	 * waited for until the deadline.
	 */
	unsigned int patience_ms;
	/**
	 * After how much silence the switch is told that this worker is alive; 0: never [1000]. A
	 * quarter of the switch's stall= at most, or a worker that computes is called silent.
	 */
	unsigned int keepalive_ms;
	/**
	 * How long a switch that owes results may say nothing, though it is asked several times
	 * whether it is there, before that is a TIMEOUT; 0: only the deadline is [10,000]
	 */
	unsigned int silence_ms;
	unsigned int spin_us; /**< how long to look for packets before sleeping, 0 .. 10,000 [50] */
	/** UDP segmentation offload, both ways, if kernel and path have it [true] */
	bool gso;
	bool allow_token_0; /**< a token of 0 is meant: for tests of one's own [false] */
	/**
	 * File of the cluster's key, 32 bytes or 64 hexadecimal digits, for its owner only: every
	 * packet has a tag, as with `--aggregate key=` [NULL: what the environment variable
	 * NETFC_KEY_FILE names; without it, packets have no tags]. An empty name is an ARGUMENT
	 */
	const char *key_file;
	/**
	 * Told what joining waits for, after 3 s and each 10 s from then on: a sentence, valid
	 * during the call only. From the thread that joins, which waits for it [NULL: nobody]
	 */
	void (*notice)(void *context, const char *text);
	void *notice_context;

	/**
	 * Workers of a whole tree of switches, 1 .. NETFC_ALLREDUCE_MAX_TREE_WORKERS: the switch
	 * that this worker joins adds up for `workers` of them, and is itself a member of the one
	 * above (`--aggregate parent=`). There are allreduces and barriers only [0: no tree]
	 */
	unsigned int tree_workers;
	unsigned int levels; /**< of switches above, 0 .. NETFC_ALLREDUCE_MAX_LEVELS [0] */
	/**
	 * For each, from below: how many members that switch has, and which of them the switch
	 * below it is. The same for all workers of a switch. Each of several `switches` is in a
	 * tree of its own, of the same shape.
	 */
	struct netfc_allreduce_level level[NETFC_ALLREDUCE_MAX_LEVELS];

	/**
	 * All workers are processes of one machine, and need no switch: the path of a file that all
	 * may write to, empty when worker 0 joins, which should be one in memory without a name, as
	 * "/proc/1234/fd/5". Worker 0 makes it and keeps it open, the others wait for that and not
	 * for each other. Results have the same bits as a switch's. Either all workers give totals
	 * of a collective, or none [NULL: by switches]
	 */
	const char *memory;
};

/** The way of packets between program and switch: option interface. */
enum netfc_allreduce_path {
	NETFC_ALLREDUCE_UDP,           /**< by sockets */
	NETFC_ALLREDUCE_MEMIF,         /**< through memory shared with the switch */
	NETFC_ALLREDUCE_XDP,           /**< by AF_XDP; the kernel copies them */
	NETFC_ALLREDUCE_XDP_ZERO_COPY, /**< by AF_XDP; nobody copies them */
	NETFC_ALLREDUCE_LOCAL,         /**< none: workers share memory, option memory */
};

/** The result of joining. */
struct netfc_allreduce_info {
	unsigned int switches;
	unsigned int slots;   /**< of all switches together: chunks in flight */
	unsigned int sockets; /**< one for each shard of each switch */
	unsigned int bytes;   /**< of values in a chunk */
	bool gso;             /**< used, for one switch at least */
	bool gro;             /**< so far results of one switch at least have come joined */
	bool memory;          /**< packets go through memory shared with the switch: interface */
	uint8_t path;         /**< enum netfc_allreduce_path */
};

/** Counters since the communicator was made. */
struct netfc_allreduce_stats {
	uint64_t allreduces;    /**< done; collectives of any kind */
	uint64_t values;        /**< reduced */
	uint64_t sent;          /**< chunks, the first time */
	uint64_t retransmitted; /**< sent again */
	uint64_t timeouts;   /**< times that nothing came in time, so that some were sent again */
	uint64_t received;   /**< results */
	uint64_t duplicates; /**< results that were there already */
	uint64_t refusals;   /**< replies with a reason */
	uint64_t foreign; /**< datagrams that were no reply to this worker, or without a good tag */
	uint64_t keepalives; /**< joins sent to say that this worker is alive */
	uint64_t rtt_ns;     /**< time from a chunk to its result, smoothed; of all sockets the
			      * greatest. The wait for other workers is in it: of a job's workers
			      * it is shortest at the one that the others wait for */
	uint64_t rtt_min_ns; /**< the least there was */
	uint64_t rto_ns;     /**< time until a packet is sent again, of all sockets the greatest */
};

/** The library's version: "0.2.0". */
NETFC_ALLREDUCE_API const char *netfc_allreduce_version(void);

/** The name of a status: "ok", "no-job"; NULL for anything else. */
NETFC_ALLREDUCE_API const char *netfc_allreduce_status_name(int status);

/** What a status means, in a few words; NULL for anything else. */
NETFC_ALLREDUCE_API const char *netfc_allreduce_status_meaning(int status);

/** Bytes of a value, 1, 2, 4 or 8; 0 where there is no such format, or no such results of it. */
NETFC_ALLREDUCE_API unsigned int netfc_allreduce_value_bytes(unsigned int format);

/**
 * Fill in the defaults.
 *
 * @param size sizeof(*options): a program is older or newer than the library, maybe
 */
NETFC_ALLREDUCE_API void
netfc_allreduce_options_init(struct netfc_allreduce_options *options, size_t size);

/** Draw a token for a job, never 0, for all of its workers. 0: the system has no random numbers. */
NETFC_ALLREDUCE_API uint64_t netfc_allreduce_draw_token(void);

/** Make a communicator that has not joined anything. NULL: out of memory. */
NETFC_ALLREDUCE_API struct netfc_allreduce *netfc_allreduce_new(void);

/**
 * Take a worker's place in a job, and wait until all other workers have taken theirs.
 *
 * What was joined before is left, and handles of that time say NETFC_ALLREDUCE_ABORTED.
 *
 * @param options read during the call only
 * @return OK; ARGUMENT, MEMORY, SYSTEM, INTERRUPTED (a signal came: the next
 *   call with the same options goes on with the join, netfc_allreduce_leave() gives it up),
 * TIMEOUT, REFUSED, OFF, WAITING, MISMATCH, FULL, TAKEN, NO_SLOTS, PROTOCOL or ABORTED
 */
NETFC_ALLREDUCE_API int
netfc_allreduce_join(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/**
 * Reduce a vector with those of all other workers, in place, and wait until it is done.
 *
 * @param data `count` values in host byte order
 * @param count 1 .. NETFC_ALLREDUCE_MAX_COUNT
 * @param format enum netfc_allreduce_format
 * @param op enum netfc_allreduce_op
 * @return OK; ARGUMENT, MEMORY or BROKEN: nothing was sent; else the communicator is broken: see
 *   netfc_allreduce_wait()
 */
NETFC_ALLREDUCE_API int netfc_allreduce(struct netfc_allreduce *comm, void *data, uint64_t count,
	unsigned int format, unsigned int op);

/**
 * Sum up all numbers of all workers: the exact sum, rounded once to nearest, ties to even. Its bits
 * do not depend on how many workers there are, nor on who has which numbers and in which order. It
 * takes its turn among allreduces, and all workers have to call it; some may have no numbers.
 *
 * @param values `count` values in host byte order
 * @param count 0 .. NETFC_ALLREDUCE_MAX_COUNT
 * @param format FP32, FP64, INT32 or INT64
 * @param result a value of the format; integers saturate
 * @param flags enum netfc_allreduce_flag; may be NULL
 * @return as netfc_allreduce()
 */
NETFC_ALLREDUCE_API int netfc_allreduce_sum(struct netfc_allreduce *comm, const void *values,
	uint64_t count, unsigned int format, void *result, unsigned int *flags);

/**
 * Sum up the exact products of pairs of numbers of all workers: as netfc_allreduce_sum().
 *
 * @param x, y `count` values each, of FP32 or FP64
 */
NETFC_ALLREDUCE_API int netfc_allreduce_dot(struct netfc_allreduce *comm, const void *x,
	const void *y, uint64_t count, unsigned int format, void *result, unsigned int *flags);

/**
 * Make totals, all empty. Each lane has an address for every bit of a sum, and memory for those
 * that its numbers use: where lanes are of similar magnitude, 9 or 17 bytes a lane of fp16, bf16
 * and fp32, 17 to 33 of fp64; at most 33 to 53 bytes, of bf16 and fp32 89, of fp64 545.
 *
 * @param format enum netfc_allreduce_format, NETFC_ALLREDUCE_INTO()
 * @param count lanes, 1 .. NETFC_ALLREDUCE_MAX_COUNT
 * @return NULL: no such format or count, or out of memory
 */
NETFC_ALLREDUCE_API struct netfc_allreduce_totals *
netfc_allreduce_totals_new(unsigned int format, uint64_t count);

/**
 * Add a value to each lane, exactly; up to 2^32 times.
 *
 * @param values as many as lanes, in host byte order
 */
NETFC_ALLREDUCE_API void
netfc_allreduce_totals_add(struct netfc_allreduce_totals *totals, const void *values);

/**
 * Add a value to each of some lanes.
 *
 * @param first, count of these lanes; first + count is no more than there are
 */
NETFC_ALLREDUCE_API void netfc_allreduce_totals_add_some(
	struct netfc_allreduce_totals *totals, uint64_t first, uint64_t count, const void *values);

/**
 * Add the sums of all lanes of totals to one lane of others, of the same format.
 *
 * @param into may have one lane alone
 * @param from keep their sums
 */
NETFC_ALLREDUCE_API void netfc_allreduce_totals_fold(
	struct netfc_allreduce_totals *into, uint64_t lane, struct netfc_allreduce_totals *from);

/** The greatest divisor of totals. */
#define NETFC_ALLREDUCE_MAX_DIVISOR (UINT32_C(1) << 24)

/**
 * Say what sums are divided by, before they are rounded, by netfc_allreduce_totals_round() and by
 * means of netfc_allreduce_digits(): how many arrays all workers have added, for example.
 *
 * @param divisor the same at all workers, all of which then give totals; 0, as at first: the number
 *   of workers, and netfc_allreduce_totals_round() does not divide
 * @return OK; ARGUMENT: it is greater than NETFC_ALLREDUCE_MAX_DIVISOR
 */
NETFC_ALLREDUCE_API int
netfc_allreduce_totals_divide(struct netfc_allreduce_totals *totals, uint32_t divisor);

/**
 * Round each lane once, to nearest, ties to even: what netfc_allreduce_digits() gives a worker that
 * is alone. The empty sum is -0.
 *
 * @param result as many values as lanes, in host byte order
 * @param flags enum netfc_allreduce_flag, of all lanes; may be NULL
 */
NETFC_ALLREDUCE_API void netfc_allreduce_totals_round(
	const struct netfc_allreduce_totals *totals, void *result, unsigned int *flags);

/** Empty all lanes. */
NETFC_ALLREDUCE_API void netfc_allreduce_totals_clear(struct netfc_allreduce_totals *totals);

/** Free totals. NULL is fine. */
NETFC_ALLREDUCE_API void netfc_allreduce_totals_free(struct netfc_allreduce_totals *totals);

/**
 * Reduce a vector of which this worker gives totals, others maybe values: netfc_allreduce() of all
 * that was added anywhere, rounded once. Others call this, or netfc_allreduce() of the same count,
 * format and operation. A mean is divided by the number of workers, or by that of
 * netfc_allreduce_totals_divide().
 *
 * The switch has to take digits (`--aggregate digits=`); one in P4 does not.
 *
 * @param totals stay as they are
 * @param result as many values as lanes, in host byte order
 * @param op NETFC_ALLREDUCE_SUM or NETFC_ALLREDUCE_MEAN
 * @return as netfc_allreduce()
 */
NETFC_ALLREDUCE_API int netfc_allreduce_digits(struct netfc_allreduce *comm,
	const struct netfc_allreduce_totals *totals, void *result, unsigned int op);

/**
 * Start to reduce a vector; those started earlier go first.
 *
 * @param data as in netfc_allreduce(); neither read nor write it before it is done
 * @param lazily leave the work to netfc_allreduce_wait(), which is going to be called at once
 * @param handle for netfc_allreduce_wait()
 * @return OK; ARGUMENT, MEMORY or BROKEN: nothing was started
 */
NETFC_ALLREDUCE_API int
netfc_allreduce_start(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op, bool lazily, struct netfc_allreduce_handle **handle);

/**
 * Reduce a vector with those of all other workers, at one of them.
 *
 * @param values `count` values, as in netfc_allreduce()
 * @param result root: where the results go, may be `values`; others: not looked at
 * @param root the worker that gets them
 * @return as netfc_allreduce()
 */
NETFC_ALLREDUCE_API int netfc_reduce(struct netfc_allreduce *comm, const void *values, void *result,
	uint64_t count, unsigned int format, unsigned int op, unsigned int root);

/**
 * Reduce vectors of a part for each worker, and give each worker the results of its own part.
 *
 * @param values `count` values for worker 0, then for worker 1, ...
 * @param result where the `count` results go; not into `values`, but for this worker's own part
 * @param count values of a part
 * @return as netfc_allreduce()
 */
NETFC_ALLREDUCE_API int netfc_reduce_scatter(struct netfc_allreduce *comm, const void *values,
	void *result, uint64_t count, unsigned int format, unsigned int op);

/**
 * Give each worker the bytes of all workers.
 *
 * @param own this worker's
 * @param all where the workers' bytes go, in their order; `own` may be this worker's place in it
 * @param bytes of a worker
 * @return as netfc_allreduce()
 */
NETFC_ALLREDUCE_API int
netfc_allgather(struct netfc_allreduce *comm, const void *own, void *all, uint64_t bytes);

/**
 * Give all workers the bytes of one.
 *
 * @param data root: the bytes; others: where they go
 * @param root the worker whose bytes they are
 * @return as netfc_allreduce()
 */
NETFC_ALLREDUCE_API int
netfc_broadcast(struct netfc_allreduce *comm, void *data, uint64_t bytes, unsigned int root);

/** Wait until all workers have called it. @return as netfc_allreduce() */
NETFC_ALLREDUCE_API int netfc_barrier(struct netfc_allreduce *comm);

/** Any of these, chosen by `collective`, which is read during the call only. */
NETFC_ALLREDUCE_API int
netfc_collective(struct netfc_allreduce *comm, const struct netfc_collective *collective);

/** Start one; as netfc_allreduce_start(). Its arrays have to stay until it is done. */
NETFC_ALLREDUCE_API int
netfc_collective_start(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	bool lazily, struct netfc_allreduce_handle **handle);

/**
 * Start one that has a label: netfc_collective_start(), and all workers' labels of it have to be
 * the same, or it is a MISMATCH for all of them, as it is if only some have one.
 *
 * A program whose workers start collectives from several threads or callbacks, in an order that is
 * not sure to be the same at all of them, gives each a label that no other has which could be taken
 * for it. A switch in P4 knows no labels: there they are not compared.
 *
 * @param label 0: none
 */
NETFC_ALLREDUCE_API int netfc_collective_start_labelled(struct netfc_allreduce *comm,
	const struct netfc_collective *collective, uint32_t label, bool lazily,
	struct netfc_allreduce_handle **handle);

/**
 * Wait for a started collective.
 *
 * @param handle set to NULL, and freed, unless it is PENDING still; two threads must not wait for
 *   one at the same time
 * @param timeout_ms how long to wait; 0: do what there is to do and look; -1: until it is done
 * @param flags NULL, or where to put enum netfc_allreduce_flag, of all values
 * @return OK: the results are there; PENDING; SYSTEM, ABORTED, TIMEOUT, REFUSED, OFF, NO_JOB,
 *   MISMATCH, WINDOW, SILENT, LEFT, FAILED or PROTOCOL: the communicator is broken
 */
NETFC_ALLREDUCE_API int
netfc_allreduce_wait(struct netfc_allreduce_handle **handle, int timeout_ms, unsigned int *flags);

/**
 * End all allreduces that are not done, and a join that waits, with ABORTED; then it is broken.
 * Any thread may call it at any time before netfc_allreduce_free(), but no signal handler.
 */
NETFC_ALLREDUCE_API void netfc_allreduce_abort(struct netfc_allreduce *comm);

/**
 * Leave the job: its slots are free when all workers have left. Allreduces that are not done end
 * with ABORTED.
 *
 * @return OK, also if nothing was joined; TIMEOUT or REFUSED: a switch did not answer, and will
 *   have the job until it times out
 */
NETFC_ALLREDUCE_API int netfc_allreduce_leave(struct netfc_allreduce *comm);

/** Free a communicator, and all handles not waited for. It leaves nothing. NULL is fine. */
NETFC_ALLREDUCE_API void netfc_allreduce_free(struct netfc_allreduce *comm);

/**
 * What the latest failure was: who, what, and what to do, in full sentences. Empty if there was
 * none. It stays as it is until several others have been asked for, or it is freed; any thread may
 * ask at any time.
 */
NETFC_ALLREDUCE_API const char *netfc_allreduce_error(const struct netfc_allreduce *comm);

/** The worker that is silent, has left, has failed or was late, if that is known; else -1. */
NETFC_ALLREDUCE_API int netfc_allreduce_silent_worker(const struct netfc_allreduce *comm);

/**
 * The same in a tree, where it may be a switch with all of its workers.
 *
 * @param level 0: a worker of this worker's own switch; n: a member of the switch n levels above
 * @return which of that switch's members; -1: it is not known
 */
NETFC_ALLREDUCE_API int
netfc_allreduce_silent_member(const struct netfc_allreduce *comm, unsigned int *level);

/** The switch that the latest failure came from, an index of options.switches; -1: from none. */
NETFC_ALLREDUCE_API int netfc_allreduce_failed_switch(const struct netfc_allreduce *comm);

/** What joining came to; all 0 if nothing is joined. */
NETFC_ALLREDUCE_API void
netfc_allreduce_info(struct netfc_allreduce *comm, struct netfc_allreduce_info *info);

/** Read what was counted. */
NETFC_ALLREDUCE_API void
netfc_allreduce_stats(struct netfc_allreduce *comm, struct netfc_allreduce_stats *stats);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif /* NETFC_ALLREDUCE_H */
