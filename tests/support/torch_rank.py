# SPDX-License-Identifier: BSD-3-Clause
"""Forks the ranks of the tests of netfc.torch, for which torch is loaded once, in one thread.

stdin is a socket of torch_ranks.py: a message for each rank, ["BODY", ARGUMENT...] and its environment in JSON, with
its stdout and stderr; the answer has a descriptor of the process. A rank prints what BODY gives as a line of JSON,
or {"error": text, "type": name, "seconds": how long}.
"""

import atexit
import contextlib
import faulthandler
import importlib
import json
import os
import pathlib
import socket
import time

# Called last of all that is to be called in the end: a forked process that takes torch apart copies it first.
atexit.register(os._exit, 0)

# pylint: disable=wrong-import-position
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import netfc.torch.invariant  # noqa: E402,F401 # pylint: disable=unused-import

HANGS_S = 1200
MEETING_S = 300
# They are of one rank as soon as they are loaded.
BODIES = ('torch_rank_callbacks', 'torch_rank_collectives', 'torch_rank_failures', 'torch_rank_fp8',
          'torch_rank_invariant', 'torch_rank_topk', 'torch_rank_training')


def find(body):
    return next(getattr(module, body) for module in map(importlib.import_module, BODIES)
                if hasattr(module, body))


def wait_for_others():
    """Until all ranks that are started are here: their time-outs begin together."""
    folder = pathlib.Path(os.environ['MEETING'])
    (folder / os.environ['RANK']).touch()
    end = time.monotonic() + MEETING_S
    while len(list(folder.iterdir())) < int(os.environ['PRESENT']) and time.monotonic() < end:
        time.sleep(0.01)


def be_rank(words, variables, files):
    """What it says, in a process of its own; one that hangs says where."""
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), *files)):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(variables)
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    torch.set_num_threads(1)
    name, *arguments = words
    body = find(name)
    if 'MEETING' in os.environ:
        wait_for_others()
    begun = time.monotonic()
    try:
        importlib.import_module('torch_rank_group').start(os.environ['STORE'])
        begun = time.monotonic()
        said = {'result': body(*arguments)}
        dist.destroy_process_group()
    except Exception as error:  # told by the test
        said = {'error': str(error), 'type': type(error).__name__,
                'seconds': time.monotonic() - begun}
    print(json.dumps(said), flush=True)


def main():
    with socket.socket(fileno=0) as asking:
        while True:
            message, files, *_ = socket.recv_fds(asking, 1 << 20, 2)
            if not message:
                return
            process = os.fork()
            if process == 0:
                asking.detach()
                break
            files.append(os.pidfd_open(process))
            socket.send_fds(asking, [b'\n'], files[-1:])
            for file in files:
                os.close(file)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    be_rank(*json.loads(message), files)


if __name__ == '__main__':
    main()
