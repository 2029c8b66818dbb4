/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind the traffic manager of TNA: copies get their worker's addresses. */
#ifndef NETFC_AGGREGATE_EGRESS_TNA_P4
#define NETFC_AGGREGATE_EGRESS_TNA_P4

#include "headers.p4"

struct egress_headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    aggregate_t aggregate;
#ifdef NETFC_LEAF
    part_t part;
    sums_t sums;
    marks_t marks;
#endif
}

struct egress_meta_t {
    bit<16> place;    /* of the worker's port */
    bit<16> residual; /* the checksum of what does not change */
    bit<1> checksummed;
#ifdef NETFC_LEAF
    bit<16> shards; /* what is added to the ports of what goes up */
    bit<16> asker;
    bit<16> askers;
    bit<16> longer; /* what the checksum grows by with the datagram's length */
#endif
}

#ifdef NETFC_LEAF
#include "egress_leaf_tna.p4"
#endif

parser EgressParser(packet_in packet, out egress_headers_t hdr, out egress_meta_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {
    Checksum() checksum;

    state start {
        packet.extract(intrinsic);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.udp);
        packet.extract(hdr.aggregate);
        checksum.subtract({ hdr.ipv4.destination });
        checksum.subtract({ hdr.udp.destination, hdr.udp.checksum });
        checksum.subtract({ hdr.aggregate.worker, hdr.aggregate.reason });
#ifdef NETFC_LEAF
        checksum.subtract({ hdr.ipv4.source, hdr.udp.source, hdr.aggregate.count });
        checksum.subtract({ hdr.aggregate.format, hdr.aggregate.reply, hdr.aggregate.code,
                            hdr.aggregate.flags, hdr.aggregate.token });
        transition select(hdr.aggregate.op, hdr.aggregate.code, hdr.aggregate.reason) {
            (AGGREGATE_JOIN, _, _) : header_alone;
            (_, NETFC_STATUS_OK, AGGREGATE_SUMS) : sums;
            default : header_alone;
        }
    }

    state sums {
        packet.extract(hdr.sums);
        NETFC_EACH_LANE(NETFC_SUBTRACT_SUM)
        transition header_alone;
    }

    state header_alone {
#endif
        meta.residual = checksum.get();
        transition accept;
    }
}

control EgressPipe(inout egress_headers_t hdr, inout egress_meta_t meta,
                   in egress_intrinsic_metadata_t intrinsic,
                   in egress_intrinsic_metadata_from_parser_t from_parser,
                   inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                   inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Register<bit<16>, bit<16>>(NETFC_MEMBERS) worker_ports;

    RegisterAction<bit<16>, bit<16>, bit<16>>(worker_ports) learn = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = hdr.udp.destination;
            result = value;
        }
    };

    RegisterAction<bit<16>, bit<16>, bit<16>>(worker_ports) recall = {
        void apply(inout bit<16> value, out bit<16> result) {
            result = value;
        }
    };

    action address(bit<48> mac, bit<32> destination, bit<8> number, bit<16> place) {
        hdr.ethernet.destination = mac;
        hdr.ipv4.destination = destination;
        hdr.aggregate.worker = number;
        meta.place = place;
    }

    action nobody() {
        for_deparser.drop_ctl = 1;
    }

#ifdef NETFC_LEAF
    SendUp() send_up;

    action hand_down(bit<48> mac, bit<32> destination, bit<8> number, bit<16> place,
                     bit<48> own_mac, bit<32> own, bit<16> port, bit<64> token) {
        hdr.ethernet.destination = mac;
        hdr.ethernet.source = own_mac;
        hdr.ipv4.destination = destination;
        hdr.ipv4.source = own;
        hdr.udp.source = port;
        hdr.aggregate.worker = number;
        hdr.aggregate.token = token;
        meta.place = place;
    }

    action find_asker() {
        meta.asker = (bit<16>)hdr.aggregate.worker;
    }

    /* shards, askers: which bits of the chunk's and the worker's number are added to the ports. */
    action up(bit<48> mac, bit<48> own_mac, bit<32> parent, bit<32> own, bit<16> port,
              bit<16> shards, bit<16> own_port, bit<16> askers, bit<8> index, bit<64> session) {
        hdr.ethernet.destination = mac;
        hdr.ethernet.source = own_mac;
        hdr.ipv4.destination = parent;
        hdr.ipv4.source = own;
        hdr.udp.destination = port;
        hdr.udp.source = own_port;
        hdr.aggregate.worker = index;
        hdr.aggregate.token = session;
        meta.shards = shards;
        meta.askers = askers;
    }

    table uplinks {
        key = {
            hdr.aggregate.job : exact @name("job");
            intrinsic.egress_rid : exact @name("copy");
        }
        actions = { up; nobody; }
        const default_action = nobody();
        size = NETFC_UPLINKS;
    }

#endif
    table workers {
        key = {
            hdr.aggregate.job : exact @name("job");
            intrinsic.egress_rid : exact @name("copy");
        }
        actions = { address; NETFC_LEAF_ACTION(hand_down) nobody; }
        const default_action = nobody();
        size = NETFC_MEMBERS;
    }

    action port_of(bit<16> place) {
        meta.place = place;
    }

    table joined {
        key = {
            hdr.aggregate.job : exact @name("job");
            hdr.aggregate.worker : exact @name("worker");
        }
        actions = { port_of; nobody; }
        const default_action = nobody();
        size = NETFC_MEMBERS;
    }

    action learn_port() {
        learn.execute(meta.place);
    }

    action recall_port() {
        hdr.udp.destination = recall.execute(meta.place);
    }

    apply {
        if (hdr.udp.checksum != 0) {
            meta.checksummed = 1;
        }
#ifdef NETFC_LEAF
        if (hdr.sums.isValid() && intrinsic.egress_rid[15:1] == NETFC_COPIES_UP) {
            find_asker();
            uplinks.apply();
            send_up.apply(hdr, meta);
        } else
#endif
        if (intrinsic.egress_rid != 0) {
            workers.apply();
            recall_port();
        } else {
            joined.apply();
            learn_port();
        }
    }
}

#ifdef NETFC_LEAF
#define NETFC_CHECKSUM_DIGITS(n) , hdr.sums.low##n, hdr.sums.high##n
#define NETFC_CHECKSUM_UP                                                             \
    , hdr.ipv4.source, hdr.udp.source, hdr.aggregate.count, hdr.aggregate.format,     \
    hdr.aggregate.reply, hdr.aggregate.code, hdr.aggregate.flags, hdr.aggregate.token, \
    meta.longer, hdr.part.first, hdr.part.lanes, hdr.part.number, hdr.part.parts,     \
    hdr.part.lowest, hdr.part.width                                                   \
    NETFC_EACH_LANE(NETFC_CHECKSUM_DIGITS) NETFC_EACH_LANE(NETFC_CHECKSUM_MARK)
#else
#define NETFC_CHECKSUM_UP
#endif

control EgressDeparser(packet_out packet, inout egress_headers_t hdr, in egress_meta_t meta,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Checksum() checksum;
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.service, hdr.ipv4.total_length,
            hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment,
            hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.time_to_live,
            hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination
        });
        if (meta.checksummed == 1) {
            hdr.udp.checksum = checksum.update({
                meta.residual, hdr.ipv4.destination, hdr.udp.destination,
                hdr.aggregate.worker, hdr.aggregate.reason
                NETFC_CHECKSUM_UP
            }, true);
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.aggregate);
#ifdef NETFC_LEAF
        packet.emit(hdr.part);
        packet.emit(hdr.sums);
        packet.emit(hdr.marks);
#endif
    }
}

#endif
