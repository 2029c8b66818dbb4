/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane of fp16 on TNA: a value and its sum in two registers, a stateful unit each. */
#ifndef NETFC_AGGREGATE_FP16_TNA_P4
#define NETFC_AGGREGATE_FP16_TNA_P4

/* What joins `low` is -infinity. */
#define NETFC_MINUS_ZERO 0x8000
#define NETFC_JOINS 0xfc00
#define NETFC_LOW_BITS 16

#include "low_tna.p4"

control Lane(in command_t command, in NETFC_INDEX index, in bit<16> x, inout int<32> low,
             inout int<32> high) {
    Low() lows;
    Register<int<32>, NETFC_INDEX>(NETFC_ENTRIES) highs;

    /* ---- what the value adds (docs/protocol.md, sums) ----------------------------------------- */

    /* One integer has it, the other one 0. */
    action set(int<32> part) {
        low = part;
        high = part;
    }

    @use_hash_action(1)
    table part {
        key = { x : exact @name("x"); }
        actions = { set; }
        const default_action = set(0);
        size = 65536;
    }

    action to_low() {
        high = 0;
    }

    action to_high() {
        low = 0;
    }

    /* Exponents from 16, infinity and NaN are the high integer's, but -infinity is not. */
    table side {
        key = { x : ternary; }
        actions = { to_low; to_high; }
        const default_action = to_low();
        const entries = {
            (0xfc00) : to_low();
            (0x4000 &&& 0x4000) : to_high();
        }
        size = 4;
    }

    /* ---- high -------------------------------------------------------------------------------- */

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(highs) high_set = {
        void apply(inout int<32> value, out int<32> result) {
            value = high;
            result = value;
        }
    };

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(highs) high_add = {
        void apply(inout int<32> value, out int<32> result) {
            if (value < SUMS_INF) {
                value = value + high;
            }
            result = value;
        }
    };

    /* The value is +infinity or NaN, which is more. */
    RegisterAction<int<32>, NETFC_INDEX, int<32>>(highs) high_join = {
        void apply(inout int<32> value, out int<32> result) {
            value = max(value, high);
            result = value;
        }
    };

    RegisterAction<int<32>, NETFC_INDEX, int<32>>(highs) high_read = {
        void apply(inout int<32> value, out int<32> result) {
            result = value;
        }
    };

    action set_high() {
        high = high_set.execute(index);
    }

    action add_high() {
        high = high_add.execute(index);
    }

    action join_high() {
        high = high_join.execute(index);
    }

    action read_high() {
        high = high_read.execute(index);
    }

    action no_high() {
        high = 0;
    }

    table choose_high {
        key = {
            command : ternary;
            x : ternary;
        }
        actions = { set_high; add_high; join_high; read_high; no_high; }
        const default_action = no_high();
        const entries = {
            (command_t.SET, _) : set_high();
            (command_t.READ, _) : read_high();
            (command_t.ADD, 0xfc00) : read_high();
            (command_t.ADD, 0x7c00 &&& 0x7c00) : join_high();
            (command_t.ADD, _) : add_high();
        }
        size = 8;
    }

    apply {
        part.apply();
        side.apply();
        lows.apply(command, index, x, low);
        choose_high.apply();
    }
}

#endif
