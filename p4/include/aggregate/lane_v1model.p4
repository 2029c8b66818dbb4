/* SPDX-License-Identifier: BSD-3-Clause */
/* A field of v1model: a value, and its sum in two registers, or two values with one each. */
#ifndef NETFC_AGGREGATE_LANE_V1MODEL_P4
#define NETFC_AGGREGATE_LANE_V1MODEL_P4

#include "headers.p4"
#if NETFC_FORMAT == NETFC_INT32
#include "int32_v1model.p4"
#elif NETFC_FORMAT == NETFC_FP8_E4M3
#include "e4m3_v1model.p4"
#else
#include "fp16_v1model.p4"
#endif

control Lane(in command_t command, in bit<32> index, in bit<NETFC_VALUE_BITS> x, out bit<32> low,
             out bit<32> high) {
    register<bit<32>>(NETFC_ENTRIES) lows;
    register<bit<32>>(NETFC_ENTRIES) highs;
    Part() part;
    Accumulate() accumulate_low;
    Accumulate() accumulate_high;
    bit<32> part_low;
    bit<32> part_high;

    apply {
        part.apply(x, part_low, part_high);
        lows.read(low, index);
        highs.read(high, index);
        if (command == command_t.SET) {
            low = part_low;
            high = part_high;
        } else if (command == command_t.ADD) {
            accumulate_low.apply(low, part_low);
            accumulate_high.apply(high, part_high);
        }
        if (command != command_t.READ) {
            lows.write(index, low);
            highs.write(index, high);
        }
    }
}

#endif
