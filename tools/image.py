"""./dev image: an OCI image of the agent and the command line, made without a daemon.

It holds the two programs, the libraries that they load, certificates, time zones, `cp` (an init container brings the static `wardmote` into
another pod with it), and the licences of all of that. No shell. Containers run as the user 65532 unless told otherwise. The same programs
and packages make the same image, byte for byte.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from tools.linked import Package, owner, versions

ROOT = Path(__file__).resolve().parent.parent
BINARIES = ROOT / "build/release/bin"
INTO = ROOT / "build/image"
NAME = "localhost/wardmote"    # needs no registry: import the file on each node
MAX_BYTES = 60 << 20           # of all files together
USER = 65532
CERTIFICATES = Path("/usr/share/ca-certificates/mozilla")
ZONES = Path("/usr/share/zoneinfo")
ACCOUNTS = {
    "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\nwardmote:x:{USER}:{USER}:wardmote:/var/lib/wardmote:/sbin/nologin\n"
                  "nobody:x:65534:65534:nobody:/:/sbin/nologin\n",
    "etc/group": f"root:x:0:\nwardmote:x:{USER}:\nnogroup:x:65534:\n",
    # Of an engine that brings none; the kubelet brings that of the node.
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64", "sbin": "usr/bin", "var/run": "../run",
         # Where OpenSSL looks.
         "usr/lib/ssl/certs": "/etc/ssl/certs", "usr/lib/ssl/cert.pem": "/etc/ssl/certs/ca-certificates.crt"}
FOLDERS = {"etc/wardmote": 0o755, "dev": 0o755, "proc": 0o555, "sys": 0o555, "run": 0o755, "tmp": 0o1777}
OWN_FOLDERS = {"run/wardmote": 0o755, "var/lib/wardmote": 0o750}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev image", description=__doc__)
    parser.add_argument("--into", type=Path, default=INTO, help="default: build/image")
    given = parser.parse_args()
    image = make(BINARIES, given.into)
    print(f"    {image.layout}  {image.archive.stat().st_size >> 20} MiB packed, {image.size >> 20} MiB unpacked")
    print(f"    {image.archive}  for `ctr -n k8s.io images import`, `podman load` and `docker load`")
    return 0


@dataclass(frozen=True)
class Image:
    layout: Path     # the folder of the OCI layout
    archive: Path    # the same as one file
    layer: Path      # the file system, a packed tar
    size: int        # bytes of its files
    packages: list[Package] = field(default_factory=list)    # of Debian's, that are in it


def make(binaries: Path, into: Path) -> Image:
    root = Tree()
    packages = fill(root, binaries, into)
    size = sum(len(entry.content) for entry in root.entries.values())
    if size > MAX_BYTES:
        raise SystemExit(f"image: {size >> 20} MiB, more than {MAX_BYTES >> 20}")
    version, architecture = product_version(), debian_architecture()
    layout = into / "oci"
    shutil.rmtree(layout, ignore_errors=True)
    blobs = layout / "blobs/sha256"
    blobs.mkdir(parents=True)
    plain = root.tar(epoch())
    layer = put(blobs, pack(plain), "application/vnd.oci.image.layer.v1.tar+gzip")
    labels = {"org.opencontainers.image.title": "wardmote", "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.description": "health and failover agent for control planes"}
    config = put_json(blobs, {
        "created": iso(epoch()), "architecture": architecture, "os": "linux",
        "config": {"User": f"{USER}:{USER}", "Env": ["PATH=/usr/bin"], "Entrypoint": ["/usr/bin/wardmoted"],
                   "Cmd": ["--config", "/etc/wardmote/wardmote.yaml"], "ExposedPorts": {"9470/tcp": {}}, "WorkingDir": "/", "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
        "history": [{"created": iso(epoch()), "created_by": "./dev image"}]}, "application/vnd.oci.image.config.v1+json")
    manifest = put_json(blobs, {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
                                "layers": [layer], "annotations": labels}, "application/vnd.oci.image.manifest.v1+json")
    manifest["platform"] = {"architecture": architecture, "os": "linux"}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"{NAME}:{version}"}
    write_json(layout / "oci-layout", {"imageLayoutVersion": "1.0.0"})
    write_json(layout / "index.json", {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]})
    archive = into / f"wardmote-{version}-{architecture}.oci.tar"
    archive.write_bytes(archive_of(layout))
    return Image(layout, archive, blobs / layer["digest"].removeprefix("sha256:"), size, packages)


@dataclass
class Entry:
    mode: int = 0o755
    content: bytes = b""
    link: str = ""
    folder: bool = False
    user: int = 0


class Tree:
    """What the layer holds, in memory: this way owners need no root, and nothing of the machine's own gets in."""

    def __init__(self):
        self.entries: dict[str, Entry] = {}

    def folder(self, path: str, mode: int = 0o755, user: int = 0) -> None:
        self.parents(path)
        self.entries[path] = Entry(mode, folder=True, user=user)

    def file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self.parents(path)
        self.entries[path] = Entry(mode, content)

    def link(self, path: str, target: str) -> None:
        self.parents(path)
        self.entries[path] = Entry(0o777, link=target)

    def parents(self, path: str) -> None:
        for parent in list(Path(path).parents)[:-1]:
            self.entries.setdefault(str(parent), Entry(folder=True))

    def tar(self, when: int) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path, entry in sorted(self.entries.items()):
                info = tarfile.TarInfo(path)
                info.mode, info.uid, info.gid, info.mtime = entry.mode, entry.user, entry.user, when
                info.type = tarfile.DIRTYPE if entry.folder else tarfile.SYMTYPE if entry.link else tarfile.REGTYPE
                info.linkname, info.size = entry.link, len(entry.content)
                tar.addfile(info, io.BytesIO(entry.content))
        return out.getvalue()


def fill(root: Tree, binaries: Path, scratch: Path) -> list[Package]:
    for path, mode in FOLDERS.items():
        root.folder(path, mode)
    for path, mode in OWN_FOLDERS.items():
        root.folder(path, mode, USER)
    for path, text in ACCOUNTS.items():
        root.file(path, text.encode())
    for path, target in LINKS.items():
        root.link(path, target)
    loaded = set()
    for program in ("wardmote", "wardmoted"):
        root.file(f"usr/bin/{program}", stripped(binaries / program, scratch), 0o755)
        loaded |= libraries(binaries / program)
    loaded |= libraries(Path("/usr/bin/cp"))
    root.file("usr/bin/cp", Path("/usr/bin/cp").read_bytes(), 0o755)
    for library in sorted(loaded):
        root.file(inside(library), library.read_bytes(), 0o755)
    # Of the package, not of the machine, which may trust authorities of its own.
    bundle = b"".join(file.read_bytes().strip() + b"\n" for file in sorted(CERTIFICATES.glob("*.crt")))
    root.file("etc/ssl/certs/ca-certificates.crt", bundle)
    zones = 0
    for zone in sorted(ZONES.rglob("*")):
        if zone.is_file() and zone.read_bytes()[:4] == b"TZif" and zone.relative_to(ZONES).parts[0] not in ("posix", "right"):
            root.file(str(zone.relative_to("/")), zone.read_bytes())
            zones += 1
    if not bundle or not zones:
        raise SystemExit("image: the packages ca-certificates and tzdata are not installed")
    packages = versions({"ca-certificates", "tzdata"} | {owner(path) for path in [*loaded, Path("/usr/bin/cp")]})
    for package in packages:
        root.file(f"usr/share/doc/{package.name}/copyright", package.copyright().read_bytes())
        # Where scanners look in an image that has no package manager.
        root.file(f"var/lib/dpkg/status.d/{package.name}", package.status().encode())
    root.file("usr/share/doc/wardmote/copyright", (ROOT / "packaging/debian/copyright").read_bytes())
    root.file("usr/share/doc/wardmote/LICENSE", (ROOT / "LICENSE").read_bytes())
    return packages


def libraries(program: Path) -> set[Path]:
    """Those that the loader takes, and the loader."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if "not a dynamic executable" in done.stdout + done.stderr or "statically linked" in done.stdout:
        return set()
    if done.returncode != 0 or "not found" in done.stdout:
        raise SystemExit(f"image: {program} lacks a library\n{done.stdout}{done.stderr}")
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", done.stdout)}


def inside(library: Path) -> str:
    """Debian's /lib is a link into /usr, and so is the image's."""
    path = str(library).lstrip("/")
    return path if path.startswith("usr/") else f"usr/{path}"


def stripped(program: Path, scratch: Path) -> bytes:
    scratch.mkdir(parents=True, exist_ok=True)
    copy = scratch / f".{program.name}"
    subprocess.run(["strip", "-o", str(copy), str(program)], check=True)
    content = copy.read_bytes()
    copy.unlink()
    return content


def put(blobs: Path, content: bytes, media_type: str) -> dict:
    digest = hashlib.sha256(content).hexdigest()
    (blobs / digest).write_bytes(content)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def put_json(blobs: Path, value: dict, media_type: str) -> dict:
    return put(blobs, json.dumps(value, sort_keys=True, separators=(",", ":")).encode(), media_type)


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, sort_keys=True, separators=(",", ":")), encoding="utf-8")


def pack(content: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0, filename="") as packed:
        packed.write(content)
    return out.getvalue()


def archive_of(layout: Path) -> bytes:
    tree = Tree()
    for path in layout.rglob("*"):
        if stat.S_ISREG(path.lstat().st_mode):
            tree.file(str(path.relative_to(layout)), path.read_bytes())
    return tree.tar(epoch())


def epoch() -> int:
    """The time of everything in a release: that of its commit, or what SOURCE_DATE_EPOCH says."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


def iso(when: int) -> str:
    return datetime.fromtimestamp(when, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def product_version() -> str:
    return re.search(r"project\(wardmote VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def debian_architecture() -> str:
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
