/* SPDX-License-Identifier: BSD-3-Clause */
/* int32 on v1model: what a value adds to its lane's registers, and how a sum saturates. */
#ifndef NETFC_AGGREGATE_INT32_V1MODEL_P4
#define NETFC_AGGREGATE_INT32_V1MODEL_P4

#include "headers.p4"

/* What a value adds to each register (docs/protocol.md, sums). */
control Part(in bit<32> x, out bit<32> low, out bit<32> high) {
    apply {
        low = x & 0xffff;
        high = (bit<32>)((int<32>)x >> 16);
    }
}

control Accumulate(inout bit<32> value, in bit<32> part) {
    apply {
        value = value + part;
    }
}

/* As lib/aggregate: the nearest that 32 bits have. */
@noWarn("unused")
control Round(in bit<32> low, in bit<32> high, out bit<32> z, out bit<4> flags) {
    int<48> sum;

    apply {
        sum = (int<48>)(int<32>)low + ((int<48>)(int<32>)high << 16);
        z = (bit<32>)(int<32>)sum;
        flags = 0;
        if (sum > 0x7fffffff) {
            z = 0x7fffffff;
            flags = 4;
        } else if (sum < -0x80000000) {
            z = 0x80000000;
            flags = 4;
        }
    }
}

#endif
