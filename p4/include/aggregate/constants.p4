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
@noWarn("unused")
const bit<8> AGGREGATE_REASON_PLACE = 11;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_NO_PARENT = 12;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_PARENT = 13;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_TAKEN = 14;
@noWarn("unused")
const bit<8> AGGREGATE_REASON_DIGITS = 15;
@noWarn("unused")
const bit<8> AGGREGATE_MISSING = 64;

/* What a chunk's values are, in the place of a reason, and a flag of a part's width. */
@noWarn("unused")
const bit<8> AGGREGATE_DIGITS = 0x80;
@noWarn("unused")
const bit<8> AGGREGATE_HAS_MARKS = 0x80;

/* Of a lane of digits; beside them its digits are 0. */
@noWarn("unused")
const bit<8> AGGREGATE_MARK_NAN = 1;
@noWarn("unused")
const bit<8> AGGREGATE_MARK_PLUS_INF = 2;
@noWarn("unused")
const bit<8> AGGREGATE_MARK_MINUS_INF = 4;
@noWarn("unused")
const bit<8> AGGREGATE_MARK_MINUS_ZERO = 8;

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
const bit<16> AGGREGATE_JOIN_BYTES = 24;
@noWarn("unused")
const bit<16> AGGREGATE_PLACE_BYTES = 12;
@noWarn("unused")
const bit<8> AGGREGATE_MAX_LEVELS = 4;
@noWarn("unused")
const bit<16> AGGREGATE_PART_BYTES = 8;

/* Of the IP header of a packet that the switch makes. */
@noWarn("unused")
const bit<8> NETFC_HOPS = 64;

#endif
