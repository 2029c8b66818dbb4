/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact sums of many workers' values, on BMv2's simple_switch. docs/p4.md says how to run it. */
#include <core.p4>
#include <v1model.p4>

#include "include/aggregate/parser.p4"
#include "include/aggregate/jobs.p4"
#include "include/aggregate/verdict.p4"
#include "include/aggregate/lane_v1model.p4"
#include "include/aggregate/datagram_v1model.p4"
#include "include/aggregate/slots_v1model.p4"
#ifdef NETFC_LEAF
#include "include/aggregate/leaf_v1model.p4"
#endif

parser IngressParser(packet_in packet, out headers_t hdr, inout meta_t meta,
                     inout standard_metadata_t standard) {
    AggregateParser() netfc;

    state start {
        netfc.apply(packet, hdr, meta);
        transition accept;
    }
}

control VerifySums(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.service, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment,
              hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.time_to_live,
              hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

#define NETFC_LANE_INSTANCE(n) Lane() lane##n;
#ifdef NETFC_SUMS
#define NETFC_LANE_APPLY(n)                                                                \
    lane##n.apply(meta.command, meta.index, hdr.values.v##n, hdr.sums.low##n, hdr.sums.high##n);
#else
#define NETFC_LANE_APPLY(n) \
    lane##n.apply(meta.command, meta.index, hdr.values.v##n, low##n, high##n);
#define NETFC_LANE_RESULT(n)                                    \
    rounding##n.apply(low##n, high##n, hdr.values.v##n, flags); \
    hdr.aggregate.flags = hdr.aggregate.flags | flags;
#define NETFC_LANE_SUMS(n) Round() rounding##n; bit<32> low##n = 0; bit<32> high##n = 0;
#endif

control IngressPipe(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Requests() netfc;
    Verdict() verdict;
    Joins() joins;
    Slots() slots;
    DatagramSum() datagram_sum;
    NETFC_EACH_LANE(NETFC_LANE_INSTANCE)
#ifndef NETFC_SUMS
    NETFC_EACH_LANE(NETFC_LANE_SUMS)
    bit<4> flags = 0;
#endif
#ifdef NETFC_LEAF
    Above() above;
    Answers() answers;
    HandDown() hand_down;
#endif
    bit<16> folded;
    bit<16> bytes;
    bit<16> joined_port;
    bit<64> incarnation;
    bit<64> own_incarnation;
    bit<8> restarted;

    action drop() {
        mark_to_drop(standard);
    }

    action to_port(bit<9> port) {
        standard.egress_spec = port;
    }

    action flood(bit<16> group) {
        standard.mcast_grp = group;
    }

    /* What is no request goes on by its address. */
    table forward {
        key = { hdr.ethernet.destination : exact @name("destination"); }
        actions = { to_port; flood; drop; }
        const default_action = drop();
        size = NETFC_HOSTS;
    }

    action refuse(bit<8> reason) {
        meta.fate = fate_t.REPLY;
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = reason;
    }

    apply {
        meta.reason = hdr.aggregate.reason;
#ifdef NETFC_LEAF
        /* Two branches: on TNA, tables that write the same thus share a stage. */
        if (hdr.aggregate.isValid() && hdr.aggregate.reply == 1) {
            answers.apply(hdr, meta);
        } else {
            netfc.apply(hdr, meta);
            above.apply(hdr, meta);
        }
#else
        netfc.apply(hdr, meta);
#endif
        /* Lengths fit into each other and into the frame, or else it is no datagram. */
        if (meta.ask != ask_t.NONE) {
            if (hdr.ipv4.total_length < hdr.udp.length + 20 ||
                standard.packet_length < (bit<32>)hdr.ipv4.total_length + 14) {
                meta.ask = ask_t.NONE;
            }
        }
#ifdef NETFC_LEAF
        if ((meta.ask == ask_t.NONE || meta.passes == 1) && meta.above == 0) {
#else
        if (meta.ask == ask_t.NONE) {
#endif
            forward.apply();
        } else {
            meta.fate = fate_t.DROP;
            datagram_sum.apply(hdr, 0, bytes, folded);
            /* What is in no header cannot be summed: all of it must then add up to 0xffff. */
            if (hdr.udp.length != bytes) {
                if (hdr.udp.checksum == 0) {
                    meta.unsummed = 1;
                } else {
                    meta.rest = ~folded;
                    folded = 0xffff;
                }
            }
            if (standard.checksum_error == 1 ||
                (hdr.udp.checksum != 0 && folded != 0xffff)) {
                meta.fate = fate_t.DROP;
            } else {
                verdict.apply(hdr, meta);
            }
            worker_ports.read(joined_port, (bit<32>)meta.seat);
            restarted_workers.read(restarted, (bit<32>)meta.job);
#ifdef NETFC_LEAF
            if (meta.above == 1) {
                if (meta.works == 1) {
                    slots.apply(hdr, meta);
                }
            } else
#endif
            if (meta.asks == 1) {
                joins.apply(hdr, meta);
                /* A process that was started anew would take results of its place's first chunks. */
                own_incarnation = hdr.join.incarnation_high ++ hdr.join.incarnation_low;
                incarnations.read(incarnation, (bit<32>)meta.seat);
                if (joined_port != 0 && joined_port != hdr.udp.source) {
                    refuse(AGGREGATE_REASON_TAKEN);
                } else if (joined_port != 0 && incarnation != own_incarnation) {
                    /* The one that had this port is no more. */
                    refuse(AGGREGATE_REASON_TAKEN);
                    restarted_workers.write((bit<32>)meta.job,
                                            AGGREGATE_MISSING + hdr.aggregate.worker);
                } else if (meta.learn == 1) {
                    worker_ports.write((bit<32>)meta.seat, hdr.udp.source);
                    incarnations.write((bit<32>)meta.seat, own_incarnation);
                }
            } else if (meta.works == 1) {
                if (joined_port == 0) {
                    refuse(AGGREGATE_REASON_NO_JOB);
                } else if (restarted != 0) {
                    refuse(restarted);
                    hdr.values.v0 = NETFC_FAILED_NO_JOB;
                } else {
                    slots.apply(hdr, meta);
                }
            } else if (meta.ask == ask_t.LEAVE && meta.fate == fate_t.REPLY &&
                       meta.code == NETFC_STATUS_OK) {
                if (joined_port == 0) {
                    refuse(AGGREGATE_REASON_NO_JOB);
                } else if (joined_port != hdr.udp.source) {
                    refuse(AGGREGATE_REASON_TAKEN);
                }
            }
            if (meta.command != command_t.NONE) {
#ifdef NETFC_SUMS
                hdr.sums.setValid();
#endif
                NETFC_EACH_LANE(NETFC_LANE_APPLY)
            }
            if (meta.fate == fate_t.RESULT || meta.fate == fate_t.RESULTS) {
#ifndef NETFC_SUMS
                NETFC_EACH_LANE(NETFC_LANE_RESULT)
                meta.reason = AGGREGATE_ROUNDED;
#else
                hdr.values.setInvalid();
                meta.reason = AGGREGATE_SUMS;
#ifdef NETFC_LEAF
                if (meta.leaf == 1) {
                    if (meta.fate == fate_t.RESULT) {
                        meta.group = meta.group + 1;
                    }
                    meta.fate = fate_t.UP;
                }
#endif
                hdr.udp.length = hdr.udp.length + (NETFC_SUMS_BYTES - NETFC_VALUES_BYTES);
                hdr.ipv4.total_length =
                    hdr.ipv4.total_length + (NETFC_SUMS_BYTES - NETFC_VALUES_BYTES);
#endif
#ifdef NETFC_SUMS
            } else {
                hdr.sums.setInvalid();
#endif
            }
#ifdef NETFC_LEAF
            if (meta.fate == fate_t.HAND_DOWN) {
                hand_down.apply(hdr, meta);
            }
#endif
            if (meta.fate == fate_t.DROP) {
                drop();
            } else if (meta.fate == fate_t.RESULTS || meta.fate == fate_t.UP ||
                       meta.fate == fate_t.HAND_DOWN) {
                standard.mcast_grp = meta.group;
            } else {
                standard.egress_spec = standard.ingress_port;
            }
#ifdef NETFC_LEAF
            if (hdr.place.isValid()) {
                hdr.place.decided = meta.decided;
            }
#endif
            hdr.aggregate.reply = 1;
            hdr.aggregate.code = meta.code;
            hdr.aggregate.reason = meta.reason;
        }
    }
}

control EgressPipe(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    DatagramSum() datagram_sum;
#ifdef NETFC_LEAF
    SendUp() send_up;
#endif
    bit<48> switch_mac;
    bit<32> switch_address;
    bit<16> port;
    bit<16> folded;
    bit<16> bytes;

    /* A copy for another worker: all headers are new. */
    action address(bit<48> mac, bit<32> destination) {
        hdr.ethernet.source = mac;
        hdr.ipv4.source = destination;
    }

#ifdef NETFC_LEAF
    /* As if the worker's packet were answered, whose destination the others are. */
    action hand_down(bit<48> mac, bit<32> destination, bit<48> switch_mac_, bit<32> switch_,
                     bit<16> switch_port, bit<64> token) {
        address(mac, destination);
        hdr.ethernet.destination = switch_mac_;
        hdr.ipv4.destination = switch_;
        hdr.udp.destination = switch_port;
        hdr.aggregate.token = token;
    }

#endif
    action nobody() {
        mark_to_drop(standard);
    }

    table workers {
        key = {
            meta.job : exact @name("place");
            standard.egress_rid : exact @name("copy");
        }
        actions = { address; NETFC_LEAF_ACTION(hand_down) nobody; }
        const default_action = nobody();
        size = NETFC_MEMBERS;
    }

    action swap() {
        switch_mac = hdr.ethernet.destination;
        hdr.ethernet.destination = hdr.ethernet.source;
        hdr.ethernet.source = switch_mac;
        switch_address = hdr.ipv4.destination;
        hdr.ipv4.destination = hdr.ipv4.source;
        hdr.ipv4.source = switch_address;
        port = hdr.udp.destination;
        hdr.udp.destination = hdr.udp.source;
        hdr.udp.source = port;
    }

    action new_header() {
        hdr.ipv4.service = 0;
        hdr.ipv4.identification = 0;
        hdr.ipv4.reserved = 0;
        hdr.ipv4.dont_fragment = 1;
    }

    apply {
        if (meta.fate != fate_t.FORWARD) {
            /* Number 0 is that of packets that are no copies. */
            if (meta.fate == fate_t.HAND_DOWN || (meta.fate == fate_t.RESULTS &&
                standard.egress_rid != (bit<16>)hdr.aggregate.worker + 1)) {
                workers.apply();
                worker_ports.read(port, (bit<32>)meta.job * NETFC_WORKERS +
                                  (bit<32>)standard.egress_rid - 1);
                hdr.udp.source = port;
                hdr.aggregate.worker = (bit<8>)(standard.egress_rid - 1);
                new_header();
            }
            if (meta.fate == fate_t.UP) {
#ifdef NETFC_LEAF
                send_up.apply(hdr, standard);
#endif
                new_header();
            } else {
                swap();
            }
            hdr.ipv4.time_to_live = NETFC_HOPS;
            hdr.udp.checksum = 0;
            datagram_sum.apply(hdr, meta.rest, bytes, folded);
            if (meta.unsummed == 0) {
                hdr.udp.checksum = ~folded;
                if (folded == 0xffff) {
                    hdr.udp.checksum = 0xffff;
                }
            }
            /* What a frame has after its datagram. */
            truncate((bit<32>)hdr.ipv4.total_length + 14);
        }
    }
}

control ComputeSums(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && meta.fate != fate_t.FORWARD,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.service, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment,
              hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.time_to_live,
              hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control IngressDeparser(packet_out packet, in headers_t hdr) {
    apply {
        NETFC_EMIT
    }
}

V1Switch(IngressParser(), VerifySums(), IngressPipe(), EgressPipe(), ComputeSums(),
         IngressDeparser()) main;
