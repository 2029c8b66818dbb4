/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies leave the ingress of TNA: their checksums, from what has not changed and what has. */
#ifndef NETFC_AGGREGATE_DEPARSER_TNA_P4
#define NETFC_AGGREGATE_DEPARSER_TNA_P4

#include "parser.p4"

#define NETFC_CHECKSUM_SUM(n) , hdr.sums.low##n, hdr.sums.high##n

control IngressDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Checksum() checksum;
    Checksum() ipv4_checksum;

    apply {
        if (meta.answered == 1) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.service, hdr.ipv4.total_length,
                hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment,
                hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.time_to_live,
                hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination
            });
        }
        if (meta.checksummed == 1) {
            hdr.udp.checksum = checksum.update({
                meta.residual, meta.longer,
                hdr.aggregate.format, hdr.aggregate.reply, hdr.aggregate.code, hdr.aggregate.flags,
                hdr.aggregate.worker, hdr.aggregate.reason,
                hdr.join.workers, hdr.join.shards, hdr.join.slots, hdr.join.bytes, hdr.join.least
#ifdef NETFC_LEAF
                , hdr.aggregate.count, hdr.place.levels, hdr.place.decided
#endif
                NETFC_EACH_LANE(NETFC_CHECKSUM_SUM)
            }, true);
        }
        NETFC_EMIT
    }
}

#endif
