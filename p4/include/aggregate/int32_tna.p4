/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane of int32 on TNA: a value and its sum in two registers, a stateful unit each. */
#ifndef NETFC_AGGREGATE_INT32_TNA_P4
#define NETFC_AGGREGATE_INT32_TNA_P4

#include "headers.p4"

/* Adds up one of the two. */
control Accumulate(in command_t command, in NETFC_INDEX index, inout int<32> part) {
    Register<int<32>, NETFC_INDEX>(NETFC_ENTRIES) sums;

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(sums) set = {
        void apply(inout int<32> value, out int<32> result) {
            value = part;
            result = value;
        }
    };

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(sums) add = {
        void apply(inout int<32> value, out int<32> result) {
            value = value + part;
            result = value;
        }
    };

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(sums) read = {
        void apply(inout int<32> value, out int<32> result) {
            result = value;
        }
    };

    action set_sum() {
        part = set.execute(index);
    }

    action add_to_sum() {
        part = add.execute(index);
    }

    action read_sum() {
        part = read.execute(index);
    }

    action no_sum() {
        part = 0;
    }

    table choose {
        key = { command : exact; }
        actions = { set_sum; add_to_sum; read_sum; no_sum; }
        const default_action = no_sum();
        const entries = {
            (command_t.SET) : set_sum();
            (command_t.ADD) : add_to_sum();
            (command_t.READ) : read_sum();
        }
        size = 4;
    }

    apply {
        choose.apply();
    }
}

control Lane(in command_t command, in NETFC_INDEX index, in bit<32> x, inout int<32> low,
             inout int<32> high) {
    Accumulate() lows;
    Accumulate() highs;

    /* What the value adds to each (docs/protocol.md, sums). */
    action split() {
        low = (int<32>)(x & 0xffff);
        high = (int<32>)x >> 16;
    }

    apply {
        split();
        lows.apply(command, index, low);
        highs.apply(command, index, high);
    }
}

#endif
