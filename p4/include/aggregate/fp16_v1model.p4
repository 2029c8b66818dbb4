/* SPDX-License-Identifier: BSD-3-Clause */
/* fp16 on v1model: what a value adds to its lane's registers, and how a sum is rounded. */
#ifndef NETFC_AGGREGATE_FP16_V1MODEL_P4
#define NETFC_AGGREGATE_FP16_V1MODEL_P4

#include "headers.p4"

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

/* What a stateful unit does: nothing for -0, the greater for what is no number, else a sum. */
control Accumulate(inout bit<32> value, in bit<32> part) {
    apply {
        if (part != AGGREGATE_SUMS_MINUS_ZERO) {
            if ((int<32>)part >= (int<32>)AGGREGATE_SUMS_INF) {
                if ((int<32>)part > (int<32>)value) {
                    value = part;
                }
            } else if (value == AGGREGATE_SUMS_MINUS_ZERO) {
                value = part;
            } else if ((int<32>)value < (int<32>)AGGREGATE_SUMS_INF) {
                value = value + part;
            }
        }
    }
}

/* A sum to the nearest fp16, ties to even: as lib/aggregate/sums.c, to the last bit. */
@noWarn("unused")
control Round(in bit<32> low, in bit<32> high, out bit<16> z, out bit<4> flags) {
    bit<48> sum;
    bit<48> quotient;
    bit<48> rest;
    bit<48> half;
    bit<8> shift;
    bit<16> sign;

    /* One step of finding the shift with which 11 bits are left. */
#define NETFC_STEP(k)                      \
    if ((quotient >> (10 + k)) != 0) {     \
        quotient = quotient >> k;          \
        shift = shift + k;                 \
    }

    apply {
        flags = 0;
        sign = 0;
        shift = 0;
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
            sum = (bit<48>)(int<48>)(int<32>)low + ((bit<48>)(int<48>)(int<32>)high << 15);
            if (sum[47:47] == 1) {
                sum = 0 - sum;
                sign = 0x8000;
            }
            quotient = sum;
            NETFC_STEP(32)
            NETFC_STEP(16)
            NETFC_STEP(8)
            NETFC_STEP(4)
            NETFC_STEP(2)
            NETFC_STEP(1)
            rest = sum - (quotient << shift);
            half = ((bit<48>)1 << shift) >> 1;
            z = ((bit<16>)shift << 10) + quotient[15:0];
            if (shift != 0 && (rest > half || (rest == half && z[0:0] == 1))) {
                z = z + 1;
            }
            if (z >= 0x7c00) {
                z = 0x7c00;
                flags = 4;
            }
            z = z | sign;
        }
    }
}

#endif
