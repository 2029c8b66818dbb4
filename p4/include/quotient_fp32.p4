/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotients of binary32 numbers: long division by two digits of 13 bits, the second of which has a
 * sign (docs/p4.md). In one pass, or a digit in each of two.
 */
#ifndef NETFC_QUOTIENT_FP32_P4
#define NETFC_QUOTIENT_FP32_P4

/* What the first digit leaves for the second. */
#if NETFC_PASSES == 2
header carried_t {
#else
struct carried_t {
#endif
    bit<32> remainder;  /* two's complement */
    bit<32> reciprocal; /* of the divisor */
    bit<32> quotient;   /* the first digit, in its place */
}

/*
 * To word is added a function of p * q, in two parts: one by bits of their sum, one by bits of
 * their difference.
 */
#define NETFC_SQUARES(title, highest, lowest, count)                             \
    control title(in bit<32> p, in bit<32> q, inout bit<32> word) {              \
        bit<32> sum;                                                             \
        bit<32> difference;                                                      \
                                                                                 \
        action sum_and_difference() {                                            \
            sum = p + q;                                                         \
            difference = p - q;                                                  \
        }                                                                        \
                                                                                 \
        action add(bit<32> part) {                                               \
            word = word + part;                                                  \
        }                                                                        \
                                                                                 \
        @use_hash_action(1)                                                      \
        table differ {                                                           \
            key = { difference[highest:lowest] : exact @name("difference"); }    \
            actions = { add; }                                                   \
            const default_action = add(0);                                       \
            size = count;                                                        \
        }                                                                        \
                                                                                 \
        @use_hash_action(1)                                                      \
        table square {                                                           \
            key = { sum[highest:lowest] : exact @name("sum"); }                  \
            actions = { add; }                                                   \
            const default_action = add(0);                                       \
            size = count;                                                        \
        }                                                                        \
                                                                                 \
        apply {                                                                  \
            sum_and_difference();                                                \
            differ.apply();                                                      \
            square.apply();                                                      \
        }                                                                        \
    }

/* Of a remainder's 16 upper bits and a reciprocal, both 10 places up: a digit, 17 places up. */
NETFC_SQUARES(Estimate, 25, 10, 65536)
/* Of a digit of the quotient and one of the divisor, both 17 places up: what a remainder loses. */
NETFC_SQUARES(Part, 31, 17, 32768)

/*
 * A digit of the quotient, less what the entries take off it, and the remainder that it leaves. The
 * digit may be too large by less than one and a quarter, and the remainder so far below zero.
 */
control Digit(in bit<32> dividend, in bit<32> reciprocal, in bit<32> high, in bit<32> low,
              out bit<32> remainder, out bit<32> digit) {
    Estimate() guess;
    Part() by_high;
    Part() by_low;
    bit<32> rest;
    bit<32> most;
    bit<32> estimate;

    action begin() {
        estimate = 0;
        rest = 0;
    }

    action shift() {
        most = dividend << 12;
    }

    action cut() {
        digit = estimate >> 17;
    }

    action join() {
        remainder = most + rest;
    }

    apply {
        begin();
        guess.apply(dividend, reciprocal, estimate);
        shift();
        cut();
        by_high.apply(estimate, high, most);
        by_low.apply(estimate, low, rest);
        join();
    }
}

#define NETFC_FIRST_DIGIT                                                             \
    first.apply(lane.dividend, lane.reciprocal, lane.divisor_high, lane.divisor_low,  \
                carried.remainder, upper_digit);                                      \
    carry();

/* Into lane.quotient: 26 bits, at the top, and into lane.remainder what it leaves. */
control Quotient(inout lane_t lane, inout carried_t carried) {
    Digit() first;
    Digit() second;
    bit<32> upper_digit;
    bit<32> lower_digit;

    /* Twice the dividend: as a remainder, it is less than four times the divisor. */
    action begin() {
        lane.dividend = lane.high_x >> 8;
        lane.divisor_high = lane.high_y >> 21;
        lane.divisor_low = lane.low_y >> 20;
    }

    action set_recip(bit<32> word) {
        lane.reciprocal = word;
    }

    @use_hash_action(1)
    table recip {
        key = { lane.high_y[31:17] : exact @name("divisor"); }
        actions = { set_recip; }
        const default_action = set_recip(0);
        size = 32768;
    }

    action place() {
        lane.divisor_high = lane.divisor_high << 17;
        lane.divisor_low = lane.divisor_low << 17;
    }

    action carry() {
        carried.reciprocal = lane.reciprocal;
        carried.quotient = upper_digit << 18;
    }

    action place_digit() {
        lane.quotient = lower_digit << 6;
    }

    action join() {
        lane.quotient = lane.quotient + carried.quotient;
    }

    apply {
        begin();
        recip.apply();
        place();
#if NETFC_PASSES == 1
        NETFC_FIRST_DIGIT
#endif
        second.apply(carried.remainder, carried.reciprocal, lane.divisor_high, lane.divisor_low,
                     lane.remainder, lower_digit);
        place_digit();
        join();
#if NETFC_PASSES == 2
        /* For the next pass: behind the second digit, which takes what the last one carried. */
        NETFC_FIRST_DIGIT
#endif
    }
}

/* Into lane.p: the upper bits of the product, or the quotient; its lowest bit tells of a remainder. */
control Choose(in bit<8> op, inout lane_t lane) {
    action multiplied() {
        lane.p = lane.p + lane.rest;
    }

    action divided(bit<32> more) {
        lane.p = lane.quotient + more;
        lane.cross = 0;
        lane.low = 0;
    }

    @noWarn("mismatch")
    table choose {
        key = {
            op : ternary;
            lane.remainder : ternary;
        }
        actions = { multiplied; divided; }
        const default_action = multiplied();
        const entries = {
            (NETFC_OP_DIV, 0) : divided(0);
            (NETFC_OP_DIV, 0x80000000 &&& 0x80000000) : divided(0xffffffc1);
            (NETFC_OP_DIV, _) : divided(1);
        }
        size = 4;
    }

    apply {
        choose.apply();
    }
}

#endif
