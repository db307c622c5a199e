"""Debian packages, unpacked into a folder: nothing is installed, no service starts."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DAEMONS = ["ovn-central", "ovn-common", "openvswitch-common", "openvswitch-switch"]
# What a bare Debian lacks of the libraries that these need; ldd confirms it after unpacking.
LIBRARIES = [
    "libbpf1", "libcap-ng0", "libelf1", "libevent-2.1-7", "libgmp10", "libhogweed6", "libnettle8", "libnuma1",
    "libssl3", "libunbound8", "libxdp1", "zlib1g",
]

# The BGP daemons, by what the lab calls them.
ROUTERS = {"1.6": "bird", "2": "bird2", "frr": "frr"}
ROUTER_LIBRARIES = ["libc-ares2", "libcap2", "libgcrypt20", "libgpg-error0", "libjson-c5", "libpcre2-8-0", "libreadline8",
                    "libssh-gcrypt-4", "libtinfo6", "libyang2"]


class PackageError(Exception):
    """The daemons could not be fetched or do not run here."""


@dataclass(frozen=True)
class Tools:
    """Where the programs are, and the environment that they need."""

    root: Path

    @property
    def server(self) -> str:
        return str(self.root / "usr/sbin/ovsdb-server")

    @property
    def tool(self) -> str:
        return str(self.root / "usr/bin/ovsdb-tool")

    @property
    def client(self) -> str:
        return str(self.root / "usr/bin/ovsdb-client")

    @property
    def appctl(self) -> str:
        return str(self.root / "usr/bin/ovn-appctl")

    def schema(self, name: str) -> str:
        return str(self.root / "usr/share/ovn" / name)

    def environment(self) -> dict[str, str]:
        folders = [str(path) for path in sorted(self.root.glob("usr/lib/*-linux-gnu*"))]
        folders += [str(path) for path in sorted(self.root.glob("lib/*-linux-gnu*"))]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}


def fetch(folder: Path) -> Tools:
    """OVN and Open vSwitch below `folder`."""
    tools = Tools(folder)
    unpack(folder, DAEMONS + LIBRARIES, lambda: check_libraries([tools.server, tools.tool, tools.client, tools.appctl], tools.environment()))
    return tools


@dataclass(frozen=True)
class Routers:
    """The BGP daemons. BIRD 1.6 and 2 have programs of the same names, so each has a folder."""

    root: Path

    def daemon(self, version: str) -> str:
        return str(self._folder(version) / ("usr/lib/frr/bgpd" if version == "frr" else "usr/sbin/bird"))

    def client(self, version: str) -> str:
        """The program that people ask it with."""
        return str(self._folder(version) / {"1.6": "usr/sbin/birdc", "2": "usr/sbin/birdcl", "frr": "usr/bin/vtysh"}[version])

    def environment(self, version: str) -> dict[str, str]:
        environment = Tools(self._folder(version)).environment()
        private = ":".join(str(path) for path in self._folder(version).glob("usr/lib/*-linux-gnu*/frr"))
        return {**environment, "LD_LIBRARY_PATH": f"{environment['LD_LIBRARY_PATH']}:{private}"}

    def _folder(self, version: str) -> Path:
        return self.root.with_name(f"{self.root.name}-{ROUTERS[version]}")

    def fetch(self, version: str) -> "Routers":
        programs = [self.daemon(version), self.client(version)]
        unpack(self._folder(version), [ROUTERS[version], *ROUTER_LIBRARIES],
               lambda: check_libraries(programs, self.environment(version)))
        return self


def unpack(folder: Path, packages: list[str], check: Callable[[], None] = lambda: None) -> None:
    """Unpacks the packages into `folder` unless that was done before, and then `check`s them. Safe to call from several
    processes at once."""
    done = folder / ".unpacked"
    wanted = " ".join(packages)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with unpacking(folder):
        if done.exists() and done.read_text(encoding="utf-8") == wanted:
            return
        shutil.rmtree(folder, ignore_errors=True)
        debs = folder / ".debs"
        debs.mkdir(parents=True)
        # As root, apt would else drop to a user who may not write here.
        download = ["-o", "APT::Sandbox::User=root", "download", *packages]
        if _apt(download, debs).returncode != 0:
            _apt(["update"], debs)  # no lists yet, or old ones
            again = _apt(download, debs)
            if again.returncode != 0:
                raise PackageError(f"apt-get download failed:\n{again.stderr.strip()}")
        for deb in sorted(debs.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(deb), str(folder)], check=True)
        shutil.rmtree(debs)
        check()
        done.write_text(wanted, encoding="utf-8")


@contextmanager
def unpacking(folder: Path):
    """Nobody else changes it meanwhile."""
    with open(folder.parent / f".{folder.name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _apt(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["apt-get", "-q", *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)


def check_libraries(programs: list[str], environment: dict[str, str]) -> None:
    """PackageError when one of the programs lacks a library in that environment."""
    for program in programs:
        linked = subprocess.run(["ldd", program], env=environment, capture_output=True, text=True, check=True)
        missing = [line.split()[0] for line in linked.stdout.splitlines() if "not found" in line]
        if missing:
            raise PackageError(f"{program} lacks {', '.join(missing)}: add the packages to the lists in {__file__}")
