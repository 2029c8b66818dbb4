# SPDX-License-Identifier: BSD-3-Clause
"""Formats, operations, codes, reasons and counters: all lists of them are those of the C headers.

tests/catalogue.c prints what C has. Whoever adds a format, an operation, a reason or a
counter in C runs this, and adds it to the lists that are named: CONTRIBUTING.md, "How to add".
"""

import collections
import itertools
import re
import struct
import subprocess

import pytest

import frames
import project_scripts
import switch
import tshark

import netfc
from netfc import aggregation, allreduce, catalogue, formats, metrics, protocol

PROJECT = project_scripts.PROJECT
CODES_OF_AGGREGATION = {aggregation.CODE: 'aggregation'}


def text_of(path):
    return (PROJECT / path).read_text(encoding='utf-8').replace('\\-', '-')


def read_c():
    """The rows of each list in C: texts, without the name of the list."""
    lists = collections.defaultdict(list)
    printed = subprocess.run([switch.BUILD / 'tests' / 'print_catalogue'], text=True,
                             capture_output=True, check=True, timeout=600).stdout
    for line in printed.splitlines():
        name, *row = line.split('\t')
        lists[name].append(tuple(row))
    return lists


C = read_c()
NUMBERS = {name: int(value) for name, value in C['number']}


def named(name):
    """A list of numbers and names: number -> name."""
    return {int(row[0]): row[1] for row in C[name]}


def numbered(name):
    """The same: name -> number."""
    return {row[1]: int(row[0]) for row in C[name]}


def meanings(name):
    """A list of names and meanings."""
    return [row[-2:] for row in C[name]]


def names_of(name):
    return [row[-2] for row in C[name]]


OPERATIONS = named('op') | named('extended_op') | named('function')
FORMATS = named('format')


# ---- Python ----------------------------------------------------------------------------------


def test_formats():
    rows = [(str(row.number), row.name, row.title, str(row.bits), str(3 * row.bytes))
            for row in catalogue.FORMATS if row.in_requests]
    assert sorted(rows) == sorted(C['format'])
    assert [(str(row.number), row.name, str(row.bytes))
            for row in catalogue.FORMATS] == C['aggregate_format']
    assert protocol.FORMAT_NAMES == FORMATS
    assert aggregation.FORMAT_NAMES == named('aggregate_format') | named('aggregate_pair')
    assert [(str(number), name, str(aggregation.value_bytes(number, of_result=True)))
            for name, number in sorted(catalogue.format_pairs().items(), key=lambda one: one[1])
            ] == C['aggregate_pair']
    assert {form.name: form.id for form in formats.NUMBER_FORMATS.values()} == numbered('format')
    assert all(protocol.lane_bytes(int(row[0])) == int(row[4]) for row in C['format'])


def test_operations():
    assert netfc.OPS == numbered('op')
    assert netfc.SYMBOLS == {name: symbol for _, name, symbol in C['op']}
    assert protocol.EXTRA_OPS == numbered('extended_op')
    assert protocol.FUNCTIONS == numbered('function')
    own = {number: f'own_{number}' for number in protocol.USER_FUNCTIONS}
    assert protocol.OP_NAMES == OPERATIONS | own | {
        NUMBERS['NETFC_OP_QUERY']: 'query', NUMBERS['NETFC_OP_NAME']: 'name'}
    assert aggregation.OP_NAMES == named('aggregate_op')
    assert set(aggregation.OPS) - set(allreduce.OPS) == {'join', 'copy', 'leave'}


def test_numbers():
    assert {f'NETFC_{name}': value for name, value in {
        'UDP_PORT': protocol.UDP_PORT, 'MAGIC': protocol.MAGIC, 'WIRE_VERSION': protocol.VERSION,
        'OP_QUERY': protocol.QUERY, 'OP_NAME': protocol.NAME, 'NAME_LANES': protocol.NAME_LANES,
        'STATUS_REPLY': protocol.REPLY, 'STATUS_CODE_SHIFT': protocol.CODE_SHIFT,
        **{flag.name: flag.value for flag in protocol.Flag}}.items()} == {
            name: value for name, value in NUMBERS.items() if name.startswith('NETFC_')}
    assert NUMBERS['AGGREGATE_UDP_PORT'] == aggregation.UDP_PORT
    assert NUMBERS['AGGREGATE_STATUS_CODE'] == aggregation.CODE
    assert NUMBERS['AGGREGATE_MISSING'] == aggregation.MISSING
    assert NUMBERS['AGGREGATE_OWNER'] == aggregation.OWNER
    for name, value in (('DIGITS', aggregation.DIGITS), ('MAX_PARTS', aggregation.MAX_PARTS),
                        ('FEATURE_LABELS', aggregation.LABELS),
                        ('FEATURE_LEAF', aggregation.LEAF),
                        ('FEATURE_ZEROS', aggregation.ZEROS),
                        ('FEATURE_DIVISORS', aggregation.DIVISORS),
                        ('MAX_DIVISOR', aggregation.MAX_DIVISOR),
                        ('DIVISOR_BYTES', aggregation.DIVISOR.size),
                        ('LABELLED', aggregation.LABELLED),
                        ('OF_ZEROS', aggregation.OF_ZEROS),
                        ('LABEL_BYTES', aggregation.LABEL.size),
                        ('MAX_LEVELS', aggregation.MAX_LEVELS),
                        ('MAX_TREE_WORKERS', aggregation.MAX_TREE_WORKERS),
                        ('ABSENCE_LEVEL', aggregation.ABSENCE_LEVEL),
                        ('PART_BYTES', aggregation.PART.size)):
        assert NUMBERS[f'AGGREGATE_{name}'] == value
    assert sorted(aggregation.KINDS) == [
        NUMBERS[f'AGGREGATE_{name}'] for name in ('ROUNDED', 'SUMS', 'ACKNOWLEDGED', 'ZEROS')]
    assert lua_table('netfc_aggregation.lua', 'KINDS') == aggregation.KINDS


def test_codes_and_reasons():
    assert [(str(code.value), code.name.lower(), protocol.CODE_MEANINGS[code])
            for code in protocol.Code] == C['code']
    assert aggregation.REASONS == named('reason')
    assert aggregation.ABSENCES == named('absence')


def sizes(layout):
    return [{'B': 1, 'H': 2, 'I': 4, 'Q': 8}[letter] for letter in layout.format[1:]]


def bytes_of(header):
    """The sizes of a header's fields, which follow each other without a gap."""
    end = int(C[header][0][1])
    for _, offset, size in C[header]:
        assert int(offset) == end
        end += int(size)
    return [int(size) for _, _, size in C[header]]


def test_headers():
    assert sizes(protocol.HEADER) == bytes_of('netfc_hdr')
    assert ('status', str(protocol.STATUS_OFFSET), '1') in C['netfc_hdr']
    assert sizes(aggregation.HEADER) == bytes_of('netfc_hdr') + bytes_of('aggregate_hdr')
    assert sizes(aggregation.JOIN) == bytes_of('aggregate_join_wire')
    assert sizes(aggregation.PLACE) == bytes_of('aggregate_place_wire')
    assert sizes(aggregation.LEVEL) == bytes_of('aggregate_level')


def test_counters_are_exported():
    lcore = [name for name, *_ in metrics.LCORE_COUNTERS]
    assert lcore[:len(C['packet_counter'])] == names_of('packet_counter')
    assert list(metrics.DEVICE_COUNTERS) == names_of('device_counter')
    assert list(metrics.DETECTOR_COUNTERS) == names_of('slowloris_counter')
    assert list(metrics.AGGREGATE_ACTIONS) == names_of('action')
    jobs = [f'jobs_{name}' for name in names_of('job_counter')]
    assert list(metrics.AGGREGATE_COUNTERS)[:len(jobs)] == jobs


# ---- Wireshark -------------------------------------------------------------------------------


def lua_table(script, name):
    """A table of numbers and texts that a dissector has as they stand."""
    body = re.search(rf'^local {name} = {{(.*?)^}}', text_of(tshark.FOLDER / script), re.M | re.S)
    return {int(number): text for number, text in re.findall(r'\[(\d+)\] = "([^"]*)"', body[1])}


def test_dissector_of_requests(tmp_path):
    assert tshark.value_names(tmp_path, 'netfc.lua') == {
        'netfc.op': protocol.OP_NAMES,
        'netfc.format': FORMATS,
        'netfc.status.code': named('code')}
    assert lua_table('netfc.lua', 'MEANINGS') == {int(row[0]): row[2] for row in C['code']}
    found = re.findall(r'^local (\w+) = (0x[0-9a-f]+|\d+)\b', text_of(tshark.FOLDER / 'netfc.lua'),
                       re.M)
    numbers = {name: int(value, 0) for name, value in found}
    for name, value in (('UDP_PORT', protocol.UDP_PORT), ('MAGIC', protocol.MAGIC),
                        ('VERSION', protocol.VERSION), ('QUERY', protocol.QUERY),
                        ('HEADER_BYTES', protocol.HEADER.size),
                        ('START_BYTES', protocol.STATUS_OFFSET + 1),
                        ('COUNTER_BYTES', protocol.QUERY_COUNTERS.size)):
        assert numbers[name] == value


def test_dissector_of_aggregation(tmp_path):
    names = tshark.value_names(tmp_path, 'netfc_aggregation.lua')
    assert set(names['netfc_aggregation.absence']) == set(named('absence'))
    assert names['netfc_aggregation.op'] == named('aggregate_op')
    assert names['netfc_aggregation.format'] == {
        0: 'none', **named('aggregate_format'), **named('aggregate_pair')}
    assert names['netfc_aggregation.status.code'] == named('code') | CODES_OF_AGGREGATION
    assert lua_table('netfc_aggregation.lua', 'REASONS') == named('reason')


# ---- P4 --------------------------------------------------------------------------------------

# Of other standards, or of the P4 programs alone.
OTHERS = {
    'ETHER_TYPE_VLAN': 0x8100, 'ETHER_TYPE_QINQ': 0x88A8, 'ETHER_TYPE_IPV4': 0x800,
    'ETHER_TYPE_IPV6': 0x86DD, 'IP_PROTOCOL_UDP': 17, 'IP_PROTOCOL_TCP': 6, 'UDP_HEADER_BYTES': 8,
    'NETFC_HOPS': 64}


def p4_constants(path):
    """name -> value of the constants in a file, each of which fits its bits."""
    text = text_of(path)
    found = re.findall(r'^const bit<(\d+)> (\w+) = (\w+);', text, re.M)
    assert len(found) == text.count('\nconst ')
    assert all(int(value, 0) < 1 << int(bits) for bits, _, value in found)
    return {name: int(value, 0) for _, name, value in found}


def test_p4_constants():
    known = OTHERS | {name: value for name, value in NUMBERS.items() if name.startswith('NETFC_')}
    known |= {f'NETFC_OP_{name.upper()}': number for name, number in numbered('op').items()}
    known |= {f'NETFC_STATUS_{name.upper()}': number for name, number in numbered('code').items()}
    known |= {'NETFC_HEADER_BYTES': protocol.HEADER.size,
              'NETFC_ANSWERABLE_BYTES': protocol.STATUS_OFFSET + 1,
              'NETFC_LANE_BYTES': protocol.lane_bytes(protocol.FORMAT_IDS['fp16']),
              'NETFC_FP32_LANE_BYTES': protocol.lane_bytes(protocol.FORMAT_IDS['fp32']),
              'NETFC_COUNTERS_BYTES': protocol.QUERY_COUNTERS.size}
    ours = p4_constants('p4/include/constants.p4')
    assert ours == {name: known[name] for name in ours}
    assert {name for name in ours if name.startswith('NETFC_STATUS_')} == {
        f'NETFC_STATUS_{name.upper()}' for name in numbered('code')}


def test_p4_constants_of_aggregation():
    known = OTHERS | {name: value % 2**32 for name, value in NUMBERS.items()}
    known |= {f'AGGREGATE_{name.upper()}': number for name, number in
              numbered('aggregate_op').items()}
    known |= {'AGGREGATE_REASON_' + name.upper().replace('-', '_'): number
              for name, number in numbered('reason').items()}
    known |= {'AGGREGATE_HEADER_BYTES': aggregation.HEADER.size,
              'AGGREGATE_JOIN_BYTES': aggregation.JOIN.size,
              'AGGREGATE_PLACE_BYTES': aggregation.PLACE.size,
              'AGGREGATE_PART_BYTES': aggregation.PART.size,
              'AGGREGATE_HAS_MARKS': aggregation.HAS_MARKS}
    known |= {'AGGREGATE_MARK_' + {'NaN': 'NAN', '+inf': 'PLUS_INF', '-inf': 'MINUS_INF',
                                   '-0': 'MINUS_ZERO'}[name]: mark
              for mark, name in aggregation.MARKS.items()}
    ours = p4_constants('p4/include/aggregate/constants.p4')
    assert ours == {name: known[name] for name in ours}
    workers = re.search(r'#define NETFC_WORKERS (\d+)', text_of('p4/include/aggregate/sizes.p4'))[1]
    assert int(workers) == NUMBERS['AGGREGATE_SUMS_WORKERS']


def p4_header(path, name):
    """The fields of a header, and their bits."""
    body = re.search(rf'header {name} {{(.*?)}}', text_of(path), re.S)[1]
    return [(field, int(bits)) for bits, field in re.findall(r'bit<(\d+)> (\w+);', body)]


def joined_status(fields):
    """Fields with the status, which P4 has in its parts, as one."""
    at = [name for name, _ in fields].index('reply')
    assert fields[at:at + 3] == [('reply', 1), ('code', 7 - protocol.CODE_SHIFT),
                                 ('flags', protocol.CODE_SHIFT)]
    return [*fields[:at], ('status', 8), *fields[at + 3:]]


def in_bits(header):
    return [(name, 8 * int(size)) for name, _, size in C[header]]


def test_p4_headers():
    path = 'p4/include/headers.p4'
    start = p4_header(path, 'netfc_t')
    assert joined_status(start + p4_header(path, 'netfc_count_t')) == in_bits('netfc_hdr')
    assert sum(bits for _, bits in start) == 8 * (protocol.STATUS_OFFSET + 1)


def test_p4_headers_of_aggregation():
    path = 'p4/include/aggregate/headers.p4'
    *whole, (token, bits) = joined_status(p4_header(path, 'aggregate_t'))
    assert (token, [*whole, ('session', bits)]) == (
        'token', in_bits('netfc_hdr') + in_bits('aggregate_hdr'))
    *whole, (high, high_bits), (low, low_bits) = p4_header(path, 'join_t')  # Tofino's registers have 32 bits
    assert (high, low) == ('incarnation_high', 'incarnation_low')
    assert [*whole, ('incarnation', high_bits + low_bits)] == in_bits('aggregate_join_wire')


# ---- documents -------------------------------------------------------------------------------


def rows_of(text, heading):
    """The cells of the first table after a heading."""
    table = text.split(f'\n## {heading}\n')[1].split('\n|---')[1].split('\n\n')[0]
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in table.splitlines()[1:]]


def listed(text, names):
    """number -> name of what a text lists as "1 add, 2 (sub)", out of so many names."""
    found = re.findall(rf'(\d+) \(?({"|".join(names)})\b', text)
    return {int(number): name for number, name in found}


def test_the_protocol_lists_formats_operations_codes_and_reasons():
    text = text_of('docs/protocol.md')
    header = {row[2]: row[3] for row in rows_of('\n## header\n' + text, 'header')}
    assert listed(header['format'], FORMATS.values()) == FORMATS
    assert listed(header['op'], named('op').values()) == named('op')
    others = {number: name for number, name in OPERATIONS.items()
              if number not in named('op') and number < catalogue.TO_FIXED}
    functions = ' '.join(row[0] for row in rows_of(text, 'Functions'))
    assert listed(functions, others.values()) == others
    codes = text.split('Error codes')[1].split('Exception flags')[0]
    assert {int(number): name for number, name in re.findall(r'^\| (\d+) \| (\w+) ', codes, re.M)} \
        == {number: name for number, name in named('code').items() if number} | CODES_OF_AGGREGATION
    fields = {row[2]: row[3] for row in rows_of(text, 'Aggregation')}
    assert listed(fields['op'], named('aggregate_op').values()) == named('aggregate_op')
    formats_there = named('aggregate_format')
    assert '1 to 4 as above' in fields['format']
    assert listed(fields['format'], formats_there.values()) == {
        number: name for number, name in formats_there.items() if number > 4}
    reasons, absences = (
        {int(number): name for number, name in re.findall(r'^\| (\d+) \| ([\w-]+) \|', table, re.M)}
        for table in re.findall(r'\n\n((?:\|.*\n)+)', text.split('has a reason')[1])[:2])
    assert {0: 'none'} | reasons == named('reason')
    assert absences == named('absence')


ARITHMETIC = set((named('op') | named('extended_op')).values())
NARROW = {row[1] for row in C['format'] if int(row[3]) < 32}


@pytest.mark.parametrize('path, start, wanted', [
    ('docs/table-sets.md', '| 1 | format: ', set(FORMATS.values())),
    ('docs/man/netfc-bench.1', '\nFormats: ', set(named('aggregate_format').values())),
    ('docs/man/netfc-bench.1', '\n.BR --op', ARITHMETIC - {'fma'}),
    ('docs/man/netfc-client.1', '.SH SYNOPSIS', ARITHMETIC),
    ('docs/man/netfc-client.1', '\n.BR --format "', set(FORMATS.values())),
    ('docs/man/netfc-tables.1', 'without a table set: in the format', NARROW),
    ('docs/man/netfc-tables.1', 'also takes the operations', set(named('extended_op').values())),
    ('app/bench/options/option_values.c', 'return option_refuse(', ARITHMETIC - {'fma'}),
    ('app/tables/set/build.c', '{"format"', NARROW),
    ('app/tables/user/user.c', 'is not a format of your own functions', NARROW),
    ('python/netfc/commands/client.py', 'usage=', ARITHMETIC)])
def test_a_list_is_whole(path, start, wanted):
    """Each name is in the list that starts there, which may be of more lines than one."""
    text = text_of(path).split(start)[1][:400]
    assert [name for name in sorted(wanted) if not re.search(rf'\b{name}\b', text)] == []


def test_units_have_every_format():
    """The lists that the tests in C are run with, and those of their table sets."""
    text = text_of('tests/unit/meson.build')
    lists = {name: set(re.findall(r"'(\w+)'", body))
             for name, body in re.findall(r'^(\w+) = \[(.*?)\]', text, re.M | re.S)}
    width = {row[1]: int(row[3]) for row in C['format']}
    assert lists['format_names'] == {name for name, bits in width.items() if bits == 16}
    assert lists['fp8_formats'] == {name for name, bits in width.items() if bits == 8}
    sets = {name for name in subprocess.run(
        [switch.BUILD / 'app' / 'netfc-tables', 'list'], text=True, capture_output=True,
        check=True, timeout=600).stdout.split() if re.search('_exact(_small)?$', name)}
    assert lists['exact_names'] == {name for name in sets
                                    if width[re.sub('_exact.*', '', name)] == 16}


@pytest.mark.parametrize('path', ['docs/p4.md', 'docs/table-sets.md', 'p4/include/sizes.p4',
                                  'p4/include/aggregate/sizes.p4'])
def test_numbers_of_formats(path):
    """Of those that P4 programs and files of table sets have, the numbers are the protocol's."""
    lines = [line for line in text_of(path).splitlines()
             if re.search('-DNETFC_FORMAT=1|NETFC_FORMAT is|format: 1 fp16', line)]
    known = FORMATS | named('aggregate_format')
    found = listed(' '.join(lines), known.values())
    assert len(found) >= 2 and found.items() <= known.items()


def test_documents_list_what_becomes_of_packets():
    handbook = text_of('docs/operations.md').split('## What becomes of a packet')[1]
    ends = meanings('taken') + meanings('drop')
    assert re.findall(r'^\| `(\w+)` \| (.+) \|$', handbook, re.M) == ends
    manual = text_of('docs/man/dpdk-netfc.8').split('Packets that are taken up:')[1]
    assert re.findall(r'^\.B (\w+)\n(.+)$', manual.split('.SH')[0], re.M) == ends


def test_documents_list_every_counter():
    manual = text_of('docs/man/dpdk-netfc.8').split('.SH COUNTERS')[1].split('.SH')[0]
    monitoring = text_of('docs/monitoring.md')
    for name in names_of('packet_counter'):
        assert re.search(rf'^\.BR? {name}\b', manual, re.M), name
        assert f'`netfc_{name}_total`' in monitoring, name
    for name in names_of('device_counter'):
        assert f'`{name}`' in monitoring, name


def test_statistics_have_every_reason():
    stats = switch.run([[frames.plain_frame(frames.request())]]).stats
    assert list(stats['taken_up']) == names_of('taken')
    assert list(stats['drops']) == names_of('drop')


def places(form, start=0):
    """Offset and bytes of each field of a struct."""
    sizes = [struct.calcsize(f'>{letter}') for letter in form.format[1:]]
    return list(zip(itertools.accumulate(sizes, initial=start), sizes))


def test_the_protocol_says_where_each_field_is():
    text = text_of('docs/protocol.md')
    header = {row[2]: row[3] for row in rows_of('\n## header\n' + text, 'header')}
    assert header['magic'] == f'0x{protocol.MAGIC:04X}, "{protocol.MAGIC.to_bytes(2, "big").decode()}"'
    assert header['version'] == str(protocol.VERSION)
    tables = [[tuple(map(int, row)) for row in re.findall(r'^\| (\d+) \| (\d+) \|', table, re.M)]
              for table in re.findall(r'(?:^\| \d+ \| \d+ \|.*\n)+', text, re.M)]
    of_aggregation = places(aggregation.HEADER)
    assert tables == [
        places(protocol.HEADER),
        [place for place in of_aggregation if place[0] not in (0, 2, 5)],  # as in all requests
        places(aggregation.PART, aggregation.HEADER.size),
        places(aggregation.PLACE, aggregation.HEADER.size + aggregation.JOIN.size)]


def test_the_protocol_says_the_ports_and_how_many_lanes_fit():
    """In its sentences; its tables are compared above."""
    text = ' '.join(text_of('docs/protocol.md').split())
    assert f'over IPv4 or IPv6 to port {protocol.UDP_PORT} (' in text
    assert f'UDP ports of `--aggregate` ({aggregation.UDP_PORT} and up' in text
    room = 1500 - 20 - 8 - 12  # IPv4, UDP, NetFC
    narrow = room // 3 // 2 * 2  # x, y and z have even numbers of bytes
    assert re.findall(r'(\d+) lanes fill a 1,500-byte packet', text) == [
        str(lanes) for lanes in (room // 6, room // 12, narrow)]
