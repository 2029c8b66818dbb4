/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf of a tree on TNA: what workers are told of the parent's reply. */
#ifndef NETFC_AGGREGATE_LEAF_TNA_P4
#define NETFC_AGGREGATE_LEAF_TNA_P4

#include "leaf.p4"

#if NETFC_FIELDS % 2 != 0
#error "NETFC_LEAF on TNA: NETFC_LANES is even, as marks are bytes in a sum of words"
#endif

control Told(inout headers_t hdr, inout meta_t meta) {
    action as_it_is() {
        hdr.aggregate.count = meta.count;
    }

    /* Who is silent is a member of the switch above: the level is in the upper four bits. */
    action missing() {
        hdr.aggregate.count = hdr.aggregate.count + 0x1000;
    }

    action refused() {
        hdr.aggregate.count = meta.count;
        meta.code = AGGREGATE_STATUS_CODE;
        meta.reason = AGGREGATE_REASON_PARENT;
    }

    action no_result() {
        meta.fate = fate_t.DROP;
    }

    table replies {
        key = {
            hdr.aggregate.code : ternary;
            hdr.aggregate.reason : ternary;
            hdr.aggregate.count : ternary;
            hdr.values.isValid() : ternary;
        }
        actions = { as_it_is; missing; refused; no_result; }
        const default_action = refused();
        const entries = {
            (NETFC_STATUS_OK, AGGREGATE_ROUNDED, NETFC_LANES, true) : as_it_is();
            (NETFC_STATUS_OK, _, _, _) : no_result();
            (AGGREGATE_STATUS_CODE, AGGREGATE_MISSING &&& 0xc0, _, _) : missing();
            (AGGREGATE_STATUS_CODE, _, _, _) : as_it_is();
        }
        size = 8;
    }

    apply {
        replies.apply();
    }
}

#endif
