/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of one number, z = f(x): a table for each, which x indexes, in each lane. Which
 * functions they are, and their numbers, comes with the entries (netfc-p4 --functions).
 */
#ifndef NETFC_FUNCTIONS_P4
#define NETFC_FUNCTIONS_P4

#include "constants.p4"
#include "sizes.p4"

/* One for each function but the first. */
#if NETFC_FUNCTIONS >= 2
#define NETFC_FUNCTION2(...) __VA_ARGS__
#else
#define NETFC_FUNCTION2(...)
#endif
#if NETFC_FUNCTIONS >= 3
#define NETFC_FUNCTION3(...) __VA_ARGS__
#else
#define NETFC_FUNCTION3(...)
#endif
#if NETFC_FUNCTIONS >= 4
#define NETFC_FUNCTION4(...) __VA_ARGS__
#else
#define NETFC_FUNCTION4(...)
#endif
#if NETFC_FUNCTIONS >= 5
#define NETFC_FUNCTION5(...) __VA_ARGS__
#else
#define NETFC_FUNCTION5(...)
#endif
#if NETFC_FUNCTIONS >= 6
#define NETFC_FUNCTION6(...) __VA_ARGS__
#else
#define NETFC_FUNCTION6(...)
#endif
#if NETFC_FUNCTIONS >= 7
#define NETFC_FUNCTION7(...) __VA_ARGS__
#else
#define NETFC_FUNCTION7(...)
#endif
#if NETFC_FUNCTIONS >= 8
#define NETFC_FUNCTION8(...) __VA_ARGS__
#else
#define NETFC_FUNCTION8(...)
#endif

#define NETFC_FUNCTION_TABLE(n)             \
    @use_hash_action(1)                     \
    table f##n {                            \
        key = { x : exact @name("x"); }     \
        actions = { result; }               \
        const default_action = result(0, 0); \
        size = NETFC_FUNCTION_SIZE;         \
    }

#define NETFC_OR_FUNCTION(n) else if (function == n) { f##n.apply(); }

control FunctionLane(in bit<1> fits, in bit<4> function, in bit<16> x, inout bit<16> z,
                     inout lane_t lane) {
    action result(bit<16> value, bit<4> flags) {
        z = value;
        lane.flags = flags;
    }

    NETFC_FUNCTION_TABLE(1)
    NETFC_FUNCTION2(NETFC_FUNCTION_TABLE(2))
    NETFC_FUNCTION3(NETFC_FUNCTION_TABLE(3))
    NETFC_FUNCTION4(NETFC_FUNCTION_TABLE(4))
    NETFC_FUNCTION5(NETFC_FUNCTION_TABLE(5))
    NETFC_FUNCTION6(NETFC_FUNCTION_TABLE(6))
    NETFC_FUNCTION7(NETFC_FUNCTION_TABLE(7))
    NETFC_FUNCTION8(NETFC_FUNCTION_TABLE(8))

    apply {
        if (fits == 1 && lane.present == 1) {
            if (function == 1) { f1.apply(); }
            NETFC_FUNCTION2(NETFC_OR_FUNCTION(2))
            NETFC_FUNCTION3(NETFC_OR_FUNCTION(3))
            NETFC_FUNCTION4(NETFC_OR_FUNCTION(4))
            NETFC_FUNCTION5(NETFC_OR_FUNCTION(5))
            NETFC_FUNCTION6(NETFC_OR_FUNCTION(6))
            NETFC_FUNCTION7(NETFC_OR_FUNCTION(7))
            NETFC_FUNCTION8(NETFC_OR_FUNCTION(8))
        }
    }
}

#define NETFC_FUNCTION_INSTANCE(n) FunctionLane() function##n;

#define NETFC_FUNCTION_APPLY(n)                                                              \
    function##n.apply(meta.udp_fits, meta.function, hdr.x##n.bits, hdr.z##n.bits, meta.lane##n);

#endif
