/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol's numbers (docs/protocol.md); a test holds them against lib/netfc/include/netfc_wire.h. */
#ifndef NETFC_CONSTANTS_P4
#define NETFC_CONSTANTS_P4

@noWarn("unused")
const bit<16> ETHER_TYPE_VLAN = 0x8100;
@noWarn("unused")
const bit<16> ETHER_TYPE_QINQ = 0x88a8;
@noWarn("unused")
const bit<16> ETHER_TYPE_IPV4 = 0x0800;
@noWarn("unused")
const bit<16> ETHER_TYPE_IPV6 = 0x86dd;
@noWarn("unused")
const bit<8> IP_PROTOCOL_UDP = 17;
#ifdef NETFC_SLOWLORIS
@noWarn("unused")
const bit<8> IP_PROTOCOL_TCP = 6;
#endif

@noWarn("unused")
const bit<8> NETFC_OP_ADD = 1;
@noWarn("unused")
const bit<8> NETFC_OP_SUB = 2;
@noWarn("unused")
const bit<8> NETFC_OP_MUL = 3;
@noWarn("unused")
const bit<8> NETFC_OP_DIV = 4;
#ifdef NETFC_SLOWLORIS
@noWarn("unused")
const bit<8> NETFC_OP_QUERY = 16;
#endif

/* Codes of a status, bits 6-4. Those that depend on a header's fields come with the entries. */
@noWarn("unused")
const bit<3> NETFC_STATUS_OK = 0;
@noWarn("unused")
const bit<3> NETFC_STATUS_VERSION = 1;
@noWarn("unused")
const bit<3> NETFC_STATUS_OP = 2;
@noWarn("unused")
const bit<3> NETFC_STATUS_FORMAT = 3;
@noWarn("unused")
const bit<3> NETFC_STATUS_LENGTH = 4;
@noWarn("unused")
const bit<3> NETFC_STATUS_QUERY = 5;
@noWarn("unused")
const bit<3> NETFC_STATUS_LANES = 6;

/* Exception flags of a status, bits 3-0. */
@noWarn("unused")
const bit<4> NETFC_OVERFLOW = 4;
@noWarn("unused")
const bit<4> NETFC_UNDERFLOW = 8;

/* Bytes. */
@noWarn("unused")
const bit<16> UDP_HEADER_BYTES = 8;
@noWarn("unused")
const bit<16> NETFC_HEADER_BYTES = 12;
@noWarn("unused")
const bit<16> NETFC_ANSWERABLE_BYTES = 6; /* up to the status */
@noWarn("unused")
const bit<16> NETFC_LANE_BYTES = 6;
@noWarn("unused")
const bit<16> NETFC_FP32_LANE_BYTES = 12;
#ifdef NETFC_SLOWLORIS
@noWarn("unused")
const bit<16> NETFC_COUNTERS_BYTES = 12; /* after z in the answer to a query */
#endif

/* What becomes of a packet. */
#ifdef NETFC_FUNCTIONS
enum bit<3> verdict_t {
#else
enum bit<2> verdict_t {
#endif
    NONE = 0,    /* not for us */
    COMPUTE = 1, /* a request that is computed if its length is right */
    QUERY = 2,
#ifdef NETFC_FUNCTIONS
    FUNCTION = 4, /* likewise computed, by the table of meta.function */
#endif
    REFUSE = 3   /* a request that is answered with meta.code */
}

#endif
