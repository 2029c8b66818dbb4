/* SPDX-License-Identifier: BSD-3-Clause */
/* Two lanes of fp8_e4m3 on TNA: a value and its sum in one register each. */
#ifndef NETFC_AGGREGATE_E4M3_TNA_P4
#define NETFC_AGGREGATE_E4M3_TNA_P4

/* What joins a sum is NaN. */
#define NETFC_MINUS_ZERO 0x80
#define NETFC_JOINS 0x7f &&& 0x7f
#define NETFC_LOW_BITS 8

#include "low_tna.p4"

control Value(in command_t command, in NETFC_INDEX index, in bit<8> x, inout int<32> sum) {
    Low() lows;

    action set(int<32> part) {
        sum = part;
    }

    /* What the value adds (docs/protocol.md, sums). */
    @use_hash_action(1)
    table part {
        key = { x : exact @name("x"); }
        actions = { set; }
        const default_action = set(0);
        size = 256;
    }

    apply {
        part.apply();
        lows.apply(command, index, x, sum);
    }
}

control Lane(in command_t command, in NETFC_INDEX index, in bit<16> x, inout int<32> low,
             inout int<32> high) {
    Value() even;
    Value() odd;

    apply {
        even.apply(command, index, x[15:8], low);
        odd.apply(command, index, x[7:0], high);
    }
}

#endif
