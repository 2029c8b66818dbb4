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
    @stage(3) table choose {                                                              \
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

/* Of a join. Ports have been swapped. */
control Admission(in headers_t hdr, in meta_t meta, out bit<16> same_port, out bit<32> same_high,
                  out bit<32> same_low) {
    Port() port;
    Half() high;
    Half() low;

    apply {
        port.apply(meta.learn, meta.seat, hdr.udp.destination, same_port);
        high.apply(meta.learn, meta.seat, hdr.join.incarnation_high, same_high);
        low.apply(meta.learn, meta.seat, hdr.join.incarnation_low, same_low);
    }
}

#endif
