/* SPDX-License-Identifier: BSD-3-Clause */
/* NetFC for the Tofino Native Architecture: Tofino 1 and 2. docs/p4.md says how to compile it. */
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#define NETFC_TNA

#include "include/netfc.p4"
#include "include/parser.p4"

#if NETFC_PASSES == 2
#define NETFC_INGRESS_PORT meta.port
#else
#define NETFC_INGRESS_PORT intrinsic.ingress_port
#endif

parser IngressParser(packet_in packet, out headers_t hdr, out meta_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {
    NetfcParser() netfc;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
#if NETFC_PASSES == 2
        transition select(intrinsic.ingress_port) {
            NETFC_RECIRCULATION_PORT &&& 0x7f : recirculated;
            default : frame;
        }
    }

    /* No port but this one has frames with these headers; what else it has, is not for any port. */
    state recirculated {
        packet.extract(hdr.passed);
        transition select(hdr.passed.number) {
            NETFC_SECOND_PASS : carried;
            default : accept;
        }
    }

    state carried {
        NETFC_EACH_LANE(NETFC_EXTRACT_CARRIED)
        transition frame;
    }

    state frame {
#endif
        netfc.apply(packet, hdr, meta);
        transition accept;
    }
}

/*
 * Which headers are what they say. The parser has checked UDP's own length; here it must fit into
 * the IP datagram: slack is what IP has beside it, which is the IP header of so many words at least.
 */
control Lengths(in headers_t hdr, in bit<16> parser_error, inout meta_t meta) {
    action fits() {
        meta.udp_fits = 1;
    }

    action too_long() {
        meta.udp_fits = 0;
    }

    table slack {
        key = {
            hdr.ipv4.isValid() : exact;
            hdr.ipv4.header_words : ternary;
            hdr.udp.length : ternary;
            meta.slack : range;
        }
        actions = { fits; too_long; }
        const default_action = too_long();
        const entries = {
            (true, _, 0 &&& 0xfff8, _) : too_long();
            (false, _, 0 &&& 0xfff8, _) : too_long();
            (true, _, 0x8000 &&& 0x8000, _) : too_long();
            (false, _, 0x8000 &&& 0x8000, _) : too_long();
            (true, _, 0x4000 &&& 0x4000, _) : too_long();
            (false, _, 0x4000 &&& 0x4000, _) : too_long();
            (false, _, _, 0 .. 0x7fff) : fits();
            (true, 5, _, 20 .. 0x7fff) : fits();
            (true, 6, _, 24 .. 0x7fff) : fits();
            (true, 7, _, 28 .. 0x7fff) : fits();
            (true, 8, _, 32 .. 0x7fff) : fits();
            (true, 9, _, 36 .. 0x7fff) : fits();
            (true, 10, _, 40 .. 0x7fff) : fits();
            (true, 11, _, 44 .. 0x7fff) : fits();
            (true, 12, _, 48 .. 0x7fff) : fits();
            (true, 13, _, 52 .. 0x7fff) : fits();
            (true, 14, _, 56 .. 0x7fff) : fits();
            (true, 15, _, 60 .. 0x7fff) : fits();
        }
    }

    apply {
        if (hdr.ipv4.isValid()) {
            meta.slack = hdr.ipv4.total_length - hdr.udp.length;
        } else {
            meta.slack = hdr.ipv6.payload_length - hdr.udp.length;
        }
        if (hdr.udp.isValid() && parser_error == 0) {
            slack.apply();
        }
    }
}

/*
 * Sums that saturate need containers of their own width. Codes of a few bits that two stages' keys
 * are made of must not share a container with each other: an action could not write them in the
 * same stage by different instructions.
 */
#define NETFC_STRING(text) #text
#define NETFC_IN_16_BITS(field) @pa_container_size("ingress", NETFC_STRING(field), 16)
#define NETFC_ALONE(field) @pa_solitary("ingress", NETFC_STRING(field))
#if defined(NETFC_FP8)
/* Two tables write the halves of a field, which may be in the same stage. */
#define NETFC_LANE_PRAGMAS(n) @pa_container_size("ingress", NETFC_STRING(hdr.z##n.bits), 8)
#elif defined(NETFC_FP32)
#define NETFC_LANE_PRAGMAS(n)
#if NETFC_PASSES == 2 && __TARGET_TOFINO__ == 1
/* Containers of 32 bits are for what is computed. */
@pa_container_size("ingress", "hdr.ethernet.source", 16)
@pa_container_size("ingress", "hdr.ethernet.destination", 16)
@pa_container_size("ingress", "hdr.ipv4.source", 16)
@pa_container_size("ingress", "hdr.ipv4.destination", 16)
@pa_container_size("ingress", "hdr.udp.source", 16)
@pa_container_size("ingress", "hdr.udp.destination", 16)
#endif
#elif defined(NETFC_EXACT)
#define NETFC_LANE_PRAGMAS(n)                                                     \
    NETFC_ALONE(meta.lane##n.code_x) NETFC_ALONE(meta.lane##n.code_y)             \
    NETFC_ALONE(meta.lane##n.sign_y) NETFC_ALONE(meta.lane##n.overflow)           \
    NETFC_ALONE(meta.lane##n.fraction_x) NETFC_IN_16_BITS(meta.lane##n.fraction_x) \
    NETFC_ALONE(meta.lane##n.fraction_y) NETFC_IN_16_BITS(meta.lane##n.fraction_y)
#else
#define NETFC_LANE_PRAGMAS(n)                                                     \
    NETFC_IN_16_BITS(meta.lane##n.i) NETFC_IN_16_BITS(meta.lane##n.j)             \
    NETFC_IN_16_BITS(meta.lane##n.theta) NETFC_IN_16_BITS(meta.lane##n.m)
#endif
NETFC_EACH_LANE(NETFC_LANE_PRAGMAS)
/* The checksum of all z depends on the validity of their headers, which it takes from 4 bytes. */
#if __TARGET_TOFINO__ == 2 && NETFC_FIELDS >= 8
@pa_byte_pack("ingress", "hdr.x0.$valid", "hdr.x1.$valid", "hdr.x2.$valid", "hdr.x3.$valid",
              "hdr.x4.$valid", "hdr.x5.$valid", "hdr.x6.$valid", "hdr.x7.$valid")
#endif
#if __TARGET_TOFINO__ == 2 && NETFC_FIELDS >= 12
@pa_byte_pack("ingress", "hdr.udp.$valid", "hdr.netfc.$valid", "hdr.x8.$valid", "hdr.x9.$valid",
              "hdr.x10.$valid", "hdr.x11.$valid", 2)
#endif
#if __TARGET_TOFINO__ == 2 && NETFC_FIELDS >= 20
@pa_byte_pack("ingress", "hdr.x12.$valid", "hdr.x13.$valid", "hdr.x14.$valid", "hdr.x15.$valid",
              "hdr.x16.$valid", "hdr.x17.$valid", "hdr.x18.$valid", "hdr.x19.$valid")
#endif
control IngressPipe(inout headers_t hdr, inout meta_t meta,
                    in ingress_intrinsic_metadata_t intrinsic,
                    in ingress_intrinsic_metadata_from_parser_t from_parser,
                    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                    inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Lengths() lengths;
    Netfc() netfc;

    action pair(PortId_t port) {
        for_tm.ucast_egress_port = port;
        for_tm.bypass_egress = 1;
    }

    action reflect() {
        for_tm.ucast_egress_port = NETFC_INGRESS_PORT;
        for_tm.bypass_egress = 1;
        meta.reflect = 1;
    }

#if NETFC_PASSES == 2
    /* Back into the pipe that it came in by. */
    action recirculate() {
        for_tm.ucast_egress_port = intrinsic.ingress_port[8:7] ++
                                   (bit<7>)NETFC_RECIRCULATION_PORT;
    }
#endif

    action drop() {
        for_deparser.drop_ctl = 1;
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
#if NETFC_PASSES == 2
        if (hdr.carried0.isValid()) {
            meta.port = hdr.passed.port;
        } else {
            meta.port = intrinsic.ingress_port;
        }
#endif
        forward.apply();
        lengths.apply(hdr, from_parser.parser_err, meta);
        netfc.apply(hdr, meta);
#if NETFC_PASSES == 2
        if (meta.again == 1) {
            recirculate();
        }
#endif
        if (meta.reflect == 1) {
            swap_ethernet();
            if (hdr.ipv4.isValid()) {
                swap_ipv4();
            } else if (hdr.ipv6.isValid()) {
                swap_ipv6();
            }
            if (meta.udp_fits == 1) {
                swap_udp();
            }
        }
    }
}

#define NETFC_CHECKSUM_Z(n) , hdr.z##n.bits

control IngressDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Checksum() checksum;

    apply {
        if (meta.checksummed == 1) {
            hdr.udp.checksum = checksum.update({
                meta.residual,
                hdr.netfc.format, hdr.netfc.reply, hdr.netfc.code, hdr.netfc.flags
                NETFC_EACH_LANE(NETFC_CHECKSUM_Z)
            }, true);
        }
        NETFC_EMIT
    }
}

/* Nothing is left to do after the traffic manager, which packets bypass. */
struct nothing_t {}

parser EgressParser(packet_in packet, out nothing_t hdr, out nothing_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control EgressPipe(inout nothing_t hdr, inout nothing_t meta,
                   in egress_intrinsic_metadata_t intrinsic,
                   in egress_intrinsic_metadata_from_parser_t from_parser,
                   inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                   inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply {}
}

control EgressDeparser(packet_out packet, inout nothing_t hdr, in nothing_t meta,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {}
}

Pipeline(IngressParser(), IngressPipe(), IngressDeparser(), EgressParser(), EgressPipe(),
         EgressDeparser()) pipe;

Switch(pipe) main;
