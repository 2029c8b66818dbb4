/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf of a tree after the traffic manager of TNA: sums on their way up become digits. */
#ifndef NETFC_AGGREGATE_EGRESS_LEAF_TNA_P4
#define NETFC_AGGREGATE_EGRESS_LEAF_TNA_P4

#include "digits.p4"

#define NETFC_SUBTRACT_SUM(n) checksum.subtract({ hdr.sums.low##n, hdr.sums.high##n });
#define NETFC_DIGITS_INSTANCE(n) Digits() digits##n;
#if NETFC_FORMAT == NETFC_FP8_E4M3
#define NETFC_DIGITS_APPLY(n)                                                         \
    digits##n.apply(hdr.sums.low##n, hdr.sums.high##n, hdr.marks.even##n, hdr.marks.odd##n);
#define NETFC_CHECKSUM_MARK(n) , hdr.marks.even##n, hdr.marks.odd##n
#else
#define NETFC_DIGITS_APPLY(n) digits##n.apply(hdr.sums.low##n, hdr.sums.high##n, hdr.marks.even##n);
#define NETFC_CHECKSUM_MARK(n) , hdr.marks.even##n
#endif

control SendUp(inout egress_headers_t hdr, inout egress_meta_t meta) {
    NETFC_EACH_LANE(NETFC_DIGITS_INSTANCE)

    action find_ports() {
        meta.shards = meta.shards & hdr.aggregate.id[15:0];
        meta.asker = meta.asker & meta.askers;
    }

    action add_ports() {
        hdr.udp.destination = hdr.udp.destination + meta.shards;
        hdr.udp.source = hdr.udp.source + meta.asker;
    }

    action make_request() {
        hdr.aggregate.reply = 0;
        hdr.aggregate.flags = 0;
    }

    action make_part() {
        hdr.aggregate.reason = AGGREGATE_DIGITS;
        hdr.aggregate.count = NETFC_LANES;
        hdr.part.setValid();
        hdr.part.first = 0;
        hdr.part.lanes = NETFC_LANES;
        hdr.part.number = 0;
        hdr.part.parts = 1;
        hdr.part.lowest = 0;
        hdr.part.width = NETFC_PART_WIDTH;
#if NETFC_MARKS_BYTES > 0
        hdr.marks.setValid();
#endif
        hdr.udp.length = UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_PART_BYTES;
        hdr.ipv4.total_length =
            20 + UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_PART_BYTES;
        /* The datagram's length is twice in its checksum. */
        meta.longer = 2 * (NETFC_PART_BYTES - NETFC_SUMS_BYTES);
    }

    apply {
        find_ports();
        add_ports();
        make_request();
        make_part();
        NETFC_EACH_LANE(NETFC_DIGITS_APPLY)
    }
}

#endif
