"""Finishes the Debian packages that CPack has made: what CPack has no word for, and the same bytes whenever the same is packed.

Conffiles, `Static-Built-Using` and the licences of what is linked in, debug symbols in a package of their own (as dh_strip does), times and
owners.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

from tools.linked import linked, static_built_using

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("usr/bin/wardmote", "usr/bin/wardmoted")
CONFFILES = {"etc/default/wardmoted": ROOT / "packaging/debian/default"}
DEBUG = "usr/lib/debug/.build-id"
INSTALLED_SIZE = "Installed-Size"


class DebError(Exception):
    """The package cannot be finished."""


def finish(deb: Path, build: Path, scratch: Path, epoch: int) -> list[Path]:
    """Rewrites DEB; the packages that stand for it then: itself, and its debug symbols if it has programs."""
    tree = scratch / deb.name
    shutil.rmtree(tree, ignore_errors=True)
    scratch.mkdir(parents=True, exist_ok=True)
    run("dpkg-deb", "-R", str(deb), str(tree))
    made = [deb]
    for archive in sorted(tree.rglob("*.a")):
        run("strip", "--strip-debug", "--enable-deterministic-archives", str(archive))
    if (tree / PROGRAMS[0]).exists():
        linked_in(tree, build)
        conffiles(tree)
        (tree / "etc/wardmote").mkdir()
        made += debug_symbols(tree, deb, scratch, epoch)
    close(tree, deb, epoch)
    return made


def linked_in(tree: Path, build: Path) -> None:
    packages = sorted({package for program in PROGRAMS for package in linked(Path(program).name, build)})
    set_field(tree, "Static-Built-Using", static_built_using(packages))
    folder = tree / "usr/share/doc/wardmote/linked"
    folder.mkdir(parents=True)
    for package in packages:
        # Many packages of one source have the same text.
        shutil.copyfile(package.copyright(), folder / f"{package.source}.txt")


def conffiles(tree: Path) -> None:
    for path, source in CONFFILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, tree / path)
    (tree / "DEBIAN/conffiles").write_text("".join(f"/{path}\n" for path in sorted(CONFFILES)), encoding="utf-8")


def debug_symbols(tree: Path, deb: Path, scratch: Path, epoch: int) -> list[Path]:
    symbols = scratch / f"dbgsym-{deb.name}"
    shutil.rmtree(symbols, ignore_errors=True)
    ids = []
    for program in PROGRAMS:
        build_id = build_id_of(tree / program)
        ids.append(build_id)
        into = symbols / DEBUG / build_id[:2] / f"{build_id[2:]}.debug"
        into.parent.mkdir(parents=True, exist_ok=True)
        run("objcopy", "--only-keep-debug", "--compress-debug-sections", str(tree / program), str(into))
        run("strip", "--remove-section=.comment", "--remove-section=.note", str(tree / program))
    fields = dict(re.findall(r"(?m)^(\w[\w-]*): (.*)$", (tree / "DEBIAN/control").read_text(encoding="utf-8")))
    name, version = fields["Package"], fields["Version"]
    doc = symbols / "usr/share/doc"
    doc.mkdir(parents=True)
    (doc / f"{name}-dbgsym").symlink_to(name)
    (symbols / "DEBIAN").mkdir()
    (symbols / "DEBIAN/control").write_text(
        f"Package: {name}-dbgsym\nVersion: {version}\nArchitecture: {fields['Architecture']}\nAuto-Built-Package: debug-symbols\n"
        f"Maintainer: {fields['Maintainer']}\nSource: {name}\nSection: debug\nPriority: optional\nInstalled-Size: 0\n"
        f"Depends: {name} (= {version})\nBuild-Ids: {' '.join(ids)}\nDescription: debug symbols for {name}\n", encoding="utf-8")
    into = deb.with_name(deb.name.replace(f"{name}_", f"{name}-dbgsym_", 1))
    close(symbols, into, epoch, level=1)    # it is packed already
    return [into]


def build_id_of(program: Path) -> str:
    notes = subprocess.run(["readelf", "--notes", str(program)], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]{16,})", notes)
    if not found:
        raise DebError(f"{program.name} has no build id: link it with --build-id")
    return found[1]


def set_field(tree: Path, name: str, value: str) -> None:
    control = tree / "DEBIAN/control"
    lines = [line for line in control.read_text(encoding="utf-8").splitlines() if not line.startswith(f"{name}:")]
    # Before the description, whose lines are the last.
    at = next(number for number, line in enumerate(lines) if line.startswith("Description:"))
    lines.insert(at, f"{name}: {value}")
    control.write_text("\n".join(lines) + "\n", encoding="utf-8")


def close(tree: Path, deb: Path, epoch: int, level: int = 6) -> None:
    """Sizes, sums, times, owners; then the package."""
    files = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and tree / "DEBIAN" not in path.parents)
    sums = [f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(tree)}\n" for path in files
            if f"{path.relative_to(tree)}" not in CONFFILES]
    (tree / "DEBIAN/md5sums").write_text("".join(sums), encoding="utf-8")
    set_field(tree, INSTALLED_SIZE, str(sum((path.stat().st_size + 1023) // 1024 for path in files)))
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(0o755 if path.is_dir() or mode & 0o100 else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    deb.unlink(missing_ok=True)
    run("dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--threads-max=1", "-b", str(tree), str(deb), environment={"SOURCE_DATE_EPOCH": str(epoch)})
    shutil.rmtree(tree)


def run(*command: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise DebError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
