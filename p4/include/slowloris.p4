/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slowloris (paper, section VI): for each IPv4 destination the connections open to it, their bytes,
 * and connections per byte as fp16, by two logarithms, a difference and a power. Counts as
 * lib/slowloris does, but for time: nothing ages here, and a slot that another connection holds is
 * not taken from it. Registers of v1model; docs/p4.md says what of this Tofino cannot do.
 */
#ifndef NETFC_SLOWLORIS_P4
#define NETFC_SLOWLORIS_P4

#include "headers.p4"

/* log2 of a counter with 15 bits after the point: 10 of them count, 5 keep the quotient right. */
control IntegerLog(in bit<32> integer, inout bit<32> word) {
    action set(bit<32> logarithm) {
        word = logarithm;
    }

    table log {
        key = { integer : lpm @name("integer"); }
        actions = { set; }
        const default_action = set(0);
        size = NETFC_INTEGER_LOGS;
    }

    apply {
        log.apply();
    }
}

/* Connections per byte, fp16. */
control Divide(in bit<32> connections, in bit<64> bytes, inout bit<16> ratio) {
    IntegerLog() log_connections;
    IntegerLog() log_bytes;
    bit<32> i = 0;
    bit<32> j = 0;
    bit<32> divisor;
    int<32> n;
    int<32> shift = 0;

    action set(bit<16> word) {
        ratio = word;
    }

    table exp {
        key = { n[15:0] : exact @name("n"); }
        actions = { set; }
        const default_action = set(0);
        size = 65536;
    }

    apply {
        ratio = 0;
        /* The leading one and the 13 bits after it must be among 32. */
        if (bytes[63:48] != 0) {
            divisor = bytes[63:32];
            shift = 32;
        } else if (bytes[63:32] != 0) {
            divisor = bytes[47:16];
            shift = 16;
        } else if (bytes == 0) {
            divisor = 1;
        } else {
            divisor = bytes[31:0];
        }
        log_connections.apply(connections, i);
        log_bytes.apply(divisor, j);
        n = ((int<32>)i - (int<32>)j + 16) >> 5;
        n = n - (shift << 10);
        if (n < -32768) {
            n = -32768;
        }
        if (connections != 0) {
            exp.apply();
        }
    }
}

control Slowloris(inout headers_t hdr, inout meta_t meta) {
    Divide() divide;
    /* Of a connection: client, server and their ports, 0 in a free slot; its bytes. */
    register<bit<96>>(NETFC_CONNECTION_SLOTS) connection_keys;
    register<bit<64>>(NETFC_CONNECTION_SLOTS) connection_bytes;
    /* Of a destination: its address, 0 in a free slot; connections open and bytes; their ratio. */
    register<bit<32>>(NETFC_DESTINATION_SLOTS) destinations;
    register<bit<32>>(NETFC_DESTINATION_SLOTS) connections;
    register<bit<64>>(NETFC_DESTINATION_SLOTS) bytes;
    register<bit<16>>(NETFC_DESTINATION_SLOTS) ratios;

    bit<32> asked; /* the destination that a packet is about */
    bit<32> place = 0;
    bit<1> known = 0;
    bit<32> open = 0;
    bit<64> total = 0;
    bit<16> ratio = 0;

    action attack() {
        meta.attacked = 1;
    }

    action peace() {}

    /* Filled by whoever runs the switch: above which ratio, with how many connections. */
    table defend {
        key = {
            ratio : range @name("ratio");
            open : range @name("connections");
        }
        actions = { attack; peace; }
        const default_action = peace();
        size = NETFC_DEFENCES;
    }

    /* Where a destination's registers are, and whether they are its own. */
    action find_destination(bit<32> address) {
        bit<32> holder;
        hash(place, HashAlgorithm.crc32, 32w0, { address }, (bit<32>)NETFC_DESTINATION_SLOTS);
        destinations.read(holder, place);
        connections.read(open, place);
        bytes.read(total, place);
        asked = holder;
    }

    apply {
        bit<96> key = hdr.ipv4.source ++ hdr.ipv4.destination ++ hdr.tcp.source ++
                      hdr.tcp.destination;
        bit<96> back = hdr.ipv4.destination ++ hdr.ipv4.source ++ hdr.tcp.destination ++
                       hdr.tcp.source;
        bit<32> slot;
        bit<96> holder;
        bit<64> sent;
        bit<64> length = (bit<64>)hdr.ipv4.total_length;
        bit<16> header_bytes = (bit<16>)hdr.ipv4.header_words << 2;
        bit<1> ends_backwards = 0;

        if (hdr.ipv4.isValid() && hdr.ipv4.protocol == IP_PROTOCOL_TCP && meta.ip_fits == 1) {
            bit<1> whole = 0; /* ports and flags are there */
            bit<4> flags = 0;
            bit<1> tracked = 0;
            if (hdr.tcp.isValid() && hdr.ipv4.total_length - header_bytes >= 20) {
                whole = 1;
                flags = hdr.tcp.syn ++ hdr.tcp.ack ++ hdr.tcp.fin ++ hdr.tcp.reset;
            }
            find_destination(hdr.ipv4.destination);
            if (asked == hdr.ipv4.destination) {
                known = 1;
            }
            hash(slot, HashAlgorithm.crc32, 32w0, { key }, (bit<32>)NETFC_CONNECTION_SLOTS);
            connection_keys.read(holder, slot);
            if (whole == 1 && holder == key) {
                tracked = 1;
            }
            if (flags == 0b1000 && holder == 0 && (known == 1 || asked == 0)) {
                connection_keys.write(slot, key);
                connection_bytes.write(slot, 0);
                destinations.write(place, hdr.ipv4.destination);
                open = open + 1;
                if (known == 0) {
                    total = 0;
                }
                known = 1;
                tracked = 1;
            }
            if (known == 1) {
                total = total + length;
            }
            if (tracked == 1 && flags != 0b1100) {
                connection_bytes.read(sent, slot);
                sent = sent + length;
                connection_bytes.write(slot, sent);
            }
            /* FIN or RST: the connection ends, whichever side sent it. */
            if (flags[3:3] == 0 && flags[1:0] != 0 && tracked == 1) {
                connection_bytes.read(sent, slot);
                connection_keys.write(slot, 0);
                total = total - sent;
                open = open - 1;
            }
            if (known == 1) {
                connections.write(place, open);
                bytes.write(place, total);
            }
            if (flags[3:3] == 0 && flags[1:0] != 0 && tracked == 0) {
                ends_backwards = 1;
            }
        } else if (meta.udp_fits == 1 && meta.verdict == verdict_t.QUERY &&
                   meta.lane0.present == 1 && hdr.netfc_count.count == 1) {
            find_destination(hdr.x0.bits ++ hdr.y0.bits);
            meta.query_answered = 1;
            if (asked != 0 && asked == hdr.x0.bits ++ hdr.y0.bits) {
                known = 1;
            } else {
                open = 0;
                total = 0;
            }
            hdr.counters.connections = open;
            hdr.counters.bytes = total;
        }
        if (known == 1) {
            divide.apply(open, total, ratio);
        }
        if (meta.query_answered == 1) {
            hdr.z0.bits = ratio;
        } else if (known == 1) {
            ratios.write(place, ratio);
            defend.apply();
        }
        if (ends_backwards == 1) {
            hash(slot, HashAlgorithm.crc32, 32w0, { back }, (bit<32>)NETFC_CONNECTION_SLOTS);
            connection_keys.read(holder, slot);
            if (holder == back) {
                connection_bytes.read(sent, slot);
                connection_keys.write(slot, 0);
                find_destination(hdr.ipv4.source);
                connections.write(place, open - 1);
                bytes.write(place, total - sent);
            }
        }
    }
}

#endif
