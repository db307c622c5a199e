"""What of Debian's is in a program: the packages of the archives that are linked into it."""

import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
# What the compiler adds to a static program by itself.
BASIC = ("libstdc++.a", "libgcc.a", "libgcc_eh.a", "libc.a", "libm.a")
# Headers whose code becomes a part of the programs.
HEADERS = {"libboost1.81-dev", "libcli11-dev"}


@dataclass(frozen=True, order=True)
class Package:
    name: str
    version: str
    source: str
    source_version: str
    architecture: str

    def copyright(self) -> Path:
        return Path(f"/usr/share/doc/{self.name}/copyright")

    def status(self) -> str:
        return f"Package: {self.name}\nStatus: install ok installed\nArchitecture: {self.architecture}\nVersion: {self.version}\n" \
               f"Source: {self.source} ({self.source_version})\n"

    def purl(self) -> str:
        return f"pkg:deb/debian/{self.name}@{self.version.replace('+', '%2B')}?arch={self.architecture}"


def linked(program: str, build: Path = BUILD) -> list[Package]:
    """The packages whose code is linked into PROGRAM of the release build: by its archives, and by headers that are all there is."""
    link = _link_command(program, build)
    names = {owner(Path(archive)) for archive in re.findall(r"(?<=\s)(/\S+\.a)(?=\s)", link) if not archive.startswith(str(ROOT))}
    static = " -static " in link
    if static:
        # By name: the linker takes the archives.
        named = [f"lib{name}.a" for name in re.findall(r"\s-l(\S+)", link)]
        names |= {owner(_archive(archive)) for archive in [*BASIC, *named]}
    return versions(names | HEADERS)


def static_built_using(packages: list[Package]) -> str:
    """The field of Debian Policy 7.8, for `control`."""
    sources = sorted({(package.source, package.source_version) for package in packages})
    return ", ".join(f"{name} (= {version})" for name, version in sources)


def versions(names: set[str]) -> list[Package]:
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n"
    done = subprocess.run(["dpkg-query", "-W", "-f", form, *sorted(names)], capture_output=True, text=True, check=True)
    return sorted({Package(*line.split("\t")) for line in done.stdout.splitlines()})


@functools.cache
def owner(path: Path) -> str:
    """The package that has installed the file. dpkg knows some files of /usr by their place before the merge."""
    real = path.resolve()
    for name in dict.fromkeys([path, real, *(Path(str(one).removeprefix("/usr")) for one in (path, real))]):
        done = subprocess.run(["dpkg-query", "-S", str(name)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"{path} belongs to no package of Debian")


def _archive(name: str) -> Path:
    done = subprocess.run(["clang++-19", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    found = Path(done.stdout.strip())
    if not found.is_absolute():
        raise SystemExit(f"the compiler has no {name}")
    return found.resolve()


def _link_command(program: str, build: Path) -> str:
    done = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", f"bin/{program}"], capture_output=True, text=True, check=True)
    return f" {done.stdout.strip().splitlines()[-1]} "
