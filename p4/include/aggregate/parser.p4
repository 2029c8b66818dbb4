/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an aggregation's messages are: UDP over IPv4 without options or fragments, no VLAN tags. What is
 * too short for the header is no message.
 */
#ifndef NETFC_AGGREGATE_PARSER_P4
#define NETFC_AGGREGATE_PARSER_P4

#include "headers.p4"

/*
 * What may change is taken out of the checksum in TNA, as what is written there is put in again; values
 * out of one of two, for where sums take their place.
 */
#ifdef NETFC_TNA
#define NETFC_SUBTRACT(...)                 \
    checksum.subtract({ __VA_ARGS__ });     \
    sums_checksum.subtract({ __VA_ARGS__ });
#define NETFC_SUBTRACT_VALUE(n) sums_checksum.subtract({ hdr.values.v##n });
#define NETFC_RESIDUAL                      \
    meta.residual = checksum.get();         \
    meta.sums_residual = sums_checksum.get();
#else
#define NETFC_SUBTRACT(...)
#define NETFC_SUBTRACT_VALUE(n)
#define NETFC_RESIDUAL
#endif

/* UDP lengths, up to the largest that a frame can have. */
#define NETFC_LONGEST 0x3fff
#define NETFC_HEADER_LENGTH UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES
#define NETFC_HEADER_LENGTHS NETFC_HEADER_LENGTH .. NETFC_LONGEST
#define NETFC_JOIN_LENGTH NETFC_HEADER_LENGTH + AGGREGATE_JOIN_BYTES
#define NETFC_JOIN_LENGTHS NETFC_JOIN_LENGTH .. NETFC_LONGEST
#define NETFC_PLACE_LENGTH NETFC_JOIN_LENGTH + AGGREGATE_PLACE_BYTES
#define NETFC_PLACE_LENGTHS NETFC_PLACE_LENGTH .. NETFC_LONGEST
#define NETFC_CHUNK_LENGTH NETFC_HEADER_LENGTH + NETFC_VALUES_BYTES

parser AggregateParser(packet_in packet, out headers_t hdr, inout meta_t meta) {
#ifdef NETFC_TNA
    Checksum() checksum;
    Checksum() sums_checksum;

#endif
    state start {
        meta.program = NETFC_PROGRAM;
        /* In `join` they would split it, which Tofino's compiler cannot do ahead of a checksum's end. */
        meta.asked_slots = NETFC_SLOTS - 1;
        meta.asked_bytes = NETFC_VALUES_BYTES - 1;
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
        NETFC_SUBTRACT(hdr.udp.checksum)
        transition select(hdr.udp.length) {
            NETFC_HEADER_LENGTHS : aggregate;
            default : accept;
        }
    }

    state aggregate {
        packet.extract(hdr.aggregate);
        NETFC_SUBTRACT(hdr.aggregate.format, hdr.aggregate.reply, hdr.aggregate.code,
                       hdr.aggregate.flags, hdr.aggregate.worker, hdr.aggregate.reason)
#ifdef NETFC_LEAF
        NETFC_SUBTRACT(hdr.aggregate.count)
#endif
        transition select(hdr.aggregate.op, hdr.udp.length) {
#ifdef NETFC_LEAF
            (AGGREGATE_JOIN, NETFC_JOIN_LENGTHS) : join;
#else
            (AGGREGATE_JOIN, NETFC_JOIN_LENGTH) : join;
            (AGGREGATE_JOIN, NETFC_JOIN_LENGTHS) : longer_join;
#endif
            (AGGREGATE_JOIN, _) : header_alone;
            (AGGREGATE_LEAVE, NETFC_HEADER_LENGTH) : header_alone;
            (AGGREGATE_LEAVE, _) : longer;
            (_, NETFC_CHUNK_LENGTH) : values;
            default : header_alone;
        }
    }

    state join {
        packet.extract(hdr.join);
        NETFC_SUBTRACT(hdr.join.workers, hdr.join.shards, hdr.join.slots, hdr.join.bytes,
                       hdr.join.least)
#ifdef NETFC_LEAF
        transition select(hdr.udp.length) {
            NETFC_JOIN_LENGTH : header_alone;
            NETFC_PLACE_LENGTHS : place;
            default : longer;
        }
#else
        NETFC_RESIDUAL
        transition accept;
#endif
    }

    state longer {
        meta.longer_request = 1;
        transition header_alone;
    }

#ifndef NETFC_LEAF
    state longer_join {
        meta.longer_request = 1;
        transition join;
    }

#else
    state place {
        packet.extract(hdr.place);
        NETFC_SUBTRACT(hdr.place.levels, hdr.place.decided)
        transition select(hdr.place.levels, hdr.udp.length) {
            (0, NETFC_PLACE_LENGTH) : header_alone;
            (1, NETFC_PLACE_LENGTH + 2) : level0;
            (2, NETFC_PLACE_LENGTH + 4) : level0;
            (3, NETFC_PLACE_LENGTH + 6) : level0;
            (AGGREGATE_MAX_LEVELS, NETFC_PLACE_LENGTH + 8) : level0;
            default : longer;
        }
    }

    /* Of the other levels p4/leaf tells the parent. */
    state level0 {
        packet.extract(hdr.level0);
#ifdef NETFC_TNA
        transition header_alone;
    }
#else
        transition select(hdr.place.levels) {
            2 .. AGGREGATE_MAX_LEVELS : level1;
            default : accept;
        }
    }

    state level1 {
        packet.extract(hdr.level1);
        transition select(hdr.place.levels) {
            3 .. AGGREGATE_MAX_LEVELS : level2;
            default : accept;
        }
    }

    state level2 {
        packet.extract(hdr.level2);
        transition select(hdr.place.levels) {
            AGGREGATE_MAX_LEVELS : level3;
            default : accept;
        }
    }

    state level3 {
        packet.extract(hdr.level3);
        transition accept;
    }
#endif
#endif

    state header_alone {
        NETFC_RESIDUAL
        transition accept;
    }

    state values {
        packet.extract(hdr.values);
        NETFC_EACH_LANE(NETFC_SUBTRACT_VALUE)
        NETFC_RESIDUAL
        transition accept;
    }
}

/* All headers in the order of the wire; those that are not there are skipped. */
#ifndef NETFC_LEAF
#define NETFC_EMIT_PLACE
#define NETFC_EMIT_PART
#define NETFC_EMIT_MARKS
#elif defined(NETFC_TNA)
#define NETFC_EMIT_PLACE                 \
    packet.emit(hdr.place);              \
    packet.emit(hdr.level0);
#define NETFC_EMIT_PART
#define NETFC_EMIT_MARKS
#else
#define NETFC_EMIT_PLACE                 \
    packet.emit(hdr.place);              \
    packet.emit(hdr.level0);             \
    packet.emit(hdr.level1);             \
    packet.emit(hdr.level2);             \
    packet.emit(hdr.level3);
#define NETFC_EMIT_PART packet.emit(hdr.part);
#define NETFC_EMIT_MARKS packet.emit(hdr.marks);
#endif
#define NETFC_EMIT                       \
    packet.emit(hdr.ethernet);           \
    packet.emit(hdr.ipv4);               \
    packet.emit(hdr.udp);                \
    packet.emit(hdr.aggregate);          \
    packet.emit(hdr.join);               \
    NETFC_EMIT_PLACE                     \
    packet.emit(hdr.values);             \
    NETFC_EMIT_PART                      \
    packet.emit(hdr.sums);               \
    NETFC_EMIT_MARKS

#endif
