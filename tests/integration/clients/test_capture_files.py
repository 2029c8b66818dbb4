# SPDX-License-Identifier: BSD-3-Clause
"""netfc.capture.read(): each kind of file is read right, or said what it is."""

import gzip
import struct

import pytest

from netfc import capture, protocol

FRAMES = [capture.udp_frame(protocol.request(1, 1, [0x3C00] * lanes, None, lanes)) for lanes in (1, 5, 243)]


def content(order='<', magic=0xA1B2C3D4, link=1, frames=FRAMES):
    header = struct.pack(order + 'IHHiIII', magic, 2, 4, 0, 0, 262144, link)
    return header + b''.join(struct.pack(order + 'IIII', 7, 999999999, len(one), len(one)) + one for one in frames)


def read(tmp_path, data):
    path = tmp_path / 'capture'
    path.write_bytes(data)
    return capture.read(path)


@pytest.mark.parametrize('order', '<>')
@pytest.mark.parametrize('magic', [0xA1B2C3D4, 0xA1B23C4D])
@pytest.mark.parametrize('link', [1, 0x14000001])
def test_all_byte_orders_and_clocks(tmp_path, order, magic, link):
    assert read(tmp_path, content(order, magic, link)) == FRAMES
    assert read(tmp_path, content(order, magic, link, [])) == []


def test_what_was_written_is_read(tmp_path):
    capture.write(tmp_path / 'own', FRAMES)
    assert capture.read(tmp_path / 'own') == FRAMES
    assert capture.reply(FRAMES[1])[0] == 5


@pytest.mark.parametrize('cut', [1, 5, 24, 39, 40, 41, 57, len(content()) - 1])
@pytest.mark.parametrize('order', '<>')
def test_a_file_that_is_cut(tmp_path, order, cut):
    data = content(order)
    ends = {24, 24 + 16 + len(FRAMES[0])}
    if cut in ends:
        return
    with pytest.raises(ValueError, match='is cut|no pcap') as refused:
        read(tmp_path, data[:cut])
    assert str(tmp_path / 'capture') in str(refused.value)


@pytest.mark.parametrize('data, why', [
    (b'', 'no pcap file'), (b'x' * 500, 'no pcap file'), (gzip.compress(content()), 'gunzip'),
    (b'\x28\xb5\x2f\xfd' + bytes(90), 'unzstd'), (b'\x04\x22\x4d\x18' + bytes(90), 'unlz4'),
    (struct.pack('<III', 0x0A0D0D0A, 28, 0x1A2B3C4D) + bytes(90), 'pcapng file: convert it with "editcap -F pcap"'),
    (content(magic=0xA1B2CD34), 'no pcap file'), (content(link=113), 'link type 113'), (content(link=101), 'link type 101'),
    (content()[:24] + struct.pack('<IIII', 0, 0, 1 << 31, 1 << 31) + FRAMES[0], 'frame 1, said to have 2147483648 bytes'),
    (content(frames=FRAMES[:1]) + struct.pack('<IIII', 0, 0, 50, 60) + FRAMES[0][:50], 'frame 2 was cut while.*50 of 60'),
], ids=lambda value: '' if isinstance(value, bytes) else value)
def test_files_of_another_kind(tmp_path, data, why):
    with pytest.raises(ValueError, match=why):
        read(tmp_path, data)


@pytest.mark.parametrize('frame', [b'', FRAMES[0][:-1], FRAMES[2][:64], FRAMES[0][:50], bytes(100)], ids=len)
def test_frames_that_hold_no_whole_reply(frame):
    with pytest.raises(ValueError, match='cut|no NetFC message'):
        capture.reply(frame)
