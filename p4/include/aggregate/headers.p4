/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of an aggregation on the wire, and what a packet carries from stage to stage. */
#ifndef NETFC_AGGREGATE_HEADERS_P4
#define NETFC_AGGREGATE_HEADERS_P4

#include "sizes.p4"
#include "../constants.p4"
#include "constants.p4"
#include "../frame.p4"

header aggregate_t {
    bit<16> magic;
    bit<8> version;
    bit<8> op;
    bit<8> format;
    bit<1> reply;
    bit<3> code;
    bit<4> flags;
    bit<16> count;
    bit<32> id;
    bit<16> job;
    bit<8> worker;
    bit<8> reason;
    bit<64> token;
}

header join_t {
    bit<8> workers;
    bit<8> shards;
    bit<16> slots;
    bit<16> bytes;
    bit<16> least;
    bit<64> cookie;
    bit<32> incarnation_high;
    bit<32> incarnation_low;
}

/* Behind a join, in a tree: then as many levels. */
header tree_t {
    bit<8> levels;
    bit<8> decided;
    bit<16> zero;
    bit<32> workers;
    bit<32> below;
}

header level_t {
    bit<8> members;
    bit<8> index;
}

/* In front of digits. */
header part_t {
    bit<16> first;
    bit<16> lanes;
    bit<8> number;
    bit<8> parts;
    bit<8> lowest;
    bit<8> width;
}

#define NETFC_VALUE_FIELD(n) bit<NETFC_VALUE_BITS> v##n;

header values_t {
    NETFC_EACH_LANE(NETFC_VALUE_FIELD)
}

/* In front of them where a worker has failed, and why: its process was started anew. */
#define NETFC_FAILED_NO_JOB (0x0303 << (NETFC_VALUE_BITS - 16))

/* v1model indexes registers by 32 bits, TNA by as many as an index has. */
#ifdef NETFC_TNA
#define NETFC_INDEX bit<16>
#define NETFC_INTEGER int<32>
#else
#define NETFC_INDEX bit<32>
#define NETFC_INTEGER bit<32>
#endif

/* A value's sum in two integers, or two values' sums, two's complement. */
#define NETFC_SUM_FIELDS(n) NETFC_INTEGER low##n; NETFC_INTEGER high##n;

header sums_t {
    NETFC_EACH_LANE(NETFC_SUM_FIELDS)
}

/* Behind digits, for each of them. */
#if NETFC_FORMAT == NETFC_FP8_E4M3
#define NETFC_MARK_FIELDS(n) bit<8> even##n; bit<8> odd##n;
#else
#define NETFC_MARK_FIELDS(n) bit<8> even##n;
#endif

header marks_t {
    NETFC_EACH_LANE(NETFC_MARK_FIELDS)
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    aggregate_t aggregate;
    join_t join;
#ifdef NETFC_LEAF
    tree_t place;
    level_t level0;
#ifndef NETFC_TNA
    level_t level1;
    level_t level2;
    level_t level3;
    part_t part;
    marks_t marks;
#endif
#endif
    values_t values;
    sums_t sums;
}

/* What a request asks for. */
enum bit<3> ask_t {
    NONE = 0,   /* not for us */
    CHUNK = 1,
    JOIN = 2,
    LEAVE = 3,
    REFUSE = 4  /* answered with meta.code */
}

/* What becomes of it. */
enum bit<3> fate_t {
    FORWARD = 0,
    DROP = 1,
    REPLY = 2,   /* to who sent it, with meta.code and meta.reason */
    RESULT = 3,  /* to who sent it, which has lost it */
    RESULTS = 4, /* to all */
    UP = 5,      /* to the parent */
    HAND_DOWN = 6 /* what the parent sends, to who has asked again, or to all */
}

/* Who asks, if it is none of the job's workers. */
enum bit<2> stranger_t {
    UNKNOWN = 0, /* no such job */
    DENIED = 1,  /* another's token, or another's address */
    FULL = 2,    /* no worker of that number */
    ABOVE = 3    /* what they want is refused because of the parent, workers' as well */
}

/* What the registers of lanes do. */
enum bit<2> command_t {
    NONE = 0,
    SET = 1, /* the first values of a chunk */
    ADD = 2,
    READ = 3
}

struct meta_t {
    bit<1> loaded;   /* all entries are there, and are this program's */
    bit<16> program; /* which one it is: NETFC_PROGRAM */
    ask_t ask;
    bit<1> longer_request; /* a join or a leave with more than the program has headers for */
    bit<1> member;   /* a worker asks, with its job's token and from its address */
    stranger_t stranger;
    fate_t fate;
    command_t command;
#ifndef NETFC_TNA
    bit<16> rest;    /* what the datagram has after the headers adds to its sum, if it has a checksum */
    bit<1> unsummed; /* it has more, and no checksum */
#endif
    bit<3> code;
    bit<8> reason;
    /* Of the job and the worker. */
    bit<8> job;      /* its place, not its number */
    bit<8> workers;
    bit<16> group;   /* for multicast */
    NETFC_INDEX base;  /* its first entry */
    NETFC_INDEX index; /* the entry of the chunk */
    bit<16> seat;      /* of the worker, among all jobs' */
    bit<32> worker;    /* its bit */
    bit<32> others;    /* those of the other workers */
#ifdef NETFC_LEAF
    bit<1> leaf;   /* its job has a parent */
    bit<1> above;  /* the parent's reply to a chunk */
    bit<1> passes; /* to the parent, from p4/leaf */
    bit<1> placed; /* a join that names the leaf's place in the tree */
    bit<8> told;   /* why all is refused */
    bit<16> count; /* as workers have sent it: the parent's is that of all lanes */
    bit<8> decided; /* of a join: at which level */
    bit<32> all_workers;   /* `workers` */
    bit<32> asked_of_tree; /* the workers of the tree that a join names, less these */
#endif
    bit<1> works;       /* it is a chunk's and belongs to a job */
    bit<1> asks;        /* it is a member's join */
    bit<1> learn;       /* a join that was granted */
    bit<8> asked_workers; /* of a join, less what there is */
    bit<16> asked_slots;
    bit<16> asked_bytes;
#ifdef NETFC_TNA
    bit<1> answered;    /* not forwarded */
    bit<8> ended;       /* its job, as a worker's process was started anew: 1 */
    bit<1> checksummed;
    bit<16> op;
    bit<16> differs;    /* operation or count from those of the entry's chunk: 1 */
    bit<32> before;     /* the chunk that had the entry before this one */
    bit<32> ahead;      /* how far the chunk is ahead of what the entry has */
    bit<32> missing;    /* the bits of workers whose values were not there */
    bit<16> residual;      /* the checksum of what does not change */
    bit<16> sums_residual; /* where sums are in the values' place */
    bit<16> longer;        /* what it grows by with the datagram's length */
#endif
}

#endif
