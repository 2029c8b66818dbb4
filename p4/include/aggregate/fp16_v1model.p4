/* SPDX-License-Identifier: BSD-3-Clause */
/* fp16 on v1model: what a value adds to its lane's registers, and how a sum is rounded. */
#ifndef NETFC_AGGREGATE_FP16_V1MODEL_P4
#define NETFC_AGGREGATE_FP16_V1MODEL_P4

#define NETFC_FRACTION 10
#define NETFC_SIGN 0x8000
#define NETFC_TOO_LARGE 0x7c00
#define NETFC_TOO_LARGE_SIGN NETFC_SIGN

#include "float_v1model.p4"

/* What a value adds to each register (docs/protocol.md, sums). */
control Part(in bit<16> x, out bit<32> low, out bit<32> high) {
    bit<32> significand;

    apply {
        low = 0;
        high = 0;
        significand = (bit<32>)x[9:0];
        if (x[14:10] == 31) {
            if (x[9:0] != 0) {
                high = AGGREGATE_SUMS_NAN;
            } else if (x[15:15] == 1) {
                low = AGGREGATE_SUMS_INF;
            } else {
                high = AGGREGATE_SUMS_INF;
            }
        } else if (x == 0x8000) {
            low = AGGREGATE_SUMS_MINUS_ZERO;
        } else {
            if (x[14:10] != 0) {
                significand = significand | 0x400;
            }
            if (x[15:15] == 1) {
                significand = 0 - significand;
            }
            if (x[14:14] == 1) {
                high = significand << (bit<8>)x[13:10];
            } else if (x[13:10] != 0) {
                low = significand << ((bit<8>)x[13:10] - 1);
            } else {
                low = significand;
            }
        }
    }
}

@noWarn("unused")
control Round(in bit<32> low, in bit<32> high, out bit<16> z, out bit<4> flags) {
    Nearest() nearest;

    apply {
        flags = 0;
        if ((int<32>)high >= (int<32>)AGGREGATE_SUMS_NAN) {
            z = 0x7e00;
        } else if ((int<32>)high >= (int<32>)AGGREGATE_SUMS_INF) {
            z = 0x7c00;
            if ((int<32>)low >= (int<32>)AGGREGATE_SUMS_INF) {
                z = 0x7e00;
                flags = 1;
            }
        } else if ((int<32>)low >= (int<32>)AGGREGATE_SUMS_INF) {
            z = 0xfc00;
        } else if (low == AGGREGATE_SUMS_MINUS_ZERO) {
            z = 0x8000;
        } else {
            nearest.apply((bit<48>)(int<48>)(int<32>)low + ((bit<48>)(int<48>)(int<32>)high << 15),
                          z, flags);
        }
    }
}

#endif
