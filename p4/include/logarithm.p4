/* SPDX-License-Identifier: BSD-3-Clause */
/* k * log2 |operand| as a log word. A copy for x and one for y: a table is looked up once a pass. */
#ifndef NETFC_LOGARITHM_P4
#define NETFC_LOGARITHM_P4

#ifdef NETFC_SPLIT

/* log(2^e * 1.f) = e * k + log(1.f); subnormal numbers, whose e is 0, have a table of their own. */
#define NETFC_LOGARITHM(Name, field, scaled)                                              \
control Name(in bit<16> operand, inout lane_t lane) {                                     \
    action set(bit<16> word) {                                                            \
        lane.field = (int<16>)word;                                                       \
    }                                                                                     \
    action set_exponent(bit<16> word) {                                                   \
        lane.scaled = (int<16>)word;                                                      \
    }                                                                                     \
    @use_hash_action(1)                                                                   \
    table fraction {                                                                      \
        key = { operand[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction"); }           \
        actions = { set; }                                                                \
        const default_action = set(0);                                                    \
        size = 1 << NETFC_FRACTION_BITS;                                                  \
    }                                                                                     \
    @use_hash_action(1)                                                                   \
    table subnormal {                                                                     \
        key = { operand[NETFC_FRACTION_BITS - 1:0] : exact @name("fraction"); }           \
        actions = { set; }                                                                \
        const default_action = set(0);                                                    \
        size = 1 << NETFC_FRACTION_BITS;                                                  \
    }                                                                                     \
    @use_hash_action(1)                                                                   \
    table exponent {                                                                      \
        key = { operand[14:NETFC_FRACTION_BITS] : exact @name("exponent"); }              \
        actions = { set_exponent; }                                                       \
        const default_action = set_exponent(0);                                           \
        size = 1 << (15 - NETFC_FRACTION_BITS);                                           \
    }                                                                                     \
    apply {                                                                               \
        if (operand[14:NETFC_FRACTION_BITS] == 0) {                                       \
            subnormal.apply();                                                            \
        } else {                                                                          \
            fraction.apply();                                                             \
        }                                                                                 \
        exponent.apply();                                                                 \
        lane.field = lane.field + lane.scaled;                                            \
    }                                                                                     \
}

NETFC_LOGARITHM(LogarithmX, i, exponent_x)
NETFC_LOGARITHM(LogarithmY, j, exponent_y)

#else

#ifdef NETFC_POSIT
#define NETFC_LOG_HIGH 15
#else
#define NETFC_LOG_HIGH 14
#endif

#define NETFC_LOGARITHM(Name, field)                                                          \
control Name(in bit<16> operand, inout lane_t lane) {                                         \
    action set(bit<16> word) {                                                                \
        lane.field = (int<16>)word;                                                           \
    }                                                                                         \
    @use_hash_action(1)                                                                       \
    table log {                                                                               \
        key = { operand[NETFC_LOG_HIGH:0] : exact @name("operand"); }                         \
        actions = { set; }                                                                    \
        const default_action = set(0);                                                        \
        size = NETFC_LOG_SIZE;                                                                \
    }                                                                                         \
    apply {                                                                                   \
        log.apply();                                                                          \
    }                                                                                         \
}

NETFC_LOGARITHM(LogarithmX, i)
NETFC_LOGARITHM(LogarithmY, j)

#endif
#endif
