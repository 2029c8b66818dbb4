# SPDX-License-Identifier: BSD-3-Clause
"""A P4 program for v1model or TNA as Python: for tests where there is no P4 compiler.

As much of P4-16 as the programs in p4/ use, without slowloris. Widths are checked as a compiler does: operands
of different widths, constants that do not fit and unknown names are errors.
"""

import functools
import re
import subprocess

from p4_runtime import (
    Header, Packet, Record, Register, Sum, Table, csum16, key_of, saturated, zeros)
from p4_source import TNA, python_name
from p4_translator import Translator


RECIRCULATED = 4  # instance_type of simple_switch
RECIRCULATION_PORT = 68  # of Tofino 1, in each of its pipes
PASSES = 8  # more are taken for an endless loop


class Switch:
    """The program behind ports, as simple_switch runs it. groups: group -> [(copy, port), ...].
    table: what its tables are."""

    def __init__(self, path, *options, table=Table):
        source = re.sub('^#include <.*', '', path.read_text(), flags=re.M)
        text = subprocess.run(['cc', '-E', '-P', '-x', 'c', '-iquote', path.parent, *options, '-'],
                              input=source, capture_output=True, text=True, check=True).stdout
        self.translator = Translator(text)
        code = self.translator.program()
        self.names = {'Register': Register, 'Table': table, 'ChecksumUnit': Sum,
                      'csum16': csum16, 'saturated': saturated}
        exec(compile(code, str(path), 'exec'), self.names)
        self._instantiate()
        self.groups, self.nodes = {}, []

    def _instantiate(self):
        self.parser, self.verify, self.ingress, self.egress, self.compute, self.deparser = (
            self.names[name]() for name in self.translator.blocks)

    def make(self, name):
        """A value of a type, all zero."""
        word, fields = self.translator.types[name]
        if word == 'header':
            return Header(fields)
        record = Record()
        for field, kind in fields.items():
            setattr(record, field, self.make(kind) if kind in self.translator.types else 0)
        return record

    def table(self, path):
        at = {'IngressPipe': self.ingress, 'EgressPipe': self.egress}[path.split('.')[0]]
        return functools.reduce(getattr, map(python_name, path.split('.')[1:]), at)

    def command(self, line):
        """One of simple_switch_CLI's."""
        words = line.split()
        if words[0] == 'mc_mgrp_create':
            self.groups[int(words[1])] = []
        elif words[0] == 'mc_node_create':
            self.nodes.append((int(words[1]), int(words[2])))
        elif words[0] == 'mc_node_associate':
            self.groups[int(words[1])].append(self.nodes[int(words[2])])
        else:
            self.add_entry(words)

    def add_entry(self, words):
        assert words[0] == 'table_add'
        arrow = words.index('=>')
        table = self.table(words[1])
        keys = [key_of(*field) for field in zip(words[3:arrow], table.widths)]
        arguments = [int(word, 0) for word in words[arrow + 1:]]
        priority = arguments.pop() if 'ternary' in table.kinds else 0
        table.add(words[2].split('.')[-1], keys, tuple(arguments), priority)

    def fill(self, tables):
        """Entries as p4_rows reads them."""
        for path, rows in tables.items():
            table = self.table(path)
            for row in rows:
                table.add(row.action.split('.')[-1], row.keys, row.args, row.order)

    def receive(self, frame, port=0, passed=0):
        """The frames that leave: (port, frame). passed: how often this one went round."""
        self.passes = passed + 1
        assert self.passes <= PASSES
        hdr, meta, standard = self.make('headers_t'), self.make('meta_t'), Record()
        standard.ingress_port, standard.packet_length = port, len(frame)
        standard.egress_spec = standard.mcast_grp = standard.egress_rid = 0
        standard.checksum_error, standard.dropped = 0, False
        standard.instance_type = RECIRCULATED if passed else 0
        packet = Packet(frame)
        try:
            self.parser.apply(packet, hdr, meta, standard)
        except EOFError:
            pass
        self.verify.wrong = False
        self.verify.apply(hdr, meta)
        standard.checksum_error = int(self.verify.wrong)
        self.ingress.apply(hdr, meta, standard)
        copies = self.groups[standard.mcast_grp] if standard.mcast_grp else []
        if not copies and not standard.dropped:
            copies = [(0, standard.egress_spec)]
        return [made for copy, to in copies
                for made in self.send(hdr, meta, standard, packet.frame[packet.at:], copy, to)]

    def send(self, hdr, meta, standard, rest, copy, to):
        """A copy's way out."""
        hdr, meta = duplicate(hdr), duplicate(meta)
        standard.egress_rid, standard.dropped = copy, False
        self.egress.length, self.egress.again = None, False
        self.egress.apply(hdr, meta, standard)
        if standard.dropped:
            return
        self.compute.apply(hdr, meta)
        packet = Packet()
        self.deparser.apply(packet, hdr)
        made = (packet.made + rest)[:self.egress.length]
        if self.egress.again:  # which forgets its port
            yield from self.receive(made, 0, self.passes)
        else:
            yield to, made


def duplicate(record):
    """A copy of a record and all that it has."""
    copied = object.__new__(type(record))
    for name, value in vars(record).items():
        setattr(copied, name,
                duplicate(value) if isinstance(value, (Header, Record)) else value)
    return copied


class TnaSwitch(Switch):
    """A program for TNA, as Tofino 1 or 2 runs it. groups: group -> [(copy, port), ...]."""

    def __init__(self, path, *options, chip=1):
        super().__init__(path, f'-D__TARGET_TOFINO__={chip}', *options)

    def _instantiate(self):
        (self.parser, self.ingress, self.deparser, self.egress_parser, self.egress,
         self.egress_deparser) = (self.names[name]() for name in self.translator.blocks)

    def receive(self, frame, port=0, passed=0):
        """The frames that leave: (port, frame). passed: how often this one went round."""
        self.passes = passed + 1
        assert self.passes <= PASSES
        hdr, meta = self.make('headers_t'), self.make('meta_t')
        intrinsic, from_parser, for_deparser, for_tm = (
            zeros(TNA[f'ingress_intrinsic_metadata_{name}t'])
            for name in ('', 'from_parser_', 'for_deparser_', 'for_tm_'))
        intrinsic.ingress_port = port
        packet, made = Packet(frame), Packet()
        for unit in vars(self.parser.netfc).values():
            if isinstance(unit, Sum):
                unit.total = 0
        try:
            self.parser.apply(packet, hdr, meta, intrinsic)
        except EOFError:
            from_parser.parser_err = 2
        self.ingress.apply(hdr, meta, intrinsic, from_parser, for_deparser, for_tm)
        if for_deparser.drop_ctl:
            return []
        self.deparser.apply(made, hdr, meta, for_deparser)
        out = made.made + packet.frame[packet.at:]
        if for_tm.ucast_egress_port & 0x7F == RECIRCULATION_PORT:
            return self.receive(out, for_tm.ucast_egress_port, self.passes)
        if for_tm.bypass_egress:
            return [(for_tm.ucast_egress_port, out)]
        copies = self.groups[for_tm.mcast_grp_a] if for_tm.mcast_grp_a else [
            (0, for_tm.ucast_egress_port)]
        return [sent for copy, to in copies for sent in self._behind(out, copy, to)]

    def _behind(self, frame, copy, to):
        """A packet's way from the traffic manager out."""
        hdr, meta = self.make('egress_headers_t'), self.make('egress_meta_t')
        intrinsic, for_deparser = (zeros(TNA[f'egress_intrinsic_metadata_{name}t'])
                                   for name in ('', 'for_deparser_'))
        intrinsic.egress_rid = copy
        packet, made = Packet(frame), Packet()
        self.egress_parser.checksum.total = 0
        self.egress_parser.apply(packet, hdr, meta, intrinsic)
        self.egress.apply(hdr, meta, intrinsic, None, for_deparser, None)
        if not for_deparser.drop_ctl:
            self.egress_deparser.apply(made, hdr, meta, for_deparser)
            yield to, made.made + frame[packet.at:]
