/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf of a tree: which packets are the parent's, and which joins name the leaf's place. */
#ifndef NETFC_AGGREGATE_LEAF_P4
#define NETFC_AGGREGATE_LEAF_P4

#include "headers.p4"

/*
 * Sums go up from this UDP port, a multiple of 64, and when a worker has sent its chunk again, from
 * 1 and the worker's number above: the parent's reply comes back to it.
 */
#define NETFC_UPLINK_BITS 6

/* Copy numbers of what goes up, none of workers': twice this, and again 1 more. */
@noWarn("unused")
const bit<15> NETFC_COPIES_UP = 31;

/* Of replies. */
control Answers(in headers_t hdr, inout meta_t meta) {
    bit<16> copy = 0;

    action result(bit<8> place, NETFC_INDEX base, bit<32> workers, bit<16> group) {
        meta.above = 1;
        meta.job = place;
        meta.base = base;
        meta.others = workers;
        meta.group = group;
        meta.code = hdr.aggregate.code;
    }

    action no_result() {}

    /* Replies to chunks, of the parent's session with this leaf. */
    table parents {
        key = {
            hdr.ipv4.source : exact @name("parent");
            hdr.ipv4.destination : exact @name("own");
            hdr.udp.source : exact @name("port");
            hdr.udp.destination[15:NETFC_UPLINK_BITS] : exact @name("own_ports");
            hdr.aggregate.op : exact @name("op");
            hdr.aggregate.reply : exact @name("reply");
            hdr.aggregate.job : exact @name("job");
            hdr.aggregate.worker : exact @name("index");
            hdr.aggregate.token : exact @name("session");
        }
        actions = { result; no_result; }
        const default_action = no_result();
        size = NETFC_PARENTS;
    }

    action find_asker() {
        copy = (bit<16>)hdr.udp.destination[NETFC_UPLINK_BITS - 1:0];
    }

    action to_asker() {
        meta.group = meta.group + copy;
    }

    apply {
        find_asker();
        parents.apply();
        if (meta.above == 1) {
            to_asker();
        }
    }
}

/* Of requests. */
control Above(in headers_t hdr, inout meta_t meta) {
    action pass() {
        meta.passes = 1;
    }

    action stay() {}

    /* p4/leaf's joins are for the parent. */
    table passing {
        key = { hdr.ipv4.destination : exact @name("address"); }
        actions = { pass; stay; }
        const default_action = stay();
        size = NETFC_JOBS;
    }

    action place() {
        meta.placed = 1;
    }

    action no_place() {}

    table places {
        key = {
            hdr.aggregate.job : exact @name("job");
            hdr.place.levels : exact @name("levels");
            hdr.place.workers : exact @name("workers");
            hdr.level0.members : exact @name("members");
            hdr.level0.index : exact @name("index");
        }
        actions = { place; no_place; }
        const default_action = no_place();
        size = NETFC_JOBS;
    }

    apply {
        if (hdr.aggregate.isValid()) {
            passing.apply();
        }
        if (hdr.level0.isValid()) {
            places.apply();
        }
    }
}

#endif
