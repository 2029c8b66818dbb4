/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be chosen when an aggregating program is compiled, and the sizes that follow from it.
 *
 * -DNETFC_FORMAT=1    what values are: 1 fp16, 6 int32, 8 fp8_e4m3
 * -DNETFC_LANES=8     values in a chunk, 1 to 32, of fp8_e4m3 a multiple of 4 up to 64; docs/p4.md
 *                     has what a chip holds
 * -DNETFC_SLOTS=256   chunks of a job in flight, a power of two
 * -DNETFC_JOBS=16     jobs
 * -DNETFC_SUMS        v1model: send sums and leave rounding to the workers, as TNA does
 * -DNETFC_LEAF        jobs may have a switch above this one, which rounds: with sums, not results
 */
#ifndef NETFC_AGGREGATE_SIZES_P4
#define NETFC_AGGREGATE_SIZES_P4

#include "../each.p4"

#ifndef NETFC_FORMAT
#define NETFC_FORMAT 1
#endif
#ifndef NETFC_LANES
#define NETFC_LANES 8
#endif
#ifndef NETFC_SLOTS
#define NETFC_SLOTS 256
#endif
#ifndef NETFC_JOBS
#define NETFC_JOBS 16
#endif

#define NETFC_FP16 1
#define NETFC_INT32 6
#define NETFC_FP8_E4M3 8

#if NETFC_FORMAT != NETFC_FP16 && NETFC_FORMAT != NETFC_INT32 && NETFC_FORMAT != NETFC_FP8_E4M3
#error "NETFC_FORMAT is 1 (fp16), 6 (int32) or 8 (fp8_e4m3)"
#endif
/* A field is a value with its sum in two integers, or two of fp8_e4m3, each with its sum in one. */
#if NETFC_FORMAT == NETFC_FP8_E4M3
#if NETFC_LANES < 4 || NETFC_LANES > 64 || NETFC_LANES % 4 != 0
#error "NETFC_LANES of fp8_e4m3 is a multiple of 4 up to 64"
#endif
#define NETFC_FIELDS NETFC_HALF(NETFC_LANES)
#else
#if NETFC_LANES < 1 || NETFC_LANES > 32
#error "NETFC_LANES is 1 to 32"
#endif
#define NETFC_FIELDS NETFC_LANES
#endif
#if NETFC_SLOTS < 1 || NETFC_SLOTS > 16384 || (NETFC_SLOTS & (NETFC_SLOTS - 1)) != 0
#error "NETFC_SLOTS is a power of two, up to 16384"
#endif
#if NETFC_JOBS < 1 || NETFC_JOBS > 64
#error "NETFC_JOBS is 1 to 64"
#endif

#if defined(NETFC_TNA) || defined(NETFC_LEAF)
#define NETFC_SUMS
#endif

/* Whose sums fit two integers of 32 bits: as many as lib/aggregate/include/aggregate_registers.h has. */
#define NETFC_WORKERS 32

/* A slot has two entries, for a chunk and for that of the next round. */
#define NETFC_JOB_ENTRIES (2 * NETFC_SLOTS)
#define NETFC_ENTRIES (NETFC_JOBS * NETFC_JOB_ENTRIES)
#if defined(NETFC_TNA) && NETFC_ENTRIES > 65536
#error "TNA has 65536 entries, 2 * NETFC_JOBS * NETFC_SLOTS, at the most"
#endif
#define NETFC_MEMBERS (NETFC_JOBS * NETFC_WORKERS)
#ifdef NETFC_LEAF
/* Of a job with a parent: each worker's, before and after it is joined; three for all. */
#define NETFC_STRANGERS (NETFC_JOBS * (2 * NETFC_WORKERS + 3))
#else
#define NETFC_STRANGERS (NETFC_JOBS * (NETFC_WORKERS + 2))
#endif
/* A parent's ports and operations, and where a job's sums go: the first time, and again. */
#define NETFC_PARENTS (NETFC_JOBS * 2 * 64)
#define NETFC_UPLINKS (NETFC_JOBS * 2)
#if NETFC_FORMAT == NETFC_INT32
#define NETFC_VALUE_BITS 32
#define NETFC_VALUES_BYTES (4 * NETFC_FIELDS)
#else
#define NETFC_VALUE_BITS 16
#define NETFC_VALUES_BYTES (2 * NETFC_FIELDS)
#endif
#define NETFC_SUMS_BYTES (8 * NETFC_FIELDS)
/* A part of exact sums has a mark for each value that may be no number. */
#if NETFC_FORMAT == NETFC_INT32
#define NETFC_MARKS_BYTES 0
#define NETFC_PART_WIDTH 2
#elif NETFC_FORMAT == NETFC_FP8_E4M3
#define NETFC_MARKS_BYTES NETFC_LANES
#define NETFC_PART_WIDTH (AGGREGATE_HAS_MARKS + 1)
#else
#define NETFC_MARKS_BYTES NETFC_LANES
#define NETFC_PART_WIDTH (AGGREGATE_HAS_MARKS + 2)
#endif
#define NETFC_PART_BYTES (AGGREGATE_PART_BYTES + NETFC_SUMS_BYTES + NETFC_MARKS_BYTES)

/* What the last of the entries names: layout (4 sums, 5 results), format, lanes. */
#ifdef NETFC_SUMS
#define NETFC_PROGRAM ((4 << 12) + (NETFC_FORMAT << 8) + NETFC_LANES)
#else
#define NETFC_PROGRAM ((5 << 12) + (NETFC_FORMAT << 8) + NETFC_LANES)
#endif
#define NETFC_PROGRAMS 16
#define NETFC_REQUESTS 32
#define NETFC_HOSTS 1024

/* NETFC_EACH_LANE(m): m(0) m(1) ... for all fields. */
#define NETFC_EACH_LANE(m) NETFC_FIRST(NETFC_FIELDS)(m)

#endif
