/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums of many workers' values, for Tofino 1 and 2. Results are sums that the workers
 * round. docs/p4.md says how to compile it.
 */
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#define NETFC_TNA

#include "include/aggregate/parser.p4"
#include "include/aggregate/jobs.p4"
#include "include/aggregate/verdict.p4"
#include "include/aggregate/admission_tna.p4"
#include "include/aggregate/slots_tna.p4"
#if NETFC_FORMAT == NETFC_INT32
#include "include/aggregate/int32_tna.p4"
#elif NETFC_FORMAT == NETFC_FP8_E4M3
#include "include/aggregate/e4m3_tna.p4"
#else
#include "include/aggregate/fp16_tna.p4"
#endif
#ifdef NETFC_LEAF
#include "include/aggregate/leaf_tna.p4"
#endif
#include "include/aggregate/deparser_tna.p4"
#include "include/aggregate/egress_tna.p4"

parser IngressParser(packet_in packet, out headers_t hdr, out meta_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {
    AggregateParser() netfc;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        netfc.apply(packet, hdr, meta);
        transition accept;
    }
}

#define NETFC_LANE_INSTANCE(n) Lane() lane##n;
#define NETFC_LANE_APPLY(n)                                                     \
    lane##n.apply(meta.command, meta.index, hdr.values.v##n, hdr.sums.low##n,   \
                  hdr.sums.high##n);

control IngressPipe(inout headers_t hdr, inout meta_t meta,
                    in ingress_intrinsic_metadata_t intrinsic,
                    in ingress_intrinsic_metadata_from_parser_t from_parser,
                    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                    inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Requests() netfc;
    Verdict() verdict;
    Joins() joins;
    Admission() admission;
    Slots() slots;
    Decision() decision;
#ifdef NETFC_LEAF
    Above() above;
    Answers() answers;
    Told() told;
#endif
    NETFC_EACH_LANE(NETFC_LANE_INSTANCE)

    action drop() {
        for_deparser.drop_ctl = 1;
    }

    action to_port(PortId_t port) {
        for_tm.ucast_egress_port = port;
        for_tm.bypass_egress = 1;
    }

    /* What is no request goes on by its address. */
    table forward {
        key = { hdr.ethernet.destination : exact @name("destination"); }
        actions = { to_port; drop; }
        const default_action = drop();
        size = NETFC_HOSTS;
    }

    /* ---- what becomes of a request ----------------------------------------------------------- */

    action find_entry() {
        meta.index = hdr.aggregate.id[15:0] & (NETFC_JOB_ENTRIES - 1);
        meta.before = hdr.aggregate.id - NETFC_JOB_ENTRIES;
        meta.op = (bit<16>)hdr.aggregate.op;
        meta.reason = hdr.aggregate.reason;
    }

    action add_base() {
        meta.index = meta.index + meta.base;
    }

    /* ---- whether its job is over ------------------------------------------------------------- */

    Register<bit<8>, bit<8>>(NETFC_JOBS) jobs;
    bit<16> same_port;
    bit<32> same_high;
    bit<32> same_low;

    /* 1: a worker's process was started anew. */
    RegisterAction<bit<8>, bit<8>, bit<8>>(jobs) end = {
        void apply(inout bit<8> ended, out bit<8> result) {
            ended = 1;
            result = ended;
        }
    };

    RegisterAction<bit<8>, bit<8>, bit<8>>(jobs) look = {
        void apply(inout bit<8> ended, out bit<8> result) {
            result = ended;
        }
    };

    action look_up_job() {
        meta.ended = look.execute(meta.job);
    }

    action refuse() {
        meta.learn = 0;
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = AGGREGATE_REASON_TAKEN;
    }

    /* The process that had this port is no more: results of its chunks would be taken for another's. */
    action refuse_and_end() {
        meta.ended = end.execute(meta.job);
        refuse();
    }

    action admit() {}

    table admissions {
        key = {
            same_port : ternary;
            same_high : ternary;
            same_low : ternary;
        }
        actions = { refuse; refuse_and_end; admit; }
        const default_action = admit();
        const entries = {
            (0, _, _) : refuse();
            (_, 0, _) : refuse_and_end();
            (_, _, 0) : refuse_and_end();
        }
        size = 4;
    }

#ifdef NETFC_LEAF
    action write_decided() {
        hdr.place.decided = meta.decided;
    }

#endif
    /* ---- what is sent ------------------------------------------------------------------------ */

    action swap_ethernet() {
        bit<48> mac = hdr.ethernet.source;
        hdr.ethernet.source = hdr.ethernet.destination;
        hdr.ethernet.destination = mac;
    }

    action swap_ipv4() {
        bit<32> address = hdr.ipv4.source;
        hdr.ipv4.source = hdr.ipv4.destination;
        hdr.ipv4.destination = address;
    }

    action swap_udp() {
        bit<16> port = hdr.udp.source;
        hdr.udp.source = hdr.udp.destination;
        hdr.udp.destination = port;
    }

    /* A byte that takes two sources: an action for each. */
    action mark_reply() {
        hdr.aggregate.reply = 1;
    }

    action answer() {
        hdr.aggregate.code = meta.code;
        hdr.aggregate.reason = meta.reason;
    }

    action answer_with_sums() {
        hdr.aggregate.code = NETFC_STATUS_OK;
        hdr.aggregate.reason = AGGREGATE_SUMS;
        hdr.udp.length = UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_SUMS_BYTES;
        hdr.ipv4.total_length = 20 + UDP_HEADER_BYTES + AGGREGATE_HEADER_BYTES + NETFC_SUMS_BYTES;
        /* The datagram's length is twice in its checksum. */
        meta.longer = 2 * (NETFC_SUMS_BYTES - NETFC_VALUES_BYTES);
        meta.residual = meta.sums_residual;
        hdr.sums.setValid();
        hdr.values.setInvalid();
    }

    action back() {
        for_tm.ucast_egress_port = intrinsic.ingress_port;
        for_tm.bypass_egress = 1;
    }

    /* A join's reply tells the egress where its worker is. */
    action back_by_egress() {
        for_tm.ucast_egress_port = intrinsic.ingress_port;
    }

    action to_all() {
        for_tm.mcast_grp_a = meta.group;
    }

#ifdef NETFC_LEAF
    /* To where sums go that are asked for again. */
    action up_again() {
        for_tm.mcast_grp_a = meta.group + 1;
    }

#endif
    table send {
        key = {
            meta.fate : exact;
            meta.learn : exact;
        }
        actions = { back; back_by_egress; to_all; drop; }
        const default_action = drop();
        const entries = {
            (fate_t.REPLY, 0) : back();
            (fate_t.REPLY, 1) : back_by_egress();
            (fate_t.RESULT, 0) : back();
            (fate_t.RESULTS, 0) : to_all();
#ifdef NETFC_LEAF
            (fate_t.HAND_DOWN, 0) : to_all();
#endif
        }
        size = 8;
    }

    apply {
        find_entry();
#ifdef NETFC_LEAF
        /* Two branches: on TNA, tables that write the same thus share a stage. */
        if (hdr.aggregate.isValid() && hdr.aggregate.reply == 1) {
            answers.apply(hdr, meta);
        } else {
            netfc.apply(hdr, meta);
            above.apply(hdr, meta);
        }
        if ((meta.ask == ask_t.NONE || meta.passes == 1) && meta.above == 0) {
#else
        netfc.apply(hdr, meta);
        if (meta.ask == ask_t.NONE) {
#endif
            forward.apply();
        } else {
            add_base();
            verdict.apply(hdr, meta);
            meta.answered = 1;
            hdr.ipv4.time_to_live = NETFC_HOPS;
            mark_reply();
            swap_ethernet();
            swap_ipv4();
            swap_udp();
            if (hdr.udp.checksum != 0) {
                meta.checksummed = 1;
            }
            if (meta.asks == 1) {
                joins.apply(hdr, meta);
                admission.apply(hdr, meta, same_port, same_high, same_low);
                admissions.apply();
            } else if (meta.works == 1) {
                slots.apply(hdr, meta);
                look_up_job();
                decision.apply(hdr, meta);
#ifdef NETFC_LEAF
                if (meta.fate == fate_t.HAND_DOWN) {
                    told.apply(hdr, meta);
                }
#endif
                NETFC_EACH_LANE(NETFC_LANE_APPLY)
            }
#ifdef NETFC_LEAF
            if (hdr.place.isValid()) {
                write_decided();
            }
#endif
            if (meta.fate == fate_t.RESULT || meta.fate == fate_t.RESULTS) {
                answer_with_sums();
            } else {
                answer();
            }
#ifdef NETFC_LEAF
            if (meta.leaf == 1 && meta.fate == fate_t.RESULT) {
                up_again();
            } else
#endif
            {
                send.apply();
            }
        }
    }
}

Pipeline(IngressParser(), IngressPipe(), IngressDeparser(), EgressParser(), EgressPipe(),
         EgressDeparser()) pipe;

Switch(pipe) main;
