/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lane, z = x (op) y, by look-ups and integer additions (docs/how-it-works.md). Stages are
 * those of the direct layout; the compact one needs one more for logarithms and one more for
 * powers.
 */
#ifndef NETFC_LANE_P4
#define NETFC_LANE_P4

#include "constants.p4"
#include "sizes.p4"

/* What a lane carries from stage to stage. Log words are int<16>: their sums saturate. */
struct lane_t {
    bit<1> present;        /* the packet has this lane */
    int<16> i;             /* log of |x|, times k; then of |z| */
    int<16> j;             /* log of |y| */
    int<16> theta;         /* j - i */
    int<16> base;          /* compact: the larger of i and j */
    int<16> m;
    bit<16> magnitude_y;
    bit<16> difference;    /* |x|, then |x| - |y|: its sign and whether it is zero matter */
    bit<1> differ;         /* x and y, negated for sub, have different signs */
    bit<1> computed;       /* z comes of n */
    bit<1> negative;       /* and has this sign */
    bit<4> flags;          /* exceptions */
    /* Compact layout: exponent and fraction, apart. */
    int<16> exponent_x;
    int<16> exponent_y;
    bit<16> fraction;
    bit<16> subnormal;
    bit<2> kind;
}

#include "logarithm.p4"
#include "power.p4"

/* The miTable (paper, section III.B): m by theta, a half for equal and one for differing signs. */
control Mi(in bit<1> differ, in int<16> theta, inout int<16> m) {
    action set(bit<16> word) {
        m = (int<16>)word;
    }

#ifdef NETFC_COMPACT
    table mi {
        key = {
            differ : exact @name("differ");
            theta : lpm @name("theta");
        }
        actions = { set; }
        const default_action = set(0);
        size = NETFC_MI_PREFIXES;
    }
#else
    @use_hash_action(1)
    table mi {
        key = {
            differ : exact @name("differ");
            theta[NETFC_THETA_HIGH:0] : exact @name("theta");
        }
        actions = { set; }
        const default_action = set(0);
        size = NETFC_MI_SIZE;
    }
#endif

    apply {
        mi.apply();
    }
}

/*
 * All is looked up in any packet, so that nothing waits for the verdict; z is written only where
 * the packet is a request (verdict), its lengths are right (fits) and it has this lane.
 */
control Lane(in bit<1> fits, in verdict_t verdict, in bit<8> op, in bit<16> x, in bit<16> y,
             inout bit<16> z, inout lane_t lane) {
    LogarithmX() log_x;
    LogarithmY() log_y;
    Mi() mi;
    Power() power;

    /* ---- signs and magnitudes ---------------------------------------------------------------- */

    action signs_differ() {
        lane.differ = 1;
    }

    action signs_agree() {
        lane.differ = 0;
    }

    table differ {
        key = {
            op : exact;
            x[15:15] : exact;
            y[15:15] : exact;
        }
        actions = { signs_differ; signs_agree; }
        const default_action = signs_agree();
        const entries = {
            (NETFC_OP_ADD, 0, 1) : signs_differ();
            (NETFC_OP_ADD, 1, 0) : signs_differ();
            (NETFC_OP_SUB, 0, 0) : signs_differ();
            (NETFC_OP_SUB, 1, 1) : signs_differ();
        }
    }

#ifndef NETFC_POSIT
    action strip_signs() {
        lane.difference = x & 0x7fff;
        lane.magnitude_y = y & 0x7fff;
    }

#endif
    action subtract_magnitudes() {
        lane.difference = lane.difference - lane.magnitude_y;
    }

    /* ---- theta ------------------------------------------------------------------------------- */

#ifdef NETFC_COMPACT
    action x_is_larger() {
        lane.theta = lane.j |-| lane.i;
        lane.base = lane.i;
    }

    action y_is_larger() {
        lane.theta = lane.i |-| lane.j;
        lane.base = lane.j;
    }

    /* Only half of the miTable is needed if the larger operand comes first. */
    table order {
        key = {
            lane.difference[15:15] : exact;
        }
        actions = { x_is_larger; y_is_larger; }
        const default_action = x_is_larger();
        const entries = {
            (1) : y_is_larger();
        }
    }
#endif

    /* ---- the decision table, with special values and the guard ------------------------------- */

    action compute(bit<1> sign) {
        lane.computed = 1;
        lane.negative = sign;
    }

    action take_x() {
        z = x;
    }

    action take_y() {
        z = y;
    }

    action take_minus_y() {
#ifdef NETFC_POSIT
        z = 0 - y;
#else
        z = y ^ 0x8000;
#endif
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
            lane.difference : ternary @name("difference");
            lane.theta : ternary @name("theta");
        }
        actions = { compute; take_x; take_y; take_minus_y; constant; }
        const default_action = take_x();
        size = NETFC_DECISIONS;
    }

    /* ---- n, in the place of i ----------------------------------------------------------------- */

    action sum() {
#ifdef NETFC_COMPACT
        lane.i = lane.base |+| lane.m;
#else
        lane.i = lane.i |+| lane.m;
#endif
    }

    action product() {
        lane.i = lane.i |+| lane.j;
    }

    action quotient() {
        lane.i = lane.i |-| lane.j;
    }

    table add {
        key = {
            op : exact;
        }
        actions = { sum; product; quotient; }
        const default_action = sum();
        const entries = {
            (NETFC_OP_MUL) : product();
            (NETFC_OP_DIV) : quotient();
        }
    }

    /* ---- the ends of the range --------------------------------------------------------------- */

#ifndef NETFC_POSIT
    action raise(bit<4> flags) {
        lane.flags = flags;
    }

    action nothing() {}

    table limits {
        key = {
            lane.i : ternary @name("n");
        }
        actions = { raise; nothing; }
        const default_action = nothing();
        size = NETFC_RANGES;
    }
#endif

    apply {
        /* 0 */
        log_x.apply(x, lane);
        log_y.apply(y, lane);
        differ.apply();
#ifdef NETFC_POSIT
        if (x[15:15] == 1) {
            lane.difference = 0 - x;
        } else {
            lane.difference = x;
        }
        if (y[15:15] == 1) {
            lane.magnitude_y = 0 - y;
        } else {
            lane.magnitude_y = y;
        }
#else
        strip_signs();
#endif
        /* 1 */
        subtract_magnitudes();
#ifdef NETFC_COMPACT
        order.apply();
#else
        lane.theta = lane.j |-| lane.i;
#endif
        /* 2 */
        mi.apply(lane.differ, lane.theta, lane.m);
        if (fits == 1 && verdict == verdict_t.COMPUTE && lane.present == 1) {
            decide.apply();
        }
        /* 3 */
        add.apply();
        /* 4 */
        if (lane.computed == 1) {
            power.apply(lane.i, z, lane);
#ifndef NETFC_POSIT
            limits.apply();
#endif
        }
    }
}

#endif
