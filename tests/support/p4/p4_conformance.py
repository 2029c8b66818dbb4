# SPDX-License-Identifier: BSD-3-Clause
"""What the P4 programs are told so that netfc-conform can ask them."""

from dataclasses import dataclass

import bmv2
import p4_jobs
import p4_python
from netfc import aggregation, protocol
from p4_entries import run

LANES, SLOTS, MOST_JOBS = 8, 4, 64
# Of jobs, which do not end: their numbers, by their numbers of workers.
JOBS = {1: range(1, 3), 2: range(3, 35), 3: range(35, 55)}
JOB_WORDS = ['--only', '4001-4999', '--token', hex(p4_jobs.TOKEN), '--job',
             ','.join(f'{workers}:{jobs[0]}-{jobs[-1]}' for workers, jobs in JOBS.items())]


@dataclass(frozen=True)
class Program:
    """A program: its source, compiler's options, exporter's options, and words for netfc-conform."""

    source: object
    options: tuple
    export: tuple
    words: tuple
    udp_port: int = protocol.UDP_PORT

    def commands(self, switch, host, mac=None):
        """For simple_switch: it answers a host behind port 0; addresses of both."""
        entries = run('-t', 'bmv2', *self.export).stdout
        if self.udp_port == protocol.UDP_PORT:
            return bmv2.FORWARD['reflect'] + entries
        team = [[p4_jobs.Member(number, job, host=host) for number in range(workers)]
                for workers, jobs in JOBS.items() for job in jobs]
        return p4_jobs.entries(p4_jobs.described(*team, address=switch, mac=mac), slots=SLOTS,
                               jobs=MOST_JOBS) + entries

    def as_python(self, host):
        """A p4_python.Switch, whose own address is the host's, too."""
        made = p4_python.Switch(self.source, *self.options)
        for command in self.commands(host, host).splitlines():
            made.command(command)
        return made


def arithmetic(name, *options, layout='direct', lanes=LANES):
    """A program that computes."""
    return Program(bmv2.PROGRAM, (f'-DNETFC_LANES={lanes}', *options),
                   ('--layout', layout, '--lanes', str(lanes), name), ('--tables', name))


def aggregating(form, kind='results'):
    """A program that sums for JOBS."""
    options = (f'-DNETFC_FORMAT={aggregation.FORMAT_IDS[form]}', f'-DNETFC_LANES={LANES}',
               f'-DNETFC_SLOTS={SLOTS}', f'-DNETFC_JOBS={MOST_JOBS}')
    return Program(p4_jobs.PROGRAM, options + (('-DNETFC_SUMS',) if kind == 'sums' else ()),
                   ('--aggregate', kind, '--format', form, '-n', str(LANES)), tuple(JOB_WORDS),
                   aggregation.UDP_PORT)


PROGRAMS = {
    'fp16-compact': arithmetic('fp16_k1024', '-DNETFC_COMPACT', layout='compact'),
    'fp16-direct': arithmetic('fp16_k1024', lanes=1),
    'fp16-exact': arithmetic('fp16_exact', '-DNETFC_EXACT', lanes=1),
    'bf16-exact': arithmetic('bf16_exact', '-DNETFC_FORMAT=3', '-DNETFC_EXACT', lanes=4),
    'fp32-exact': arithmetic('fp32_exact', '-DNETFC_FORMAT=5', lanes=1),
    'fp8_e4m3': arithmetic('fp8_e4m3_exact', '-DNETFC_FORMAT=8', lanes=2),
    **{f'sums-{form}': aggregating(form) for form in ('fp16', 'int32', 'fp8_e4m3')},
    'sums-unrounded': aggregating('fp16', 'sums'),
}
