/* SPDX-License-Identifier: BSD-3-Clause */
/* z = 2^(n/k), with its sign (the paper's expTable). */
#ifndef NETFC_POWER_P4
#define NETFC_POWER_P4

#ifdef NETFC_SPLIT

/*
 * 2^(n/k) = 2^q * 2^(r/k), n = q * k + r: z is a base by q and the sign, and what r adds. Subnormal
 * results, whose fraction is shifted, have a table of their own.
 */
control Power(in int<16> n, inout bit<16> z, inout lane_t lane) {
    action set_fraction(bit<16> word) {
        lane.fraction = word;
    }

    @use_hash_action(1)
    table fraction {
        key = { n[NETFC_SCALE_BITS - 1:0] : exact @name("remainder"); }
        actions = { set_fraction; }
        const default_action = set_fraction(0);
        size = 1 << NETFC_SCALE_BITS;
    }

    action set_subnormal(bit<16> word) {
        lane.subnormal = word;
    }

    @use_hash_action(1)
    table subnormal {
        key = { n[NETFC_SUBNORMAL_BITS - 1:0] : exact @name("n"); }
        actions = { set_subnormal; }
        const default_action = set_subnormal(0);
        size = 1 << NETFC_SUBNORMAL_BITS;
    }

    action normal(bit<16> base) {
        z = base;
        lane.kind = 1;
    }

    action small(bit<16> base) {
        z = base;
        lane.kind = 2;
    }

    action fixed(bit<16> base) {
        z = base;
        lane.kind = 0;
    }

    table scale {
        key = {
            lane.negative : ternary @name("negative");
            n[15:NETFC_SCALE_BITS] : ternary @name("exponent");
        }
        actions = { normal; small; fixed; }
        const default_action = fixed(0);
        size = NETFC_SCALES;
    }

    action add_fraction() {
        z = z + lane.fraction;
    }

    action add_subnormal() {
        z = z + lane.subnormal;
    }

    action nothing() {}

    table join {
        key = { lane.kind : exact; }
        actions = { add_fraction; add_subnormal; nothing; }
        const default_action = nothing();
        const entries = {
            (1) : add_fraction();
            (2) : add_subnormal();
        }
    }

    apply {
        fraction.apply();
        subnormal.apply();
        scale.apply();
        join.apply();
    }
}

#else

control Power(in int<16> n, inout bit<16> z, inout lane_t lane) {
    action set(bit<16> word) {
        z = word;
    }

    @use_hash_action(1)
    table exp {
        key = {
            lane.negative : exact @name("negative");
            n : exact @name("n");
        }
        actions = { set; }
        const default_action = set(0);
        size = NETFC_EXP_SIZE;
    }

    apply {
        exp.apply();
    }
}

#endif
#endif
