/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's chunk in TNA: which entry it has, which workers' values are there, what is to be done. */
#ifndef NETFC_AGGREGATE_SLOTS_TNA_P4
#define NETFC_AGGREGATE_SLOTS_TNA_P4

#include "headers.p4"

/* The chunk of an entry, and how far a packet's chunk is ahead of it. */
struct place_t {
    bit<32> chunk;
    bit<32> ahead;
}

/* What all workers' chunks have to agree in. */
struct kind_t {
    bit<16> op;
    bit<16> count;
}

control Slots(in headers_t hdr, inout meta_t meta) {
    Register<place_t, NETFC_INDEX>(NETFC_ENTRIES) chunks;
    Register<kind_t, NETFC_INDEX>(NETFC_ENTRIES) kinds;
    Register<bit<32>, NETFC_INDEX>(NETFC_ENTRIES) missing;

    /*
     * How far the chunk is ahead of the one that the entry has. One round of both entries is the next
     * chunk's, which takes its place. At first it has one that far before the first, as p4/jobs writes it.
     */
    RegisterAction<place_t, NETFC_INDEX, bit<32>>(chunks) look = {
        void apply(inout place_t place, out bit<32> ahead) {
            place.ahead = hdr.aggregate.id - place.chunk;
            if (place.chunk == meta.before) {
                place.chunk = hdr.aggregate.id;
            }
            ahead = place.ahead;
        }
    };

    action look_up_chunk() {
        meta.ahead = look.execute(meta.index);
    }

    /* ---- operation and number of values -------------------------------------------------------- */

    RegisterAction<kind_t, NETFC_INDEX, bit<16>>(kinds) begin_kind = {
        void apply(inout kind_t kind, out bit<16> differs) {
            kind.op = meta.op;
            kind.count = hdr.aggregate.count;
            differs = 0;
        }
    };

    RegisterAction<kind_t, NETFC_INDEX, bit<16>>(kinds) compare_kind = {
        void apply(inout kind_t kind, out bit<16> differs) {
            if (kind.op != meta.op || kind.count != hdr.aggregate.count) {
                differs = 1;
            } else {
                differs = 0;
            }
        }
    };

    action kind_of_first() {
        meta.differs = begin_kind.execute(meta.index);
    }

    action kind_of_others() {
        meta.differs = compare_kind.execute(meta.index);
    }

    action no_chunk() {}

    table kind_of_chunk {
        key = { meta.ahead : exact; }
        actions = { kind_of_first; kind_of_others; no_chunk; }
        const default_action = no_chunk();
        const entries = {
            (NETFC_JOB_ENTRIES) : kind_of_first();
            (0) : kind_of_others();
        }
        size = 2;
    }

    /* ---- a bit for each worker whose values are not there -------------------------------------- */

    RegisterAction<bit<32>, NETFC_INDEX, bit<32>>(missing) begin = {
        void apply(inout bit<32> workers, out bit<32> was) {
            workers = meta.others;
            was = workers;
        }
    };

    RegisterAction<bit<32>, NETFC_INDEX, bit<32>>(missing) mark = {
        void apply(inout bit<32> workers, out bit<32> was) {
            was = workers;
            workers = workers & ~meta.worker;
        }
    };

    RegisterAction<bit<32>, NETFC_INDEX, bit<32>>(missing) look_only = {
        void apply(inout bit<32> workers, out bit<32> was) {
            was = workers;
        }
    };

    action begin_chunk() {
        meta.missing = begin.execute(meta.index);
    }

    action mark_worker() {
        meta.missing = mark.execute(meta.index);
    }

    action look_up_workers() {
        meta.missing = look_only.execute(meta.index);
    }

    table workers_of_chunk {
        key = {
            meta.ahead : exact;
            meta.differs : exact;
        }
        actions = { begin_chunk; mark_worker; look_up_workers; no_chunk; }
        const default_action = no_chunk();
        const entries = {
            (NETFC_JOB_ENTRIES, 0) : begin_chunk();
            (0, 0) : mark_worker();
            (0, 1) : look_up_workers();
        }
        size = 4;
    }

#ifdef NETFC_LEAF
    /* ---- what the parent sends, which begins no chunk ------------------------------------------ */

    RegisterAction<place_t, NETFC_INDEX, bit<32>>(chunks) compare = {
        void apply(inout place_t place, out bit<32> ahead) {
            place.ahead = hdr.aggregate.id - place.chunk;
            ahead = place.ahead;
        }
    };

    /* How many values workers have sent; 0: for another operation. */
    RegisterAction<kind_t, NETFC_INDEX, bit<16>>(kinds) recall_count = {
        void apply(inout kind_t kind, out bit<16> count) {
            count = 0;
            if (kind.op == meta.op) {
                count = kind.count;
            }
        }
    };

    action compare_chunk() {
        meta.ahead = compare.execute(meta.index);
    }

    /* One table for both: of two, Tofino's assembler says that they may not exclude each other. */
    table chunk_of_packet {
        key = { meta.above : exact; }
        actions = { look_up_chunk; compare_chunk; no_chunk; }
        const default_action = no_chunk();
        const entries = {
            0 : look_up_chunk();
            1 : compare_chunk();
        }
        size = 2;
    }

    action count_of_workers() {
        meta.count = recall_count.execute(meta.index);
    }

#endif
    apply {
#ifdef NETFC_LEAF
        chunk_of_packet.apply();
        if (meta.above == 1) {
            count_of_workers();
            look_up_workers();
        } else {
            kind_of_chunk.apply();
            workers_of_chunk.apply();
        }
#else
        look_up_chunk();
        kind_of_chunk.apply();
        workers_of_chunk.apply();
#endif
    }
}

/* What is to be done. */
control Decision(in headers_t hdr, inout meta_t meta) {
    action first() {
        meta.command = command_t.SET;
    }

    action only() {
        meta.command = command_t.SET;
        meta.fate = fate_t.RESULTS;
    }

    action add() {
        meta.command = command_t.ADD;
    }

    action last() {
        meta.command = command_t.ADD;
        meta.fate = fate_t.RESULTS;
    }

    action again() {
        meta.command = command_t.READ;
        meta.fate = fate_t.RESULT;
    }

    action nothing() {}

    action refuse(bit<8> reason) {
        meta.fate = fate_t.REPLY;
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = reason;
    }

    /* A worker's values are there already, or they are the last that were missing. */
#define NETFC_DUPLICATE(w) (_, 0, _, _, 0 &&& (1 << w), w) : nothing();
#define NETFC_LAST(w) (_, 0, _, _, 1 << w, w) : last();

    table decide {
        key = {
            meta.ended : ternary;
            meta.ahead : ternary;
            meta.differs : ternary;
            meta.workers : ternary;
            meta.missing : ternary;
            hdr.aggregate.worker : ternary;
        }
        actions = { first; only; add; last; again; nothing; refuse; }
        const default_action = refuse(AGGREGATE_REASON_WINDOW);
        const entries = {
            (1, _, _, _, _, _) : refuse(AGGREGATE_REASON_NO_JOB);
            (_, NETFC_JOB_ENTRIES, _, 1, _, _) : only();
            (_, NETFC_JOB_ENTRIES, _, _, _, _) : first();
            (_, 0, 0, _, 0, _) : again();
            (_, 0, 1, _, 0, _) : refuse(AGGREGATE_REASON_MISMATCH);
            NETFC_FIRST32(NETFC_DUPLICATE)
            (_, 0, 1, _, _, _) : refuse(AGGREGATE_REASON_MISMATCH);
            NETFC_FIRST32(NETFC_LAST)
            (_, 0, _, _, _, _) : add();
            (_, 0x80000000 &&& 0x80000000, _, _, _, _) : nothing();
        }
        size = 128;
    }

#ifdef NETFC_LEAF
    action hand_down() {
        meta.fate = fate_t.HAND_DOWN;
    }

    /* Only of a chunk that all workers' values are in of. */
    table result {
        key = {
            meta.ahead : ternary;
            meta.count : ternary;
            meta.missing : ternary;
        }
        actions = { hand_down; nothing; }
        const default_action = nothing();
        const entries = {
            (_, 0, _) : nothing();
            (0, _, 0) : hand_down();
        }
        size = 4;
    }

#endif
    apply {
#ifdef NETFC_LEAF
        if (meta.above == 1) {
            result.apply();
        } else {
            decide.apply();
        }
#else
        decide.apply();
#endif
    }
}

#endif
