/* SPDX-License-Identifier: BSD-3-Clause */
/* NetFC for the v1model architecture: BMv2's simple_switch. docs/p4.md says how to run it. */
#include <core.p4>
#include <v1model.p4>

#include "include/netfc.p4"
#include "include/parser.p4"

#if NETFC_PASSES == 2
const bit<32> NETFC_RECIRCULATED = 4; /* simple_switch's number */
#define NETFC_INGRESS_PORT meta.port

/* Headers are not there until they are extracted. */
@noWarn("uninitialized-use")
#else
#define NETFC_INGRESS_PORT standard.ingress_port
#endif

parser IngressParser(packet_in packet, out headers_t hdr, inout meta_t meta,
                     inout standard_metadata_t standard) {
    NetfcParser() netfc;

#if NETFC_PASSES == 2
    /* Only what went round has these headers, whatever arrives at a port. */
    state start {
        meta.port = standard.ingress_port;
        transition select(standard.instance_type) {
            NETFC_RECIRCULATED : carried;
            default : frame;
        }
    }

    state carried {
        packet.extract(hdr.passed);
        NETFC_EACH_LANE(NETFC_EXTRACT_CARRIED)
        meta.port = hdr.passed.port;
        transition frame;
    }

    state frame {
#else
    state start {
#endif
        netfc.apply(packet, hdr, meta);
        transition accept;
    }
}

control NoVerification(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

/* Which headers are what they say: lengths that fit into each other and into the frame. */
control Lengths(in headers_t hdr, inout meta_t meta, in bit<32> frame) {
    bit<32> offset;
    bit<32> available = 0;

    apply {
        offset = 14;
        if (hdr.vlan_outer.isValid()) {
            offset = offset + 4;
        }
        if (hdr.vlan_inner.isValid()) {
            offset = offset + 4;
        }
        if (hdr.ipv4.isValid()) {
            bit<32> total = (bit<32>)hdr.ipv4.total_length;
            bit<32> header_bytes = (bit<32>)hdr.ipv4.header_words << 2;
            if (hdr.ipv4.version == 4 && header_bytes >= 20 && total >= header_bytes &&
                offset + total <= frame) {
                meta.ip_fits = 1;
                available = total - header_bytes;
            }
        } else if (hdr.ipv6.isValid()) {
            bit<32> payload = (bit<32>)hdr.ipv6.payload_length;
            if (hdr.ipv6.version == 6 && offset + 40 + payload <= frame) {
                meta.ip_fits = 1;
                available = payload;
            }
        }
        if (hdr.udp.isValid() && hdr.udp.length >= UDP_HEADER_BYTES &&
            (bit<32>)hdr.udp.length <= available) {
            meta.udp_fits = 1;
        }
    }
}

/* The sum of the words that may change, for the checksum (RFC 1624, equation 3). */
#ifdef NETFC_FP32
#define NETFC_ADD(slot) sum = sum + (bit<32>)((slot)[31:16]) + (bit<32>)((slot)[15:0]);
#else
#define NETFC_ADD(slot) sum = sum + (bit<32>)(slot);
#endif
#define NETFC_ADD_OLD(n) NETFC_ADD(~hdr.z##n.bits)
#define NETFC_ADD_NEW(n) NETFC_ADD(hdr.z##n.bits)
#ifdef NETFC_SLOWLORIS
#define NETFC_COUNTERS_SUM                                                                    \
    ((bit<32>)hdr.counters.connections[31:16] + (bit<32>)hdr.counters.connections[15:0] +     \
     (bit<32>)hdr.counters.bytes[63:48] + (bit<32>)hdr.counters.bytes[47:32] +                \
     (bit<32>)hdr.counters.bytes[31:16] + (bit<32>)hdr.counters.bytes[15:0])
#endif
#define NETFC_STATUS_WORD \
    (hdr.netfc.format ++ hdr.netfc.reply ++ hdr.netfc.code ++ hdr.netfc.flags)

control IngressPipe(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Lengths() lengths;
    Netfc() netfc;
    bit<32> sum = 0;

    action pair(bit<9> port) {
        standard.egress_spec = port;
    }

    action reflect() {
        standard.egress_spec = NETFC_INGRESS_PORT;
        meta.reflect = 1;
    }

    action drop() {
        mark_to_drop(standard);
    }

    table forward {
        key = { NETFC_INGRESS_PORT : exact @name("ingress_port"); }
        actions = { pair; reflect; drop; }
        const default_action = drop();
        size = NETFC_PORTS;
    }

    action swap_ethernet() {
        bit<48> address = hdr.ethernet.source;
        hdr.ethernet.source = hdr.ethernet.destination;
        hdr.ethernet.destination = address;
    }

    action swap_ipv4() {
        bit<32> address = hdr.ipv4.source;
        hdr.ipv4.source = hdr.ipv4.destination;
        hdr.ipv4.destination = address;
    }

    action swap_ipv6() {
        bit<128> address = hdr.ipv6.source;
        hdr.ipv6.source = hdr.ipv6.destination;
        hdr.ipv6.destination = address;
    }

    action swap_udp() {
        bit<16> port = hdr.udp.source;
        hdr.udp.source = hdr.udp.destination;
        hdr.udp.destination = port;
    }

    apply {
        forward.apply();
        lengths.apply(hdr, meta, standard.packet_length);
        sum = (bit<32>)(~(NETFC_STATUS_WORD));
        NETFC_EACH_LANE(NETFC_ADD_OLD)
#ifdef NETFC_SLOWLORIS
        sum = sum + 6 * 0xffff - NETFC_COUNTERS_SUM;
#endif
        netfc.apply(hdr, meta);
        if (meta.checksummed == 1) {
            sum = sum + (bit<32>)NETFC_STATUS_WORD + (bit<32>)(~hdr.udp.checksum);
            NETFC_EACH_LANE(NETFC_ADD_NEW)
#ifdef NETFC_SLOWLORIS
            sum = sum + NETFC_COUNTERS_SUM;
#endif
            sum = (sum & 0xffff) + (sum >> 16);
            sum = (sum & 0xffff) + (sum >> 16);
            hdr.udp.checksum = ~sum[15:0];
            if (hdr.udp.checksum == 0) {
                hdr.udp.checksum = 0xffff;
            }
        }
        if (meta.reflect == 1) {
            swap_ethernet();
            if (meta.ip_fits == 1 && hdr.ipv4.isValid()) {
                swap_ipv4();
            }
            if (meta.ip_fits == 1 && hdr.ipv6.isValid()) {
                swap_ipv6();
            }
            if (meta.udp_fits == 1) {
                swap_udp();
            }
        }
        if (meta.attacked == 1) {
            drop();
        }
    }
}

control EgressPipe(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
#if NETFC_PASSES == 2
        if (meta.again == 1) {
            recirculate_preserving_field_list(0);
        }
#endif
    }
}

control NoComputation(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control IngressDeparser(packet_out packet, in headers_t hdr) {
    apply {
        NETFC_EMIT
    }
}

V1Switch(IngressParser(), NoVerification(), IngressPipe(), EgressPipe(), NoComputation(),
         IngressDeparser()) main;
