"""One lab: a network of hosts, with one raft cluster for each database, and with BIRDs. Its state is a file, so that every
command finds it."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from lab import packages
from lab.bird import Bird, Peer
from lab.frr import daemon
from lab.network import Network, run
from lab.ovn import DATABASES, Cluster
from lab.processes import Process
from lab.supervisors import Supervisors

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/lab"
# One link for each lab that stands: short enough for unix socket paths (107 bytes), and found even when build/ is gone.
REGISTRY = Path("/run/wardmote-lab")


class LabError(Exception):
    """Said to a person: what is wrong and what to do."""


class Lab:
    def __init__(self, name: str):
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", name):
            raise LabError(f"'{name}' is not a name for a lab: use up to 40 of a-z, 0-9 and '-'")
        self.name = name
        self.folder = FOLDER / name
        digest = hashlib.sha1(str(self.folder).encode()).digest()
        self.key = f"{name}-{digest.hex()[:4]}"
        self.sockets = REGISTRY / self.key
        self._subnet = f"10.77.{digest[2] % 254 + 1}"
        self.clusters: dict[str, Cluster] = {}
        self.birds: list[Bird] = []
        self.services: list[Path] = []

    @staticmethod
    def up(name: str, databases: list[str], members: int = 3, hosts: int = 0, transient: bool = False,
           birds: list[str] | None = None, services: list[str] | None = None, tls: bool = False) -> "Lab":
        """Brings a lab up and waits until its clusters are healthy and the BGP sessions of its BIRDs (`1.6`, `2`, or `frr`, one on
        each host from the first) are established. `services` run under runit on the first host. A transient lab goes when the
        process that made it does: the next `up` removes it if it could not do so itself. With `tls` the OVN servers talk over
        ssl:."""
        lab = Lab(name)
        birds = birds or []
        tools = packages.fetch(FOLDER / "x") if databases else None
        owner = Process.of(os.getpid()) if transient else None
        with _registry_lock():
            _remove_forgotten()
            if lab.sockets.is_symlink():
                raise LabError(f"lab '{name}' is up already (take it down first: ./dev lab down)")
            shutil.rmtree(lab.folder, ignore_errors=True)
            lab.folder.mkdir(parents=True)
            lab._state = {"owner": [owner.pid, owner.started] if owner else None, "hosts": max(hosts, members + 1, len(birds)),
                          "members": members, "databases": databases, "tls": tls, "clusters": {}, "birds": []}
            lab._write()
            lab.sockets.symlink_to(lab.folder)
        try:
            lab._network().up()
            for database in databases:
                lab._attach(database, tools)
                lab.clusters[database].create(members)
            for host, version in enumerate(birds, 1):
                peers = [Peer(other) for other in range(1, len(birds) + 1) if other != host]
                routers = packages.Routers(FOLDER / "x").fetch(version)
                lab.birds.append(daemon(version)(version, host, lab._network(), routers, lab.folder, lab.sockets, peers))
                lab.birds[-1].start()
            if services:
                # They end with their host.
                supervisors = Supervisors(FOLDER / "supervisors", lab.folder / "service", lambda *argv: lab._network().inside(1, *argv))
                lab.services = [supervisors.add("runit", service) for service in services]
            lab.write_config("127.0.0.1:9470")
            for cluster in lab.clusters.values():
                cluster.wait_healthy()
            for bird in lab.birds:
                bird.wait_established()
            lab.save()
        except BaseException:
            lab.down()
            raise
        return lab

    @staticmethod
    def load(name: str) -> "Lab":
        lab = Lab(name)
        try:
            lab._state = json.loads((lab.folder / "state.json").read_text(encoding="utf-8"))
        except OSError:
            raise LabError(f"no lab '{name}' is up: ./dev lab up") from None
        tools = packages.fetch(FOLDER / "x") if lab._state["databases"] else None
        for database in lab._state["databases"]:
            lab._attach(database, tools)
        for state in lab._state.get("birds", []):
            routers = packages.Routers(FOLDER / "x").fetch(state["version"])
            lab.birds.append(daemon(state["version"]).from_state(state, lab._network(), routers, lab.folder, lab.sockets))
        return lab

    def save(self) -> None:
        self._state["clusters"] = {name: cluster.to_state() for name, cluster in self.clusters.items()}
        self._state["birds"] = [bird.to_state() for bird in self.birds]
        self._write()

    def down(self) -> None:
        _take_down(self.key, self.sockets)

    @property
    def api_socket(self) -> Path:
        return self.sockets / "api.sock"

    @property
    def network(self) -> Network:
        return self._network()

    def write_config(self, listen: str = "") -> Path:
        """A configuration of the agent that watches all of this lab; without `listen` only on the unix socket."""
        api = f"listen: {listen}, socket: {self.api_socket}" if listen else f"socket: {self.api_socket}"
        lines = ["node: {name: lab}", f"api: {{{api}}}"]
        if self.clusters:
            lines.append("clusters:")
        for cluster in self.clusters.values():
            lines += cluster.config_lines()
        checks = [bird.config_line() for bird in self.birds]
        checks += [f"  - {{name: {service.name}, runit: {{service: {service}}}, every: 1s, timeout: 900ms, fall: 2}}"
                   for service in self.services]
        if checks:
            lines += ["checks:", *checks]
        if len(self.birds) > 1:
            members = ", ".join(f"{{check: {bird.name}, addresses: [{bird.address}]}}" for bird in self.birds)
            lines += ["meshes:", f"  - {{name: bgp, members: [{members}]}}"]
        path = self.folder / "wardmote.yaml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_) -> None:
        self.down()

    def _network(self) -> Network:
        return Network(self.key, self._subnet, self._state["hosts"])

    def _attach(self, database: str, tools: packages.Tools) -> None:
        cluster = Cluster(DATABASES[database], self._network(), tools, self.folder, self.sockets,
                          self._state.get("tls", False))
        cluster.from_state(self._state["clusters"].get(database, {}))
        self.clusters[database] = cluster

    def _write(self) -> None:
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps(self._state, indent=1), encoding="utf-8")
        fresh.replace(self.folder / "state.json")


@contextmanager
def _registry_lock():
    REGISTRY.mkdir(mode=0o755, exist_ok=True)
    with open(REGISTRY / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_forgotten() -> None:
    """Removes labs whose folder is gone, and those whose maker died without taking them down."""
    for link in sorted(REGISTRY.iterdir()):
        if not link.is_symlink():
            continue
        try:
            owner = json.loads((link / "state.json").read_text(encoding="utf-8"))["owner"]
        except (OSError, ValueError):
            owner = [0, 0]
        if owner is not None and not Process(*owner).alive():
            _take_down(link.name, link)


def take_down_all() -> None:
    """Every lab of this checkout, and those whose checkout is gone."""
    with _registry_lock():
        for link in sorted(REGISTRY.iterdir()):
            if link.is_symlink() and (Path(os.readlink(link)).is_relative_to(FOLDER) or not link.exists()):
                _take_down(link.name, link)


def _take_down(key: str, link: Path) -> None:
    Network(key, "", 0).down()
    folder = Path(os.readlink(link)) if link.is_symlink() else None
    if folder is not None:
        for mount in _mounts_under(folder):
            run("umount", "-l", mount)
        if folder.is_relative_to(FOLDER) or not folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
    link.unlink(missing_ok=True)


def _mounts_under(folder: Path) -> list[str]:
    """The kernel knows them by their real paths."""
    with open("/proc/self/mounts", encoding="utf-8") as table:
        mounts = [line.split()[1] for line in table]
    return [mount for mount in mounts if mount.startswith(f"{folder.resolve()}/")]


def may_run() -> str | None:
    """Why this machine or user cannot run a lab; None when it can."""
    if os.geteuid() != 0:
        return "the lab needs root (network namespaces): run it with sudo"
    for program in ("ip", "iptables", "apt-get", "dpkg-deb"):
        if shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is None:
            return f"{program} is missing: ./dev setup"
    if subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode != 0:
        return "this kernel has no network namespaces"
    return None
