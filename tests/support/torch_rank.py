# SPDX-License-Identifier: BSD-3-Clause
"""A rank of the tests of netfc.torch, a process of its own: torch_rank.py BODY [ARGUMENT...].

Prints what BODY gives as a line of JSON, or {"error": text, "type": name, "seconds": how long}.
"""

import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

import torch_rank_callbacks
import torch_rank_collectives
import torch_rank_failures
import torch_rank_fp8
import torch_rank_invariant
import torch_rank_training
from torch_rank_group import start

MEETING_S = 300
BODIES = (torch_rank_callbacks, torch_rank_collectives, torch_rank_failures, torch_rank_fp8,
          torch_rank_invariant, torch_rank_training)


def find(body):
    return next(getattr(module, body) for module in BODIES if hasattr(module, body))


def wait_for_others():
    """Until all ranks that are started have loaded torch: their time-outs begin together."""
    folder = pathlib.Path(os.environ['MEETING'])
    (folder / os.environ['RANK']).touch()
    end = time.monotonic() + MEETING_S
    while len(list(folder.iterdir())) < int(os.environ['PRESENT']) and time.monotonic() < end:
        time.sleep(0.01)


def main():
    torch.set_num_threads(1)
    body, *arguments = sys.argv[1:]
    if 'MEETING' in os.environ:
        wait_for_others()
    begun = time.monotonic()
    try:
        start(os.environ['STORE'])
        begun = time.monotonic()
        said = {'result': find(body)(*arguments)}
        dist.destroy_process_group()
    except Exception as error:  # told by the test
        said = {'error': str(error), 'type': type(error).__name__,
                'seconds': time.monotonic() - begun}
    print(json.dumps(said), flush=True)


if __name__ == '__main__':
    main()
