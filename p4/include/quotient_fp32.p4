/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotients of binary32 numbers: long division by two digits of 13 bits, the second of which has a
 * sign (docs/p4.md). In one pass, or a digit in each of two.
 */
#ifndef NETFC_QUOTIENT_FP32_P4
#define NETFC_QUOTIENT_FP32_P4

/*
 * In two passes the digits that are multiplied are words of 16 bits, for which that of the quotient
 * takes a stage more: Tofino 1 has the stages, and too few containers of 32 bits.
 */
#if NETFC_PASSES == 2
#define NETFC_ESTIMATED cut
#else
#define NETFC_ESTIMATED estimate
#endif

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
#define NETFC_SQUARES(title, width, highest, lowest, count)                      \
    control title(in bit<width> p, in bit<width> q, inout bit<32> word) {        \
        bit<width> sum;                                                          \
        bit<width> difference;                                                   \
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
NETFC_SQUARES(Estimate, 32, 25, 10, 65536)
/* Of a digit of the quotient and one of the divisor, both 17 places up: what a remainder loses. */
#if NETFC_PASSES == 2
NETFC_SQUARES(Part, 16, 15, 1, 32768) /* or one place up, cut */
#else
NETFC_SQUARES(Part, 32, 31, 17, 32768)
#endif

/*
 * To word is added what stands for a digit, in another place. By a look-up, not a shift: fields that
 * an instruction connects must be in one group of containers, which has too few for all.
 */
#define NETFC_PLACE(title, width, more, highest, lowest, count)                  \
    control title(in bit<32> digit, inout bit<width> word) {                     \
        action add(bit<32> part) {                                               \
            word = word + more;                                                  \
        }                                                                        \
                                                                                 \
        @use_hash_action(1)                                                      \
        table place {                                                            \
            key = { digit[highest:lowest] : exact @name("digit"); }              \
            actions = { add; }                                                   \
            const default_action = add(0);                                       \
            size = count;                                                        \
        }                                                                        \
                                                                                 \
        apply {                                                                  \
            place.apply();                                                       \
        }                                                                        \
    }

/* Digits of significands, which are cut where their products are. */
NETFC_PLACE(Place, 32, part, 12, 0, 8192)
#if NETFC_PASSES == 2
NETFC_PLACE(PlaceDivisor, 16, part[31:16], 12, 0, 8192)
#else
#define PlaceDivisor Place
#endif

/* A digit of the quotient: to word, and cut to what the divisor's digits have. */
control PlaceDigit(in bit<32> estimate, inout bit<32> word, inout NETFC_DIGIT digit) {
    @noWarn("unused")
    action add(bit<32> part, bit<16> cut) {
        word = word + part;
#if NETFC_PASSES == 2
        digit = cut;
#endif
    }

    @use_hash_action(1)
    table place {
        key = { estimate[31:17] : exact @name("digit"); }
        actions = { add; }
        const default_action = add(0, 0);
        size = 32768;
    }

    apply {
        place.apply();
    }
}
/* Estimates, and the upper bits of normalised significands. */
NETFC_PLACE(PlaceUpper, 32, part, 31, 17, 32768)

/* Twice the dividend, as a remainder, and the divisor's reciprocal: the upper bits of both. */
control Begin(inout lane_t lane) {
    PlaceUpper() upper;
    PlaceUpper() recip;

    apply {
        upper.apply(lane.high_x, lane.dividend);
        recip.apply(lane.high_y, lane.reciprocal);
    }
}

/*
 * A digit of the quotient, less what the entries take off it, into its place, and the remainder that
 * it leaves. The digit may be too large by less than one and a quarter, and the remainder so far
 * below zero.
 */
control Digit(in bit<32> upper, in bit<32> reciprocal, in NETFC_DIGIT high, in NETFC_DIGIT low,
              inout bit<32> most, out bit<32> remainder, inout bit<32> quotient) {
    Estimate() guess;
    Part() by_high;
    Part() by_low;
    PlaceDigit() digit;
    NETFC_DIGIT cut;
    bit<32> rest;
    bit<32> estimate;

    action begin() {
        estimate = 0;
        rest = 0;
        cut = 0;
    }

    action join() {
        remainder = most + rest;
    }

    apply {
        begin();
        guess.apply(upper, reciprocal, estimate);
        digit.apply(estimate, quotient, cut);
        by_high.apply(NETFC_ESTIMATED, high, most);
        by_low.apply(NETFC_ESTIMATED, low, rest);
        join();
    }
}

#define NETFC_FIRST_DIGIT                                                                    \
    first.apply(lane.dividend, lane.reciprocal, lane.divisor_high, lane.divisor_low, most,   \
                carried.remainder, upper_digit);                                             \
    carry();

/* Into lane.quotient: 26 bits, at the top, and into lane.remainder what it leaves. */
control Quotient(inout lane_t lane, inout carried_t carried) {
    Place() dividend_high;
    Place() dividend_low;
    PlaceDivisor() divisor_high;
    PlaceDivisor() divisor_low;
    Digit() first;
    Digit() second;
    bit<32> most;
    bit<32> most_left;
    bit<32> upper_digit;

    action begin() {
        most = 0;
        upper_digit = 0;
        lane.divisor_high = 0;
        lane.divisor_low = 0;
        lane.quotient = 0;
    }

    action carry() {
        carried.reciprocal = lane.reciprocal;
        carried.quotient = upper_digit;
    }

    action shift() {
        most_left = carried.remainder << 12;
    }

    action join() {
        lane.quotient = lane.quotient + carried.quotient;
    }

    apply {
        begin();
        dividend_high.apply(lane.high_x, most);
        dividend_low.apply(lane.low_x, most);
        divisor_high.apply(lane.high_y, lane.divisor_high);
        divisor_low.apply(lane.low_y, lane.divisor_low);
#if NETFC_PASSES == 1
        NETFC_FIRST_DIGIT
#endif
        shift();
        second.apply(carried.remainder, carried.reciprocal, lane.divisor_high, lane.divisor_low,
                     most_left, lane.remainder, lane.quotient);
        join();
#if NETFC_PASSES == 2
        /* For the next pass: after the second digit, which takes what the last one carried. */
        NETFC_FIRST_DIGIT
#endif
    }
}

/* Into lane.p: the product's upper bits, or the quotient, whose lowest bit tells of a remainder. */
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
