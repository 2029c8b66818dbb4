/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floating-point formats on v1model: how a register adds up, and how a sum is rounded. Who includes
 * this file says what the format is: NETFC_FRACTION bits, NETFC_SIGN, NETFC_TOO_LARGE, which has a sign
 * or none (NETFC_TOO_LARGE_SIGN).
 */
#ifndef NETFC_AGGREGATE_FLOAT_V1MODEL_P4
#define NETFC_AGGREGATE_FLOAT_V1MODEL_P4

#include "headers.p4"

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

/* A sum of units to the nearest, ties to even: as lib/aggregate/sums/registers.c, to the last bit. */
@noWarn("unused")
control Nearest(in bit<48> sum, out bit<16> z, out bit<4> flags) {
    bit<48> magnitude;
    bit<48> quotient;
    bit<48> rest;
    bit<48> half;
    bit<8> shift;
    bit<16> sign;

    /* One step of finding the shift with which a significand is left. */
#define NETFC_STEP(k)                              \
    if ((quotient >> (NETFC_FRACTION + k)) != 0) { \
        quotient = quotient >> k;                  \
        shift = shift + k;                         \
    }

    apply {
        flags = 0;
        sign = 0;
        shift = 0;
        magnitude = sum;
        if (sum[47:47] == 1) {
            magnitude = 0 - sum;
            sign = NETFC_SIGN;
        }
        quotient = magnitude;
        NETFC_STEP(32)
        NETFC_STEP(16)
        NETFC_STEP(8)
        NETFC_STEP(4)
        NETFC_STEP(2)
        NETFC_STEP(1)
        rest = magnitude - (quotient << shift);
        half = ((bit<48>)1 << shift) >> 1;
        z = ((bit<16>)shift << NETFC_FRACTION) + quotient[15:0];
        if (shift != 0 && (rest > half || (rest == half && z[0:0] == 1))) {
            z = z + 1;
        }
        if (z >= NETFC_TOO_LARGE) {
            z = NETFC_TOO_LARGE;
            sign = sign & NETFC_TOO_LARGE_SIGN;
            flags = 4;
        }
        z = z | sign;
    }
}

#endif
