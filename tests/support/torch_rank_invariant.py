# SPDX-License-Identifier: BSD-3-Clause
"""Training with netfc.torch.invariant, by the ranks of the tests."""

import copy
import gc
import hashlib
import os
import pathlib
import signal
import warnings
import weakref

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from torch_rank_group import RANK, SIZE

from netfc.torch import invariant
from netfc.torch.invariant import agreement

SAMPLES, UNIT, UNITS = 128, 4, 8


def network(kind):
    torch.manual_seed(5)
    if kind == 'transformer':
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        return nn.Sequential(nn.Linear(6, 16), nn.TransformerEncoder(layer, 2), nn.Flatten(),
                             nn.Linear(48, 4))
    model = nn.Sequential(nn.Flatten(), nn.Linear(18, 24), nn.BatchNorm1d(24), nn.ReLU(),
                          nn.Dropout(0.2), nn.Linear(24, 4))
    return model.to(torch.bfloat16) if kind == 'bfloat16' else model


def data(kind):
    draw = torch.Generator().manual_seed(1)
    inputs = torch.randn(SAMPLES, 3, 6, generator=draw)
    labels = torch.randint(0, 4, (SAMPLES,), generator=draw)
    return inputs.to(torch.bfloat16 if kind == 'bfloat16' else torch.float32), labels


def at_random(step, units, ranks):
    """Some ranks may have none."""
    draw = torch.Generator().manual_seed(step + 17)
    return torch.randint(0, ranks, (units,), generator=draw).tolist()


def hashed(model, *more):
    digest = hashlib.sha256()
    for tensor in (*model.state_dict().values(), *more):
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()[:16]


class Run:
    """A training of one of the networks."""

    def __init__(self, kind, **options):
        self.kind = kind
        self.inputs, self.labels = data(kind)
        self.model = network(kind)
        more = {key: options.pop(key) for key in ('bucket_mb', 'masters', 'overlap')
                if key in options}
        self.sampler = invariant.UnitSampler(
            SAMPLES, UNIT, options.pop('units', UNITS), options.pop('seed', 7), **options)
        self.training = invariant.Training(self.model, self.sampler,
                                           **{'bucket_mb': 0.001, **more})
        self.optimizer = torch.optim.AdamW(self.training.masters, 1e-2)
        self.losses, self.nonfinite = [], []

    def loss(self, batch):
        return nn.functional.cross_entropy(self.model(self.inputs[batch]).float(),
                                           self.labels[batch])

    def steps(self, until, unit=lambda step, batch: None):
        """To the end; unit: called in each."""
        for step in self.training.steps(self.sampler, until=until):
            for batch in step:
                unit(step, batch)
                step.backward(self.loss(batch))
            self.training.clip_grad_norm_(1.0)
            self.optimizer.step()
            self.training.copy_masters()
            self.losses.append(step.loss)
            self.nonfinite = step.nonfinite
        return self

    @property
    def hash(self):
        return hashed(self.model, *self.losses, torch.rand(3))

    def save(self, path):
        if RANK == 0:
            state = {'model': self.model.state_dict(), 'optimizer': self.optimizer.state_dict(),
                     'training': self.training.state_dict()}
            torch.save(state, path + '.new')
            os.rename(path + '.new', path)

    def load(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state['model'])
        self.optimizer.load_state_dict(state['optimizer'])
        self.training.load_state_dict(state['training'])
        return self


def any_number(steps):
    """The hash of each way; all have to be the same for any number of ranks."""
    until = int(steps)
    return {
        'network': Run('network').steps(until).hash,
        'dealt at random': Run('network', deal=at_random).steps(until).hash,
        'one bucket, no overlap': Run('network', bucket_mb=25, overlap=False).steps(until).hash,
        'checked': Run('network', check=2).steps(until).hash,
        'transformer': Run('transformer').steps(until).hash,
        'bfloat16': Run('bfloat16').steps(until).hash,
        'masters': Run('bfloat16', masters=True).steps(until).hash,
        'loader': through_a_loader(until),
    }


def through_a_loader(until):
    run = Run('network')
    inputs = torch.utils.data.TensorDataset(run.inputs, run.labels)
    loader = torch.utils.data.DataLoader(inputs, batch_sampler=run.sampler)
    for step in run.training.steps(loader, until):
        for images, labels in step:
            step.backward(nn.functional.cross_entropy(run.model(images), labels))
        run.training.clip_grad_norm_(1.0)
        run.optimizer.step()
        run.losses.append(step.loss)
    return run.hash


def go_on_from(path, until, killed):
    """From a checkpoint, if there is one; killed: rank 1, in the middle of a step."""
    run = Run('bfloat16', masters=True)
    if pathlib.Path(path).exists():
        run.load(path)
    while run.training.step < int(until):
        run.steps(run.training.step + 1)
        run.save(path)
        if killed == 'killed' and RANK == 1 and run.training.step == int(until) - 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return hashed(run.model)


def problem_of(run, *arguments):
    """What a run of two steps has to say that is wrong."""
    try:
        run.steps(run.training.step + 2, *arguments)
    except (invariant.InvariantError, ValueError, RuntimeError) as error:
        return f'{type(error).__name__}: {error}'
    return 'nothing'


def made(*arguments, **options):
    try:
        return invariant.Training(*arguments, **options) and 'nothing'
    except (ValueError, TypeError) as error:
        return f'{type(error).__name__}: {error}'


def at_last():
    """Whether this is the last rank, which is the one that does it wrong."""
    return RANK == SIZE - 1


def wrong_inputs():
    """What is said of each thing that is wrong at one rank, or at all."""
    said = {}

    run = Run('network')
    if at_last():
        run.model[1].weight.data[0, 0] += 1
    said['weights'] = problem_of(run)

    run = Run('network')
    if at_last():
        run.model.add_module('more', nn.Linear(2, 2))
        run.training = invariant.Training(run.model, run.sampler)
    said['more parameters'] = problem_of(run)

    run = Run('network')
    if at_last():
        run.model[5].bias.requires_grad_(False)
    said['frozen'] = problem_of(run)

    run = Run('network')
    said['frozen later'] = problem_of(
        run, lambda step, batch: run.model[5].bias.requires_grad_(not at_last()))

    run = Run('network')
    run.model[5].bias.requires_grad_(False)
    run.training = invariant.Training(run.model, run.sampler)
    said['unfrozen later'] = problem_of(
        run, lambda step, batch: run.model[5].bias.requires_grad_(at_last()))

    run = Run('network')
    run.model[5] = nn.Linear(24, 4)
    said['another layer'] = problem_of(run)

    run = Run('network')
    run.model[4].train(not at_last())
    said['evaluation'] = problem_of(run)

    torch.set_flush_denormal(at_last())
    said['denormals'] = problem_of(Run('network'))
    torch.set_flush_denormal(False)

    run = Run('network', seed=7 + at_last())
    said['seed'] = problem_of(run)

    run = Run('network')
    state = run.training.state_dict()
    run.training.load_state_dict({**state, 'step': 3 + at_last()})
    said['checkpoint of another step'] = problem_of(run)

    run = Run('network', seed=8)
    try:
        run.training.load_state_dict(state)
    except ValueError as error:
        said['checkpoint of another seed'] = str(error)

    run = Run('network', check=2)
    run.training.load_state_dict({**state, 'step': 3})
    said['checkpoint without checks'] = run.training.step

    run = Run('network')
    run.loss = lambda batch: nn.functional.cross_entropy(
        run.model(run.inputs[batch]), run.labels[batch],
        reduction='none' if at_last() else 'mean')
    said['no mean'] = problem_of(run)

    run = Run('network')
    try:
        for step in run.training.steps(run.sampler, until=1):
            for batch in step:
                if not at_last():
                    step.backward(run.loss(batch))
        said['no backward'] = 'nothing'
    except invariant.InvariantError as error:
        said['no backward'] = str(error)

    run = Run('network', deal=lambda step, units, ranks: [0 if at_last() else SIZE - 1] * units)
    said['dealt differently'] = problem_of(run)
    run = Run('network', deal=first_and_last_to_two)
    said['dealt differently, units of the same sum'] = problem_of(run)

    run = Run('network')
    run.loss = lambda batch: run.model(run.inputs[batch]).sum() / (0 if at_last() else 1)
    run.steps(1)
    said['not finite'] = [torch.isnan(run.training.step and run.model[5].bias).any().item(),
                          hashed(run.model), run.nonfinite]

    this_machine = agreement.of_this_machine
    run = Run('network')
    saved = run.training.state_dict()
    if at_last():
        agreement.of_this_machine = lambda: {**this_machine(), 'processor': 'another, features 0'}
    said['processor'] = problem_of(run)
    run.training = invariant.Training(run.model, run.sampler, ignore=['processor'])
    said['processor ignored'] = problem_of(run)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter('always')
        Run('network').training.load_state_dict(saved)
    if SIZE == 1:
        said['checkpoint of another machine'] = [str(one.message) for one in warned]
    agreement.of_this_machine = this_machine

    run = Run('network')
    run.loss = lambda batch: twice_in_checkpoints(run, run.inputs[batch])
    said['reentrant'] = problem_of(run)

    torch.set_num_threads(2 if at_last() else 1)
    said['threads'] = problem_of(Run('network'))
    torch.set_num_threads(1)

    embedding = nn.Sequential(nn.Embedding(8, 4, sparse=True), nn.Flatten(), nn.Linear(12, 4))
    run = Run('network')
    run.model, run.inputs = embedding, torch.randint(0, 8, (SAMPLES, 3))
    run.training = invariant.Training(embedding, run.sampler)
    run.optimizer = torch.optim.SGD(embedding.parameters(), 0.1)
    for tensor in embedding.parameters():
        tensor.data.fill_(0.5)
    run.inputs.fill_(1)
    said['sparse'] = problem_of(run)

    run = Run('network')
    run.model = nn.Sequential(nn.Embedding(8, 4, max_norm=0.5), nn.Flatten(), nn.Linear(12, 4))
    run.inputs = torch.randint(0, 8, (SAMPLES, 3), generator=torch.Generator().manual_seed(1))
    for tensor in run.model.parameters():
        tensor.data.fill_(0.5)
    run.training = invariant.Training(run.model, run.sampler)
    said['changed by a unit'] = problem_of(run)

    run = Run('network')
    torch.manual_seed(1)
    with torch.inference_mode():
        run.model[1] = nn.Linear(run.model[1].in_features, run.model[1].out_features)
    run.model[1].requires_grad_(False)
    run.training = invariant.Training(run.model, run.sampler)
    said['frozen, of inference'] = problem_of(run)

    run = Run('network')
    said['unused'] = unused(run)
    said['left out'] = left_out(Run('network'))
    said['units'] = [sampler_of(50, 4, 8), sampler_of(50, 4, 8, drop_last=True), sampler_of(3, 4, 8)]
    said['groups'] = [made(nn.SyncBatchNorm(3), run.sampler),
                      made(nn.Linear(2, 2).to(torch.complex64), run.sampler),
                      made(nn.ReLU(), run.sampler)]
    return said


def first_and_last_to_two(step, units, ranks):
    """Of three ranks: of the first four units, both have 0 and 3."""
    if ranks != 3:
        return [0] * units
    return ([1, 0, 0, 1] if RANK == 1 else [0, 1, 1, 0]) + [2] * (units - 4)


def drawn_outside_of_units():
    """Of each step its number, what is drawn before its units, and after: from the beginning, and from a checkpoint."""
    drawn = []
    for begun in (0, 1):
        run = Run('network')
        run.training.load_state_dict({**run.training.state_dict(), 'step': begun})
        torch.manual_seed(RANK + 10 * begun)
        for step in run.training.steps(run.sampler, until=3):
            drawn.append([step.number, torch.rand(1).item()])
            for batch in step:
                step.backward(run.loss(batch))
            drawn[-1].append(torch.rand(1).item())
    return drawn


def twice_in_checkpoints(run, inputs):
    """A layer, of which gradients come one after the other."""
    inputs = inputs.clone().requires_grad_()
    return sum(run.model[2:](checkpoint(run.model[:2], part, use_reentrant=True)).square().mean()
               for part in (inputs[:2], inputs[2:]))


def sampler_of(*arguments, **options):
    try:
        return repr(invariant.UnitSampler(*arguments, **options))
    except ValueError as error:
        return str(error)


def unused(run):
    """A layer that only unit 2 uses, one that none does: the gradients, and which are none."""
    run.model.add_module('rare', nn.Linear(4, 4))
    run.model.add_module('never', nn.Linear(4, 4))
    for one in (run.model.rare, run.model.never):
        for tensor in one.parameters():
            tensor.data.fill_(0.25)
    run.training = invariant.Training(run.model, run.sampler)
    for step in run.training.steps(run.sampler, until=1):
        for number, batch in enumerate(step):
            mine = run.sampler.dealt(0)[RANK][number]
            layers = [*run.model][:6] + ([run.model.rare] if mine == 2 else [])
            step.backward(nn.functional.cross_entropy(
                nn.Sequential(*layers)(run.inputs[batch]), run.labels[batch]))
    return [run.model.never.weight.grad is None, hashed(run.model, run.model.rare.weight.grad)]


def left_out(run):
    try:
        for step in run.training.steps(run.sampler, until=2):
            for batch in step:
                step.backward(run.loss(batch))
                if SIZE == 1:
                    break
        return 'nothing'
    except RuntimeError as error:
        return str(error)


def leave_step(run, unit, is_computed):
    """Compute some of this rank's units, and do not go on, as after an error."""
    for step in run.training.steps(run.sampler, until=1):
        for number, batch in enumerate(step):
            if number < unit or is_computed:
                step.backward(run.loss(batch))
            if number == unit:
                return


def left_steps():
    """Hashes of two steps: as they are, and after one that was left, by the same Training or another one."""
    hashes = [Run('network').steps(2).hash]
    last = UNITS // SIZE - 1
    for unit, is_computed in ((0, True), (last, False), (last, True)):
        for is_same in (True, False):
            run = Run('network')
            before = copy.deepcopy(run.model.state_dict())
            leave_step(run, unit, is_computed)
            run.model.load_state_dict(before)
            if not is_same:
                left = weakref.ref(run.training)
                run.training = invariant.Training(run.model, run.sampler, bucket_mb=0.001)
                gc.collect()
                assert left() is None
            hashes.append(run.steps(2).hash)
    return hashes


def sums_that_failed():
    """What an Adder gives after a sum of its that failed."""
    class Failing:
        def allreduce_totals(self, *_):
            raise RuntimeError('failed')

    adder = invariant.Adder()
    values = torch.ones(3, requires_grad=True)
    adder.ranks.group = Failing()
    try:
        invariant.sum_blocks([values], adder)
    except RuntimeError:
        adder.ranks.group = None
    return invariant.sum_blocks([values, values], adder).tolist()


def classes_that_there_are_not():
    """What layers say of tokens and targets out of range."""
    words = invariant.VocabParallelEmbedding(8, 2)
    head = invariant.ColumnParallelLinear(2, 8)
    said = []
    for wrong in (-1, 8):
        for call in (lambda: words(torch.tensor([[3, wrong]])),
                     lambda: invariant.vocab_parallel_cross_entropy(head, torch.ones(2, 2), torch.tensor([3, wrong]))):
            try:
                said.append(call().tolist())
            except IndexError as error:
                said.append(str(error))
    empty = torch.empty(0, 3, dtype=torch.int64)
    return said + [list(words(empty).shape)]


def sizes_that_differ():
    """What is said of a checkpoint without masters, of another layer's state dict, and of features for all ranks."""
    told = []
    plain, masters = Run('bfloat16'), Run('bfloat16', masters=True)
    for one, other in ((masters, plain), (plain, masters)):
        told.append(failing(lambda: one.training.load_state_dict(other.training.state_dict())))
    head = invariant.ColumnParallelLinear(2, 8, blocks=4)
    told.append(failing(lambda: head.load_state_dict(nn.Linear(2, 12).state_dict())))
    told.append(failing(lambda: invariant.RowParallelLinear(8, 2, blocks=4)(torch.ones(1, 6))))
    return told


def made_without_gradients():
    """The gradient of a Training that was made where none are computed, as a model is that is loaded."""
    model = nn.Linear(3, 1)
    with torch.no_grad():
        training = invariant.Training(model, invariant.UnitSampler(4, 2, 2))
    for step in training.steps(training.sampler, until=1):
        for batch in step:
            step.backward(model(torch.ones(len(batch), 3)).mean())
    return model.weight.grad.tolist()


def failing(call):
    try:
        return str(call())
    except (ValueError, RuntimeError) as error:
        return str(error)


def differing_units():
    """Sums of many products, by one thread and by two."""
    torch.set_num_threads(2 if at_last() else 1)
    torch.manual_seed(3)
    model = nn.Linear(1, 1)
    inputs = torch.randn(4 * 60000, 1)
    sampler = invariant.UnitSampler(len(inputs), 60000, 4, check=1)
    training = invariant.Training(model, sampler, ignore=('threads',))
    for step in training.steps(sampler, until=1):
        for batch in step:
            step.backward(model(inputs[batch]).square().mean())
    return 'nothing'


def more_ranks_than_units():
    return Run('network', units=2).steps(3).hash


def many_units():
    """Of a step: the sum of their hashes is more than int32 holds. How the step ends, without what they compute."""
    training = invariant.Training(nn.Linear(1, 1), invariant.UnitSampler(70000, 1, 70000))
    training.finish(0, training.sampler.dealt(0)[training.sampler.rank])
    return training.step


# ---- tensor parallel -------------------------------------------------------------------------


class Language(nn.Module):
    """A small one, whose every matrix is cut into blocks, or as PyTorch has it."""

    def __init__(self, group=None, ordinary=False):
        super().__init__()
        torch.manual_seed(5)
        options = {} if ordinary else {'blocks': 4, 'group': group}
        column = nn.Linear if ordinary else invariant.ColumnParallelLinear
        row = nn.Linear if ordinary else invariant.RowParallelLinear
        embedding = nn.Embedding if ordinary else invariant.VocabParallelEmbedding
        self.words = embedding(32, 24, **options)
        self.up = column(24, 48, **options)
        self.down = row(48, 24, **options)
        self.norm = nn.LayerNorm(24)
        self.head = column(24, 32, bias=False, **options)

    def features(self, words):
        values = self.words(words)
        values = values + self.down(nn.functional.gelu(self.up(values)))
        return self.norm(values).flatten(0, 1)


def groups(tensor):
    """This rank's, of the ranks that share layers, and of those that have the same blocks."""
    import torch.distributed as dist  # pylint: disable=import-outside-toplevel
    if SIZE == 1:
        return None, None
    own = []
    for members in ([list(range(first, first + tensor)) for first in range(0, SIZE, tensor)],
                    [list(range(first, SIZE, tensor)) for first in range(tensor)]):
        made_of = [(one, dist.new_group(one, backend='netfc')) for one in members]
        own.append(next(group for one, group in made_of if RANK in one))
    return own


def tensor_parallel(tensor):
    """The hash of weights, logits and losses; and how far they are from PyTorch's own layers."""
    shared, same = groups(int(tensor))
    model, plain = Language(shared), Language(ordinary=True).double()
    plain.load_state_dict(Language(ordinary=True).state_dict())
    model.load_state_dict(Language(ordinary=True).state_dict())
    draw = torch.Generator().manual_seed(2)
    words = torch.randint(0, 32, (48, 4), generator=draw)
    sampler = invariant.UnitSampler(48, 3, 4, seed=1)
    training = invariant.Training(model, sampler, group=same, tensor_group=shared)
    optimizers = [torch.optim.AdamW(one.parameters(), 1e-2) for one in (model, plain)]
    losses, norms, errors = [], [], []
    for step in training.steps(sampler, until=4):
        optimizers[1].zero_grad()
        every = sum((sampler.indices(step.number, unit) for unit in range(4)), [])
        loss = nn.functional.cross_entropy(
            plain.head(plain.features(words[every])), words[every].roll(-1, 1).flatten())
        loss.backward()
        for batch in step:
            step.backward(invariant.vocab_parallel_cross_entropy(
                model.head, model.features(words[batch]), words[batch].roll(-1, 1).flatten()))
        losses.append(step.loss)
        norms.append(training.clip_grad_norm_(0.5))
        length = nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
        errors += [abs(loss - step.loss).item(), abs(length - norms[-1]).item()]
        for optimizer in optimizers:
            optimizer.step()
    state = invariant.ordinary_state_dict(model)
    errors += [(state[name] - one).abs().max().item() for name, one in plain.state_dict().items()]
    digest = hashlib.sha256(repr(norms).encode())
    for one in (*state.values(), *losses, model.features(words)):
        digest.update(one.detach().numpy().tobytes())
    return [digest.hexdigest()[:16], max(errors) < 1e-4]


def means_of_gradients(units):
    """Of a step's units: each unit's gradients, and the mean, of each type, as doubles."""
    units = int(units)
    draw = torch.Generator().manual_seed(3)
    found = {}
    for kind, masters in ((torch.float32, False), (torch.float64, False), (torch.float16, False),
                          (torch.bfloat16, False), (torch.bfloat16, True)):
        model = nn.Linear(50, 1, bias=False).to(kind)
        inputs = torch.randn(units, 50, generator=draw, dtype=torch.float64).to(kind)
        training = invariant.Training(model, invariant.UnitSampler(units, 1, units, shuffle=False),
                                      masters=masters)
        for step in training.steps(training.sampler, until=1):
            for batch in step:
                step.backward((model.weight * inputs[batch]).sum())
        found[f'{kind}{" masters" * masters}'] = [inputs.double().tolist(),
                                                  training.masters[0].grad.double()[0].tolist()]
    return found


def errors_of_gradients():
    """Of the mean of units' gradients: squared, of exact sums and of PyTorch's, beside float64's."""
    from netfc.torch.invariant.randoms import set_random_state
    run = Run('transformer')
    plain = [torch.zeros_like(one) for one in run.model.parameters()]
    wide = [one.double() for one in plain]
    for unit in range(UNITS):
        set_random_state(run.sampler.seed, 0, unit)
        run.model.zero_grad()
        run.loss(run.sampler.indices(0, unit)).backward()
        for own, sums in zip(run.model.parameters(), zip(plain, wide)):
            for total in sums:
                total += own.grad
    for step in run.training.steps(run.sampler, until=1):
        for batch in step:
            step.backward(run.loss(batch))
    exact = [one.grad * UNITS for one in run.model.parameters()]
    return [sum((one - right).square().sum().item() for one, right in zip(found, wide))
            for found in (exact, plain)]
