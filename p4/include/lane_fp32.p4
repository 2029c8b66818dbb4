/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lane of binary32, z = x (op) y, correctly rounded (docs/exact.md, docs/p4.md): look-ups,
 * additions, and shifts by constants, which tables choose. Sums and products go their ways side by
 * side.
 */
#ifndef NETFC_LANE_FP32_P4
#define NETFC_LANE_FP32_P4

#include "constants.p4"
#include "sizes.p4"

/* Of a quotient or a divisor, to be multiplied. */
#if NETFC_PASSES == 2
#define NETFC_DIGIT bit<16>
#else
#define NETFC_DIGIT bit<32>
#endif

/* What a lane carries from stage to stage. */
struct lane_t {
    bit<1> present;      /* the packet has this lane */
    bit<1> computed;     /* z comes of base and significand */
    bit<4> flags;        /* exceptions */
    /*
     * Operands, beside those in the headers: keys are cut out of those, and a compiler cuts all that
     * is computed from a field as it cuts the field, so that it could not add it as a whole.
     */
    bit<32> x;
    bit<32> y;
    /* Sums. */
    bit<5> align_x;      /* how far the significands are shifted right */
    bit<5> align_y;
    bit<8> greater;      /* the greater exponent */
    bit<1> negative_y;   /* of y, negated for sub */
    bit<1> negative;     /* of the sum */
    bit<5> places;       /* before the sum's leading one; then how far it is shifted left */
    bit<32> a;           /* x's significand, with its sign; the sum; its significand */
    bit<32> b;           /* y's */
    bit<32> lost;        /* what a shift has pushed out of a or b, the highest bit first */
    bit<32> base;        /* sign and exponent of z, in their places */
#if NETFC_LAST_OP >= 3
    /* Products and quotients. */
    bit<32> high_x;      /* digits of normalised significands: 11 bits after the leading one, */
    bit<32> low_x;       /* and 12 bits; first at the top of the word */
    bit<32> high_y;
    bit<32> low_y;
    bit<16> exponent_x;  /* exponents; x's is then that of the product or quotient */
    bit<16> exponent_y;
    bit<16> places_x;    /* how far subnormal significands were shifted left */
    bit<16> places_y;
    bit<5> code;         /* how far the product is shifted right */
    bit<32> p;           /* the product of the high digits; the upper 32 bits; the significand */
    bit<32> cross;       /* the products of a high and a low digit, and what low carries */
    bit<32> rest;        /* one of those two; what is carried; what a shift has pushed out of p */
    bit<32> low;         /* the product of the low digits */
    bit<32> upper;       /* sign and exponent of z, in their places */
#endif
#if NETFC_LAST_OP == 4
    bit<32> dividend;    /* upper bits */
    bit<32> reciprocal;
    NETFC_DIGIT divisor_high; /* its digits, where those of quotients are estimated */
    NETFC_DIGIT divisor_low;
    bit<32> quotient;
    bit<32> remainder;
#endif
}

/* Shifted right by k places; what goes is kept, the highest bit first. */
#define NETFC_RIGHT(k)              \
    action right##k() {             \
        lost = word << (32 - k);    \
        word = word >> k;           \
    }

#define NETFC_RIGHT_8_TO_31                                                              \
    NETFC_RIGHT(8) NETFC_RIGHT(9) NETFC_RIGHT(10) NETFC_RIGHT(11) NETFC_RIGHT(12)        \
    NETFC_RIGHT(13) NETFC_RIGHT(14) NETFC_RIGHT(15) NETFC_RIGHT(16) NETFC_RIGHT(17)      \
    NETFC_RIGHT(18) NETFC_RIGHT(19) NETFC_RIGHT(20) NETFC_RIGHT(21) NETFC_RIGHT(22)      \
    NETFC_RIGHT(23) NETFC_RIGHT(24) NETFC_RIGHT(25) NETFC_RIGHT(26) NETFC_RIGHT(27)      \
    NETFC_RIGHT(28) NETFC_RIGHT(29) NETFC_RIGHT(30) NETFC_RIGHT(31)

#define NETFC_RIGHT_32       \
    action right32() {       \
        lost = word;         \
        word = 0;            \
    }

#include "sum_fp32.p4"
#if NETFC_LAST_OP >= 3
#include "product_fp32.p4"
#endif
#if NETFC_LAST_OP == 4
#include "quotient_fp32.p4"
#endif

/*
 * All is looked up in any packet, so that nothing waits for the verdict; z is written only where
 * the packet is a request (verdict), its lengths are right (fits) and it has this lane.
 */
control Lane(in bit<1> fits, in verdict_t verdict, in bit<8> op, in bit<32> x, in bit<32> y,
#if NETFC_LAST_OP == 4
             inout carried_t carried,
#endif
             inout bit<32> z, inout lane_t lane) {
    Sum() sum;
    RoundSum() round_sum;
#if NETFC_LAST_OP >= 3
    Factors() factors;
    Product() product;
    Scale() scale;
    RoundProduct() round_product;
#endif
#if NETFC_LAST_OP == 4
    Begin() begin;
    Quotient() quotient;
    Choose() choose;
#endif

    /* ---- special values ---------------------------------------------------------------------- */

    action compute() {
        lane.computed = 1;
    }

    action take_x() {
        z = lane.x;
    }

    action take_y() {
        z = lane.y;
    }

    action take_minus_y() {
        z = lane.y ^ 0x80000000;
    }

    action constant(bit<32> value, bit<4> flags) {
        z = value;
        lane.flags = flags;
    }

    table decide {
        key = {
            op : ternary @name("op");
            x : ternary @name("x");
            y : ternary @name("y");
        }
        actions = { compute; take_x; take_y; take_minus_y; constant; }
        const default_action = compute();
        size = NETFC_DECISIONS;
    }

    /* ---- z ----------------------------------------------------------------------------------- */

    action join_sum() {
        z = lane.base + lane.a;
    }

#if NETFC_LAST_OP >= 3
    action join_product() {
        z = lane.upper + lane.p;
    }
#endif

    apply {
        if (fits == 1 && verdict == verdict_t.COMPUTE && lane.present == 1) {
            decide.apply();
        }
        sum.apply(op, x, y, lane);
#if NETFC_LAST_OP >= 3
        factors.apply(op, x, y, lane);
#endif
#if NETFC_LAST_OP == 4
        begin.apply(lane);
#endif
#if NETFC_LAST_OP >= 3
        product.apply(lane);
#endif
#if NETFC_LAST_OP == 4
        quotient.apply(lane, carried);
        choose.apply(op, lane);
#endif
#if NETFC_LAST_OP >= 3
        scale.apply(lane);
#endif
        if (lane.computed == 1) {
#if NETFC_LAST_OP >= 3
            if (op == NETFC_OP_ADD || op == NETFC_OP_SUB) {
                round_sum.apply(lane);
                join_sum();
            } else {
                round_product.apply(lane);
                join_product();
            }
#else
            round_sum.apply(lane);
            join_sum();
#endif
        }
    }
}

#endif
