/* SPDX-License-Identifier: BSD-3-Clause */
/* The UDP checksum on v1model, of whatever message there is. */
#ifndef NETFC_AGGREGATE_DATAGRAM_V1MODEL_P4
#define NETFC_AGGREGATE_DATAGRAM_V1MODEL_P4

#include "headers.p4"

#if NETFC_FORMAT == NETFC_INT32
#define NETFC_ADD_VALUE(n) \
    sum = sum + (bit<32>)hdr.values.v##n[31:16] + (bit<32>)hdr.values.v##n[15:0];
#else
#define NETFC_ADD_VALUE(n) sum = sum + (bit<32>)hdr.values.v##n;
#endif
#define NETFC_ADD_SUM(n)                                                           \
    sum = sum + (bit<32>)hdr.sums.low##n[31:16] + (bit<32>)hdr.sums.low##n[15:0] +   \
          (bit<32>)hdr.sums.high##n[31:16] + (bit<32>)hdr.sums.high##n[15:0];

#ifdef NETFC_LEAF
#define NETFC_ADD_LEVEL(n)                                                       \
    if (hdr.level##n.isValid()) {                                                \
        sum = sum + (bit<32>)(hdr.level##n.members ++ hdr.level##n.index);       \
        bytes = bytes + 2;                                                       \
    }
#if NETFC_FORMAT == NETFC_FP8_E4M3
#define NETFC_ADD_MARK(n) sum = sum + (bit<32>)(hdr.marks.even##n ++ hdr.marks.odd##n);
#else
/* A mark is the upper byte of a word, or the lower one. */
#define NETFC_ADD_MARK(n) sum = sum + ((bit<32>)hdr.marks.even##n << (8 - 8 * (n % 2)));
#endif
#endif

/*
 * The sum of a datagram's words and its pseudo header, folded, and how many bytes of it are in headers.
 * rest: what the others add.
 */
control DatagramSum(in headers_t hdr, in bit<16> rest, out bit<16> bytes, out bit<16> folded) {
    bit<32> sum;

    apply {
        bytes = UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES;
        sum = (bit<32>)hdr.ipv4.source[31:16] + (bit<32>)hdr.ipv4.source[15:0] +
              (bit<32>)hdr.ipv4.destination[31:16] + (bit<32>)hdr.ipv4.destination[15:0] +
              (bit<32>)hdr.ipv4.protocol + (bit<32>)hdr.udp.length + (bit<32>)rest;
        sum = sum + (bit<32>)hdr.udp.source + (bit<32>)hdr.udp.destination +
              (bit<32>)hdr.udp.length + (bit<32>)hdr.udp.checksum;
        sum = sum + (bit<32>)hdr.aggregate.magic +
              (bit<32>)(hdr.aggregate.version ++ hdr.aggregate.op) +
              (bit<32>)(hdr.aggregate.format ++ hdr.aggregate.reply ++ hdr.aggregate.code ++
                        hdr.aggregate.flags) +
              (bit<32>)hdr.aggregate.count + (bit<32>)hdr.aggregate.id[31:16] +
              (bit<32>)hdr.aggregate.id[15:0] + (bit<32>)hdr.aggregate.job +
              (bit<32>)(hdr.aggregate.worker ++ hdr.aggregate.reason) +
              (bit<32>)hdr.aggregate.token[63:48] + (bit<32>)hdr.aggregate.token[47:32] +
              (bit<32>)hdr.aggregate.token[31:16] + (bit<32>)hdr.aggregate.token[15:0];
        if (hdr.join.isValid()) {
            bytes = bytes + AGGREGATE_JOIN_BYTES;
            sum = sum + (bit<32>)(hdr.join.workers ++ hdr.join.shards) + (bit<32>)hdr.join.slots +
                  (bit<32>)hdr.join.bytes + (bit<32>)hdr.join.least +
                  (bit<32>)hdr.join.cookie[63:48] + (bit<32>)hdr.join.cookie[47:32] +
                  (bit<32>)hdr.join.cookie[31:16] + (bit<32>)hdr.join.cookie[15:0];
            sum = sum + (bit<32>)hdr.join.incarnation_high[31:16] +
                  (bit<32>)hdr.join.incarnation_high[15:0] +
                  (bit<32>)hdr.join.incarnation_low[31:16] +
                  (bit<32>)hdr.join.incarnation_low[15:0];
        }
#ifdef NETFC_LEAF
        if (hdr.place.isValid()) {
            bytes = bytes + AGGREGATE_PLACE_BYTES;
            sum = sum + (bit<32>)(hdr.place.levels ++ hdr.place.decided) +
                  (bit<32>)hdr.place.zero + (bit<32>)hdr.place.workers[31:16] +
                  (bit<32>)hdr.place.workers[15:0] + (bit<32>)hdr.place.below[31:16] +
                  (bit<32>)hdr.place.below[15:0];
        }
        NETFC_ADD_LEVEL(0)
        NETFC_ADD_LEVEL(1)
        NETFC_ADD_LEVEL(2)
        NETFC_ADD_LEVEL(3)
        if (hdr.part.isValid()) {
            sum = sum + (bit<32>)hdr.part.first + (bit<32>)hdr.part.lanes +
                  (bit<32>)(hdr.part.number ++ hdr.part.parts) +
                  (bit<32>)(hdr.part.lowest ++ hdr.part.width);
        }
        if (hdr.marks.isValid()) {
            NETFC_EACH_LANE(NETFC_ADD_MARK)
        }
#endif
        if (hdr.values.isValid()) {
            bytes = bytes + NETFC_VALUES_BYTES;
            NETFC_EACH_LANE(NETFC_ADD_VALUE)
        }
        if (hdr.sums.isValid()) {
            NETFC_EACH_LANE(NETFC_ADD_SUM)
        }
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        folded = sum[15:0];
    }
}

#endif
