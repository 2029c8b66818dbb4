/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an aggregation's messages are: UDP over IPv4 without options or fragments, no VLAN tags. What is
 * too short for the header is no message.
 */
#ifndef NETFC_AGGREGATE_PARSER_P4
#define NETFC_AGGREGATE_PARSER_P4

#include "headers.p4"

#define NETFC_EXTRACT_VALUE(n) packet.extract(hdr.value##n);
#define NETFC_EMIT_VALUE(n) packet.emit(hdr.value##n);
#define NETFC_EMIT_SUM(n) packet.emit(hdr.sum##n);

/* UDP lengths, up to the largest that a frame can have. */
#define NETFC_LONGEST 0x3fff
#define NETFC_HEADER_LENGTHS UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES .. NETFC_LONGEST
#define NETFC_JOIN_LENGTHS \
    UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + AGGREGATE_JOIN_BYTES .. NETFC_LONGEST
#define NETFC_CHUNK_LENGTH UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_VALUES_BYTES

parser AggregateParser(packet_in packet, out headers_t hdr, inout meta_t meta) {
    state start {
        meta.program = NETFC_PROGRAM;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            ETHER_TYPE_IPV4 : ipv4;
            default : accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.more_fragments,
                          hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4, 5, 0, 0, IP_PROTOCOL_UDP) : udp;
            default : accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.length) {
            NETFC_HEADER_LENGTHS : aggregate;
            default : accept;
        }
    }

    state aggregate {
        packet.extract(hdr.aggregate);
        transition select(hdr.aggregate.op, hdr.udp.length) {
            (AGGREGATE_JOIN, NETFC_JOIN_LENGTHS) : join;
            (AGGREGATE_JOIN, _) : accept;
            (AGGREGATE_LEAVE, _) : accept;
            (_, NETFC_CHUNK_LENGTH) : values;
            default : accept;
        }
    }

    state join {
        packet.extract(hdr.join);
        transition accept;
    }

    state values {
        NETFC_EACH_LANE(NETFC_EXTRACT_VALUE)
        transition accept;
    }
}

/* All headers in the order of the wire; those that are not there are skipped. */
#define NETFC_EMIT                       \
    packet.emit(hdr.ethernet);           \
    packet.emit(hdr.ipv4);               \
    packet.emit(hdr.udp);                \
    packet.emit(hdr.aggregate);          \
    packet.emit(hdr.join);               \
    NETFC_EACH_LANE(NETFC_EMIT_VALUE)    \
    NETFC_EACH_LANE(NETFC_EMIT_SUM)

#endif
