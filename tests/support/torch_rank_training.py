# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: models that are trained, and hooks."""

import types

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

from torch_rank_group import RANK

import netfc.torch

STEPS = 10


def shard_optimizer():
    """ZeroRedundancyOptimizer beside what it shards: the same weights."""
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel

    def train(make):
        torch.manual_seed(0)
        model = DistributedDataParallel(torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
        optimizer = make(model.parameters())
        torch.manual_seed(RANK)
        for _ in range(5):
            inputs = torch.randn(4, 8)
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return torch.cat([one.detach().reshape(-1) for one in model.parameters()]).tolist()

    return [train(lambda parameters: torch.optim.Adam(parameters, 0.01)),
            train(lambda parameters: ZeroRedundancyOptimizer(
                parameters, optimizer_class=torch.optim.Adam, lr=0.01))]


def shard_model():
    """FullyShardedDataParallel and DistributedDataParallel: the weights; a text where torch's needs
    a GPU."""
    if int(torch.__version__.split('.')[0]) < 2:
        return f'FSDP of torch {torch.__version__} needs a GPU'
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.nn.parallel import DistributedDataParallel

    def train(wrap, options):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(),
                                    torch.nn.Linear(16, 1))
        wrapped = wrap(model, **options)
        optimizer = torch.optim.SGD(wrapped.parameters(), 0.01)
        torch.manual_seed(RANK)
        for _ in range(5):
            loss = wrapped(torch.randn(4, 8)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [one.detach() for one in wrapped.state_dict().values()]

    whole = train(DistributedDataParallel, {})
    sharded = train(FullyShardedDataParallel, {'device_id': torch.device('cpu')})
    return [[one.reshape(-1).tolist() for one in weights] for weights in (whole, sharded)]


def power_sgd():
    """torch's own hook, whose callbacks reduce: rank 1 approximations from step 2 on."""
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(20, 30))
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1,
                                        start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    for _ in range(5):
        model(torch.full((4, 20), RANK + 1.0)).square().sum().backward()
    gradients = torch.cat([one.grad.reshape(-1) for one in model.parameters()])
    return gradients.view(torch.int32).tolist()


def train_brains():
    """A model of bfloat16, with a buffer of bool."""
    torch.manual_seed(RANK)
    model = torch.nn.Linear(20, 3).bfloat16()
    model.register_buffer('mask', torch.tensor([True, RANK == 0]))
    model = torch.nn.parallel.DistributedDataParallel(model)
    model(torch.full((4, 20), RANK + 1.0, dtype=torch.bfloat16)).sum().backward()
    return [*model.module.weight[0].tolist(), *model.module.weight.grad[0].tolist(),
            *model.module.mask.tolist()]


def hooks_of_others():
    """mean_hook of the default group, and for models whose gradients it cannot have."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
    model.register_comm_hook(None, netfc.torch.mean_hook)
    model(torch.full((1, 2), RANK + 1.0)).sum().backward()
    said = []
    for group, device in ((dist.new_group(backend='gloo'), 'cpu'), (None, 'meta')):
        bucket = types.SimpleNamespace(buffer=lambda: torch.ones(1, device=device))
        try:
            netfc.torch.mean_hook(group, bucket)
        except ValueError as error:
            said.append(str(error))
    return [model.module.weight.grad.tolist(), *said]


def train(hook=''):
    """Ten steps with DistributedDataParallel; the weights as integers."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.05)
    if hook:
        model.register_comm_hook(dist.new_group(backend='netfc'), netfc.torch.mean_hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    torch.manual_seed(RANK)
    losses = []
    for _ in range(STEPS):
        inputs = torch.randn(32, 64)
        loss = torch.nn.functional.cross_entropy(model(inputs), inputs[:, :10].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    bits = torch.cat([weight.detach().reshape(-1) for weight in model.parameters()])
    return bits.view(torch.int32).tolist()
