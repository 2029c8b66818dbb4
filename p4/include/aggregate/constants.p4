/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregation's numbers; a test holds them against lib/aggregate. */
#ifndef NETFC_AGGREGATE_CONSTANTS_P4
#define NETFC_AGGREGATE_CONSTANTS_P4

@noWarn("unused")
const bit<8> AGGREGATE_JOIN = 32;
@noWarn("unused")
const bit<8> AGGREGATE_SUM = 33;
@noWarn("unused")
const bit<8> AGGREGATE_LEAVE = 40;

@noWarn("unused")
const bit<3> AGGREGATE_STATUS_CODE = 7;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_NONE = 0;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_NO_JOB = 3;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_MISMATCH = 4;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_FULL = 5;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_WINDOW = 6;

/* What a result's values are, in the place of a reason. */
@noWarn("unused")
const bit<8> AGGREGATE_ROUNDED = 0;
@noWarn("unused")
const bit<8> AGGREGATE_SUMS = 1;

/* Sums that are none: `high` of an infinity and of NaN, `low` of -infinity and where all are -0. */
@noWarn("unused")
const bit<32> AGGREGATE_SUMS_INF = 0x40000000;
@noWarn("unused")
const bit<32> AGGREGATE_SUMS_NAN = 0x60000000;
@noWarn("unused")
const bit<32> AGGREGATE_SUMS_MINUS_ZERO = 0x80000000;

/* Bytes. */
@noWarn("unused")
const bit<16> AGGREGATE_HEADER_BYTES = 24;
@noWarn("unused")
const bit<16> AGGREGATE_JOIN_BYTES = 16;

/* Of the IP header of a packet that the switch makes. */
@noWarn("unused")
const bit<8> NETFC_HOPS = 64;

#endif
