/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf of a tree on v1model: sums on their way up. */
#ifndef NETFC_AGGREGATE_LEAF_V1MODEL_P4
#define NETFC_AGGREGATE_LEAF_V1MODEL_P4

#include "leaf.p4"
#include "digits.p4"

#define NETFC_DIGITS_INSTANCE(n) Digits() digits##n;
#if NETFC_FORMAT == NETFC_FP8_E4M3
#define NETFC_DIGITS_APPLY(n)                                                         \
    digits##n.apply(hdr.sums.low##n, hdr.sums.high##n, hdr.marks.even##n, hdr.marks.odd##n);
#else
#define NETFC_DIGITS_APPLY(n) digits##n.apply(hdr.sums.low##n, hdr.sums.high##n, hdr.marks.even##n);
#endif

/* The parent's reply as workers are told: a whole result, or why there is none. */
control HandDown(inout headers_t hdr, inout meta_t meta) {
    apply {
        if (meta.code == NETFC_STATUS_OK) {
            if (!hdr.values.isValid() || hdr.aggregate.count != NETFC_LANES ||
                hdr.aggregate.reason != AGGREGATE_ROUNDED) {
                meta.fate = fate_t.DROP;
            }
            meta.reason = AGGREGATE_ROUNDED;
        } else if (meta.code == AGGREGATE_STATUS_CODE) {
            meta.reason = hdr.aggregate.reason;
        } else {
            meta.code = AGGREGATE_STATUS_CODE;
            meta.reason = AGGREGATE_REASON_PARENT;
        }
        /* Who is silent is a member of the switch above: the level is in the upper four bits. */
        if (meta.reason >= AGGREGATE_MISSING) {
            hdr.aggregate.count = hdr.aggregate.count + 0x1000;
        } else {
            hdr.aggregate.count = meta.count;
        }
    }
}

control SendUp(inout headers_t hdr, inout standard_metadata_t standard) {
    NETFC_EACH_LANE(NETFC_DIGITS_INSTANCE)

    /* shards, askers: which bits of the chunk's and the worker's number are added to the ports. */
    action up(bit<48> mac, bit<48> own_mac, bit<32> parent, bit<32> own, bit<16> port,
              bit<16> shards, bit<16> own_port, bit<16> askers, bit<8> index, bit<64> session) {
        hdr.ethernet.destination = mac;
        hdr.ethernet.source = own_mac;
        hdr.ipv4.destination = parent;
        hdr.ipv4.source = own;
        hdr.udp.destination = port + (hdr.aggregate.id[15:0] & shards);
        hdr.udp.source = own_port + ((bit<16>)hdr.aggregate.worker & askers);
        hdr.aggregate.worker = index;
        hdr.aggregate.token = session;
    }

    action nowhere() {
        mark_to_drop(standard);
    }

    table uplinks {
        key = {
            hdr.aggregate.job : exact @name("job");
            standard.egress_rid : exact @name("copy");
        }
        actions = { up; nowhere; }
        const default_action = nowhere();
        size = NETFC_UPLINKS;
    }

    apply {
        uplinks.apply();
        hdr.aggregate.reply = 0;
        hdr.aggregate.flags = 0;
        hdr.aggregate.reason = AGGREGATE_DIGITS;
        hdr.aggregate.count = NETFC_LANES;
        hdr.part.setValid();
        hdr.part.first = 0;
        hdr.part.lanes = NETFC_LANES;
        hdr.part.number = 0;
        hdr.part.parts = 1;
        hdr.part.lowest = 0;
        hdr.part.width = NETFC_PART_WIDTH;
        NETFC_EACH_LANE(NETFC_DIGITS_APPLY)
#if NETFC_MARKS_BYTES > 0
        hdr.marks.setValid();
#endif
        hdr.udp.length = UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_PART_BYTES;
        hdr.ipv4.total_length =
            20 + UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_PART_BYTES;
    }
}

#endif
