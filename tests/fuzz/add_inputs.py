#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds inputs to those that the repository has for a fuzz target.

They are in corpus/TARGET.tar, next to this script, each under the SHA-1 of its bytes, as libFuzzer
names them. The same inputs make the same archive, whenever and by whomever they were added.
"""

import argparse
import hashlib
import io
import pathlib
import tarfile

HERE = pathlib.Path(__file__).resolve().parent


def read_inputs(archive):
    with tarfile.open(archive) as tar:
        return {tar.extractfile(member).read() for member in tar}


def write_inputs(archive, inputs):
    """Uncompressed: git stores what has changed of such a file, and compresses that."""
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted((hashlib.sha1(data).hexdigest(), data) for data in inputs):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def main():
    targets = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.c"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replace", action="store_true", help="keep none of those that are there")
    parser.add_argument("target", metavar="TARGET", choices=targets, help=", ".join(targets))
    parser.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path, help="an input")
    given = parser.parse_args()
    archive = HERE / "corpus" / f"{given.target}.tar"
    try:
        inputs = {path.read_bytes() for path in given.files}
    except OSError as error:
        parser.error(f"cannot read an input: {error}")
    before = read_inputs(archive) if archive.exists() else set()
    inputs |= set() if given.replace else before
    write_inputs(archive, inputs)
    print(f"{given.target}: {len(inputs)} inputs, {len(inputs - before)} of them new")


if __name__ == "__main__":
    main()
