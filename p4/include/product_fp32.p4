/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of binary32 numbers: digits of 12 bits, quarter squares. Normalising and rounding are
 * those of quotients, too.
 */
#ifndef NETFC_PRODUCT_FP32_P4
#define NETFC_PRODUCT_FP32_P4

/* Shifted left by `places`, and on: to the top of the word come the digits. */
#define NETFC_SUBNORMAL(k, to_high, to_low)     \
    action subnormal##k() {                     \
        high = x << to_high;                    \
        low = x << to_low;                      \
        places = k;                             \
    }

/* Nothing is left for the low digit. */
#define NETFC_TINY(k, to_high)     \
    action subnormal##k() {        \
        high = x << to_high;       \
        low = 0;                   \
        places = k;                \
    }

/*
 * The digits of a normalised significand, each at the top of its word; its leading one is not among
 * them. The exponent, 1 for a subnormal number, and the places that its significand was shifted
 * left.
 */
control Factor(in bit<32> x, inout bit<32> high, inout bit<32> low, inout bit<16> exponent,
               inout bit<16> places) {
    action normal() {
        high = x << 9;
        low = x << 20;
        places = 0;
    }

    NETFC_SUBNORMAL(1, 10, 21) NETFC_SUBNORMAL(2, 11, 22) NETFC_SUBNORMAL(3, 12, 23)
    NETFC_SUBNORMAL(4, 13, 24) NETFC_SUBNORMAL(5, 14, 25) NETFC_SUBNORMAL(6, 15, 26)
    NETFC_SUBNORMAL(7, 16, 27) NETFC_SUBNORMAL(8, 17, 28) NETFC_SUBNORMAL(9, 18, 29)
    NETFC_SUBNORMAL(10, 19, 30) NETFC_SUBNORMAL(11, 20, 31)
    NETFC_TINY(12, 21) NETFC_TINY(13, 22) NETFC_TINY(14, 23) NETFC_TINY(15, 24)
    NETFC_TINY(16, 25) NETFC_TINY(17, 26) NETFC_TINY(18, 27) NETFC_TINY(19, 28)
    NETFC_TINY(20, 29) NETFC_TINY(21, 30) NETFC_TINY(22, 31)

    action subnormal23() {
        high = 0;
        low = 0;
        places = 23;
    }

    @noWarn("mismatch")
    table factor_of {
        key = { x : ternary; }
        actions = {
            normal; subnormal1; subnormal2; subnormal3; subnormal4; subnormal5; subnormal6;
            subnormal7; subnormal8; subnormal9; subnormal10; subnormal11; subnormal12;
            subnormal13; subnormal14; subnormal15; subnormal16; subnormal17; subnormal18;
            subnormal19; subnormal20; subnormal21; subnormal22; subnormal23;
        }
        const default_action = normal();
        const entries = {
            0x00400000 &&& 0x7fc00000 : subnormal1();
            0x00200000 &&& 0x7fe00000 : subnormal2();
            0x00100000 &&& 0x7ff00000 : subnormal3();
            0x00080000 &&& 0x7ff80000 : subnormal4();
            0x00040000 &&& 0x7ffc0000 : subnormal5();
            0x00020000 &&& 0x7ffe0000 : subnormal6();
            0x00010000 &&& 0x7fff0000 : subnormal7();
            0x00008000 &&& 0x7fff8000 : subnormal8();
            0x00004000 &&& 0x7fffc000 : subnormal9();
            0x00002000 &&& 0x7fffe000 : subnormal10();
            0x00001000 &&& 0x7ffff000 : subnormal11();
            0x00000800 &&& 0x7ffff800 : subnormal12();
            0x00000400 &&& 0x7ffffc00 : subnormal13();
            0x00000200 &&& 0x7ffffe00 : subnormal14();
            0x00000100 &&& 0x7fffff00 : subnormal15();
            0x00000080 &&& 0x7fffff80 : subnormal16();
            0x00000040 &&& 0x7fffffc0 : subnormal17();
            0x00000020 &&& 0x7fffffe0 : subnormal18();
            0x00000010 &&& 0x7ffffff0 : subnormal19();
            0x00000008 &&& 0x7ffffff8 : subnormal20();
            0x00000004 &&& 0x7ffffffc : subnormal21();
            0x00000002 &&& 0x7ffffffe : subnormal22();
            0x00000001 &&& 0x7fffffff : subnormal23();
        }
        size = 32;
    }

    action set_exponent(bit<16> word) {
        exponent = word;
    }

    @use_hash_action(1)
    table exponent_of {
        key = { x[30:23] : exact @name("field"); }
        actions = { set_exponent; }
        const default_action = set_exponent(0);
        size = 256;
    }

    apply {
        factor_of.apply();
        exponent_of.apply();
    }
}

/* Both factors; the exponent of the product or quotient, and what follows from it. */
control Factors(in bit<8> op, in bit<32> x, in bit<32> y, inout lane_t lane) {
    Factor() factor_x;
    Factor() factor_y;

    action multiply() {
        lane.exponent_x = lane.exponent_x + lane.exponent_y;
        lane.places_x = lane.places_x + lane.places_y;
    }

#if NETFC_LAST_OP == 4
    action divide() {
        lane.exponent_x = lane.exponent_x - lane.exponent_y;
        lane.places_x = lane.places_x - lane.places_y;
    }
#endif

    action subtract_places() {
        lane.exponent_x = lane.exponent_x - lane.places_x;
    }

    action set_scale(bit<5> code, bit<32> base) {
        lane.code = code;
        lane.upper = base;
    }

    @use_hash_action(1)
    table scale {
        key = {
#if NETFC_LAST_OP == 4
            op[2:2] : exact @name("div");
#endif
            x[31:31] : exact @name("sign_x");
            y[31:31] : exact @name("sign_y");
            lane.exponent_x[9:0] : exact @name("exponent");
        }
        actions = { set_scale; }
        const default_action = set_scale(0, 0);
        size = NETFC_FP32_SCALES;
    }

    apply {
        factor_x.apply(x, lane.high_x, lane.low_x, lane.exponent_x, lane.places_x);
        factor_y.apply(y, lane.high_y, lane.low_y, lane.exponent_y, lane.places_y);
#if NETFC_LAST_OP == 4
        if (op == NETFC_OP_DIV) {
            divide();
        } else {
            multiply();
        }
#else
        multiply();
#endif
        subtract_places();
        scale.apply();
    }
}

/*
 * A product of digits of 12 bits: square[p + q] - differ[p - q]. A leading one that a digit lacks is
 * in the entries.
 */
control Multiply(in bit<32> p, in bit<32> q, inout bit<32> product) {
    bit<32> sum;
    bit<32> difference;

    action sum_and_difference() {
        sum = p + q;
        difference = p - q;
    }

    action set_differ(bit<32> word) {
        product = word;
    }

    @use_hash_action(1)
    table differ {
        key = { difference[12:0] : exact @name("difference"); }
        actions = { set_differ; }
        const default_action = set_differ(0);
        size = 8192;
    }

    /* An action can subtract from its parameter, but not its parameter from a field. */
    action set_square(bit<32> word) {
        product = word - product;
    }

    @use_hash_action(1)
    table square {
        key = { sum[12:0] : exact @name("sum"); }
        actions = { set_square; }
        const default_action = set_square(0);
        size = 8192;
    }

    apply {
        sum_and_difference();
        differ.apply();
        square.apply();
    }
}

/*
 * Into lane.p: the 32 upper bits of the product, less lane.rest where there are quotients. What is
 * below is in lane.cross and lane.low.
 */
control Product(inout lane_t lane) {
    Multiply() high;
    Multiply() cross_x;
    Multiply() cross_y;
    Multiply() low;

    action digits() {
        lane.high_x = lane.high_x >> 21;
        lane.low_x = lane.low_x >> 20;
        lane.high_y = lane.high_y >> 21;
        lane.low_y = lane.low_y >> 20;
    }

    action align() {
        lane.p = lane.p << 8;
        lane.cross = lane.cross + lane.rest;
        lane.rest = lane.low >> 12;
    }

    action carry_low() {
        lane.cross = lane.cross + lane.rest;
    }

    action cut_cross() {
        lane.rest = lane.cross >> 4;
    }

#if NETFC_LAST_OP == 3
    action carry_cross() {
        lane.p = lane.p + lane.rest;
    }
#endif

    apply {
        digits();
        high.apply(lane.high_x, lane.high_y, lane.p);
        cross_x.apply(lane.high_x, lane.low_y, lane.cross);
        cross_y.apply(lane.high_y, lane.low_x, lane.rest);
        low.apply(lane.low_x, lane.low_y, lane.low);
        align();
        carry_low();
        cut_cross();
#if NETFC_LAST_OP == 3
        carry_cross();
#endif
    }
}

/*
 * The leading one is bit 31 of lane.p or the next one. The significand goes to bits 23 to 0, and
 * further down if the result is subnormal. Codes are the table of scales': 0 for results that are
 * normal whichever bit leads, 26 for those that overflow if it is bit 31, and else the places.
 */
control ShiftProduct(in bit<5> code, inout bit<32> word, inout bit<32> lost, inout bit<32> upper) {
    NETFC_RIGHT(7) NETFC_RIGHT_8_TO_31 NETFC_RIGHT_32

    action carry() {
        lost = word << 24;
        word = word >> 8;
        upper = upper + 0x00800000;
    }

    action overflow() {
        lost = 0;
        word = 0;
        upper = upper + 0x01000000;
    }

    action clear() {
        lost = 0;
        word = 0;
    }

    @noWarn("mismatch")
    table shift {
        key = {
            code : ternary;
            word : ternary;
        }
        actions = {
            right7; right8; right9; right10; right11; right12; right13; right14; right15;
            right16; right17; right18; right19; right20; right21; right22; right23; right24;
            right25; right26; right27; right28; right29; right30; right31; right32; carry;
            overflow; clear;
        }
        const default_action = clear();
        const entries = {
            (0, 0x80000000 &&& 0x80000000) : carry();
            (0, _) : right7();
            (26, 0x80000000 &&& 0x80000000) : overflow();
            (26, _) : right7();
            (1, _) : right8(); (2, _) : right9(); (3, _) : right10(); (4, _) : right11();
            (5, _) : right12(); (6, _) : right13(); (7, _) : right14(); (8, _) : right15();
            (9, _) : right16(); (10, _) : right17(); (11, _) : right18(); (12, _) : right19();
            (13, _) : right20(); (14, _) : right21(); (15, _) : right22(); (16, _) : right23();
            (17, _) : right24(); (18, _) : right25(); (19, _) : right26(); (20, _) : right27();
            (21, _) : right28(); (22, _) : right29(); (23, _) : right30(); (24, _) : right31();
            (25, _) : right32();
        }
        size = 32;
    }

    apply {
        shift.apply();
    }
}

/* lane.upper + lane.p is the product or quotient, but for rounding. */
control Scale(inout lane_t lane) {
    ShiftProduct() product;

    apply {
        product.apply(lane.code, lane.p, lane.rest, lane.upper);
    }
}

/*
 * Round to nearest, ties to even. What is below the significand is in rest, the highest bit
 * first, in the low 4 bits of cross and in the low 12 bits of low.
 */
control RoundProduct(inout lane_t lane) {
    action up(bit<4> flags) {
        lane.upper = lane.upper + 1;
        lane.flags = flags;
    }

    action keep(bit<4> flags) {
        lane.flags = flags;
    }

    @noWarn("mismatch")
    table round {
        key = {
            lane.upper : ternary;
            lane.p : ternary;
            lane.rest : ternary;
            lane.cross : ternary;
            lane.low : ternary;
        }
        actions = { up; keep; }
        const default_action = keep(0);
        const entries = {
            (0x7f800000 &&& 0x7f800000, _, _, _, _) : keep(NETFC_OVERFLOW);
            /* The greatest number's exponent, less the hidden bit, and all bits of a significand. */
            (0x7e800000 &&& 0x7f800000, 0x00ffffff, 0x80000000 &&& 0x80000000, _, _) :
                up(NETFC_OVERFLOW);
            (_, 1 &&& 1, 0x80000000 &&& 0x80000000, _, _) : up(0);
            (0 &&& 0x7fffffff, 0, 0x80000000, 0 &&& 0xf, 0 &&& 0xfff) : keep(NETFC_UNDERFLOW);
            (_, _, 0x80000000, 0 &&& 0xf, 0 &&& 0xfff) : keep(0);
            (_, _, 0x80000000 &&& 0x80000000, _, _) : up(0);
            (0 &&& 0x7fffffff, 0, _, _, _) : keep(NETFC_UNDERFLOW);
        }
        size = 8;
    }

    apply {
        round.apply();
    }
}

#endif
