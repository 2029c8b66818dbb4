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
}

header value_t {
    bit<16> bits;
}

/* A lane in two integers, two's complement. */
header sum_t {
    bit<32> low;
    bit<32> high;
}

#define NETFC_VALUE_HEADER(n) value_t value##n;
#define NETFC_SUM_HEADER(n) sum_t sum##n;

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    aggregate_t aggregate;
    join_t join;
    NETFC_EACH_LANE(NETFC_VALUE_HEADER)
    NETFC_EACH_LANE(NETFC_SUM_HEADER)
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
    RESULTS = 4  /* to all */
}

/* Who asks, by job, token, number and address. */
enum bit<2> who_t {
    UNKNOWN = 0, /* no such job */
    MEMBER = 1,
    DENIED = 2,  /* another's token, or another's address */
    FULL = 3     /* no worker of that number */
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
    who_t who;
    fate_t fate;
    command_t command;
    bit<3> code;
    bit<8> reason;
    /* Of the job and the worker. */
    bit<8> job;      /* its place, not its number */
    bit<8> workers;
    bit<16> group;   /* for multicast */
    bit<32> base;    /* its first entry */
    bit<32> index;   /* the entry of the chunk */
    bit<32> worker;  /* its bit */
    bit<32> others;  /* those of the other workers */
}

#endif
