/* SPDX-License-Identifier: BSD-3-Clause */
/* Two values of fp8_e4m3 on v1model: what each adds to its register, and how its sum is rounded. */
#ifndef NETFC_AGGREGATE_E4M3_V1MODEL_P4
#define NETFC_AGGREGATE_E4M3_V1MODEL_P4

#define NETFC_FRACTION 3
#define NETFC_SIGN 0x80
#define NETFC_TOO_LARGE 0x7f
#define NETFC_TOO_LARGE_SIGN 0

#include "float_v1model.p4"

/* What a value adds (docs/protocol.md, sums). */
control PartOfByte(in bit<8> x, out bit<32> part) {
    apply {
        part = (bit<32>)x[2:0];
        if (x[6:0] == 0x7f) {
            part = AGGREGATE_SUMS_NAN;
        } else if (x == 0x80) {
            part = AGGREGATE_SUMS_MINUS_ZERO;
        } else {
            if (x[6:3] != 0) {
                part = (part | 8) << ((bit<8>)x[6:3] - 1);
            }
            if (x[7:7] == 1) {
                part = 0 - part;
            }
        }
    }
}

control Part(in bit<16> x, out bit<32> low, out bit<32> high) {
    PartOfByte() even;
    PartOfByte() odd;

    apply {
        even.apply(x[15:8], low);
        odd.apply(x[7:0], high);
    }
}

@noWarn("unused")
control RoundByte(in bit<32> sum, out bit<16> z, out bit<4> flags) {
    Nearest() nearest;

    apply {
        flags = 0;
        if ((int<32>)sum >= (int<32>)AGGREGATE_SUMS_INF) {
            z = 0x7f;
        } else if (sum == AGGREGATE_SUMS_MINUS_ZERO) {
            z = 0x80;
        } else {
            nearest.apply((bit<48>)(int<48>)(int<32>)sum, z, flags);
        }
    }
}

@noWarn("unused")
control Round(in bit<32> low, in bit<32> high, out bit<16> z, out bit<4> flags) {
    RoundByte() even;
    RoundByte() odd;
    bit<16> second;
    bit<4> more;

    apply {
        even.apply(low, z, flags);
        odd.apply(high, second, more);
        z = z[7:0] ++ second[7:0];
        flags = flags | more;
    }
}

#endif
