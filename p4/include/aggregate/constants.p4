/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregation's numbers; a test holds them against lib/aggregate. */
#ifndef NETFC_AGGREGATE_CONSTANTS_P4
#define NETFC_AGGREGATE_CONSTANTS_P4

const bit<8> AGGREGATE_JOIN = 32;
const bit<8> AGGREGATE_SUM = 33;
const bit<8> AGGREGATE_LEAVE = 40;

const bit<3> AGGREGATE_STATUS_CODE = 7;
const bit<8> AGGREGATE_REASON_NONE = 0;
const bit<8> AGGREGATE_REASON_NO_JOB = 3;
const bit<8> AGGREGATE_REASON_MISMATCH = 4;
const bit<8> AGGREGATE_REASON_FULL = 5;
const bit<8> AGGREGATE_REASON_WINDOW = 6;

/* What a result's values are, in the place of a reason. */
const bit<8> AGGREGATE_ROUNDED = 0;
const bit<8> AGGREGATE_SUMS = 1;

/* Sums that are none: `high` of an infinity and of NaN, `low` of -infinity and where all are -0. */
const bit<32> AGGREGATE_SUMS_INF = 0x40000000;
const bit<32> AGGREGATE_SUMS_NAN = 0x60000000;
const bit<32> AGGREGATE_SUMS_MINUS_ZERO = 0x80000000;

/* Bytes. */
const bit<16> AGGREGATE_HEADER_BYTES = 24;
const bit<16> AGGREGATE_JOIN_BYTES = 16;

/* Of the IP header of a packet that the switch makes. */
const bit<8> NETFC_HOPS = 64;

#endif
