/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotients of binary32 numbers (v1model): long division with two digits of 12 bits, and a bit
 * before and after them (docs/exact.md). It takes more stages than a pass of a chip has.
 */
#ifndef NETFC_QUOTIENT_FP32_P4
#define NETFC_QUOTIENT_FP32_P4

/* 16 times the product of two numbers of 4 bits. */
control Cross(in bit<4> p, in bit<4> q, inout bit<32> estimate) {
    action add_product(bit<32> word) {
        estimate = estimate + word;
    }

    table cross {
        key = {
            p : exact @name("p");
            q : exact @name("q");
        }
        actions = { add_product; }
        const default_action = add_product(0);
        size = 256;
    }

    apply {
        cross.apply();
    }
}

/* The divisor is taken off a remainder that is less than twice as large, if it fits. */
control Subtract(in bit<32> divisor, inout bit<32> remainder, out bit<1> fits) {
    bit<32> less;

    apply {
        less = remainder - divisor;
        fits = 0;
        if (less[31:31] == 0) {
            remainder = less;
            fits = 1;
        }
    }
}

/*
 * A digit of the quotient, and the remainder times 2^12 that it leaves. The reciprocal's and the
 * remainder's upper bits give an estimate of the digit that is right or one too small.
 */
control Digit(in bit<32> divisor, in bit<16> reciprocal, inout bit<32> remainder,
              out bit<12> digit) {
    Multiply() estimate;
    Cross() cross_remainder;
    Cross() cross_reciprocal;
    Multiply() high;
    Multiply() low;
    Subtract() subtract;
    bit<32> product = 0;
    bit<32> estimated;
    bit<1> one_more;

    apply {
        estimate.apply((bit<32>)remainder[23:12], (bit<32>)reciprocal[15:4], product);
        cross_remainder.apply(remainder[23:20], reciprocal[3:0], product);
        cross_reciprocal.apply(reciprocal[15:12], remainder[11:8], product);
        estimated = (bit<32>)product[22:11];
        high.apply(estimated, (bit<32>)divisor[23:12], product);
        remainder = remainder - product;
        low.apply(estimated, (bit<32>)divisor[11:0], product);
        remainder = (remainder << 12) - product;
        subtract.apply(divisor, remainder, one_more);
        digit = estimated[11:0] + (bit<12>)one_more;
    }
}

/* Into lane.p: the quotient's 26 bits, and whether anything follows, as products have it. */
control Quotient(inout lane_t lane) {
    Subtract() subtract_first;
    Digit() digit1;
    Digit() digit2;
    Subtract() subtract_last;
    bit<32> remainder;
    bit<32> divisor = 0;
    bit<16> reciprocal = 0;
    bit<1> first;
    bit<12> upper_digit;
    bit<12> lower_digit;
    bit<1> last;

    action set_recip(bit<16> word) {
        reciprocal = word;
    }

    table recip {
        key = { divisor[22:10] : exact @name("divisor"); }
        actions = { set_recip; }
        const default_action = set_recip(0);
        size = 8192;
    }

    apply {
        remainder = 0x00800000 | lane.high_x << 12 | lane.low_x;
        divisor = 0x00800000 | lane.high_y << 12 | lane.low_y;
        recip.apply();
        subtract_first.apply(divisor, remainder, first);
        digit1.apply(divisor, reciprocal, remainder, upper_digit);
        digit2.apply(divisor, reciprocal, remainder, lower_digit);
        remainder = remainder << 1;
        subtract_last.apply(divisor, remainder, last);
        lane.p = first ++ upper_digit ++ lower_digit ++ last ++ 6w0;
        if (remainder != 0) {
            lane.p = lane.p | 1;
        }
        lane.cross = 0;
        lane.low = 0;
    }
}

#endif
