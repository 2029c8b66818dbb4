# SPDX-License-Identifier: BSD-3-Clause
"""A machine under systemd, in namespaces over a tree of Debian: tests/service/boot."""

import pathlib
import shlex
import subprocess
import time

HERE = pathlib.Path(__file__).parent
HANG = 300  # seconds that only say: it hangs


class Machine:
    """Booted until stop()."""

    def __init__(self, tree, name, log):
        self._name = name
        with open(log, 'wb') as said:
            self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                [HERE / 'boot', tree, name], stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        self.until('systemctl is-system-running | grep -E "running|degraded"')

    def stop(self):
        """Ends all of its processes, and removes its control groups."""
        groups = subprocess.run(['findmnt', '-n', '-t', 'cgroup2', '-o', 'TARGET'], text=True,
                                capture_output=True, check=True).stdout.split()[0]
        group = pathlib.Path(groups) / self._name
        self._process.kill()  # boot has become unshare, which ends what it has started
        self._process.wait(HANG)
        end = time.monotonic() + HANG
        while 'populated 1' in (group / 'cgroup.events').read_text() and time.monotonic() < end:
            (group / 'cgroup.kill').write_text('1')
            time.sleep(0.1)
        subprocess.run(['find', group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+'],
                       check=True)

    def run(self, script, check=True, stdin=None):
        """A script of the shell; its output, errors included."""
        done = subprocess.run([HERE / 'enter', self._name, 'sh', '-c', script], input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HANG,
                              check=False)
        said = done.stdout.decode()
        assert not check or done.returncode == 0, f'{script}: {done.returncode}\n{said}{self.log()}'
        return said

    def fails(self, script):
        """A script that has to fail; its output."""
        return self.run(f'if {{ {script}\n}}; then echo did not fail; exit 1; fi')

    def until(self, script):
        """Waits until a script succeeds; its output."""
        end = time.monotonic() + HANG
        while True:
            done = subprocess.run([HERE / 'enter', self._name, 'sh', '-c', script],
                                  capture_output=True, timeout=HANG, check=False)
            if done.returncode == 0:
                return done.stdout.decode()
            assert time.monotonic() < end, f'{script}\n{self.log()}'
            time.sleep(0.3)

    def log(self):
        """The end of the journal."""
        done = subprocess.run([HERE / 'enter', self._name, 'journalctl', '--no-pager', '-n', '30'],
                              capture_output=True, timeout=HANG, check=False)
        return done.stdout.decode()

    def write(self, path, content, mode='644'):
        """A file."""
        quoted = shlex.quote(str(path))
        self.run(f'mkdir -p "$(dirname {quoted})" && cat >{quoted} && chmod {mode} {quoted}',
                 stdin=content if isinstance(content, bytes) else content.encode())

    def property(self, name, unit='dpdk-netfc'):
        """A unit's property."""
        return self.run(f"systemctl show --value --property {name} '{unit}'").strip()
