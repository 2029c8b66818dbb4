# SPDX-License-Identifier: BSD-3-Clause
"""The switch as a back end of torch.distributed: all_reduce with the same bits every time.

    import torch.distributed
    import netfc.torch  # from here on there is a back end "netfc"

    torch.distributed.init_process_group("netfc")  # NETFC_SWITCH=10.0.0.2 in the environment
    model = torch.nn.parallel.DistributedDataParallel(model)

all_reduce, reduce and reduce_scatter with SUM, AVG, MIN and MAX of float16, bfloat16, float32,
float64, bool and integer tensors on the CPU go through the switch (dpdk-netfc --aggregate): exact,
rounded once, whatever the order. So do broadcast, all_gather and barrier, of any type. All else is
done by gloo. For those who keep another back end there is a communication hook:

    group = torch.distributed.new_group(backend="netfc")
    model.register_comm_hook(group, netfc.torch.mean_hook)

    state = netfc.torch.Fp8State(group)  # or with a byte for each gradient
    model.register_comm_hook(state, netfc.torch.fp8_hook)

    state = netfc.torch.TopKState(group)  # or with the greatest gradients alone
    model.register_comm_hook(state, netfc.torch.topk_hook)

node_hook is for nodes with several GPUs: NCCL inside, the switch between. all_reduce of tensors on
a GPU goes through pinned memory. all_reduce_into() has sums of 8 or 16 bits as float32. stats()
tells what a group has counted.

docs/pytorch.md of dpdk-netfc has the options, and what happens when something fails.
"""


from netfc._allreduce import AllreduceError
from netfc.torch.fp8 import Fp8State, fp8_hook
from netfc.torch.group import NetfcProcessGroup, all_reduce_into, mean_hook, register, stats
from netfc.torch.node import NodeState, node_hook
from netfc.torch.options import Options
from netfc.torch.topk import TopKState, topk_hook

__all__ = [
    "AllreduceError",
    "Fp8State",
    "NetfcProcessGroup",
    "NodeState",
    "Options",
    "TopKState",
    "all_reduce_into",
    "fp8_hook",
    "mean_hook",
    "node_hook",
    "stats",
    "topk_hook",
]

register()
