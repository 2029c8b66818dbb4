/* SPDX-License-Identifier: BSD-3-Clause */
/* One lane of a pair of fp8. lane_fp8.p4 includes it for each of the two. */
control NETFC_BYTE(in bit<1> fits, in verdict_t verdict, in bit<8> op, in bit<16> x, in bit<16> y,
                   inout bit<16> z, inout lane_t lane) {
    action set_kind(bit<3> kind) {
        lane.NETFC_KIND = kind;
    }

    table kinds {
        key = {
            op : exact;
            x[NETFC_SIGN_BIT:NETFC_SIGN_BIT] : exact;
            y[NETFC_SIGN_BIT:NETFC_SIGN_BIT] : exact;
        }
        actions = { set_kind; }
        const default_action = set_kind(FP8_SUM);
        const entries = {
            (NETFC_OP_ADD, 0, 1) : set_kind(FP8_LESS_Y);
            (NETFC_OP_ADD, 1, 0) : set_kind(FP8_LESS_X);
            (NETFC_OP_ADD, 1, 1) : set_kind(FP8_MINUS_SUM);
            (NETFC_OP_SUB, 0, 0) : set_kind(FP8_LESS_Y);
            (NETFC_OP_SUB, 1, 0) : set_kind(FP8_MINUS_SUM);
            (NETFC_OP_SUB, 1, 1) : set_kind(FP8_LESS_X);
            (NETFC_OP_MUL, 0, 0) : set_kind(FP8_PRODUCT);
            (NETFC_OP_MUL, 0, 1) : set_kind(FP8_MINUS_PRODUCT);
            (NETFC_OP_MUL, 1, 0) : set_kind(FP8_MINUS_PRODUCT);
            (NETFC_OP_MUL, 1, 1) : set_kind(FP8_PRODUCT);
            (NETFC_OP_DIV, 0, 0) : set_kind(FP8_QUOTIENT);
            (NETFC_OP_DIV, 0, 1) : set_kind(FP8_MINUS_QUOTIENT);
            (NETFC_OP_DIV, 1, 0) : set_kind(FP8_MINUS_QUOTIENT);
            (NETFC_OP_DIV, 1, 1) : set_kind(FP8_QUOTIENT);
        }
    }

    action result(bit<8> value, bit<4> flags) {
        z[NETFC_BITS] = value;
        lane.NETFC_FLAGS = flags;
    }

    @use_hash_action(1)
    table results {
        key = {
            lane.NETFC_KIND : exact @name("kind");
            x[NETFC_MAGNITUDE] : exact @name("magnitude_x");
            y[NETFC_MAGNITUDE] : exact @name("magnitude_y");
        }
        actions = { result; }
        const default_action = result(0, 0);
        size = NETFC_FP8_RESULTS;
    }

    /* z is written where the packet is a request whose lengths are right, and has this lane. */
    apply {
        kinds.apply();
        if (fits == 1 && verdict == verdict_t.COMPUTE && NETFC_IS_THERE) {
            results.apply();
        }
    }
}

#undef NETFC_BYTE
#undef NETFC_BITS
#undef NETFC_SIGN_BIT
#undef NETFC_MAGNITUDE
#undef NETFC_KIND
#undef NETFC_FLAGS
#undef NETFC_IS_THERE
