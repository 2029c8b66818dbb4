/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of binary32 numbers: align, add, normalise, round. */
#ifndef NETFC_SUM_FP32_P4
#define NETFC_SUM_FP32_P4

/*
 * A significand comes in with its 24 bits at the top of the word. It is shifted to where it has
 * three bits below it, in bits 26 to 3, and on by the places of the table of exponents.
 */
control Align(in bit<5> places, inout bit<32> word, inout bit<32> lost) {
    NETFC_RIGHT(5) NETFC_RIGHT(6) NETFC_RIGHT(7) NETFC_RIGHT_8_TO_31 NETFC_RIGHT_32

    @noWarn("mismatch")
    table align {
        key = { places : exact; }
        actions = {
            right5; right6; right7; right8; right9; right10; right11; right12; right13;
            right14; right15; right16; right17; right18; right19; right20; right21; right22;
            right23; right24; right25; right26; right27; right28; right29; right30; right31;
            right32;
        }
        const default_action = right32();
        const entries = {
            0 : right5(); 1 : right6(); 2 : right7(); 3 : right8(); 4 : right9();
            5 : right10(); 6 : right11(); 7 : right12(); 8 : right13(); 9 : right14();
            10 : right15(); 11 : right16(); 12 : right17(); 13 : right18(); 14 : right19();
            15 : right20(); 16 : right21(); 17 : right22(); 18 : right23(); 19 : right24();
            20 : right25(); 21 : right26(); 22 : right27(); 23 : right28(); 24 : right29();
            25 : right30(); 26 : right31();
        }
        size = 32;
    }

    apply {
        align.apply();
    }
}

/* A sticky bit, and the sign: ~word | 1 is -(word | 1). */
control Sign(in bit<1> negative, in bit<32> lost, inout bit<32> word) {
    action keep() {}

    action stick() {
        word = word | 1;
    }

    action negate() {
        word = 0 - word;
    }

    action negate_sticky() {
        word = ~word | 1;
    }

    @noWarn("mismatch")
    table sign {
        key = {
            negative : ternary;
            lost : ternary;
        }
        actions = { keep; stick; negate; negate_sticky; }
        const default_action = negate_sticky();
        const entries = {
            (0, 0) : keep();
            (0, _) : stick();
            (1, 0) : negate();
        }
        size = 4;
    }

    apply {
        sign.apply();
    }
}

/*
 * The sum's magnitude is shifted left until its leading one is at bit 27, or less, and right by 4
 * again, as the four bits below the significand only tell how to round: in one step.
 */
#define NETFC_LEFT_RIGHT(n, k)      \
    action left##n() {              \
        lost = word << (32 - k);    \
        word = word >> k;           \
    }

#define NETFC_LEFT(n, k)     \
    action left##n() {       \
        lost = 0;            \
        word = word << k;    \
    }

control Normalise(in bit<5> places, inout bit<32> word, inout bit<32> lost) {
    NETFC_LEFT_RIGHT(0, 4) NETFC_LEFT_RIGHT(1, 3) NETFC_LEFT_RIGHT(2, 2) NETFC_LEFT_RIGHT(3, 1)
    NETFC_LEFT(5, 1) NETFC_LEFT(6, 2) NETFC_LEFT(7, 3) NETFC_LEFT(8, 4) NETFC_LEFT(9, 5)
    NETFC_LEFT(10, 6) NETFC_LEFT(11, 7) NETFC_LEFT(12, 8) NETFC_LEFT(13, 9) NETFC_LEFT(14, 10)
    NETFC_LEFT(15, 11) NETFC_LEFT(16, 12) NETFC_LEFT(17, 13) NETFC_LEFT(18, 14)
    NETFC_LEFT(19, 15) NETFC_LEFT(20, 16) NETFC_LEFT(21, 17) NETFC_LEFT(22, 18)
    NETFC_LEFT(23, 19) NETFC_LEFT(24, 20) NETFC_LEFT(25, 21) NETFC_LEFT(26, 22)
    NETFC_LEFT(27, 23)

    action left4() {
        lost = 0;
    }

    action clear() {
        lost = 0;
        word = 0;
    }

    @noWarn("mismatch")
    table normalise {
        key = { places : exact; }
        actions = {
            left0; left1; left2; left3; left4; left5; left6; left7; left8; left9; left10;
            left11; left12; left13; left14; left15; left16; left17; left18; left19; left20;
            left21; left22; left23; left24; left25; left26; left27; clear;
        }
        const default_action = clear();
        const entries = {
            0 : left0(); 1 : left1(); 2 : left2(); 3 : left3(); 4 : left4(); 5 : left5();
            6 : left6(); 7 : left7(); 8 : left8(); 9 : left9(); 10 : left10(); 11 : left11();
            12 : left12(); 13 : left13(); 14 : left14(); 15 : left15(); 16 : left16();
            17 : left17(); 18 : left18(); 19 : left19(); 20 : left20(); 21 : left21();
            22 : left22(); 23 : left23(); 24 : left24(); 25 : left25(); 26 : left26();
            27 : left27();
        }
        size = 32;
    }

    apply {
        normalise.apply();
    }
}

/* lane.base + lane.a is the sum, but for rounding. */
control Sum(in bit<8> op, in bit<32> x, in bit<32> y, inout lane_t lane) {
    Align() shift_x;
    Align() shift_y;
    Sign() sign_x;
    Sign() sign_y;
    Normalise() normalise;

    /* 0: the exponents; significands, without a hidden bit: the exponent's last bit is there. */

    action set_exps(bit<5> align_x, bit<5> align_y, bit<8> greater) {
        lane.align_x = align_x;
        lane.align_y = align_y;
        lane.greater = greater;
    }

    @use_hash_action(1)
    table exps {
        key = {
            x[30:23] : exact @name("exponent_x");
            y[30:23] : exact @name("exponent_y");
        }
        actions = { set_exps; }
        const default_action = set_exps(0, 0, 0);
        size = 65536;
    }

    action take_significands() {
        lane.a = lane.x << 8;
        lane.b = lane.y << 8;
    }

    /* 1: of subnormal numbers both bits are 0 */

    action hide_x() {
        lane.a = lane.a | 0x80000000;
    }

    action hide_y() {
        lane.b = lane.b | 0x80000000;
    }

    /* 5 */

    action add() {
        lane.a = lane.a + lane.b;
    }

    /* 6: the places before the leading one, of 28 bits; the magnitude */

    action positive(bit<5> zeros) {
        lane.places = zeros;
        lane.negative = 0;
    }

    action negative(bit<5> zeros) {
        lane.places = zeros;
        lane.negative = 1;
        lane.a = 0 - lane.a;
    }

    /* No entry is for a sum of zero, and norm has none for what is set then: z = +0. */
    table lead {
        key = { lane.a : ternary @name("sum"); }
        actions = { positive; negative; }
        const default_action = positive(31);
        size = NETFC_LEADS;
    }

    /* 7 */

    action set_norm(bit<5> left, bit<32> base) {
        lane.places = left;
        lane.base = base;
    }

    @use_hash_action(1)
    table norm {
        key = {
            lane.negative : exact @name("negative");
            lane.places : exact @name("places");
            lane.greater : exact @name("exponent");
        }
        actions = { set_norm; }
        const default_action = set_norm(0, 0);
        size = 16384;
    }

    apply {
        exps.apply();
        take_significands();
        if ((op == NETFC_OP_SUB && y[31:31] == 0) || (op != NETFC_OP_SUB && y[31:31] == 1)) {
            lane.negative_y = 1;
        }
        if (x[30:23] != 0) {
            hide_x();
        }
        if (y[30:23] != 0) {
            hide_y();
        }
        /* 2: x alone, as both shifts' actions are about as many as a stage has space for. */
        shift_x.apply(lane.align_x, lane.a, lane.lost);
        /* 3 */
        sign_x.apply(x[31:31], lane.lost, lane.a);
        shift_y.apply(lane.align_y, lane.b, lane.lost);
        /* 4 */
        sign_y.apply(lane.negative_y, lane.lost, lane.b);
        add();
        lead.apply();
        norm.apply();
        /* 8 */
        normalise.apply(lane.places, lane.a, lane.lost);
    }
}

/*
 * 9: round to nearest, ties to even. lost has the bits below the significand, the highest first.
 * A sum that is zero is exact; one that has the exponent of infinity, in the end, overflows.
 */
control RoundSum(inout lane_t lane) {
    action up(bit<4> flags) {
        lane.base = lane.base + 1;
        lane.flags = flags;
    }

    action keep(bit<4> flags) {
        lane.flags = flags;
    }

    @noWarn("mismatch")
    table round {
        key = {
            lane.base : ternary;
            lane.a : ternary;
            lane.lost : ternary;
        }
        actions = { up; keep; }
        const default_action = keep(0);
        const entries = {
            (0x7f800000 &&& 0x7f800000, _, _) : keep(NETFC_OVERFLOW);
            /* The greatest number's exponent, less the hidden bit, and all bits of a significand. */
            (0x7e800000 &&& 0x7f800000, 0x00ffffff, 0x80000000 &&& 0x80000000) :
                up(NETFC_OVERFLOW);
            (_, 1 &&& 1, 0x80000000 &&& 0x80000000) : up(0);
            (_, _, 0x80000000) : keep(0);
            (_, _, 0x80000000 &&& 0x80000000) : up(0);
        }
        size = 8;
    }

    apply {
        round.apply();
    }
}

#endif
