/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a request, and of a member's join: the same in all architectures. */
#ifndef NETFC_AGGREGATE_VERDICT_P4
#define NETFC_AGGREGATE_VERDICT_P4

#include "headers.p4"

control Verdict(in headers_t hdr, inout meta_t meta) {
    /* Of a join, what is asked for less what there is: on TNA, constants would take a stage here. */
    action compare_join() {
        meta.asked_workers = hdr.join.workers - meta.workers;
        meta.asked_slots = hdr.join.slots |-| meta.asked_slots;
        meta.asked_bytes = hdr.join.bytes |-| meta.asked_bytes;
#ifdef NETFC_LEAF
        meta.asked_of_tree = hdr.place.workers - meta.all_workers;
#endif
    }

    action reply_code(bit<3> code) {
        meta.fate = fate_t.REPLY;
        meta.code = code;
    }

    action reply(bit<3> code, bit<8> reason) {
        meta.fate = fate_t.REPLY;
        meta.code = code;
        meta.reason = reason;
    }

    action refuse_as_told() {
        meta.fate = fate_t.REPLY;
    }

    action ask() {
        meta.fate = fate_t.REPLY;
        meta.asks = 1;
#ifdef NETFC_LEAF
        meta.decided = 1;
#endif
    }

    action drop_request() {
        meta.fate = fate_t.DROP;
    }

    action work() {
        meta.works = 1;
        meta.fate = fate_t.DROP;
    }

#ifdef NETFC_LEAF
    action refuse_above() {
        meta.fate = fate_t.REPLY;
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = meta.told;
        meta.decided = 2;
    }
#define NETFC_REFUSE_ABOVE(asked) (_, asked, _, stranger_t.ABOVE, _, _, _, _, _, _) : refuse_above();
#else
#define NETFC_REFUSE_ABOVE(asked)
#endif

    /* Digits, labels and zeros are refused before anything is said of values. */
    @noWarn("mismatch")
    table check {
        key = {
            meta.loaded : ternary;
            meta.ask : ternary;
            meta.member : ternary;
            meta.stranger : ternary;
            meta.longer_request : ternary;
            hdr.values.isValid() : ternary;
            hdr.join.isValid() : ternary;
            hdr.aggregate.flags : ternary;
            hdr.aggregate.reason : ternary;
            hdr.aggregate.count : range;
        }
        actions = {
            reply_code; reply; refuse_as_told; NETFC_LEAF_ACTION(refuse_above) ask; drop_request;
            work;
        }
        const default_action = drop_request();
        const entries = {
            (_, ask_t.REFUSE, _, _, _, _, _, _, _, _) : refuse_as_told();
            (0, _, _, _, _, _, _, _, _, _) : reply_code(NETFC_STATUS_FORMAT);
            (_, ask_t.CHUNK, _, _, _, _, _, _, 0x80 &&& 0x80, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_DIGITS);
            (_, ask_t.CHUNK, _, _, _, false, _, _, _, _) : reply_code(NETFC_STATUS_LENGTH);
            (_, ask_t.CHUNK, _, _, _, _, _, _, _, 0 .. 0) : reply_code(NETFC_STATUS_LENGTH);
            (_, ask_t.CHUNK, _, _, _, _, _, 1 &&& 1, _, _) : reply_code(NETFC_STATUS_LENGTH);
            (_, ask_t.CHUNK, _, _, _, _, _, 2 &&& 2, _, _) : reply_code(NETFC_STATUS_LENGTH);
            NETFC_REFUSE_ABOVE(ask_t.CHUNK)
            (_, ask_t.CHUNK, 1, _, _, _, _, _, _, 1 .. NETFC_LANES) : work();
            (_, ask_t.CHUNK, 1, _, _, _, _, _, _, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_MISMATCH);
            (_, ask_t.JOIN, _, _, _, _, false, _, _, _) : reply_code(NETFC_STATUS_LENGTH);
            (_, ask_t.JOIN, _, _, _, _, _, _, _, 1 .. 0xffff) : reply_code(NETFC_STATUS_LENGTH);
            (_, ask_t.JOIN, _, _, 1, _, _, _, _, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_NO_PARENT);
            NETFC_REFUSE_ABOVE(ask_t.JOIN)
            (_, ask_t.JOIN, 1, _, _, _, _, _, _, _) : ask();
            (_, ask_t.JOIN, _, stranger_t.UNKNOWN, _, _, _, _, _, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_FULL);
            (_, ask_t.JOIN, _, stranger_t.FULL, _, _, _, _, _, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_FULL);
            (_, ask_t.JOIN, _, _, _, _, _, _, _, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_TAKEN);
            (_, ask_t.LEAVE, _, _, _, _, _, _, _, 1 .. 0xffff) : reply_code(NETFC_STATUS_LENGTH);
            (_, ask_t.LEAVE, _, _, 1, _, _, _, _, _) : reply_code(NETFC_STATUS_LENGTH);
            NETFC_REFUSE_ABOVE(ask_t.LEAVE)
            (_, ask_t.LEAVE, 1, _, _, _, _, _, _, _) : reply(NETFC_STATUS_OK, AGGREGATE_REASON_NONE);
            (_, _, _, stranger_t.UNKNOWN, _, _, _, _, _, _) :
                reply(AGGREGATE_STATUS_CODE, AGGREGATE_REASON_NO_JOB);
        }
        size = 32;
    }

    apply {
        compare_join();
#ifdef NETFC_LEAF
        if (meta.above == 0) {
            check.apply();
        } else {
            work();
        }
#else
        check.apply();
#endif
    }
}

/* A member's join. */
control Joins(inout headers_t hdr, inout meta_t meta) {
    action grant() {
        meta.learn = 1;
        meta.reason = AGGREGATE_REASON_NONE;
        hdr.join.shards = 1;
        hdr.join.slots = NETFC_SLOTS;
        hdr.join.bytes = NETFC_VALUES_BYTES;
        hdr.join.least = NETFC_VALUES_BYTES;
    }

    action refuse(bit<8> reason) {
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = reason;
    }

    /* As many workers as there are, and space for what the program needs. */
#define NETFC_JOIN_ENTRIES(...)                                               \
    (_, 0, _ __VA_ARGS__) : refuse(AGGREGATE_REASON_MISMATCH);         \
    (_, _, 0 __VA_ARGS__) : refuse(AGGREGATE_REASON_MISMATCH);         \
    (0, _, _ __VA_ARGS__) : grant();                                   \
    (_, _, _ __VA_ARGS__) : refuse(AGGREGATE_REASON_MISMATCH);

    @noWarn("mismatch")
    table joins {
        key = {
            meta.asked_workers : ternary;
            meta.asked_slots : ternary;
            meta.asked_bytes : ternary;
#ifdef NETFC_LEAF
            meta.leaf : ternary;
            meta.placed : ternary;
            hdr.level0.isValid() : ternary;
            hdr.place.isValid() : ternary;
            hdr.place.workers : ternary;
            hdr.place.below : ternary;
            meta.asked_of_tree : ternary;
#endif
        }
        actions = { grant; refuse; }
        const default_action = refuse(AGGREGATE_REASON_MISMATCH);
        const entries = {
#ifdef NETFC_LEAF
            (_, _, _, 1, 0, _, _, _, _, _) : refuse(AGGREGATE_REASON_PLACE);
            (_, _, _, 0, _, true, _, _, _, _) : refuse(AGGREGATE_REASON_NO_PARENT);
            /* In a job without a parent nobody is below, and the workers that are named are its own. */
            NETFC_JOIN_ENTRIES(, 0, _, _, true, 0, _, _)
            NETFC_JOIN_ENTRIES(, 0, _, _, true, _, 1, 0)
            (_, _, _, 0, _, _, true, _, _, _) : refuse(AGGREGATE_REASON_PLACE);
            NETFC_JOIN_ENTRIES(, _, _, _, _, _, _, _)
#else
            NETFC_JOIN_ENTRIES()
#endif
        }
        size = 16;
    }

    apply {
        joins.apply();
    }
}

#endif
