# SPDX-License-Identifier: BSD-3-Clause
"""A rank of the benchmark of short sums: PyTorch's all_reduce by back end "netfc", through a switch
and without one, and by gloo.

rank.py OPTIONS, a JSON object. Then, for each line of JSON on standard input with the keys `values`
(float32), `times` and `rounds`, it prints a line: by back end, the seconds of a sum in each round.
The back ends take turns, so that both have the machine as it is; a first round warms up.
"""

import json
import sys
import time

import torch
import torch.distributed as dist

import netfc.torch


def per_sum(group, values, times, is_async):
    """Seconds; all ranks begin with a barrier of gloo's, and results are checked. is_async: a work is
    waited for."""
    tensor = torch.ones(values)
    dist.barrier(group=dist.group.WORLD)
    began = time.perf_counter()
    for _ in range(times):
        work = dist.all_reduce(tensor, dist.ReduceOp.MAX, group=group, async_op=is_async)
        if is_async:
            work.wait()
    took = time.perf_counter() - began
    if not torch.equal(tensor, torch.ones(values)):
        sys.exit("a result is wrong")
    return took / times


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=options["store"], rank=options["rank"],
                            world_size=options["ranks"])
    switch = netfc.torch.Options(switches=(options["address"],))
    groups = {"netfc": dist.new_group(backend="netfc", pg_options=switch),
              "no switch": dist.new_group(
                  backend="netfc", pg_options=netfc.torch.Options(local=True)),
              "gloo": dist.new_group(backend="gloo")}
    print(json.dumps([]), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        took = {by: [] for by in groups}
        for _ in range(1 + task["rounds"]):
            for by, group in groups.items():
                took[by].append(per_sum(group, task["values"], task["times"], options["async"]))
        print(json.dumps({by: seconds[1:] for by, seconds in took.items()}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
