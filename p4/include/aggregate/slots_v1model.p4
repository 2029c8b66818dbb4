/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's chunk on v1model: the entry that it has, and what becomes of the chunk. */
#ifndef NETFC_AGGREGATE_SLOTS_V1MODEL_P4
#define NETFC_AGGREGATE_SLOTS_V1MODEL_P4

#include "headers.p4"

/* By job and worker: the UDP port that it joined or sent its latest chunk from; 0: it did not join. */
register<bit<16>>(NETFC_MEMBERS) worker_ports;
/* By job and worker: which process that was. */
register<bit<64>>(NETFC_MEMBERS) incarnations;
/* By job: 64 + the worker whose process was started anew, which ends it; 0: none. */
register<bit<8>>(NETFC_JOBS) restarted_workers;

control Slots(in headers_t hdr, inout meta_t meta) {
    register<bit<32>>(NETFC_ENTRIES) chunks;
    register<bit<32>>(NETFC_ENTRIES) seen;
    /* Operation, format and count that an entry's chunk has; 0: it is empty. */
    register<bit<32>>(NETFC_ENTRIES) kinds;
    bit<32> chunk;
    bit<32> there;
    bit<32> kind;
    bit<32> of_packet;
    bit<32> ahead;
    bit<32> all;

    action drop() {
        meta.fate = fate_t.DROP;
    }

    action refuse(bit<8> reason) {
        meta.fate = fate_t.REPLY;
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = reason;
    }

    apply {
        meta.index = meta.base + (hdr.aggregate.id & (NETFC_JOB_ENTRIES - 1));
        chunks.read(chunk, meta.index);
        seen.read(there, meta.index);
        kinds.read(kind, meta.index);
        of_packet = hdr.aggregate.op ++ hdr.aggregate.format ++ hdr.aggregate.count;
        ahead = hdr.aggregate.id - chunk;
        all = meta.worker | meta.others;
        drop();
#ifdef NETFC_LEAF
        if (meta.above == 1) {
            if (ahead == 0 && there == all && kind[31:16] == of_packet[31:16]) {
                meta.fate = fate_t.HAND_DOWN;
                meta.count = kind[15:0];
            }
        } else
#endif
        if (kind != 0 && ahead == 0) {
            if (there == all) {
                if (kind == of_packet) {
                    meta.fate = fate_t.RESULT;
                    meta.command = command_t.READ;
                } else {
                    refuse(AGGREGATE_REASON_MISMATCH);
                }
            } else if ((there & meta.worker) == 0) {
                if (kind == of_packet) {
                    meta.command = command_t.ADD;
                    there = there | meta.worker;
                } else {
                    refuse(AGGREGATE_REASON_MISMATCH);
                }
            }
        } else if ((kind == 0 && hdr.aggregate.id < NETFC_JOB_ENTRIES) ||
                   (kind != 0 && there == all && ahead == NETFC_JOB_ENTRIES)) {
            meta.command = command_t.SET;
            there = meta.worker;
        } else if (kind == 0 || ahead[31:31] == 0) {
            refuse(AGGREGATE_REASON_WINDOW);
        }
        if (meta.command == command_t.SET || meta.command == command_t.ADD) {
            chunks.write(meta.index, hdr.aggregate.id);
            seen.write(meta.index, there);
            kinds.write(meta.index, of_packet);
            worker_ports.write((bit<32>)meta.seat, hdr.udp.source);
            if (there == all) {
                meta.fate = fate_t.RESULTS;
            }
        }
    }
}

#endif
