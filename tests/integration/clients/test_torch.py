# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: the back end of torch.distributed, against the server of libnetfc-allreduce's tests."""

import contextlib
import pathlib
import re
import subprocess
import threading
import time
import weakref

import numpy as np
import pytest

import needs
import project_scripts
import torch_values
from netfc import allreduce
from allreduce_server import serving
from torch_ranks import TIMEOUT_S, environment, failures, free_port, marks, ranks, results

pytestmark = marks


@pytest.mark.parametrize('size', [2, 3])
def test_all_types_and_operations_are_exact(tmp_path, size):
    told = results(tmp_path, size, 'reduce_all')
    for name in torch_values.NAMES + torch_values.NARROW:
        for op in ('SUM', 'AVG', 'MIN', 'MAX'):
            expected = torch_values.exact(name, op, size)
            for one in told:
                assert one[f'{name} {op}'] == expected, (name, op)


def test_layouts_started_ones_and_what_gloo_does(tmp_path):
    said, errors = ranks(tmp_path, 2, 'reduce_others', server=dict(shards=2))
    for one, error in zip(said, errors):
        assert one['result'] == {
            'columns': (2 * np.arange(12.).reshape(3, 4).T).tolist(), 'scalar': 3.0,
            'truths': [True, False, True], 'all_true': [False, False, True],
            'started': [[2.0 * n] for n in range(5)],
            'product': [9.0, 9.0], 'gathered': [0, 1], 'objects': [0, 1]}, error
        assert 'torch.bool' not in error
        assert error.count('another operation than SUM, AVG, MIN and MAX goes through gloo') == 1


@pytest.mark.parametrize('body', ['started_in_callbacks',
                                  'a_callback_that_waits_for_what_is_under_way'])
def test_callbacks_may_wait_for_other_reductions(tmp_path, body):
    told = results(tmp_path, 2, body)
    if body == 'started_in_callbacks':
        assert told == [[['inner', 'outer'], [2.0] * 3, [4.0] * 3, [6.0] * 3]] * 2
    else:
        assert told == [[[2.0] * 3] * 5] * 2


def test_a_hook_of_torch_whose_callbacks_reduce(tmp_path):
    one, other = results(tmp_path, 2, 'power_sgd')
    assert one == other


def test_copies_of_types_that_gloo_does_not_know(tmp_path):
    """And of tensors that are not contiguous; compared with numpy's arrays."""
    told = results(tmp_path, 3, 'copy_all')
    kinds = {'bfloat16': float, 'bool': bool, 'int16': int, 'complex64': None, 'float32': float}
    for name, kind in kinds.items():
        gave = [np.arange(6).reshape(2, 3) * (rank + 1) % 5 for rank in range(3)]
        expected = [(one.astype(kind) if kind else np.stack([one, 0 * one], -1).astype(float)).tolist()
                    for one in (gave[1], *gave, np.ones(3))]
        assert [one[name] for one in told] == [expected] * 3, name


@pytest.mark.parametrize('below', ['one', 'two leaves'])
def test_a_model_of_bfloat16(tmp_path, below):
    """Below two leaves gloo broadcasts it, as bytes."""
    with serving() if below == 'one' else tree_of_two() as address:
        told = results(tmp_path, 2, 'train_brains', address=address)
    assert told[0] == told[1]
    assert told[0][20:] == [6.0] * 20 + [True, True]  # (4 + 8) / 2, and rank 0's mask


@pytest.mark.parametrize('op', ['SUM', 'AVG'])
@pytest.mark.parametrize('body', ['reduce_to_one', 'reduce_coalesced'])
def test_other_reductions_are_exact_and_not_gloos(tmp_path, body, op):
    said, errors = ranks(tmp_path, 3, body, op)
    for rank, (one, error) in enumerate(zip(said, errors)):
        for name in torch_values.NAMES + torch_values.NARROW:
            if body == 'reduce_to_one' and rank != 1:
                continue
            assert one['result'][name] == torch_values.exact(name, op, 3), (name, error)
            assert f'torch.{name} goes through gloo' not in error


def test_odd_views_are_right_or_refused(tmp_path):
    told = results(tmp_path, 2, 'reduce_odd_views')
    assert told[0] == told[1]
    said, imaginary, negative, every_other, images = told[0]
    assert 'elements of the tensor share memory' in said[0] and 'strides (0,)' in said[0]
    assert 'elements of the tensor share memory' in said[1] and 'strides (2, 1)' in said[1]
    assert 'no memory of its own' in said[2]
    assert imaginary == [-4.0, -8.0] and negative == [-2.0, -4.0]
    assert every_other == [0.0, 1.0, 4.0, 3.0, 8.0, 5.0]
    assert images == [2.0 * n for n in range(24)]


def test_waiting_for_a_while(tmp_path):
    told = results(tmp_path, 2, 'wait_for_a_while')
    assert [sums for _, sums in told] == [[2.0] * 3] * 2
    assert 'not done after 0.3 s' in told[0][0]


def test_monitored_barrier_names_who_does_not_come(tmp_path):
    said, _ = ranks(tmp_path, 3, 'monitored_barriers')
    assert 'Rank 2 failed to pass monitoredBarrier' in said[0]['error']
    assert said[2] == {'result': 'not reached'}


def test_the_hook_with_other_groups(tmp_path):
    told = results(tmp_path, 2, 'hooks_of_others')
    for gradients, gloo, device in told:
        assert gradients == [[1.5, 1.5]]
        assert 'of back end "gloo"' in gloo and 'new_group(backend="netfc")' in gloo
        assert 'gradients are on meta' in device


def test_a_switch_has_slots_for_many_groups(tmp_path):
    """As many as a switch has by default."""
    assert results(tmp_path, 2, 'many_groups', '12', server=dict(slots=512)) == [[128] + [32] * 12] * 2


def test_a_destroyed_group_that_the_program_still_has_leaves_its_slots(tmp_path):
    for counts, said in results(tmp_path, 2, 'groups_one_after_another', '3', server=dict(slots=160)):
        assert counts == [[1, 3, 32]] * 3 and 'was destroyed' in said


def test_a_group_takes_what_is_left(tmp_path):
    said, errors = ranks(tmp_path, 2, 'many_groups', '2', server=dict(slots=176))
    for one, error in zip(said, errors):
        assert one['result'] == [128, 32, 16], error
        assert error.count('has 16 slots of the switch, not 32') == 1


def test_a_group_that_gets_no_slots_says_so(tmp_path):
    said, errors = ranks(tmp_path, 2, 'many_groups', '1', NETFC_JOIN_TIMEOUT='4', server=dict(slots=128))
    for one, error in zip(said, errors):
        assert 'asks for 32 slots (NETFC_SLOTS) and takes 8 at least' in one['error']
        assert 'waits up to 4 s, since the switch has no place' in error


def test_fewer_slots_than_are_worth_it(tmp_path):
    told = failures(tmp_path, 2, 'alone', NETFC_JOIN_TIMEOUT='4', server=dict(slots=4))
    for text in told:
        assert 'has only 4 slots left, and a process group needs 8' in text


def test_statistics(tmp_path):
    told = results(tmp_path, 3, 'count_all')
    for rank, (before, after, error) in enumerate(told):
        assert before['reductions'] == 0 and before['slots'] == 128 and before['late'] == {}
        assert after['reductions'] == 2 and after['values'] == 2000 and after['chunks'] == 6
        assert after['rtt_s'] >= after['least_rtt_s'] > 0
        assert 'the group is of back end "gloo"' in error
        assert after['late'] == ({'2': 1} if rank < 2 else {})
        assert rank == 2 or after['waited_s'] > 2


def test_a_group_inside_has_a_job_of_its_own(tmp_path):
    assert results(tmp_path, 3, 'subgroups') == [[3, 6], [3, 6], [3, 6]]


@pytest.mark.parametrize('loss', [0, 0.05])
def test_training_gives_the_same_bits_again(tmp_path, loss):
    bad = {'lost': loss, 'delayed': loss} if loss else {}
    runs = []
    for run in range(2):
        folder = tmp_path / str(run)
        folder.mkdir()
        runs += results(folder, 2, 'train', server=bad)
    assert all(one == runs[0] for one in runs)


def test_the_hook_for_those_who_keep_gloo(tmp_path):
    hooked = results(tmp_path, 3, 'train', 'hook', BACKEND='gloo')
    assert hooked[0] == hooked[1] == hooked[2]


@pytest.mark.slow
def test_torchrun(tmp_path):
    """The launcher's store and variables; the second attempt of a rank that fails gets through."""
    script = pathlib.Path(tmp_path / 'train.py')
    script.write_text(
        'import os, sys, torch, torch.distributed as dist\n'
        'import netfc.torch\n'
        'dist.init_process_group("netfc")\n'
        'tensor = torch.ones(5)\n'
        'dist.all_reduce(tensor)\n'
        'if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and dist.get_rank() == 1:\n'
        '    os._exit(1)\n'
        'dist.all_reduce(tensor)\n'
        'print(f"sum {int(tensor[0])}\\n", end="", flush=True)\n', encoding='ascii')  # at once: lines are read meanwhile
    with serving() as address:
        done = subprocess.run(
            ['/usr/bin/python3', '-m', 'torch.distributed.run', '--nproc_per_node=2',
             # 1.13 takes no other value of these with Python 3.11.
             '--redirects=1', '--tee=1',
             '--max_restarts=1', '--monitor_interval=0.5', '--master_addr=127.0.0.1',
             f'--master_port={free_port()}', script],
            env=environment(NETFC_SWITCH=address), text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    needs.libuv_of_torch(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('sum 4') == 2


def blocks(language):
    """The pieces of code of docs/pytorch.md."""
    text = (project_scripts.PROJECT / 'docs' / 'pytorch.md').read_text(encoding='utf-8')
    return re.findall(f'^```{language}\n(.*?)^```', text, re.MULTILINE | re.DOTALL)


def test_the_first_example_of_the_document(tmp_path):
    """As it is written there, but for the switch's address."""
    (tmp_path / 'train.py').write_text(blocks('python')[0], encoding='ascii')
    with serving() as address:
        command = next(line for block in blocks('sh') for line in block.splitlines()
                       if 'torchrun --nproc_per_node=4' in line).replace('10.0.0.2', address)
        # As it is written, but for the port, which others may have.
        done = subprocess.run(command, shell=True, cwd=tmp_path, text=True, capture_output=True,
                              env=environment(PET_MASTER_PORT=str(free_port())),
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    needs.libuv_of_torch(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(4):
        assert re.search(rf'rank {rank}: loss [0-9]\.[0-9]+, 10[0-9] reductions', done.stdout)


def with_hook_of_the_document(tmp_path, state):
    """What four ranks print whose model has the hook of that state."""
    script = tmp_path / 'train.py'
    hook = next(block for block in blocks('python') if state in block)
    script.write_text(
        'import json, torch, torch.distributed, netfc.torch\n'
        'torch.distributed.init_process_group("gloo")\n'
        'rank, PER_NODE, INSIDE = torch.distributed.get_rank(), 2, "gloo"\n'
        'model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))\n'
        f'{hook}\n'
        'model(torch.full((1, 3), 2.0 ** rank)).sum().backward()\n'
        'print(f"means {model.module.weight.grad.tolist()}\\n", end="", flush=True)\n', encoding='ascii')  # likewise
    with serving() as address:
        done = subprocess.run(
            ['torchrun', '--nproc_per_node=4', '--redirects=1', '--tee=1',
             '--master_addr=127.0.0.1', f'--master_port={free_port()}', script],
            env=environment(NETFC_SWITCH=address), text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    needs.libuv_of_torch(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize('state', [
    pytest.param('NodeState', id='nodes', marks=pytest.mark.slow),  # two of two ranks each; gloo in the place of NCCL
    pytest.param('TopKState', id='the greatest'),  # there is one block
])
def test_hooks_of_the_document(tmp_path, state):
    told = with_hook_of_the_document(tmp_path, state)
    assert told.count('means [[3.75, 3.75, 3.75]]') == 4, told  # (1 + 2 + 4 + 8) / 4


@pytest.mark.parametrize('device', ['cpu', 'cuda'])
def test_pieces_that_are_staged(tmp_path, device):
    """As those of a GPU's tensor, with tensors of the CPU, and with a GPU where there is one."""
    said, errors = ranks(tmp_path, 2, 'reduce_staged', device)
    if said[0] == {'result': 'no GPU'}:
        pytest.skip('torch sees no GPU (torch.cuda.is_available())')
    for one, error in zip(said, errors):
        for name in ('float32', 'int16'):
            exact = torch_values.exact(name, 'SUM', 2)
            assert one['result'][name] == [exact, exact], error
        assert 'through gloo' not in error


@pytest.mark.parametrize('by', ['NETFC_SWITCH', 'SWITCHES'])
def test_two_switches(tmp_path, by):
    """By environment and by options; each adds up its share."""
    with serving() as one, serving(shards=2) as other:
        where = f'{one},{other}' if by == 'NETFC_SWITCH' else f'{one} {other}'
        told = results(tmp_path, 2, 'reduce_all', address=None, **{by: where})
    for name in torch_values.NAMES:
        for op in ('SUM', 'AVG', 'MIN', 'MAX'):
            assert all(one[f'{name} {op}'] == torch_values.exact(name, op, 2) for one in told)


def test_ranks_below_two_leaves(tmp_path):
    """As the ranks' switches say; what a tree does not do goes through gloo."""
    with tree_of_two() as (one, other):
        said, errors = ranks(tmp_path, 4, 'reduce_all', address=[one, other, one, other])
        for name in torch_values.NAMES:
            for op in ('SUM', 'AVG', 'MIN', 'MAX'):
                for mine in said:
                    assert mine['result'][f'{name} {op}'] == torch_values.exact(name, op, 4)
        assert not any('goes through gloo' in error for error in errors)
        folder = tmp_path / 'other'
        folder.mkdir()
        trained = results(folder, 2, 'train', address=[one, other])
    with serving() as address:
        alone = tmp_path / 'alone'
        alone.mkdir()
        assert trained == results(alone, 2, 'train', address=address)


@pytest.mark.parametrize('body, word', [('reduce_to_one', 'SUM'), ('collect', 'bfloat16')])
def test_parts_below_two_leaves(tmp_path, body, word):
    """What gives each rank its own part: gloo copies, and does not reduce."""
    with tree_of_two() as (one, other):
        said, errors = ranks(tmp_path, 3, body, word, address=[one, other, one])
    if body == 'collect':
        torch_values.check_collected(said, errors, word, by_gloo=('all_gather', 'broadcast'))
        return
    for name in torch_values.NAMES + torch_values.NARROW:
        assert said[1]['result'][name] == torch_values.exact(name, word, 3), (name, errors[1])
    assert not any('goes through gloo' in error for error in errors)


def test_what_does_not_fit_is_refused_below_two_leaves(tmp_path):
    with tree_of_two() as (one, other):
        torch_values.check_refused(results(tmp_path, 3, 'refuse_parts', address=[one, other, one]))


def test_callbacks_below_two_leaves(tmp_path):
    """Ranks that may reduce on their machine, and cannot, as they use two switches, do not in the callbacks' job."""
    with tree_of_two() as addresses:
        said, errors = ranks(tmp_path, 2, 'started_in_callbacks', address=addresses, NETFC_LOCAL='1')
    for one, error in zip(said, errors):
        assert one.get('result', [one])[1:] == [[2.0] * 3, [4.0] * 3, [6.0] * 3], (one, error)
        assert 'share memory' not in error


@contextlib.contextmanager
def tree_of_two():
    """Addresses of two leaves below one parent."""
    with contextlib.ExitStack() as stack:
        parent = stack.enter_context(serving()).rpartition(':')[2]
        yield [stack.enter_context(serving(parent=parent)) for _ in range(2)]


def test_trees_of_ranks():
    from netfc.torch.leaves import leaf_of  # pylint: disable=import-outside-toplevel

    alone = leaf_of(1, [['a'], ['a:20040'], ['a']])
    assert (alone.worker, alone.ranks, alone.place) == (1, (0, 1, 2), None)
    of_four = leaf_of(3, [['[::1]:20040', 'x'], ['b:20041'], ['[::1]', 'x'], ['b:20041']])
    assert (of_four.worker, of_four.ranks) == (1, (1, 3))
    assert of_four.place == allreduce.Place(((2, 1),), 4)
    many = leaf_of(199, [[f'switch{rank // 50}'] for rank in range(200)])
    assert (many.worker, many.place) == (49, allreduce.Place(((4, 3),), 200))
    error = allreduce.AllreduceError('Worker 0 fell.', 'silent', 0, 0)
    assert (of_four.named(error).worker, alone.named(error)) == (1, error)
    error = of_four.named(allreduce.AllreduceError('Leaf 0 of 2 fell.', 'silent', None, 0, 0))
    assert str(error) == 'Leaf 0 of 2 fell. Its ranks in the group are 0, 2.' and error.leaf == 0
    with pytest.raises(ValueError, match='65 ranks use switch a, .* 64 at most'):
        leaf_of(0, [['a']] * 65)
    with pytest.raises(ValueError, match='65 switches'):
        leaf_of(0, [[str(rank)] for rank in range(65)])


def test_threads_let_go_of_what_they_have_told():
    """A thread that frees a tensor while Python ends aborts the process: settle() waits for that, too."""
    threads_module = pytest.importorskip('netfc.torch.task_threads')
    told = []

    def do(_):
        def tell():
            """Of a future, which has tensors."""
        told.append(weakref.ref(tell))
        return tell

    threads = threads_module.TaskThreads(do)
    threads.put('first')
    threads.settle(time.monotonic() + 60)
    assert [each() for each in told] == [None]


def test_what_is_put_while_the_process_ends_is_done():
    """By a callback that settle() waits for: which of all that wait are told of it is not known."""
    threads_module = pytest.importorskip('netfc.torch.task_threads')
    done, go_on, settled = threading.Event(), threading.Event(), threading.Event()

    def do(thing):
        if thing == 'last':
            done.set()
        return (lambda: go_on.wait(60)) if thing == 'first' else (lambda: None)

    def waiters(count):
        limit = time.monotonic() + 60
        while len(threads._change._waiters) < count and time.monotonic() < limit:
            time.sleep(0.01)
        return threads._change._waiters

    threads = threads_module.TaskThreads(do)
    threads.put('first')
    threads.put('second')
    waiters(1)  # an idle thread
    end = time.monotonic() + 60
    settling = threading.Thread(target=lambda: (threads.settle(end), settled.set()))
    settling.start()
    waiters(2).reverse()
    threads.put('last')
    assert done.wait(10)
    go_on.set()
    assert settled.wait(10)
    settling.join()


def test_who_waits_does_what_comes_next_itself():
    """Only what is next, and not while a thread does something; what is given back is done by a thread, before what
    was put meanwhile."""
    threads_module = pytest.importorskip('netfc.torch.task_threads')
    done, go_on, begun = [], threading.Event(), threading.Event()

    def do(thing):
        begun.set()
        assert go_on.wait(60)
        done.append(thing)
        return lambda: None

    threads = threads_module.TaskThreads(do)
    first, second, third = object(), object(), object()
    assert threads.claim()
    threads.put(second)
    threads.put(third)
    assert not threads.claim() and not threads.claim(second)
    threads.release(first)
    assert begun.wait(60)
    assert not threads.claim(second)
    go_on.set()
    threads.settle(time.monotonic() + 60)
    assert done == [first, second, third]
    assert threads.claim()
    threads.release()
    threads.close()
    assert not threads.claim()
