/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pair of lanes of fp8, correctly rounded: operation and signs are one of eight kinds, and kind
 * and magnitudes index z. The pair's first lane is in the upper byte.
 */
#ifndef NETFC_LANE_FP8_P4
#define NETFC_LANE_FP8_P4

#include "constants.p4"
#include "sizes.p4"

/* What a pair carries from stage to stage. */
struct lane_t {
    bit<1> present; /* the packet has its first lane */
    bit<1> alone;   /* but not its second one */
    bit<3> kind;
    bit<3> odd_kind;
    bit<4> flags;   /* exceptions */
    bit<4> odd_flags;
}

/* What is computed with magnitudes; z has its sign from the entry. */
const bit<3> FP8_SUM = 0;
const bit<3> FP8_MINUS_SUM = 1;
const bit<3> FP8_LESS_Y = 2; /* |x| - |y| */
const bit<3> FP8_LESS_X = 3; /* |y| - |x| */
const bit<3> FP8_PRODUCT = 4;
const bit<3> FP8_MINUS_PRODUCT = 5;
const bit<3> FP8_QUOTIENT = 6;
const bit<3> FP8_MINUS_QUOTIENT = 7;

#define NETFC_BYTE Even
#define NETFC_BITS 15 : 8
#define NETFC_SIGN_BIT 15
#define NETFC_MAGNITUDE 14 : 8
#define NETFC_KIND kind
#define NETFC_FLAGS flags
#define NETFC_IS_THERE lane.present == 1
#include "byte_fp8.p4"

#define NETFC_BYTE Odd
#define NETFC_BITS 7 : 0
#define NETFC_SIGN_BIT 7
#define NETFC_MAGNITUDE 6 : 0
#define NETFC_KIND odd_kind
#define NETFC_FLAGS odd_flags
#define NETFC_IS_THERE lane.present == 1 && lane.alone == 0
#include "byte_fp8.p4"

control Lane(in bit<1> fits, in verdict_t verdict, in bit<8> op, in bit<16> x, in bit<16> y,
             inout bit<16> z, inout lane_t lane) {
    Even() even;
    Odd() odd;

    apply {
        even.apply(fits, verdict, op, x, y, z, lane);
        odd.apply(fits, verdict, op, x, y, z, lane);
    }
}

#endif
