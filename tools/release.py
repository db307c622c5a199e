"""./dev release: all that is given out, in one folder.

Debian packages with their debug symbols; an apt repository of them, signed with the key that is given; the OCI image; a tarball of the
static command line; an SPDX document of what is in all of that; SHA256SUMS. The programs are built by the preset `dist`, which leaves no
path of the build in them. Signatures apart, the same commit and the same Debian packages make the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

from tools import image, package
from tools.image import debian_architecture, epoch, iso, product_version
from tools.linked import Package, linked

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/dist"
INTO = ROOT / "build/out"
SUITE = "stable"
PROGRAMS = ("wardmote", "wardmoted")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", help="sign with this secret key of gpg (a fingerprint or an address); without it nothing is signed")
    parser.add_argument("--into", type=Path, default=INTO, help="default: build/out")
    given = parser.parse_args()
    if paths := build_paths(BUILD):
        raise SystemExit(f"release: {BUILD.relative_to(ROOT)} was not built by the preset `dist`: its programs name {paths[0]}")
    made = make(BUILD, given.into, given.key)
    for path in made:
        print(f"    {path.relative_to(given.into)}  {path.stat().st_size >> 10} KiB")
    return 0


def make(build: Path, into: Path, key: str | None) -> list[Path]:
    """Of what BUILD has built."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    debs = package.make(build, into / "apt/pool")
    say("the image and the tarball")
    with tempfile.TemporaryDirectory() as scratch:
        made = image.make(build / "bin", Path(scratch))
        shutil.copy(made.archive, into)
        tarball(build, into, Path(scratch))
    say("the apt repository")
    repository(into / "apt", key)
    say("what is in it, and checksums")
    statics = {program: linked(program, build) for program in PROGRAMS}
    name = f"wardmote-{product_version()}"
    (into / f"{name}.spdx.json").write_text(json.dumps(spdx(name, statics, made.packages, into), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    files = sorted(path for path in into.rglob("*") if path.is_file())
    sums = into / "SHA256SUMS"
    sums.write_text("".join(f"{sha256(path)}  {path.relative_to(into)}\n" for path in files), encoding="utf-8")
    if key:
        gpg(key, "--armor", "--detach-sign", "--output", f"{sums}.asc", str(sums))
    return [*debs, *sorted(path for path in into.iterdir() if path.is_file())]


def build_paths(build: Path) -> list[str]:
    """Paths of the source tree in what is packed of the programs, which would differ from build to build."""
    with tempfile.TemporaryDirectory() as scratch:
        stripped = [image.stripped(build / "bin" / program, Path(scratch)) for program in PROGRAMS]
    return sorted({found.decode() for content in stripped for found in re.findall(re.escape(str(ROOT)).encode() + rb"/[\w./-]+", content)})


def tarball(build: Path, into: Path, scratch: Path) -> Path:
    """The static command line, with its manual and its licences: for a host where nothing is to be installed."""
    name = f"wardmote-{product_version()}-linux-{debian_architecture()}"
    tree = image.Tree()
    tree.file(f"{name}/wardmote", image.stripped(build / "bin/wardmote", scratch), 0o755)
    tree.file(f"{name}/wardmote.1.gz", (build / "printed/wardmote.1.gz").read_bytes())
    for page in ("LICENSE", "README.md", "CHANGELOG.md"):
        tree.file(f"{name}/{page}", (ROOT / page).read_bytes())
    for linked_in in linked("wardmote", build):
        tree.file(f"{name}/linked/{linked_in.source}.txt", linked_in.copyright().read_bytes())
    path = into / f"{name}.tar.gz"
    path.write_bytes(image.pack(tree.tar(epoch())))
    return path


def repository(apt: Path, key: str | None) -> None:
    """dists/stable beside pool: what `deb [signed-by=…] URL stable main` reads."""
    architecture = debian_architecture()
    index = apt / f"dists/{SUITE}/main/binary-{architecture}"
    index.mkdir(parents=True)
    listed = subprocess.run(["dpkg-scanpackages", "--multiversion", "pool"], cwd=apt, capture_output=True, text=True, check=True).stdout
    (index / "Packages").write_text(listed, encoding="utf-8")
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as out:
        out.write(listed.encode())
    (index / "Packages.gz").write_bytes(packed.getvalue())
    suite = apt / f"dists/{SUITE}"
    lines = [f"Origin: Wardmote\nLabel: Wardmote\nSuite: {SUITE}\nCodename: {SUITE}\nVersion: {product_version()}",
             f"Date: {format_datetime(datetime.fromtimestamp(epoch(), timezone.utc), usegmt=True)}",
             f"Architectures: {architecture}\nComponents: main\nDescription: health and failover agent for control planes\nSHA256:"]
    lines += [f" {sha256(path)} {path.stat().st_size} {path.relative_to(suite)}" for path in sorted(index.iterdir())]
    release = suite / "Release"
    release.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if key:
        gpg(key, "--clearsign", "--output", str(suite / "InRelease"), str(release))
        gpg(key, "--armor", "--detach-sign", "--output", str(suite / "Release.gpg"), str(release))
        public = subprocess.run(["gpg", "--batch", "--export", key], capture_output=True, check=True).stdout
        (apt / "wardmote.gpg").write_bytes(public)


def gpg(key: str, *arguments: str) -> None:
    subprocess.run(["gpg", "--batch", "--yes", "--local-user", key, "--digest-algo", "SHA512", *arguments], check=True)


def spdx(name: str, statics: dict[str, list[Package]], in_image: list[Package], into: Path) -> dict:
    """SPDX 2.3: the programs, what is linked into each, and what else is in the image."""
    programs = [{"SPDXID": f"SPDXRef-{program}", "name": program, "versionInfo": product_version(), "downloadLocation": "NOASSERTION",
                 "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "2026 the Wardmote authors", "filesAnalyzed": False}
                for program in statics]
    whole = {"SPDXID": "SPDXRef-image", "name": "wardmote-image", "versionInfo": product_version(), "downloadLocation": "NOASSERTION",
             "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", "filesAnalyzed": False}
    others = sorted({package for packages in statics.values() for package in packages} | set(in_image))
    debian = [{"SPDXID": identifier(one), "name": one.name, "versionInfo": one.version, "supplier": "Organization: Debian",
               "sourceInfo": f"built from the source package {one.source} {one.source_version}", "downloadLocation": "NOASSERTION",
               "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", "filesAnalyzed": False,
               "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": one.purl()}]} for one in others]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"]) for one in [*programs, whole]]
    relations += [(f"SPDXRef-{program}", "STATIC_LINK", identifier(one)) for program, packages in statics.items() for one in packages]
    relations += [("SPDXRef-image", "CONTAINS", f"SPDXRef-{program}") for program in statics]
    relations += [("SPDXRef-image", "CONTAINS", identifier(one)) for one in in_image]
    given_out = sorted(path for path in into.rglob("*") if path.suffix in (".deb", ".tar", ".gz"))
    digest = hashlib.sha256("".join(sha256(path) for path in given_out).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest[:32]}",
            "creationInfo": {"created": iso(epoch()), "creators": ["Tool: wardmote ./dev release"]}, "packages": [*programs, whole, *debian],
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


def identifier(one: Package) -> str:
    return "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", one.name)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
