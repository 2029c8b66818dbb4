/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sum in two integers as digits, or two of fp8_e4m3: as they are on their way to the parent
 * (docs/protocol.md, digits). An instruction a field and step, as a chip needs it.
 */
#ifndef NETFC_AGGREGATE_DIGITS_P4
#define NETFC_AGGREGATE_DIGITS_P4

#include "headers.p4"

#if NETFC_FORMAT == NETFC_FP8_E4M3

/* A sum that is its only digit, unless it is no number. */
control Digit(inout NETFC_INTEGER sum, inout bit<8> mark) {
    action special(bit<8> what) {
        mark = what;
        sum = 0;
    }

    action finite() {
        mark = 0;
    }

    @noWarn("mismatch")
    table marks {
        key = { sum[31:30] : exact @name("kind"); }
        actions = { special; finite; }
        const default_action = finite();
        const entries = {
            1 : special(AGGREGATE_MARK_NAN);
            2 : special(AGGREGATE_MARK_MINUS_ZERO);
        }
        size = 2;
    }

    apply {
        marks.apply();
    }
}

control Digits(inout NETFC_INTEGER low, inout NETFC_INTEGER high, inout bit<8> even,
               inout bit<8> odd) {
    Digit() first;
    Digit() second;

    apply {
        first.apply(low, even);
        second.apply(high, odd);
    }
}

#else

/* Where the high integer begins. */
#if NETFC_FORMAT == NETFC_INT32
#define NETFC_HIGH_BIT 16
#else
#define NETFC_HIGH_BIT 15
#endif

/* low, high: then the upper digit and the lower one. */
control Digits(inout NETFC_INTEGER low, inout NETFC_INTEGER high, inout bit<8> mark) {
    NETFC_INTEGER carry = 0;

#if NETFC_FORMAT == NETFC_FP16
    action special(bit<8> what) {
        mark = what;
        low = 0;
        high = 0;
    }

    action finite() {
        mark = 0;
    }

    /* By the two upper bits of low and the three of high, which finite sums have alike. */
    @noWarn("mismatch")
    table marks {
        key = {
            low[31:30] : ternary @name("low");
            high[31:29] : ternary @name("high");
        }
        actions = { special; finite; }
        const default_action = finite();
        const entries = {
            (_, 3) : special(AGGREGATE_MARK_NAN);
            (1, 2) : special(AGGREGATE_MARK_PLUS_INF + AGGREGATE_MARK_MINUS_INF);
            (1, _) : special(AGGREGATE_MARK_MINUS_INF);
            (_, 2) : special(AGGREGATE_MARK_PLUS_INF);
            (2, _) : special(AGGREGATE_MARK_MINUS_ZERO);
        }
        size = 5;
    }
#endif

    action carry_out() {
        carry = (NETFC_INTEGER)((int<32>)low >> NETFC_HIGH_BIT);
        low = low & ((1 << NETFC_HIGH_BIT) - 1);
    }

    action carry_in() {
        high = high + carry;
    }

    action join() {
        carry = (NETFC_INTEGER)(high[31 - NETFC_HIGH_BIT:0] ++ low[NETFC_HIGH_BIT - 1:0]);
        low = (NETFC_INTEGER)((int<32>)high >> (32 - NETFC_HIGH_BIT));
        high = carry;
    }

    apply {
#if NETFC_FORMAT == NETFC_FP16
        marks.apply();
#endif
        carry_out();
        carry_in();
        join();
    }
}

#endif

#endif
