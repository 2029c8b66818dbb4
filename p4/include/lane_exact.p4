/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lane, z = x (op) y, correctly rounded (docs/exact.md): look up, look up, add, look up, add.
 * Sums and products go their ways side by side and share the last addition.
 */
#ifndef NETFC_LANE_EXACT_P4
#define NETFC_LANE_EXACT_P4

#include "constants.p4"
#include "sizes.p4"

/* What a lane carries from stage to stage. */
struct lane_t {
    bit<1> present;      /* the packet has this lane */
    bit<1> computed;     /* z comes of base and offset */
    bit<4> flags;        /* exceptions */
    bit<16> base;        /* sign and exponent */
    bit<16> offset;      /* what the rounded significand adds to it */
    /* Sums. */
    bit<5> code_x;       /* how far x's significand is shifted right, its hidden bit */
    bit<5> code_y;
    bit<1> sign_y;       /* of y, negated for sub */
    bit<1> overflow;     /* the larger exponent is the largest: a sum can overflow */
    bit<16> s;           /* x's significand times 8, shifted, with its sign; then the sum */
    bit<16> b;           /* y's */
    /* Products and quotients. */
    bit<16> fraction_x;  /* of the normalised significand */
    bit<16> fraction_y;
    bit<16> exponent;    /* x's, then of the product or quotient */
    bit<16> exponent_y;
    bit<NETFC_PRODUCT_WORD> p;   /* the product or quotient; first what x's high half makes */
#ifdef NETFC_HALVES
    bit<NETFC_PRODUCT_WORD> low; /* what x's low half makes */
#endif
    bit<4> class;        /* where it is rounded */
}

/* The significand of an operand of a sum. A copy for x and one for y. */
control Align(in bit<5> code, in bit<1> sign, in bit<16> operand, inout bit<16> aligned) {
    action set(bit<16> word) {
        aligned = word;
    }

    @use_hash_action(1)
    table align {
        key = {
            code : exact @name("shift");
            sign : exact @name("negative");
            operand[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction");
        }
        actions = { set; }
        const default_action = set(0);
        size = 1 << (6 + NETFC_FRACTION_BITS);
    }

    apply {
        align.apply();
    }
}

/* The normalised significand of a factor and its exponent, subnormal numbers included. */
control Prenorm(in bit<16> operand, inout bit<16> fraction, inout bit<16> exponent) {
    action set(bit<16> significand, bit<16> power) {
        fraction = significand;
        exponent = power;
    }

    @use_hash_action(1)
    table prenorm {
        key = { operand[14:0] : exact @name("magnitude"); }
        actions = { set; }
        const default_action = set(0, 0);
        size = 32768;
    }

    apply {
        prenorm.apply();
    }
}

/*
 * All is looked up in any packet, so that nothing waits for the verdict; z is written only where
 * the packet is a request (verdict), its lengths are right (fits) and it has this lane.
 */
control Lane(in bit<1> fits, in verdict_t verdict, in bit<8> op, in bit<16> x, in bit<16> y,
             inout bit<16> z, inout lane_t lane) {
    Align() align_x;
    Align() align_y;
    Prenorm() prenorm_x;
    Prenorm() prenorm_y;

    /* ---- 0: what the exponents tell of a sum ------------------------------------------------- */

#ifdef NETFC_SIGNED_EXPS
    action set_exps(bit<5> code_x, bit<5> code_y, bit<1> effective_sign_y, bit<1> overflow,
                    bit<16> base) {
        lane.sign_y = effective_sign_y;
#else
    action set_exps(bit<5> code_x, bit<5> code_y, bit<1> overflow, bit<16> base) {
#endif
        lane.code_x = code_x;
        lane.code_y = code_y;
        lane.overflow = overflow;
        lane.base = base;
    }

    @use_hash_action(1)
    table exps {
        key = {
#ifdef NETFC_SIGNED_EXPS
            op[1:1] : exact @name("sub");
            y[15:15] : exact @name("sign_y");
#endif
            x[14:NETFC_FRACTION_BITS] : exact @name("exponent_x");
            y[14:NETFC_FRACTION_BITS] : exact @name("exponent_y");
        }
        actions = { set_exps; }
#ifdef NETFC_SIGNED_EXPS
        const default_action = set_exps(0, 0, 0, 0, 0);
        size = 1 << (2 + 2 * NETFC_EXPONENT_BITS);
#else
        const default_action = set_exps(0, 0, 0, 0);
        size = 1 << (2 * NETFC_EXPONENT_BITS);
#endif
    }

    /* ---- 1: products and quotients, or parts of them ----------------------------------------- */

#ifdef NETFC_HALVES
    action set_high(bit<NETFC_PRODUCT_WORD> word) {
        lane.p = word;
    }

    @use_hash_action(1)
    table part_high {
        key = {
            op[2:2] : exact @name("div");
            lane.fraction_x[NETFC_FRACTION_BITS - 1:NETFC_HALF_BITS] : exact @name("half");
            lane.fraction_y[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction");
        }
        actions = { set_high; }
        const default_action = set_high(0);
        size = 1 << (1 + NETFC_HALF_BITS + NETFC_FRACTION_BITS);
    }

    action set_low(bit<NETFC_PRODUCT_WORD> word) {
        lane.low = word;
    }

    @use_hash_action(1)
    table part_low {
        key = {
            op[2:2] : exact @name("div");
            lane.fraction_x[NETFC_HALF_BITS - 1:0] : exact @name("half");
            lane.fraction_y[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction");
        }
        actions = { set_low; }
        const default_action = set_low(0);
        size = 1 << (1 + NETFC_HALF_BITS + NETFC_FRACTION_BITS);
    }
#else
    action set_product(bit<NETFC_PRODUCT_WORD> word) {
        lane.p = word;
    }

    @use_hash_action(1)
    table part {
        key = {
            op[2:2] : exact @name("div");
            lane.fraction_x[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction_x");
            lane.fraction_y[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction_y");
        }
        actions = { set_product; }
        const default_action = set_product(0);
        size = 1 << (1 + 2 * NETFC_FRACTION_BITS);
    }
#endif

    action add_exponents() {
        lane.exponent = lane.exponent + lane.exponent_y;
    }

    action subtract_exponents() {
        lane.exponent = lane.exponent - lane.exponent_y;
    }

    table exponents {
        key = { op : exact; }
        actions = { add_exponents; subtract_exponents; }
        const default_action = add_exponents();
        const entries = {
            (NETFC_OP_DIV) : subtract_exponents();
        }
    }

    /* ---- 2: sums, products, quotients ------------------------------------------------------- */

    action add_parts() {
        lane.s = lane.s + lane.b;
#ifdef NETFC_HALVES
        lane.p = lane.p + lane.low;
#endif
    }

    /* ---- 2: where to round a product --------------------------------------------------------- */

    action set_class(bit<4> class, bit<16> base) {
        lane.class = class;
        lane.base = base;
    }

    @use_hash_action(1)
    table class {
        key = {
            op[2:2] : exact @name("div");
            x[15:15] : exact @name("sign_x");
            y[15:15] : exact @name("sign_y");
            lane.exponent[NETFC_EXPONENT_SUM_BITS - 1:0] : exact @name("exponent");
        }
        actions = { set_class; }
        const default_action = set_class(0, 0);
        size = 1 << (3 + NETFC_EXPONENT_SUM_BITS);
    }

    /* ---- 2: special values ------------------------------------------------------------------- */

    action compute() {
        lane.computed = 1;
    }

    action take_x() {
        z = x;
    }

    action take_y() {
        z = y;
    }

    action take_minus_y() {
        z = y ^ 0x8000;
    }

    action constant(bit<16> value, bit<4> flags) {
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

    /* ---- 3: round ---------------------------------------------------------------------------- */

    action set_norm(bit<16> word) {
        lane.offset = word;
    }

    @use_hash_action(1)
    table norm {
        key = {
            lane.overflow : exact @name("overflow");
            lane.s[NETFC_SUM_BITS - 1:0] : exact @name("sum");
        }
        actions = { set_norm; }
        const default_action = set_norm(0);
        size = 1 << (1 + NETFC_SUM_BITS);
    }

    action set_base(bit<16> base) {
        lane.base = base;
    }

    action keep() {}

    /* Sums that are subnormal or zero. */
    table subn {
        key = {
            lane.base[14:NETFC_FRACTION_BITS] : exact @name("exponent");
            lane.s[NETFC_SUM_BITS - 1:0] : exact @name("sum");
        }
        actions = { set_base; keep; }
        const default_action = keep();
        size = NETFC_SUBNORMAL_SUMS;
    }

    action set_round(bit<16> word) {
        lane.offset = word;
    }

    /* Half is rounded up here, */
    @use_hash_action(1)
    table round {
        key = {
            lane.class : exact @name("class");
            lane.p[NETFC_PRODUCT_BITS - 1:NETFC_PRODUCT_BITS - NETFC_TOP_BITS] : exact @name("top");
        }
        actions = { set_round; }
        const default_action = set_round(0);
        size = 1 << (4 + NETFC_TOP_BITS);
    }

    action lower() {
        lane.base = lane.base - 1;
    }

    /* and down again where the product is a tie and the neighbour below is even. */
    table tie {
        key = {
            lane.class : ternary @name("class");
            lane.p[NETFC_PRODUCT_BITS - 1:0] : ternary @name("product");
        }
        actions = { lower; keep; }
        const default_action = keep();
        size = NETFC_TIES;
    }

    action raise(bit<4> flags) {
        lane.flags = flags;
    }

    table sum_limits {
        key = {
            lane.overflow : ternary @name("overflow");
            lane.s[NETFC_SUM_BITS - 1:0] : ternary @name("sum");
        }
        actions = { raise; keep; }
        const default_action = keep();
        size = NETFC_DECISIONS;
    }

    table product_limits {
        key = {
            lane.class : ternary @name("class");
            lane.base[14:14] : ternary @name("large");
            lane.p[NETFC_PRODUCT_BITS - 1:0] : ternary @name("product");
        }
        actions = { raise; keep; }
        const default_action = keep();
        size = NETFC_DECISIONS;
    }

    action join() {
        z = lane.base + lane.offset;
    }

    apply {
        /* 0 and 1 */
        prenorm_x.apply(x, lane.fraction_x, lane.exponent);
        prenorm_y.apply(y, lane.fraction_y, lane.exponent_y);
        exps.apply();
#ifndef NETFC_SIGNED_EXPS
        if ((op == NETFC_OP_SUB && y[15:15] == 0) || (op != NETFC_OP_SUB && y[15:15] == 1)) {
            lane.sign_y = 1;
        }
#endif
        align_x.apply(lane.code_x, x[15:15], x, lane.s);
        align_y.apply(lane.code_y, lane.sign_y, y, lane.b);
#ifdef NETFC_HALVES
        part_high.apply();
        part_low.apply();
#else
        part.apply();
#endif
        exponents.apply();
        /* 2 */
        add_parts();
        if (op == NETFC_OP_MUL || op == NETFC_OP_DIV) {
            class.apply();
        }
        if (fits == 1 && verdict == verdict_t.COMPUTE && lane.present == 1) {
            decide.apply();
        }
        /* 3 */
        if (op == NETFC_OP_MUL || op == NETFC_OP_DIV) {
            round.apply();
            if (lane.computed == 1) {
                product_limits.apply(); /* before tie, which may lower a base of 0 */
            }
            tie.apply();
        } else if (op == NETFC_OP_ADD || op == NETFC_OP_SUB) {
            norm.apply();
            subn.apply();
            if (lane.computed == 1) {
                sum_limits.apply();
            }
        }
        /* 4 */
        if (lane.computed == 1) {
            join();
        }
    }
}

#endif
