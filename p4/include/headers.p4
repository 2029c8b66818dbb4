/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers on the wire, and what a packet carries from stage to stage. */
#ifndef NETFC_HEADERS_P4
#define NETFC_HEADERS_P4

#include "frame.p4"
#include "sizes.p4"

#if defined(NETFC_FP8)
#include "lane_fp8.p4"
#elif defined(NETFC_FP32)
#include "lane_fp32.p4"
#elif defined(NETFC_EXACT)
#include "lane_exact.p4"
#else
#include "lane.p4"
#endif

#ifdef NETFC_SLOWLORIS
header tcp_t {
    bit<16> source;
    bit<16> destination;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4> header_words;
    bit<6> reserved;
    bit<1> urgent;
    bit<1> ack;
    bit<1> push;
    bit<1> reset;
    bit<1> syn;
    bit<1> fin;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent_pointer;
}

/* Behind z in a query that has space for it. */
header counters_t {
    bit<32> connections;
    bit<64> bytes;
}
#endif

/* The NetFC header up to the status: as much as a request must have to be answered. */
header netfc_t {
    bit<16> magic;
    bit<8> version;
    bit<8> op;
    bit<8> format;
    bit<1> reply;
    bit<3> code;
    bit<4> flags;
}

/* The rest of the NetFC header. */
header netfc_count_t {
    bit<16> count;
    bit<32> id;
}

/* A slot: an operand or a result; of fp8 a pair of them. */
header slot_t {
    bit<NETFC_SLOT_BITS> bits;
}

#if NETFC_PASSES == 2
const bit<16> NETFC_SECOND_PASS = 2;

/* In front of a frame on its way from one pass to the next. */
header pass_t {
    bit<16> number;
    bit<7> unused;
    bit<9> port; /* where the frame came from */
}
#endif

#define NETFC_SLOT_X(n) slot_t x##n;
#define NETFC_SLOT_Y(n) slot_t y##n;
#define NETFC_SLOT_Z(n) slot_t z##n;
#define NETFC_CARRY(n) carried_t carried##n;

struct headers_t {
#if NETFC_PASSES == 2
    pass_t passed;
    NETFC_EACH_LANE(NETFC_CARRY)
#endif
    ethernet_t ethernet;
    vlan_t vlan_outer;
    vlan_t vlan_inner;
    ipv4_t ipv4;
    option_t option10;
    option_t option9;
    option_t option8;
    option_t option7;
    option_t option6;
    option_t option5;
    option_t option4;
    option_t option3;
    option_t option2;
    option_t option1;
    ipv6_t ipv6;
#ifdef NETFC_SLOWLORIS
    tcp_t tcp;
#endif
    udp_t udp;
    netfc_t netfc;
    netfc_count_t netfc_count;
    NETFC_EACH_LANE(NETFC_SLOT_X)
    NETFC_EACH_LANE(NETFC_SLOT_Y)
    NETFC_EACH_LANE(NETFC_SLOT_Z)
#ifdef NETFC_SLOWLORIS
    counters_t counters;
#endif
}

#define NETFC_LANE_META(n) lane_t lane##n;

struct meta_t {
    bit<1> ip_fits;  /* the IP datagram is one, and fits into the frame */
    bit<1> udp_fits; /* the UDP datagram is one, and fits into the IP datagram */
    bit<1> reflect;
    bit<1> query_answered;
    bit<1> attacked; /* the destination is under attack */
    bit<1> loaded; /* all entries are there, and are this program's */
    bit<16> program; /* which one it is: NETFC_PROGRAM */
    bit<1> checksummed; /* there is a status to write, and a checksum to update with it */
    bit<3> code;
    verdict_t verdict;
#ifdef NETFC_FUNCTIONS
    bit<4> function; /* which of the tables, from 1 on; 0: none */
#endif
    bit<16> residual; /* TNA: the checksum of what does not change */
    /* Lengths, for requests with more lanes than are computed. */
    bit<16> slack;
    bit<16> lane_bytes;
    bit<16> needed_less;
    bit<16> needed_more;
    bit<16> needed;
    bit<16> lack;
#if NETFC_PASSES == 2
#ifndef NETFC_TNA
    @field_list(0) /* what goes round has one field of these at least */
#endif
    bit<9> port; /* where the frame came from, before the first pass */
    bit<1> again; /* it is to take another pass */
#elif NETFC_LAST_OP == 4
    NETFC_EACH_LANE(NETFC_CARRY)
#endif
    NETFC_EACH_LANE(NETFC_LANE_META)
}

#endif
