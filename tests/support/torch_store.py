# SPDX-License-Identifier: BSD-3-Clause
"""Stores of torch.distributed over TCP, with every torch that Debian has."""

import torch.distributed as dist


def tcp_store(host, port, **options):
    """Debian's torch is built without libuv, which later ones take unless they are told not to."""
    if 'use_libuv' in dist.TCPStore.__init__.__doc__:
        options['use_libuv'] = False
    return dist.TCPStore(host, port, **options)
