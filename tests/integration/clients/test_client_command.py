# SPDX-License-Identifier: BSD-3-Clause
"""netfc-client as a user calls it: results, files, pipes, JSON, and every bad input."""

import io
import json
import subprocess
import sys

import pytest

import project_scripts
import table_builder
from fake_switch import FakeSwitch, Function, TableSet

from netfc import formats
from netfc.commands import client

COMMAND = project_scripts.PROGRAMS / 'netfc-client'
SERVER = ('--server', '127.0.0.1')


@pytest.fixture(name='server', scope='module')
def fp16_switch(tmp_path_factory):
    """A switch that knows fp16 alone."""
    tables = TableSet('fp16_k1024')
    path = tmp_path_factory.mktemp('functions') / 'triple.netfcfun'
    table_builder.run('build', '-q', '--function', 'triple', '--expression', '3 * x', '-o', path)
    functions = {'rsqrt': Function(71, 'fp16', 'rsqrt'), 'to_q8': Function(120, 'fp16', 'to_q8'),
                 'triple': Function(193, path)}
    with FakeSwitch({1: tables}, functions=functions) as server:
        yield server
    tables.close()


@pytest.fixture(name='run')
def make_run(server, capsys, monkeypatch):
    """run(ARGUMENT..., stdin='', status=0): what the command printed to stdout and stderr."""

    def run(*arguments, stdin='', status=0):
        monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(stdin.encode('latin-1'))))
        options = SERVER + ('--port', str(server.port), '--timeout', '5')
        assert client.main([*options, *arguments]) == status
        return capsys.readouterr()

    return run


def complaint(run, *arguments, status=1, **options):
    """What the command said when it failed, in one line; it printed nothing else."""
    done = run(*arguments, status=status, **options)
    assert done.out == '' and done.err.startswith('netfc-client: ') and done.err.count('\n') == 1
    return done.err


def test_binary32(capsys):
    """Operands and results of 32 bits, as numbers, as bits, and in JSON."""
    tables = TableSet('fp32_exact')
    with FakeSwitch({5: tables}) as server:
        options = [*SERVER, '--port', str(server.port), '--timeout', '5', '--format', 'fp32']
        for arguments, shown in ((['div', '1', '3'], '0.333333343\n'),
                                 (['mul', '0x3f800001', '2'], '2.00000024\n'),
                                 (['div', '--bits', '3f800000', '40400000'], '0x3eaaaaab\n')):
            assert client.main([*options, *arguments]) == 0
            assert capsys.readouterr().out == shown
        assert client.main([*options, '--json', 'add', '0x7f800000', '1']) == 0
        (lane,) = json.loads(capsys.readouterr().out)['results']
        assert lane == {'x': {'bits': '0x7f800000', 'value': 'inf'},
                        'y': {'bits': '0x3f800000', 'value': 1.0},
                        'z': {'bits': '0x7f800000', 'value': 'inf'}}
        for arguments, said in ((['add', '0x123456789', '1'], 'an encoding such as 0x3f800000'),
                                (['add', '--bits', '1', '123456789'], 'one to eight hex digits'),
                                (['min', '1', '2'], 'min is not computed in fp32'),
                                (['rsqrt', '1'], 'rsqrt is not computed in fp32')):
            assert client.main([*options, *arguments]) == 1
            assert said in capsys.readouterr().err
    tables.close()


def test_one_operation(run):
    assert run('add', '1.5', '2.25') == ('3.75\n', '')
    assert run('sub', '1.5', '-2.25') == ('3.75\n', '')
    assert run('mul', '0x3e00', '2') == ('3\n', '')
    assert run('add', '--', '-inf', '2') == ('-inf\n', '')


def test_bits(run):
    assert run('add', '3e00', '0x4080', '--bits') == ('0x4380\n', '')
    assert run('div', '0', '0', '--bits') == ('0x7e00\n', 'netfc-client: exceptions: invalid\n')


def test_exceptions(run):
    assert run('div', '1', '0') == ('inf\n', 'netfc-client: exceptions: division by zero\n')


def test_pairs(run, tmp_path):
    lines = '# a comment\n1.5 2.25\n\n  3 \t 0x4400\r\ninf 1e9'
    (tmp_path / 'pairs').write_text(lines, encoding='ascii')
    expected = '3.75\n7\ninf\n', ''
    assert run('add', stdin=lines) == expected
    assert run('add', '--input', str(tmp_path / 'pairs')) == expected
    assert run('add', stdin='') == ('', '')


def test_many_pairs(run, server):
    fp16 = formats.FORMATS['fp16']
    pairs = [(number / 8, 3) for number in range(1000)]
    done = run('mul', '--lanes', '100', stdin=''.join(f'{x} {y}\n' for x, y in pairs))
    z, _ = server.tables[1].compute('mul', *map(fp16.encode, zip(*pairs)))
    assert done.out.splitlines() == [fp16.text(bits) for bits in z]


def test_json(run, server):
    answer = json.loads(run('div', '--json', stdin='1 0\n3 2').out)
    assert answer['results'][1] == {
        'x': {'bits': '0x4200', 'value': 3}, 'y': {'bits': '0x4000', 'value': 2},
        'z': {'bits': '0x3e00', 'value': 1.5}}
    assert answer['results'][0]['z'] == {'bits': '0x7c00', 'value': 'inf'}
    assert answer['flags'] == ['division by zero']
    assert answer['datagrams'] == {'sent': 1, 'sent_again': 0, 'received': 1, 'ignored': 0}
    assert [answer[key] for key in ('server', 'port', 'op', 'format')] == [
        '127.0.0.1', server.port, 'div', 'fp16']


@pytest.mark.parametrize('arguments, message', [
    (['add', '1'], 'add takes two operands, not 1'),
    (['add', '1', '2', '3'], 'add takes two operands, not 3'),
    (['add', '1', 'two'], "operand 'two' is not a decimal number, inf, nan, or an encoding"),
    (['add', '1', '0x12345'], "operand '0x12345' is not a decimal"),
    (['add', '1', '2.5', '--bits'], "operand '2.5' is not one to four hex digits"),
    (['add', '1', ''], "operand '' is not"),
    (['add', '1', '2', '--input', 'file'], 'give operands or --input FILE, not both'),
    (['add', '--input', '/nowhere/pairs'], "cannot read '/nowhere/pairs': No such file"),
    (['add', '--input', '/'], "cannot read '/': Is a directory"),
    (['pow', '1', '2'], 'pow takes one operand, not 2: a function, as it is not one of add, sub, mul, div, min,'),
    (['rsqrt', '1', '2'], 'rsqrt takes one operand, not 2'),
    (['fma', '1', '2'], 'fma takes three operands, not 2'),
    (['from_q8', '1000'], 'a number is outside -128.0 to 127.99609375'),
    (['n' * 32, '1'], "is not a function name"),
    (['', '1'], "'' is not a function name"),
    ([], 'required: OP'),
    (['add', '1', '2', '--port', '0'], 'port 0 is not between 1 and 65535'),
    (['add', '1', '2', '--port', 'netfc'], "argument --port: 'netfc': expected a whole number"),
    (['add', '1', '2', '--format', 'fp64'], "no number format 'fp64'"),
    (['add', '1', '2', '--mtu', '20'], 'an MTU of 20 bytes is too small for a lane'),
    (['add', '1', '2', '--lanes', '1000'], '1 to 243 fit an MTU of 1500 bytes'),
    (['add', '1', '2', '--timeout', '-1'], 'a timeout of -1.0 s is not between 0 and 3600'),
    (['add', '1', '2', '--window', '0'], 'a window of 0 datagrams'),
    (['add', '1', '2', '--bit'], 'unrecognized arguments: --bit; see --help'),
    (['query'], 'query takes one IPv4 address'),
    (['query', '10.0.0.7', '--bits'], 'query takes one IPv4 address'),
    (['query', 'example'], "'example'"),
])
def test_bad_command_lines(run, arguments, message):
    assert message in complaint(run, *arguments)


@pytest.mark.parametrize('line, shown', [
    ('1', "'1'"), ('1 2 3', "'1 2 3'"), ('1,2', "'1,2'"), ('1 x', "'1 x'"),
    ('1 ' + 'y' * 100, "'1 " + 'y' * 58 + "...'"), ('1 \xff', "'1 \ufffd'"), ('1 \0', r"'1 \x00'"),
])
def test_bad_lines(run, line, shown):
    said = complaint(run, 'add', stdin=f'1 1\n{line}\n')
    assert 'standard input, line 2: expected two operands, each a decimal number' in said
    assert said.endswith(f'but got {shown}\n')


def test_two_and_three_operands(run):
    assert run('min', '1.5', '-2') == ('-2\n', '')
    assert run('compare', '1.5', '-2', '--format', 'posit16') == ('1\n', '')
    assert run('fma', '1.5', '2', '-3.5', '--format', 'bf16') == ('-0.5\n', '')
    assert run('fma', stdin='1 2 3\n4 5 6\n') == ('5\n26\n', '')


def test_functions(run):
    assert run('rsqrt', '4') == ('0.5\n', '')
    assert run('rsqrt', '0') == ('inf\n', 'netfc-client: exceptions: division by zero\n')
    assert run('rsqrt', '4400', '--bits') == ('0x3800\n', '')
    assert run('rsqrt', stdin='4\n# four\n16\n') == ('0.5\n0.25\n', '')
    assert run('to_q8', '1.5') == ('1.5\n', '')
    assert run('to_q8', '0x3e00', '--bits') == ('0x0180\n', '')
    assert run('triple', '1.5') == ('4.5\n', '')


def test_functions_json(run):
    answer = json.loads(run('to_q8', '1.5', '--json').out)
    assert answer['op'] == 'to_q8'
    assert answer['results'] == [{'x': {'bits': '0x3e00', 'value': 1.5},
                                  'z': {'bits': '0x0180', 'value': 1.5}}]
    answer = json.loads(run('fma', '1', '2', '3', '--json').out)
    assert [{name: slot['value'] for name, slot in lane.items()} for lane in answer['results']] == [
        {'x': 1, 'y': 2, 'addend': 3, 'z': 5}]


def test_functions_that_are_not_loaded(run):
    said = complaint(run, 'exp', '1', status=2)
    assert "answered error 'op'" in said and "Load the function 'exp' for fp16" in said
    assert '--functions' in said and 'netfc-ctl add-functions' in said
    assert "Load the function 'mine'" in complaint(run, 'mine', '1', status=2)
    said = complaint(run, 'rsqrt', '1', '--format', 'bf16', status=2)
    assert "answered error 'format'" in said and "Load the function 'rsqrt' for bf16" in said


def test_errors_of_the_switch(run):
    said = complaint(run, 'add', '1', '2', '--format', 'posit16', status=2)
    assert "answered error 'format'" in said and 'a table set for posit16' in said
    assert "answered error 'query'" in complaint(run, 'query', '10.0.0.7', status=2)


def test_no_reply(run):
    with FakeSwitch({}, lambda request, reply: []) as silent:
        said = complaint(run, 'add', '1', '2', '--port', str(silent.port), '--timeout', '0.01',
                         '--retries', '2', status=2)
    assert f'no reply from 127.0.0.1 UDP port {silent.port}' in said and '3 times' in said


def test_no_server(capsys):
    assert client.main(['add', '1', '2']) == 1
    assert 'required: --server' in capsys.readouterr().err
    assert client.main(['add', '1', '2', '--server', 'switch.invalid']) == 2
    assert "'switch.invalid' cannot be resolved" in capsys.readouterr().err


def test_help(capsys):
    with pytest.raises(SystemExit) as done:
        client.main(['--help'])
    assert done.value.code == 0
    printed = capsys.readouterr().out
    options = '--server --port --format --input --bits --json --mtu --lanes --timeout --retries'
    assert all(option in printed for option in [*options.split(), '--window', 'query'])
    assert max(map(len, printed.splitlines())) <= 100


def test_the_command_itself(server):
    done = subprocess.run([COMMAND, 'add', '1.5', '2.25', *SERVER, '--port', str(server.port)],
                          text=True, capture_output=True, check=True, cwd='/')
    assert (done.stdout, done.stderr) == ('3.75\n', '')


def test_whoever_reads_goes_away(server):
    command = [COMMAND, 'add', *SERVER, '--port', str(server.port)]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write('1 1\n' * 50000)
        process.stdin.close()
        assert process.stderr.read() == 'netfc-client: cannot write to standard output: Broken pipe\n'
    assert process.returncode == 2
