# SPDX-License-Identifier: BSD-3-Clause
"""A bill of materials, SPDX 2.3 in JSON: the sources, file by file; the Debian packages; what these need."""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
from typing import Any
from urllib.parse import quote

OURS = "BSD-3-Clause"
LICENCE = re.compile(rb"SPDX-License-Identifier: ([\w.-]+(?: (?:OR|AND|WITH) [\w.-]+)*)")
Element = dict[str, Any]


def digest(path: pathlib.Path, algorithm: str) -> str:
    """Of a file."""
    return hashlib.new(algorithm, path.read_bytes()).hexdigest()


def checksums(path: pathlib.Path, *algorithms: str) -> list[Element]:
    """As SPDX writes them."""
    return [{"algorithm": name.upper(), "checksumValue": digest(path, name)} for name in algorithms]


def identifier(kind: str, name: str) -> str:
    """Of an element: letters, digits, dots and hyphens, and no two of one kind the same."""
    plain = re.sub(r"[^A-Za-z0-9.]", "-", name)
    return f"SPDXRef-{kind}-{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def relation(element: str, kind: str, other: str) -> Element:
    """Between two elements."""
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other}


def element(spdx_id: str, licence: str, **more: Any) -> Element:
    """A file or a package."""
    return {"SPDXID": spdx_id, "licenseConcluded": licence, "copyrightText": "NOASSERTION", **more}


def source_file(path: pathlib.Path, root: pathlib.Path) -> Element:
    """A file of the sources; what names no licence has that of the project."""
    name = "./" + str(path.relative_to(root))
    named = LICENCE.search(path.read_bytes()[:4096])
    return element(identifier("File", name), OURS, fileName=name,
                   checksums=checksums(path, "sha1", "sha256"),
                   licenseInfoInFiles=[named[1].decode() if named else "NONE"])


def source_package(version: str, tarball: pathlib.Path, files: list[Element]) -> Element:
    """All of the sources, as a package."""
    sums = "".join(sorted(file["checksums"][0]["checksumValue"] for file in files))
    code = {"packageVerificationCodeValue": hashlib.sha1(sums.encode()).hexdigest()}
    return element(
        "SPDXRef-Source", OURS, name="dpdk-netfc", versionInfo=version,
        packageFileName=tarball.name,
        checksums=checksums(tarball, "sha256"), downloadLocation="NOASSERTION", filesAnalyzed=True,
        packageVerificationCode=code, hasFiles=[file["SPDXID"] for file in files],
        licenseDeclared=OURS,
        licenseInfoFromFiles=sorted({file["licenseInfoInFiles"][0] for file in files}),
        primaryPackagePurpose="SOURCE")


def debian_package(name: str, version: str, architecture: str, licence: str) -> Element:
    """A binary package, of ours or of Debian."""
    locator = f"pkg:deb/debian/{name}@{quote(version)}?arch={architecture}"
    return element(
        identifier("Package", name), licence, name=name, versionInfo=version,
        licenseDeclared=licence,
        downloadLocation="NOASSERTION", filesAnalyzed=False,
        externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                       "referenceLocator": locator}])


def ask(*command: str | pathlib.Path) -> str:
    """What a program prints."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def needed(package: pathlib.Path) -> list[str]:
    """Names of the packages that a package depends on; of alternatives, the first."""
    depends = ask("dpkg-deb", "--field", package, "Depends")
    return re.findall(r"(?:^|,)\s*([^\s:(|,]+)", depends)


def candidates(names: set[str]) -> dict[str, tuple[str, str]]:
    """Version and architecture of packages, by name, as this machine has them or would install them."""
    if not names:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for said in ask("apt-cache", "show", "--no-all-versions", *names).split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Architecture): (.*)$", said, re.M))
        found.setdefault(fields["Package"], (fields["Version"], fields["Architecture"]))
    assert names == set(found), f"apt-cache says nothing of {names - set(found)}"
    return found


def add_packages(document: Element, folder: pathlib.Path) -> None:
    """The Debian packages of a folder and, one level down, what they need."""
    files = {ask("dpkg-deb", "--field", path, "Package"): path
             for path in sorted(folder.glob("*.deb"))}
    others = set()
    for name, path in files.items():
        version, architecture = (ask("dpkg-deb", "--field", path, field)
                                 for field in ("Version", "Architecture"))
        package = debian_package(name, version, architecture, OURS)
        package.update(packageFileName=path.name, checksums=checksums(path, "sha256"))
        document["packages"].append(package)
        others.update(needed(path))
        document["relationships"] += [
            relation("SPDXRef-DOCUMENT", "DESCRIBES", package["SPDXID"]),
            relation(package["SPDXID"], "GENERATED_FROM", "SPDXRef-Source"),
            *(relation(package["SPDXID"], "DEPENDS_ON", identifier("Package", other))
              for other in needed(path))]
    document["packages"].extend(debian_package(name, *candidate, "NOASSERTION")
                                for name, candidate in sorted(candidates(others - set(files)).items()))


def make(version: str, tarball: pathlib.Path, sources: pathlib.Path, packages: pathlib.Path | None,
         seconds: int) -> Element:
    """The whole document; seconds: the time of the release, since 1970."""
    files = [source_file(path, sources) for path in sorted(sources.rglob("*"))
             if path.is_file() and not path.is_symlink()]
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    document: Element = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"dpdk-netfc-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/dpdk-netfc-{version}-{digest(tarball, 'sha256')}",
        "creationInfo": {
            "created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
            "creators": ["Organization: dpdk-netfc developers", f"Tool: scripts/release-{version}"],
        },
        "packages": [source_package(version, tarball, files)],
        "files": files,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Source")],
    }
    if packages:
        add_packages(document, packages)
    return document


def main() -> None:
    """Writes the document to the standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("tarball", type=pathlib.Path)
    parser.add_argument("sources", type=pathlib.Path,
                        help="what the tarball has, as it was unpacked")
    parser.add_argument("--packages", type=pathlib.Path, help="folder of Debian packages")
    parser.add_argument("--time", type=int, required=True, dest="seconds",
                        help="of the release, seconds since 1970")
    json.dump(make(**vars(parser.parse_args())), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
