# SPDX-License-Identifier: BSD-3-Clause
"""Runs the switch with what it must refuse."""

import frames
import switch


def refuse(folder, options, ports=2, status=1):
    """Runs the switch with wrong options. Returns its message, lower case."""
    one_frame = [frames.plain_frame(frames.request())]
    vdevs = [switch.capture_port(folder, port, one_frame) for port in range(ports)]
    arguments = [*switch.eal_options(vdevs), '--', '--idle-exit', '100', *options]
    done = switch.execute(arguments)
    assert done.returncode == status, f'exit status {done.returncode}\n{done.stderr}'
    if status == 1:
        assert nothing_was_sent(folder, ports)
    return message(done)


def message(done):
    """What a run said on stderr in lower case, from its own first line on."""
    lines = done.stderr.splitlines()
    own = [at for at, line in enumerate(lines) if line.startswith('dpdk-netfc: ')]
    assert own, f'no message of its own:\n{done.stderr}'
    return '\n'.join(lines[own[0]:]).lower()


def nothing_was_sent(folder, ports):
    """Whether the output captures are missing or hold no frame (opening one writes a header)."""
    outputs = [folder / f'out{port}' for port in range(ports)]
    return all(not path.exists() or path.stat().st_size <= 24 for path in outputs)
