/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers in front of a message. */
#ifndef NETFC_FRAME_P4
#define NETFC_FRAME_P4

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header vlan_t {
    bit<16> tci;
    bit<16> type;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_words;
    bit<8> service;
    bit<16> total_length;
    bit<16> identification;
    bit<1> reserved;
    bit<1> dont_fragment;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> time_to_live;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

/* A word of IPv4 options. */
header option_t {
    bit<32> word;
}

header ipv6_t {
    bit<4> version;
    bit<28> class_and_flow;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    bit<128> source;
    bit<128> destination;
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

#endif
