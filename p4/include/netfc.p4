/* SPDX-License-Identifier: BSD-3-Clause */
/* Is it a request, what comes of its lanes, and its status: the same in all architectures. */
#ifndef NETFC_NETFC_P4
#define NETFC_NETFC_P4

#include "headers.p4"
#ifdef NETFC_SLOWLORIS
#include "slowloris.p4"
#endif
#ifdef NETFC_FUNCTIONS
#include "functions.p4"
#endif

#define NETFC_LANE_INSTANCE(n) Lane() lane##n;

#if NETFC_PASSES == 2
#define NETFC_CARRIED(n) hdr.carried##n,
#elif NETFC_LAST_OP == 4
#define NETFC_CARRIED(n) meta.carried##n,
#else
#define NETFC_CARRIED(n)
#endif
#define NETFC_LANE_APPLY(n)                                                              \
    lane##n.apply(meta.udp_fits, meta.verdict, hdr.netfc.op, hdr.x##n.bits, hdr.y##n.bits, \
                  NETFC_CARRIED(n) hdr.z##n.bits, meta.lane##n);

#define NETFC_SEND_CARRIED(n) hdr.carried##n.setValid();
#define NETFC_REMOVE_CARRIED(n) hdr.carried##n.setInvalid();

/* A field has the flags of a lane; no lane has any of these. */
#ifdef NETFC_FP8
#define NETFC_FLAGS_KEY(n) meta.lane##n.flags : ternary; meta.lane##n.odd_flags : ternary;
#define NETFC_WITHOUT(set) (NETFC_TIMES(NETFC_FIELDS)(0 &&& set, 0 &&& set))
#else
#define NETFC_FLAGS_KEY(n) meta.lane##n.flags : ternary;
#define NETFC_WITHOUT(set) (NETFC_TIMES(NETFC_FIELDS)(0 &&& set))
#endif

/* meta.udp_fits is set before, by each architecture in its own way. */
control Netfc(inout headers_t hdr, inout meta_t meta) {
    NETFC_EACH_LANE(NETFC_LANE_INSTANCE)
#ifdef NETFC_FUNCTIONS
    NETFC_EACH_LANE(NETFC_FUNCTION_INSTANCE)
#endif
#ifdef NETFC_SLOWLORIS
    Slowloris() slowloris;
#endif

    /* ---- whether this program's entries are there -------------------------------------------- */

    action complete() {
        meta.loaded = 1;
    }

    action incomplete() {
        meta.loaded = 0;
    }

    /* Its entry is the last that is exported, and names the program that it is for. */
    table loaded {
        key = { meta.program : exact @name("program"); }
        actions = { complete; incomplete; }
        const default_action = incomplete();
        size = NETFC_PROGRAMS;
    }

    /* ---- which packets are requests ---------------------------------------------------------- */

    action compute() {
        meta.verdict = verdict_t.COMPUTE;
    }

    action query() {
        meta.verdict = verdict_t.QUERY;
    }

    action refuse(bit<3> code) {
        meta.verdict = verdict_t.REFUSE;
        meta.code = code;
    }

    action ignore() {
        meta.verdict = verdict_t.NONE;
    }

#ifdef NETFC_FUNCTIONS
    action evaluate(bit<4> function) {
        meta.verdict = verdict_t.FUNCTION;
        meta.function = function;
    }

#endif

    table request {
        key = {
            hdr.udp.destination : ternary @name("port");
            hdr.netfc.magic : ternary @name("magic");
            hdr.netfc.version : ternary @name("version");
            hdr.netfc.op : ternary @name("op");
            hdr.netfc.format : ternary @name("format");
            hdr.netfc.reply : ternary @name("reply");
            meta.loaded : ternary @name("loaded");
        }
#ifdef NETFC_FUNCTIONS
        actions = { compute; query; refuse; ignore; evaluate; }
#else
        actions = { compute; query; refuse; ignore; }
#endif
        const default_action = ignore();
        size = NETFC_REQUESTS;
    }

#if NETFC_PASSES == 2
    /* ---- which packets go round -------------------------------------------------------------- */

    /* As if it were no request: its status and z are the next pass's. */
    action go_round() {
        meta.verdict = verdict_t.NONE;
        meta.again = 1;
        meta.reflect = 0;
        hdr.passed.setValid();
        hdr.passed.number = NETFC_SECOND_PASS;
        hdr.passed.unused = 0;
        hdr.passed.port = meta.port;
        NETFC_EACH_LANE(NETFC_SEND_CARRIED)
    }

    action go_on() {}

    /* A packet that has been round does not go again. */
    table passes {
        key = {
            meta.verdict : ternary;
            meta.udp_fits : ternary;
            meta.lane0.present : ternary;
            hdr.netfc.op : ternary;
            hdr.passed.isValid() : ternary;
        }
        actions = { go_round; go_on; }
        const default_action = go_on();
        const entries = {
            (verdict_t.COMPUTE, 1, 1, NETFC_OP_DIV, false) : go_round();
        }
    }

    action arrive() {
        hdr.passed.setInvalid();
        NETFC_EACH_LANE(NETFC_REMOVE_CARRIED)
    }

#endif
    /* ---- the status -------------------------------------------------------------------------- */

    action answer(bit<3> code) {
        hdr.netfc.reply = 1;
        hdr.netfc.code = code;
    }

    /* Each an instruction for each field, as a stage executes them. */
    action measure() {
        meta.lane_bytes = hdr.udp.length - (UDP_HEADER_BYTES + NETFC_HEADER_BYTES);
        meta.needed_less = hdr.netfc_count.count << NETFC_LESS_SHIFT;
        meta.needed_more = hdr.netfc_count.count << NETFC_MORE_SHIFT;
    }

    action need() {
        meta.needed = meta.needed_less + meta.needed_more;
    }

    action compare() {
        meta.lack = meta.lane_bytes - meta.needed;
    }

    /*
     * Codes in the protocol's order. Datagrams are shorter than 16 KB here (see the parser): a
     * count of 4,096 or more lanes, of 2,048 or more wide ones, of 8,192 or more of fp8, is never
     * right, and none below wraps meta.lack.
     */
    table status {
        key = {
            meta.verdict : ternary;
            meta.code : ternary;
            meta.query_answered : ternary;
            meta.lane0.present : ternary;
            hdr.netfc_count.isValid() : ternary;
            hdr.netfc_count.count : ternary;
            meta.lack : ternary;
        }
        actions = { answer; }
        const entries = {
            (verdict_t.REFUSE, NETFC_STATUS_VERSION, _, _, _, _, _) : answer(NETFC_STATUS_VERSION);
            (verdict_t.REFUSE, NETFC_STATUS_OP, _, _, _, _, _) : answer(NETFC_STATUS_OP);
            (verdict_t.REFUSE, NETFC_STATUS_FORMAT, _, _, _, _, _) : answer(NETFC_STATUS_FORMAT);
            (verdict_t.COMPUTE, _, _, 1, _, _, _) : answer(NETFC_STATUS_OK);
#ifdef NETFC_FUNCTIONS
            (verdict_t.FUNCTION, _, _, 1, _, _, _) : answer(NETFC_STATUS_OK);
#endif
            (verdict_t.QUERY, _, 1, _, _, _, _) : answer(NETFC_STATUS_OK);
            (_, _, _, _, false, _, _) : answer(NETFC_STATUS_LENGTH);
            (_, _, _, _, _, 0, _) : answer(NETFC_STATUS_LENGTH);
            (_, _, _, _, _, 0x8000 &&& 0x8000, _) : answer(NETFC_STATUS_LENGTH);
            (_, _, _, _, _, 0x4000 &&& 0x4000, _) : answer(NETFC_STATUS_LENGTH);
            (_, _, _, _, _, 0x2000 &&& 0x2000, _) : answer(NETFC_STATUS_LENGTH);
#ifdef NETFC_FP8
            /* The byte after the last of an odd number of lanes is there three times. */
            (_, _, _, _, _, 1 &&& 1, 0 &&& 0xfffe) : answer(NETFC_STATUS_LENGTH);
            (_, _, _, _, _, 1 &&& 1, 2) : answer(NETFC_STATUS_LENGTH);
#else
            (_, _, _, _, _, 0x1000 &&& 0x1000, _) : answer(NETFC_STATUS_LENGTH);
#endif
#ifdef NETFC_FP32
            (_, _, _, _, _, 0x0800 &&& 0x0800, _) : answer(NETFC_STATUS_LENGTH);
#endif
            (_, _, _, _, _, _, 0x8000 &&& 0x8000) : answer(NETFC_STATUS_LENGTH);
            (verdict_t.QUERY, _, _, _, _, _, _) : answer(NETFC_STATUS_QUERY);
            (verdict_t.COMPUTE, _, _, _, _, _, _) : answer(NETFC_STATUS_LANES);
#ifdef NETFC_FUNCTIONS
            (verdict_t.FUNCTION, _, _, _, _, _, _) : answer(NETFC_STATUS_LANES);
#endif
        }
        const default_action = answer(NETFC_STATUS_LENGTH);
    }

    action raise(bit<4> flags) {
        hdr.netfc.flags = flags;
    }

    /* A flag is raised if a lane has it: the entries name the flags that none has, most first. */
    table flags {
        key = { NETFC_EACH_LANE(NETFC_FLAGS_KEY) }
        actions = { raise; }
        const entries = {
            NETFC_WITHOUT(15) : raise(0);
            NETFC_WITHOUT(14) : raise(1);
            NETFC_WITHOUT(13) : raise(2);
            NETFC_WITHOUT(11) : raise(4);
            NETFC_WITHOUT(7) : raise(8);
            NETFC_WITHOUT(12) : raise(3);
            NETFC_WITHOUT(10) : raise(5);
            NETFC_WITHOUT(9) : raise(6);
            NETFC_WITHOUT(6) : raise(9);
            NETFC_WITHOUT(5) : raise(10);
            NETFC_WITHOUT(3) : raise(12);
            NETFC_WITHOUT(8) : raise(7);
            NETFC_WITHOUT(4) : raise(11);
            NETFC_WITHOUT(2) : raise(13);
            NETFC_WITHOUT(1) : raise(14);
        }
        const default_action = raise(15);
    }

    apply {
        loaded.apply();
        if (hdr.netfc.isValid()) {
            request.apply();
        }
#if NETFC_PASSES == 2
        passes.apply();
#endif
        measure();
        need();
        compare();
#ifdef NETFC_SLOWLORIS
        slowloris.apply(hdr, meta);
#endif
        /* What lanes have no part in comes before them, so that no stage is left for it after them. */
        if (meta.udp_fits == 1 && meta.verdict != verdict_t.NONE) {
            status.apply();
            /* A datagram over IPv4 without a checksum stays without. */
            if (hdr.udp.checksum != 0 || !hdr.ipv4.isValid()) {
                meta.checksummed = 1;
            }
        }
#ifdef NETFC_FUNCTIONS
        /* Before the lanes, which write z later: so no stage waits for them. */
        NETFC_EACH_LANE(NETFC_FUNCTION_APPLY)
#endif
        NETFC_EACH_LANE(NETFC_LANE_APPLY)
        if (meta.udp_fits == 1 && meta.verdict != verdict_t.NONE) {
            flags.apply();
        }
#if NETFC_PASSES == 2
        if (meta.again == 0) {
            arrive();
        }
#endif
    }
}

#endif
