/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a packet's request and its lanes are: IPv4 with or without options or IPv6, after up to two
 * VLAN tags. A parser cannot know UDP ports that come with the entries, so every UDP datagram that
 * is long enough is taken apart as if it were a request; the table of requests tells.
 */
#ifndef NETFC_PARSER_P4
#define NETFC_PARSER_P4

#include "headers.p4"

/* UDP lengths: those that let a header be parsed, up to the largest that a frame can have. */
#define NETFC_LONGEST 0x3fff
#define NETFC_ANSWERABLE UDP_HEADER_BYTES + NETFC_ANSWERABLE_BYTES .. NETFC_LONGEST
#define NETFC_COUNTED UDP_HEADER_BYTES + NETFC_HEADER_BYTES .. NETFC_LONGEST
#define NETFC_LANES_LENGTH(n) UDP_HEADER_BYTES + NETFC_HEADER_BYTES + n * NETFC_SLOTS_BYTES
#define NETFC_WITH_LANES(n) NETFC_LANES_LENGTH(n) .. NETFC_LONGEST

#define NETFC_QUERY_LENGTHS \
    UDP_HEADER_BYTES + NETFC_HEADER_BYTES + NETFC_LANE_BYTES + NETFC_COUNTERS_BYTES .. NETFC_LONGEST

/* The chain of option words is entered where as many are left as the header has. */
#define NETFC_OPTION(n, ...)               \
    state option##n {                      \
        packet.extract(hdr.option##n);     \
        transition __VA_ARGS__             \
    }

#ifdef NETFC_FP32
#define NETFC_EXTRACT_X(n)              \
    packet.extract(hdr.x##n);           \
    meta.lane##n.x = hdr.x##n.bits;
#define NETFC_EXTRACT_Y(n)              \
    packet.extract(hdr.y##n);           \
    meta.lane##n.y = hdr.y##n.bits;
#else
#define NETFC_EXTRACT_X(n) packet.extract(hdr.x##n);
#define NETFC_EXTRACT_Y(n) packet.extract(hdr.y##n);
#endif

/* Of z the checksum is taken out, as what is written there is put in again. */
#ifdef NETFC_TNA
#define NETFC_EXTRACT_Z(n)                     \
    packet.extract(hdr.z##n);                  \
    meta.lane##n.present = 1;                  \
    checksum.subtract({ hdr.z##n.bits });
#define NETFC_RESIDUAL meta.residual = checksum.get();
#else
#define NETFC_EXTRACT_Z(n)                     \
    packet.extract(hdr.z##n);                  \
    meta.lane##n.present = 1;
#define NETFC_RESIDUAL
#endif

/*
 * Tofino 2's checksum unit tells 32 sets of bytes apart. A state that begins with z has those of z,
 * wherever they are in the packet: so 40 lanes have few sets.
 */
#if defined(NETFC_FP8) && __TARGET_TOFINO__ == 2
#define NETFC_STATE_OF_Z(n)            \
        transition results##n;         \
    }                                  \
    @dontmerge("ingress")              \
    state results##n {
#else
#define NETFC_STATE_OF_Z(n)
#endif

#define NETFC_LANES_STATE(n)                                                       \
    state lanes##n {                                                               \
        NETFC_FIRST##n(NETFC_EXTRACT_X) NETFC_EXTRACT_X(n)                         \
        NETFC_FIRST##n(NETFC_EXTRACT_Y) NETFC_EXTRACT_Y(n)                         \
        NETFC_STATE_OF_Z(n)                                                        \
        NETFC_FIRST##n(NETFC_EXTRACT_Z) NETFC_EXTRACT_Z(n)                         \
        NETFC_RESIDUAL                                                             \
        transition accept;                                                         \
    }                                                                              \
    NETFC_ALONE_STATE(n)

/*
 * By how many lanes there are; a parser of Tofino selects by 32 bits at the most. The last pair of
 * fp8 may have one lane. Ranges of as many lengths take more rows than a parser of Tofino has.
 */
#define NETFC_ALONE_STATE(n)
#define NETFC_SELECTED_OP
#if defined(NETFC_FP8)
#undef NETFC_ALONE_STATE
#define NETFC_ALONE_STATE(n)           \
    state alone##n {                   \
        meta.lane##n.alone = 1;        \
        transition lanes##n;           \
    }
#ifdef NETFC_TNA
#define NETFC_FP8_LENGTHS(n) NETFC_LANES_LENGTH(n)
#else
#define NETFC_FP8_LENGTHS(n) NETFC_WITH_LANES(n)
#endif
#define NETFC_LANES_CASE(n)                                   \
    (2 * n + 1, NETFC_FP8_LENGTHS((n + 1))) : alone##n;       \
    (2 * n + 2, NETFC_FP8_LENGTHS((n + 1))) : lanes##n;
#elif defined(NETFC_SLOWLORIS)
#undef NETFC_SELECTED_OP
#define NETFC_SELECTED_OP , hdr.netfc.op
#define NETFC_LANES_CASE(n) (n + 1, NETFC_WITH_LANES((n + 1)), _) : lanes##n;
#else
#define NETFC_LANES_CASE(n) (n + 1, NETFC_WITH_LANES((n + 1))) : lanes##n;
#endif

#define NETFC_EXTRACT_CARRIED(n) packet.extract(hdr.carried##n);

#if NETFC_PASSES == 2
/* What the last pass left is there already. */
parser NetfcParser(packet_in packet, inout headers_t hdr, inout meta_t meta) {
#else
parser NetfcParser(packet_in packet, out headers_t hdr, inout meta_t meta) {
#endif
#ifdef NETFC_TNA
    Checksum() checksum;
#endif

    state start {
        meta.program = NETFC_PROGRAM;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            ETHER_TYPE_VLAN : vlan_outer;
            ETHER_TYPE_QINQ : vlan_outer;
            ETHER_TYPE_IPV4 : ipv4;
            ETHER_TYPE_IPV6 : ipv6;
            default : accept;
        }
    }

    state vlan_outer {
        packet.extract(hdr.vlan_outer);
        transition select(hdr.vlan_outer.type) {
            ETHER_TYPE_VLAN : vlan_inner;
            ETHER_TYPE_QINQ : vlan_inner;
            ETHER_TYPE_IPV4 : ipv4;
            ETHER_TYPE_IPV6 : ipv6;
            default : accept;
        }
    }

    state vlan_inner {
        packet.extract(hdr.vlan_inner);
        transition select(hdr.vlan_inner.type) {
            ETHER_TYPE_IPV4 : ipv4;
            ETHER_TYPE_IPV6 : ipv6;
            default : accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.more_fragments,
                          hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4, 5, 0, 0, IP_PROTOCOL_UDP) : udp;
            (4, 6, 0, 0, IP_PROTOCOL_UDP) : option1;
            (4, 7, 0, 0, IP_PROTOCOL_UDP) : option2;
            (4, 8, 0, 0, IP_PROTOCOL_UDP) : option3;
            (4, 9, 0, 0, IP_PROTOCOL_UDP) : option4;
            (4, 10, 0, 0, IP_PROTOCOL_UDP) : option5;
            (4, 11, 0, 0, IP_PROTOCOL_UDP) : option6;
            (4, 12, 0, 0, IP_PROTOCOL_UDP) : option7;
            (4, 13, 0, 0, IP_PROTOCOL_UDP) : option8;
            (4, 14, 0, 0, IP_PROTOCOL_UDP) : option9;
            (4, 15, 0, 0, IP_PROTOCOL_UDP) : option10;
#ifdef NETFC_SLOWLORIS
            (4, 5, _, 0, IP_PROTOCOL_TCP) : tcp;
            (4, 6, _, 0, IP_PROTOCOL_TCP) : option1;
            (4, 7, _, 0, IP_PROTOCOL_TCP) : option2;
            (4, 8, _, 0, IP_PROTOCOL_TCP) : option3;
            (4, 9, _, 0, IP_PROTOCOL_TCP) : option4;
            (4, 10, _, 0, IP_PROTOCOL_TCP) : option5;
            (4, 11, _, 0, IP_PROTOCOL_TCP) : option6;
            (4, 12, _, 0, IP_PROTOCOL_TCP) : option7;
            (4, 13, _, 0, IP_PROTOCOL_TCP) : option8;
            (4, 14, _, 0, IP_PROTOCOL_TCP) : option9;
            (4, 15, _, 0, IP_PROTOCOL_TCP) : option10;
#endif
            default : accept;
        }
    }

    NETFC_OPTION(10, option9;)
    NETFC_OPTION(9, option8;)
    NETFC_OPTION(8, option7;)
    NETFC_OPTION(7, option6;)
    NETFC_OPTION(6, option5;)
    NETFC_OPTION(5, option4;)
    NETFC_OPTION(4, option3;)
    NETFC_OPTION(3, option2;)
    NETFC_OPTION(2, option1;)
#ifdef NETFC_SLOWLORIS
    NETFC_OPTION(1, select(hdr.ipv4.protocol) { IP_PROTOCOL_TCP : tcp; default : udp; })

    state tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }
#else
    NETFC_OPTION(1, udp;)
#endif

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.version, hdr.ipv6.next_header) {
            (6, IP_PROTOCOL_UDP) : udp;
            default : accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
#ifdef NETFC_TNA
        checksum.subtract({ hdr.udp.checksum });
#endif
        transition select(hdr.udp.length) {
            NETFC_COUNTED : netfc_with_count;
            NETFC_ANSWERABLE : netfc_alone;
            default : accept;
        }
    }

    state netfc_alone {
        packet.extract(hdr.netfc);
#ifdef NETFC_TNA
        checksum.subtract({ hdr.netfc.format, hdr.netfc.reply, hdr.netfc.code, hdr.netfc.flags });
#endif
        NETFC_RESIDUAL
        transition accept;
    }

    state netfc_with_count {
        packet.extract(hdr.netfc);
        packet.extract(hdr.netfc_count);
#ifdef NETFC_TNA
        checksum.subtract({ hdr.netfc.format, hdr.netfc.reply, hdr.netfc.code, hdr.netfc.flags });
#endif
        transition select(hdr.netfc_count.count, hdr.udp.length NETFC_SELECTED_OP) {
#ifdef NETFC_SLOWLORIS
            (1, NETFC_WITH_LANES(1), NETFC_OP_QUERY) : query_lane;
#endif
            NETFC_EACH_LANE(NETFC_LANES_CASE)
            default : no_lanes;
        }
    }

#ifdef NETFC_SLOWLORIS
    /* A query may have space for the counters after z. */
    state query_lane {
        packet.extract(hdr.x0);
        packet.extract(hdr.y0);
        packet.extract(hdr.z0);
        meta.lane0.present = 1;
        transition select(hdr.udp.length) {
            NETFC_QUERY_LENGTHS : query_with_counters;
            default : accept;
        }
    }

    state query_with_counters {
        packet.extract(hdr.counters);
        transition accept;
    }
#endif

    state no_lanes {
        NETFC_RESIDUAL
        transition accept;
    }

    NETFC_EACH_LANE(NETFC_LANES_STATE)
}

#define NETFC_EMIT_X(n) packet.emit(hdr.x##n);
#define NETFC_EMIT_Y(n) packet.emit(hdr.y##n);
#define NETFC_EMIT_Z(n) packet.emit(hdr.z##n);

#define NETFC_EMIT_CARRIED(n) packet.emit(hdr.carried##n);
#if NETFC_PASSES == 2
#define NETFC_EMIT_PASS packet.emit(hdr.passed); NETFC_EACH_LANE(NETFC_EMIT_CARRIED)
#else
#define NETFC_EMIT_PASS
#endif

#ifdef NETFC_SLOWLORIS
#define NETFC_EMIT_TCP packet.emit(hdr.tcp);
#define NETFC_EMIT_COUNTERS packet.emit(hdr.counters);
#else
#define NETFC_EMIT_TCP
#define NETFC_EMIT_COUNTERS
#endif

/* All headers in the order of the wire; those that were not parsed are skipped. */
#define NETFC_EMIT                     \
    NETFC_EMIT_PASS                    \
    packet.emit(hdr.ethernet);         \
    packet.emit(hdr.vlan_outer);       \
    packet.emit(hdr.vlan_inner);       \
    packet.emit(hdr.ipv4);             \
    packet.emit(hdr.option10);         \
    packet.emit(hdr.option9);          \
    packet.emit(hdr.option8);          \
    packet.emit(hdr.option7);          \
    packet.emit(hdr.option6);          \
    packet.emit(hdr.option5);          \
    packet.emit(hdr.option4);          \
    packet.emit(hdr.option3);          \
    packet.emit(hdr.option2);          \
    packet.emit(hdr.option1);          \
    packet.emit(hdr.ipv6);             \
    NETFC_EMIT_TCP                     \
    packet.emit(hdr.udp);              \
    packet.emit(hdr.netfc);            \
    packet.emit(hdr.netfc_count);      \
    NETFC_EACH_LANE(NETFC_EMIT_X)      \
    NETFC_EACH_LANE(NETFC_EMIT_Y)      \
    NETFC_EACH_LANE(NETFC_EMIT_Z)      \
    NETFC_EMIT_COUNTERS

#endif
