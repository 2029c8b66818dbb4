# SPDX-License-Identifier: BSD-3-Clause
"""What a guest boots: Debian's kernel, and a file system in memory with dpdk-netfc and what it needs."""

import gzip
import lzma
import pathlib
import re
import shutil
import subprocess

import project_scripts
import switch

CACHE = project_scripts.PROJECT / 'build-test' / 'nic'
INIT = pathlib.Path(__file__).with_name('init')
# In the order in which they are loaded; some kernels have one of them in another, or built in.
MODULES = ('irqbypass', 'iommufd', 'vfio', 'vfio_virqfd', 'vfio_iommu_type1', 'vfio-pci-core', 'vfio-pci')
DRIVERS = ('bus_pci', 'bus_vdev', 'mempool_ring', 'mempool_stack', 'net_e1000', 'net_virtio', 'net_vmxnet3',
           'net_null')
META_PACKAGE = 'linux-image-amd64'
# What it takes to make one, and to run it.
TOOLS = ('qemu-system-x86_64', 'busybox', 'cpio', 'dpkg-deb', 'apt-get')
OPENERS = {'.ko': open, '.xz': lzma.open, '.gz': gzip.open}


def said(*words, **options):
    """What a command prints."""
    return subprocess.run([*map(str, words)], check=True, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, **options).stdout


def kernel():
    """The folder of Debian's kernel, which is downloaded and unpacked once; nothing is installed."""
    package = re.search(r'Depends: (linux-image-\S+)', said('apt-cache', 'depends', META_PACKAGE))
    folder = CACHE / package[1]
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        said('apt-get', 'download', package[1], cwd=CACHE, stderr=subprocess.DEVNULL)
        archive, = CACHE.glob(f'{package[1]}_*.deb')
        unpacked = CACHE / 'unpacked'
        shutil.rmtree(unpacked, ignore_errors=True)
        said('dpkg-deb', '-x', archive, unpacked)
        archive.unlink()
        unpacked.rename(folder)
    return folder


def vmlinuz():
    """The kernel's file."""
    return next((kernel() / 'boot').glob('vmlinuz-*'))


def libraries(program):
    """The paths of all shared libraries that a program or library loads at its start."""
    return {pathlib.Path(path) for path in re.findall(r'(/\S+) \(0x', said('ldd', program))}


def drivers_folder():
    """Where DPDK looks for its drivers."""
    return next(pathlib.Path('/usr/lib').glob('*-linux-gnu/dpdk/pmds-*'))


class Image:
    """A file system in a folder, which becomes an archive."""

    def __init__(self, root):
        self.root = root

    def add(self, source, target, mode=0o755):
        """A file under another path."""
        path = self.root / str(target).lstrip('/')
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            shutil.copyfile(source, path)
            path.chmod(mode)

    def add_library(self, path):
        """A shared library where it is here; a link to a driver stays one, or it would be loaded twice."""
        target = path.resolve()
        self.add(target, target)
        link = self.root / str(path).lstrip('/')
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to(target)

    def add_program(self, program, target):
        """With the libraries that it loads, and the one that threads need to end."""
        self.add(program, target)
        for path in libraries(program):
            self.add_library(path)

    def add_drivers(self):
        """Those of DPDK that guests use, and what they load."""
        folder = drivers_folder()
        for name in DRIVERS:
            for path in folder.glob(f'librte_{name}.so.*'):
                self.add_library(path)
            for path in libraries(next(folder.glob(f'librte_{name}.so.*'))):
                self.add_library(path)
        for path in pathlib.Path('/usr/lib').glob('*-linux-gnu/libgcc_s.so.1'):
            self.add_library(path)

    def add_modules(self):
        """Of the kernel, uncompressed, in modules/ with a number that says the order."""
        found = {path.name.split('.')[0]: path for path in kernel().rglob('*.ko*')}
        for number, name in enumerate(name for name in MODULES if name in found):
            target = self.root / 'modules' / f'{number}-{name}.ko'
            target.parent.mkdir(exist_ok=True)
            with OPENERS[found[name].suffix](found[name], 'rb') as packed:
                target.write_bytes(packed.read())

    def write(self, path):
        """The archive, as the kernel reads it."""
        names = '\n'.join(str(item.relative_to(self.root)) for item in sorted(self.root.rglob('*')))
        with path.open('wb') as file:
            subprocess.run(['cpio', '-o', '-H', 'newc', '--quiet', '-R', '0:0'], check=True, cwd=self.root,
                           input=names.encode(), stdout=file)


def build(folder):
    """The image of a guest with the build under test."""
    root = folder / 'root'
    root.mkdir()
    image = Image(root)
    image.add('/bin/busybox', '/bin/busybox')
    image.add(INIT, '/init')
    image.add_program(switch.PROGRAM, '/bin/dpdk-netfc')
    image.add_drivers()
    image.add_modules()
    for name in ('proc', 'sys', 'dev', 'tmp', 'run', 'root'):
        (root / name).mkdir(exist_ok=True)
    path = folder / 'initramfs'
    image.write(path)
    shutil.rmtree(root)
    return path
