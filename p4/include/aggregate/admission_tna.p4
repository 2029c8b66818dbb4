/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process has a worker's place on TNA: another one's join is refused. */
#ifndef NETFC_AGGREGATE_ADMISSION_TNA_P4
#define NETFC_AGGREGATE_ADMISSION_TNA_P4

#include "headers.p4"

/*
 * By job and worker: what the process had that it was granted to; 0: none was. Of an incarnation, 64
 * random bits, a half that is 0 is therefore not compared.
 */
#define NETFC_HELD(name, bits)                                                            \
control name(in bit<1> granted, in bit<16> seat, in bit<bits> own, out bit<bits> same) {  \
    Register<bit<bits>, bit<16>>(NETFC_MEMBERS) holders;                                  \
                                                                                          \
    RegisterAction<bit<bits>, bit<16>, bit<bits>>(holders) take = {                       \
        void apply(inout bit<bits> holder, out bit<bits> is_same) {                       \
            if (holder == 0 || holder == own) {                                           \
                holder = own;                                                             \
                is_same = 1;                                                              \
            } else {                                                                      \
                is_same = 0;                                                              \
            }                                                                             \
        }                                                                                 \
    };                                                                                    \
                                                                                          \
    RegisterAction<bit<bits>, bit<16>, bit<bits>>(holders) compare = {                    \
        void apply(inout bit<bits> holder, out bit<bits> is_same) {                       \
            if (holder == 0 || holder == own) {                                           \
                is_same = 1;                                                              \
            } else {                                                                      \
                is_same = 0;                                                              \
            }                                                                             \
        }                                                                                 \
    };                                                                                    \
                                                                                          \
    action take_seat() {                                                                  \
        same = take.execute(seat);                                                        \
    }                                                                                     \
                                                                                          \
    action compare_seat() {                                                               \
        same = compare.execute(seat);                                                     \
    }                                                                                     \
                                                                                          \
    action nothing() {}                                                                   \
                                                                                          \
    table choose {                                                                        \
        key = { granted : exact; }                                                        \
        actions = { take_seat; compare_seat; nothing; }                                   \
        const default_action = nothing();                                                 \
        const entries = {                                                                 \
            1 : take_seat();                                                              \
            0 : compare_seat();                                                           \
        }                                                                                 \
        size = 2;                                                                         \
    }                                                                                     \
                                                                                          \
    apply {                                                                               \
        choose.apply();                                                                   \
    }                                                                                     \
}

NETFC_HELD(Port, 16)
NETFC_HELD(Half, 32)

control Admission(in headers_t hdr, inout meta_t meta) {
    Port() port;
    Half() high;
    Half() low;
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
            meta.asks : ternary;
            same_port : ternary;
            same_high : ternary;
            same_low : ternary;
        }
        actions = { look_up_job; refuse; refuse_and_end; admit; }
        const default_action = admit();
        const entries = {
            (0, _, _, _) : look_up_job();
            (_, 0, _, _) : refuse();
            (_, _, 0, _) : refuse_and_end();
            (_, _, _, 0) : refuse_and_end();
        }
        size = 4;
    }

    apply {
        if (meta.asks == 1) {
            /* Ports have been swapped. */
            port.apply(meta.learn, meta.seat, hdr.udp.destination, same_port);
            high.apply(meta.learn, meta.seat, hdr.join.incarnation_high, same_high);
            low.apply(meta.learn, meta.seat, hdr.join.incarnation_low, same_low);
        }
        admissions.apply();
    }
}

#endif
