/* SPDX-License-Identifier: BSD-3-Clause */
/* Is it a request, of which job, and by whom: the same in all architectures. */
#ifndef NETFC_AGGREGATE_JOBS_P4
#define NETFC_AGGREGATE_JOBS_P4

#include "headers.p4"

#ifdef NETFC_LEAF
#define NETFC_LEAF_ACTION(name) name;
#else
#define NETFC_LEAF_ACTION(name)
#endif

/* None of its tables waits for another. */
control Requests(in headers_t hdr, inout meta_t meta) {
    /* ---- whether this program's entries are there -------------------------------------------- */

    action complete() {
        meta.loaded = 1;
    }

    action incomplete() {
        meta.loaded = 0;
    }

    /* Its entry is the last that is exported, and names the program that it is for. */
    table loaded {
        key = { meta.program : exact @name("program"); }
        actions = { complete; incomplete; }
        const default_action = incomplete();
        size = NETFC_PROGRAMS;
    }

    /* ---- which packets are requests ---------------------------------------------------------- */

    action chunk() {
        meta.ask = ask_t.CHUNK;
    }

    action join() {
        meta.ask = ask_t.JOIN;
    }

    action leave() {
        meta.ask = ask_t.LEAVE;
    }

    action refuse(bit<3> code) {
        meta.ask = ask_t.REFUSE;
        meta.code = code;
    }

    action ignore() {
        meta.ask = ask_t.NONE;
    }

    table request {
        key = {
            hdr.udp.destination : ternary @name("port");
            hdr.aggregate.magic : ternary @name("magic");
            hdr.aggregate.version : ternary @name("version");
            hdr.aggregate.op : ternary @name("op");
            hdr.aggregate.format : ternary @name("format");
            hdr.aggregate.reply : ternary @name("reply");
        }
        actions = { chunk; join; leave; refuse; ignore; }
        const default_action = ignore();
        size = NETFC_REQUESTS;
    }

    /* ---- who asks ---------------------------------------------------------------------------- */

    action member(bit<8> place, NETFC_INDEX base, bit<8> workers, bit<16> seat, bit<32> own,
                  bit<32> others, bit<16> group) {
        meta.member = 1;
        meta.job = place;
        meta.base = base;
        meta.workers = workers;
        meta.seat = seat;
        meta.worker = own;
        meta.others = others;
        meta.group = group;
#ifdef NETFC_LEAF
        meta.all_workers = (bit<32>)workers;
#endif
    }

#ifdef NETFC_LEAF
    /* Of a job with a parent: `group` is who to send sums to. */
    action leaf_member(bit<8> place, NETFC_INDEX base, bit<8> workers, bit<16> seat, bit<32> own,
                       bit<32> others, bit<16> group) {
        meta.leaf = 1;
        member(place, base, workers, seat, own, others, group);
    }

#endif
    action no_member() {}

    table members {
        key = {
            hdr.ipv4.destination : exact @name("address");
            hdr.aggregate.job : exact @name("job");
            hdr.aggregate.token : exact @name("token");
            hdr.aggregate.worker : exact @name("worker");
            hdr.ipv4.source : exact @name("source");
        }
        actions = { member; NETFC_LEAF_ACTION(leaf_member) no_member; }
        const default_action = no_member();
        size = NETFC_MEMBERS;
    }

    action denied() {
        meta.stranger = stranger_t.DENIED;
    }

    action full() {
        meta.stranger = stranger_t.FULL;
    }

    action unknown() {
        meta.stranger = stranger_t.UNKNOWN;
    }

#ifdef NETFC_LEAF
    /* Until the parent has let this switch in, and when it is lost. */
    action above(bit<8> reason) {
        meta.stranger = stranger_t.ABOVE;
        meta.told = reason;
    }

#endif
    /* For those that are no members: the job's token and a worker of it, or not, or just the job. */
    table strangers {
        key = {
            hdr.aggregate.job : ternary @name("job");
            hdr.aggregate.token : ternary @name("token");
            hdr.aggregate.worker : ternary @name("worker");
        }
        actions = { denied; full; NETFC_LEAF_ACTION(above) unknown; }
        const default_action = unknown();
        size = NETFC_STRANGERS;
    }

    apply {
        loaded.apply();
        if (hdr.aggregate.isValid()) {
            request.apply();
            members.apply();
            strangers.apply();
        }
    }
}

#endif
