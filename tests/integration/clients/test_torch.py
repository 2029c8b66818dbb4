# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: the back end of torch.distributed, against the server of libnetfc-allreduce's tests."""

import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess

import numpy as np
import pytest

import needs
import project_scripts
import sanitized
import torch_values
from netfc import allreduce
from test_allreduce import SERVER, joined, serving
from torch_ranks import NO_TORCH, TIMEOUT_S, environment, failures, ranks, results, started

pytestmark = [
    needs.skip_where(NO_TORCH),
    pytest.mark.skipif(sanitized.is_sanitized(), reason='torch does not load with the sanitizers'),
]


@pytest.mark.parametrize('size', [2, 3])
def test_all_types_and_operations_are_exact(tmp_path, size):
    with serving() as address:
        told = results(tmp_path, size, 'reduce_all', address=address)
    for name in torch_values.NAMES:
        for op in ('SUM', 'AVG', 'MIN', 'MAX'):
            expected = torch_values.exact(name, op, size)
            for one in told:
                assert one[f'{name} {op}'] == expected, (name, op)


def test_layouts_started_ones_and_what_gloo_does(tmp_path):
    with serving(shards=2) as address:
        said, errors = ranks(tmp_path, 2, 'reduce_others', address=address)
    for one, error in zip(said, errors):
        assert one['result'] == {
            'columns': (2 * np.arange(12.).reshape(3, 4).T).tolist(), 'scalar': 3.0,
            'small': [2] * 3, 'started': [[2.0 * n] for n in range(5)],
            'product': [9.0, 9.0], 'gathered': [0, 1], 'objects': [0, 1]}, error
        assert error.count('all_reduce of torch.int8 goes through gloo') == 1
        assert error.count('another operation than SUM, AVG, MIN and MAX goes through gloo') == 1


@pytest.mark.parametrize('body', ['started_in_callbacks',
                                  'a_callback_that_waits_for_what_is_under_way'])
def test_callbacks_may_wait_for_other_reductions(tmp_path, body):
    with serving() as address:
        told = results(tmp_path, 2, body, address=address)
    if body == 'started_in_callbacks':
        assert told == [[['inner', 'outer'], [2.0] * 3, [4.0] * 3, [6.0] * 3]] * 2
    else:
        assert told == [[[2.0] * 3] * 5] * 2


def test_a_hook_of_torch_whose_callbacks_reduce(tmp_path):
    with serving() as address:
        one, other = results(tmp_path, 2, 'power_sgd', address=address)
    assert one == other


def test_copies_of_types_that_gloo_does_not_know(tmp_path):
    """And of tensors that are not contiguous; compared with numpy's arrays."""
    with serving() as address:
        told = results(tmp_path, 3, 'copy_all', address=address)
    kinds = {'bfloat16': float, 'bool': bool, 'int16': int, 'complex64': None, 'float32': float}
    for name, kind in kinds.items():
        gave = [np.arange(6).reshape(2, 3) * (rank + 1) % 5 for rank in range(3)]
        expected = [(one.astype(kind) if kind else np.stack([one, 0 * one], -1).astype(float)).tolist()
                    for one in (gave[1], *gave, np.ones(3))]
        assert [one[name] for one in told] == [expected] * 3, name


def test_a_model_of_bfloat16(tmp_path):
    with serving() as address:
        told = results(tmp_path, 2, 'train_brains', address=address)
    assert told[0] == told[1]
    assert told[0][20:] == [6.0] * 20 + [True, True]  # (4 + 8) / 2, and rank 0's mask


@pytest.mark.parametrize('op', ['SUM', 'AVG'])
@pytest.mark.parametrize('body', ['reduce_to_one', 'reduce_coalesced'])
def test_other_reductions_are_exact_and_not_gloos(tmp_path, body, op):
    with serving() as address:
        said, errors = ranks(tmp_path, 3, body, op, address=address)
    for rank, (one, error) in enumerate(zip(said, errors)):
        for name in torch_values.NAMES:
            if body == 'reduce_to_one' and rank != 1:
                continue
            assert one['result'][name] == torch_values.exact(name, op, 3), (name, error)
            assert f'torch.{name} goes through gloo' not in error


def test_odd_views_are_right_or_refused(tmp_path):
    with serving() as address:
        told = results(tmp_path, 2, 'reduce_odd_views', address=address)
    assert told[0] == told[1]
    said, imaginary, negative, every_other, images = told[0]
    assert 'elements of the tensor share memory' in said[0] and 'strides (0,)' in said[0]
    assert 'elements of the tensor share memory' in said[1] and 'strides (2, 1)' in said[1]
    assert 'no memory of its own' in said[2]
    assert imaginary == [-4.0, -8.0] and negative == [-2.0, -4.0]
    assert every_other == [0.0, 1.0, 4.0, 3.0, 8.0, 5.0]
    assert images == [2.0 * n for n in range(24)]


def test_waiting_for_a_while(tmp_path):
    with serving() as address:
        told = results(tmp_path, 2, 'wait_for_a_while', address=address)
    assert [sums for _, sums in told] == [[2.0] * 3] * 2
    assert 'not done after 0.3 s' in told[0][0]


def test_monitored_barrier_names_who_does_not_come(tmp_path):
    with serving() as address:
        said, _ = ranks(tmp_path, 3, 'monitored_barriers', address=address)
    assert 'Rank 2 failed to pass monitoredBarrier' in said[0]['error']
    assert said[2] == {'result': 'not reached'}


def test_the_hook_with_other_groups(tmp_path):
    with serving() as address:
        told = results(tmp_path, 2, 'hooks_of_others', address=address)
    for gradients, gloo, device in told:
        assert gradients == [[1.5, 1.5]]
        assert 'of back end "gloo"' in gloo and 'new_group(backend="netfc")' in gloo
        assert 'gradients are on meta' in device


def test_a_switch_has_slots_for_many_groups(tmp_path):
    """As many as a switch has by default."""
    with serving(slots=512) as address:
        assert results(tmp_path, 2, 'many_groups', '12', address=address) == [[128] + [32] * 12] * 2


def test_a_group_takes_what_is_left(tmp_path):
    with serving(slots=176) as address:
        said, errors = ranks(tmp_path, 2, 'many_groups', '2', address=address)
    for one, error in zip(said, errors):
        assert one['result'] == [128, 32, 16], error
        assert error.count('has 16 slots of the switch, not 32') == 1


def test_a_group_that_gets_no_slots_says_so(tmp_path):
    with serving(slots=128) as address:
        said, errors = ranks(tmp_path, 2, 'many_groups', '1', address=address,
                             NETFC_JOIN_TIMEOUT='4')
    for one, error in zip(said, errors):
        assert 'asks for 32 slots (NETFC_SLOTS) and takes 8 at the least' in one['error']
        assert 'waits up to 4 s, since the switch has no place' in error


def test_fewer_slots_than_are_worth_it(tmp_path):
    with serving(slots=4) as address:
        told = failures(tmp_path, 2, 'alone', address=address, NETFC_JOIN_TIMEOUT='4')
    for text in told:
        assert 'has only 4 slots left, and a process group needs 8' in text


def test_statistics(tmp_path):
    with serving() as address:
        told = results(tmp_path, 3, 'count_all', address=address)
    for rank, (before, after, error) in enumerate(told):
        assert before['reductions'] == 0 and before['slots'] == 128 and before['late'] == {}
        assert after['reductions'] == 2 and after['values'] == 2000 and after['chunks'] == 6
        assert after['rtt_s'] >= after['least_rtt_s'] > 0
        assert 'the group is of back end "gloo"' in error
        assert after['late'] == ({'2': 1} if rank < 2 else {})
        assert rank == 2 or after['waited_s'] > 2


def test_a_group_inside_has_a_job_of_its_own(tmp_path):
    with serving() as address:
        assert results(tmp_path, 3, 'subgroups', address=address) == [[3, 6], [3, 6], [3, 6]]


@pytest.mark.parametrize('loss', [0, 0.05])
def test_training_gives_the_same_bits_again(tmp_path, loss):
    bad = {'lost': loss, 'delayed': loss} if loss else {}
    runs = []
    for run in range(2):
        folder = tmp_path / str(run)
        folder.mkdir()
        with serving(**bad) as address:
            runs += results(folder, 2, 'train', address=address)
    assert all(one == runs[0] for one in runs)


def test_the_hook_for_those_who_keep_gloo(tmp_path):
    with serving() as address:
        hooked = results(tmp_path, 3, 'train', 'hook', address=address, BACKEND='gloo')
    assert hooked[0] == hooked[1] == hooked[2]


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


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
        'print("sum", int(tensor[0]), flush=True)\n', encoding='ascii')
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


def test_the_document_s_hook_for_nodes(tmp_path):
    """Two nodes of two ranks each; gloo in the place of NCCL."""
    script = tmp_path / 'train.py'
    hook = next(block for block in blocks('python') if 'def node_hook' in block)
    script.write_text(
        'import json, torch, torch.distributed, netfc.torch\n'
        'torch.distributed.init_process_group("gloo")\n'
        'rank, PER_NODE, INSIDE = torch.distributed.get_rank(), 2, "gloo"\n'
        'model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))\n'
        f'{hook}\n'
        'model(torch.full((1, 3), 2.0 ** rank)).sum().backward()\n'
        'print("means", model.module.weight.grad.tolist(), flush=True)\n', encoding='ascii')
    with serving() as address:
        done = subprocess.run(
            ['torchrun', '--nproc_per_node=4', '--redirects=1', '--tee=1',
             '--master_addr=127.0.0.1', f'--master_port={free_port()}', script],
            env=environment(NETFC_SWITCH=address), text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    needs.libuv_of_torch(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('means [[3.75, 3.75, 3.75]]') == 4  # (1 + 2 + 4 + 8) / 4


@pytest.mark.parametrize('body', ['different_shapes', 'different_orders'])
def test_calls_that_differ_are_named_by_rank(tmp_path, body):
    with serving() as address:
        told = failures(tmp_path, 2, body, address=address)
    sizes = (10, 11) if body == 'different_shapes' else (200, 100)
    for text in told:
        assert 'do not call the same, says' in text
        for rank, size in enumerate(sizes):
            assert f'rank {rank} ' in text
            assert f'all_reduce 1, sum of {size} float32' in text


def test_after_a_failure_all_fails_at_once(tmp_path):
    with serving() as address:
        assert results(tmp_path, 2, 'fail_twice', address=address) == [[True, True]] * 2


def test_a_new_group_after_a_failure(tmp_path):
    with serving() as address:
        assert results(tmp_path, 2, 'join_again', address=address) == [[2.0] * 3] * 2


def test_a_rank_that_is_killed_is_named(tmp_path):
    """Long before the time-out, and before the switch says so."""
    with serving() as address:
        told = failures(tmp_path, 3, 'die_in_training', address=address, TIMEOUT='300')
    assert told[2] is None
    for text in told[:2]:
        assert 'The process of rank 2 (' in text and 'has ended' in text


@pytest.mark.slow
def test_a_rank_that_does_not_call_is_named_at_the_time_out(tmp_path):
    """Before the switch does; with what the others had sent, its own sum is complete."""
    with serving() as address:
        said, _ = ranks(tmp_path, 3, 'one_is_late', '12', address=address, TIMEOUT='6')
    for rank, one in enumerate(said[:2]):
        assert one['type'] == 'AllreduceError' and one['seconds'] >= 6
        first, *others = one['error'].splitlines()
        assert f'rank {rank} ' in first and 'all_reduce 2, sum of 5 float32' in first
        assert 'not done within the timeout of 6 s: rank 2 (' in first and 'did not call it' in first
        assert 'its latest call was all_reduce 1, sum of 5 float32' in others[1]
        assert f'rank {1 - rank} ' in others[0] and 'all_reduce 2' in others[0]
    assert said[2].get('result') == [3.0] * 5


@pytest.mark.parametrize('seconds, text', [('15', 'missing: rank 2 ('), ('0', 'has ended')])
def test_a_group_inside_that_a_rank_does_not_use(tmp_path, seconds, text):
    timeout = '5' if seconds == '15' else '300'
    with serving() as address:
        said, _ = ranks(tmp_path, 3, 'one_does_not_use_a_group', seconds, address=address,
                        TIMEOUT=timeout)
    for one in said[:2]:
        first = one['error'].splitlines()[0]
        assert 'joining the job' in first and text in first and 'rank 2 (' in first


@pytest.mark.slow
def test_a_rank_that_is_stopped_is_named(tmp_path):
    """As one on a machine that is out of reach: its process may be there, and says nothing."""
    with serving() as address, running(tmp_path, 3, ['stop_in_training'], address, TIMEOUT='300',
                                       NETFC_SILENCE='3') as processes:
        told = [last_line(process) for process in processes[:2]]
    for one in told:
        assert 'no sign of life of rank 2 (' in one['error'] and one['seconds'] < 25


@pytest.mark.slow
def test_a_late_rank_is_waited_for(tmp_path):
    """Longer than for one that says nothing, and than the switch's own patience."""
    with serving(stall_ms=1000) as address:
        told = results(tmp_path, 2, 'one_is_late', '9', address=address, TIMEOUT='60',
                       NETFC_SILENCE='3')
    assert told == [[2.0] * 5] * 2


@contextlib.contextmanager
def running(folder, size, words, address, **more):
    """The processes of all ranks, killed in the end."""
    processes = [started(folder, size, rank, words, address, more) for rank in range(size)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def last_line(process):
    return json.loads(process.communicate(timeout=TIMEOUT_S)[0].splitlines()[-1])


@contextlib.contextmanager
def storing():
    """A store in a process of its own: the process and host:port."""
    port = free_port()
    code = ('import sys, torch_store\n'
            f'store = torch_store.tcp_store("127.0.0.1", {port}, is_master=True,\n'
            '                              wait_for_workers=False)\n'
            'print(flush=True)\n'
            'sys.stdin.read()\n')
    with subprocess.Popen(['/usr/bin/python3', '-c', code], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            yield process, f'127.0.0.1:{port}'
        finally:
            process.kill()


@pytest.mark.parametrize('sign', [
    signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.slow)])
def test_a_store_that_goes_away(tmp_path, sign):
    """Killed, its host says so; stopped, nobody says anything."""
    with serving() as address, storing() as (store, place), running(
            tmp_path, 2, ['one_is_late', '40'], address, STORE=place, TIMEOUT='300',
            NETFC_SILENCE='3') as processes:
        for process in processes:
            process.stdout.readline()
        store.send_signal(sign)
        one = last_line(processes[0])
    assert 'store of the process group does not answer' in one['error']
    assert one['seconds'] < 25


def test_a_rank_that_does_not_come_is_named(tmp_path):
    with serving() as address:
        told = failures(tmp_path, 3, 'alone', address=address, present=2, TIMEOUT='3')
    for text in told:
        assert text.endswith('missing: rank 2')


def test_a_rank_that_does_not_come_to_rank_0s_store_is_named(tmp_path):
    """It waits for all before rank 0 does anything else: as long as the others wait for rank 0,
    which may therefore come just before they give up."""
    with serving() as address:
        told = failures(tmp_path, 3, 'alone', address=address, present=2, TIMEOUT='4',
                        STORE=f'tcp://127.0.0.1:{free_port()}')
    assert told[0].endswith('missing: rank 2')
    assert told[1].endswith(('missing: rank 2; rank 0 waits in the store that it has',
                             'missing: rank 2'))


def test_no_switch_there(tmp_path):
    told = failures(tmp_path, 2, 'alone', address='127.0.0.1:9', SWITCHES='127.0.0.1:9')
    for text in told:
        assert 'Nothing listens on UDP port 127.0.0.1:9' in text


def test_a_switch_that_goes_away(tmp_path):
    """The switch ends between two reductions."""
    with serving() as address:
        processes = [started(tmp_path, 2, rank, ['until_it_fails'], address, {'TIMEOUT': '6'})
                     for rank in range(2)]
        for process in processes:
            process.stdout.readline()
    told = [json.loads(process.communicate(timeout=TIMEOUT_S)[0]) for process in processes]
    for one in told:
        assert 'Nothing listens' in one['error'] or 'has not answered' in one['error'], one


def test_a_switch_that_is_silent(tmp_path):
    """Its host is gone, and nobody says so: noticed long before the time-out."""
    with silencing() as (servers, address), running(
            tmp_path, 2, ['until_it_fails'], address, TIMEOUT='300', NETFC_SILENCE='3'
            ) as processes:
        for process in processes:
            process.stdout.readline()
        servers[1].send_signal(signal.SIGSTOP)
        told = [last_line(process) for process in processes]
    for one in told:
        assert f'Switch {address.split(",")[1]} has not answered' in one['error']
        assert one['seconds'] < 25


@contextlib.contextmanager
def silencing():
    """Two servers: their processes, and their addresses with a comma."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(subprocess.Popen(
            [SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) for _ in range(2)]
        for server in servers:
            stack.callback(server.kill)
        yield servers, ','.join('127.0.0.1:' + server.stdout.readline().strip()
                                for server in servers)


@pytest.mark.parametrize('by', ['NETFC_SWITCH', 'SWITCHES'])
def test_two_switches(tmp_path, by):
    """By environment and by options; each adds up its share."""
    with serving() as one, serving(shards=2) as other:
        where = f'{one},{other}' if by == 'NETFC_SWITCH' else f'{one} {other}'
        told = results(tmp_path, 2, 'reduce_all', address=None, **{by: where})
    for name in torch_values.NAMES:
        for op in ('SUM', 'AVG', 'MIN', 'MAX'):
            assert all(one[f'{name} {op}'] == torch_values.exact(name, op, 2) for one in told)


def test_ranks_wait_while_the_switch_is_full(tmp_path):
    with serving(slots=128) as address:
        holder = joined(address, 0, 1, job=7)
        with running(tmp_path, 2, ['one_is_late', '0'], address, TIMEOUT='60') as processes:
            with pytest.raises(subprocess.TimeoutExpired):
                processes[0].wait(6)
            holder.leave()
            told = [last_line(process) for process in processes]
    assert [one['result'] for one in told] == [[2.0] * 5] * 2


def test_a_switch_that_stays_full(tmp_path):
    with serving(slots=128) as address, joined(address, 0, 1, job=7):
        told = failures(tmp_path, 2, 'alone', address=address, NETFC_JOIN_TIMEOUT='4')
    for text in told:
        assert 'has no place' in text and 'rank 1 (' in text


def test_no_switch_named(tmp_path):
    for text in failures(tmp_path, 2, 'alone', address=None):
        assert 'set NETFC_SWITCH' in text


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
    with pytest.raises(ValueError, match='65 ranks use switch a, .* 64 at the most'):
        leaf_of(0, [['a']] * 65)
    with pytest.raises(ValueError, match='65 switches'):
        leaf_of(0, [[str(rank)] for rank in range(65)])


@pytest.mark.parametrize('name, value', [
    ('NETFC_JOB', 'x'), ('NETFC_JOB', '70000'), ('NETFC_JOB', '9-8'), ('NETFC_SLOTS', '-1'),
    ('NETFC_CHUNK_BYTES', '1 KB'), ('NETFC_SILENCE', '0')])
def test_variables_that_make_no_sense(tmp_path, name, value):
    text, = failures(tmp_path, 1, 'alone', address='127.0.0.1:9', **{name: value})
    assert f"{name} is '{value}'" in text


@pytest.mark.parametrize('value', ['x', '-1', '0x', '0x10000000000000000'])
def test_a_token_that_is_none(tmp_path, value):
    """It may be one nearly: it is not repeated where others could read it."""
    text, = failures(tmp_path, 1, 'alone', address='127.0.0.1:9', NETFC_TOKEN=value)
    assert 'NETFC_TOKEN is no number of 64 bits' in text and value not in text.replace('0x12', '')
