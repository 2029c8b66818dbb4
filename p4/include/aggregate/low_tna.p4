/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A register that adds up floating-point values, as integers of one unit, on TNA. Which of them is
 * -0, and which join it as no numbers, who includes this file says.
 */
#ifndef NETFC_AGGREGATE_LOW_TNA_P4
#define NETFC_AGGREGATE_LOW_TNA_P4

#include "headers.p4"

/* Finite sums are between these. */
const int<32> SUMS_INF = 0x40000000;
const int<32> SUMS_LEAST = -0x40000000;

/* part: what the value x adds; then the sum. */
control Low(in command_t command, in NETFC_INDEX index, in bit<NETFC_LOW_BITS> x,
            inout int<32> part) {
    Register<int<32>, NETFC_INDEX>(NETFC_ENTRIES) sums;

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(sums) set = {
        void apply(inout int<32> value, out int<32> result) {
            value = part;
            result = value;
        }
    };

    /* A sum that is none stays. Only "all are -0" is as low; it gives way to any other value. */
    RegisterAction<int<32>, NETFC_INDEX, int<32>>(sums) add = {
        void apply(inout int<32> value, out int<32> result) {
            if (value < SUMS_LEAST) {
                value = part;
            } else if (value < SUMS_INF) {
                value = value + part;
            }
            result = value;
        }
    };

    /* The value is no number. */
    RegisterAction<int<32>, NETFC_INDEX, int<32>>(sums) join = {
        void apply(inout int<32> value, out int<32> result) {
            value = max(value, part);
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

    action join_sum() {
        part = join.execute(index);
    }

    action read_sum() {
        part = read.execute(index);
    }

    action no_sum() {
        part = 0;
    }

    table choose {
        key = {
            command : ternary;
            x : ternary;
        }
        actions = { set_sum; add_to_sum; join_sum; read_sum; no_sum; }
        const default_action = no_sum();
        const entries = {
            (command_t.SET, _) : set_sum();
            (command_t.READ, _) : read_sum();
            (command_t.ADD, NETFC_MINUS_ZERO) : read_sum();
            (command_t.ADD, NETFC_JOINS) : join_sum();
            (command_t.ADD, _) : add_to_sum();
        }
        size = 8;
    }

    apply {
        choose.apply();
    }
}

#endif
