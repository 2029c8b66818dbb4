# SPDX-License-Identifier: BSD-3-Clause
"""The clients' numbers and names are those of the C headers."""

import re

import project_scripts

import netfc
from netfc import protocol
import table_builder

HEADERS = project_scripts.PROJECT / 'lib' / 'netfc' / 'include'


def c_defines(name):
    """The numbers that a header #defines, by name without NETFC_."""
    text = (HEADERS / name).read_text(encoding='utf-8')
    return {match[1]: int(match[2], 0) for match in re.finditer(
        r'^#define NETFC_(\w+) (0x[0-9a-f]+|\d+)\b', text, re.MULTILINE)}


def c_enum(name, enum):
    """The members of an enum in a header, by name in lower case without NETFC_."""
    text = (HEADERS / name).read_text(encoding='utf-8')
    body = re.search(r'enum ' + enum + r' \{(.*?)\n\}', text, re.DOTALL)[1]
    return {match[1].lower(): int(match[2])
            for match in re.finditer(r'NETFC_(\w+) = (\d+)', body)}


def c_status_codes():
    """(symbol, value, name, meaning) of every status code in netfc_wire.h."""
    text = (HEADERS / 'netfc_wire.h').read_text(encoding='utf-8')
    codes = re.findall(r'\bX\((\w+), (\d+), "(\w+)", "([^"]+)"\)', text)
    return [(symbol, int(value), name, meaning) for symbol, value, name, meaning in codes]


def test_numbers_of_the_header():
    defines = c_defines('netfc_wire.h')
    assert defines == {
        'UDP_PORT': protocol.UDP_PORT, 'MAGIC': protocol.MAGIC,
        'WIRE_VERSION': protocol.VERSION, 'OP_QUERY': protocol.QUERY, 'OP_NAME': protocol.NAME,
        'NAME_LANES': protocol.NAME_LANES,
        'LANE_BYTES': protocol.LANE_BYTES, 'WIDE_LANE_BYTES': protocol.WIDE_LANE_BYTES,
        'STATUS_REPLY': protocol.REPLY,
        'STATUS_CODE_SHIFT': protocol.CODE_SHIFT,
    }


def test_names_of_the_header():
    assert c_enum('netfc_arith.h', 'netfc_op') == netfc.OPS
    assert c_enum('netfc_extra.h', 'netfc_extra_op') == protocol.EXTRA_OPS
    assert protocol.WIDE_FORMAT_IDS == {netfc.Fp32.name: netfc.Fp32.id}
    formats = protocol.FORMAT_IDS | protocol.WIDE_FORMAT_IDS
    assert c_enum('netfc_format.h', 'netfc_format_id') == formats
    flags = {flag.name.lower(): int(flag) for flag in protocol.Flag}
    assert c_enum('netfc_arith.h', 'netfc_flag') == flags


def test_functions_are_those_of_the_library():
    listed = table_builder.run_json('list', '--functions')
    numbers = {entry['name']: entry['number']
               for entry in [*listed['operations'], *listed['functions']]}
    assert numbers == protocol.EXTRA_OPS | protocol.FUNCTIONS


def test_status_codes_of_the_header():
    codes = c_status_codes()
    assert [(code.name, code.value) for code in protocol.Code] == [code[:2] for code in codes]
    assert protocol.CODE_NAMES == {value: name for _, value, name, _ in codes}
    assert protocol.CODE_MEANINGS == {value: meaning for _, value, _, meaning in codes}


def test_fields_of_the_header():
    """struct netfc_hdr has the fields of the layer, in their order and of their sizes."""
    text = (HEADERS / 'netfc_wire.h').read_text(encoding='utf-8')
    body = re.search(r'struct netfc_hdr \{(.*?)\n\}', text, re.DOTALL)[1]
    fields = re.findall(r'uint(\d+)_t (\w+);', body)
    assert [name for _, name in fields] == [
        'magic', 'version', 'op', 'format', 'status', 'count', 'id']
    assert [int(bits) // 8 for bits, _ in fields] == [2, 1, 1, 1, 1, 2, 4]
    assert protocol.HEADER.size == 12
