# SPDX-License-Identifier: BSD-3-Clause
"""The group that a rank of torch_rank.py is in."""

import datetime
import os

import torch.distributed as dist

from torch_store import tcp_store

import netfc.torch

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])


def start(path):
    """path: of a file that is the store, a TCPStore "host:port", or rank 0's "tcp://host:port"."""
    options = None
    if 'SWITCHES' in os.environ:
        options = netfc.torch.Options(switches=tuple(os.environ['SWITCHES'].split()),
                                      join_timeout=5)
    backend = os.environ.get('BACKEND', 'netfc')
    timeout = datetime.timedelta(seconds=float(os.environ.get('TIMEOUT', '20')))
    if path.startswith('tcp:'):
        where = {'init_method': path}
    elif ':' in path:
        host, port = path.split(':')
        where = {'store': tcp_store(host, int(port), is_master=False, timeout=timeout)}
    else:
        where = {'init_method': 'file://' + path}
    dist.init_process_group(backend, rank=RANK, world_size=SIZE, pg_options=options,
                            timeout=timeout, **where)
