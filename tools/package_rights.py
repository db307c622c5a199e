"""The packaged agent as its own user, with the rights that the shipped files grant, against real daemons whose sockets have their
real rights.

No systemd runs in the root, so what the unit and its drop-ins say is read from them and done here: user, capabilities and which
places can be written by setpriv, unshare and bind mounts. The run files for runit are run by the real runit.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

UNIT = "lib/systemd/system/wardmoted.service"
DROP_INS = "etc/systemd/system/wardmoted.service.d"
PEERS = ("ovn-central", "bird2", "runit")
SOCKET = "/run/wardmote/api.sock"
CONFIG = "/etc/wardmote/wardmote.yaml"
PATIENCE = 20

ALL_CHECKS = """\
api: {socket: /run/wardmote/api.sock}
clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members: [{name: ctl-1, control: /run/ovn/ovnnb_db.ctl, ovsdb: "unix:/run/ovn/ovnnb_db.sock"}]
    every: 1s
    timeout: 900ms
checks:
  - {name: bird, bird: {socket: /run/bird/bird.ctl, min_peers: 0, no_peers: ignore}, every: 1s, timeout: 900ms}
  - {name: runit, runit: {service: /etc/sv/watched}, every: 1s, timeout: 900ms}
  # A program that the agent starts has none of its rights.
  - {name: child, exec: {program: /usr/bin/grep, args: ["CapEff:.0000000000000000", /proc/self/status]}, every: 1s, timeout: 900ms}
"""
BIRD_ONLY = """\
api: {socket: /run/wardmote/api.sock}
checks:
  - {name: bird, bird: {socket: /run/bird/bird.ctl, min_peers: 0, no_peers: ignore}, every: 1s, timeout: 900ms}
"""


class RightsError(Exception):
    """The package does not keep what it promises."""


@dataclass
class Settings:
    """What a unit and its drop-ins say, as systemd.syntax(7) reads them: a list grows, an empty assignment empties it."""

    values: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path) -> "Settings":
        settings = cls()
        for file in [root / UNIT, *sorted((root / DROP_INS).glob("*.conf"))]:
            settings.read(file.read_text(encoding="utf-8"))
        return settings

    def read(self, text: str) -> None:
        for line in text.splitlines():
            key, equals, value = line.strip().partition("=")
            if not equals or key.startswith(("#", "[")):
                continue
            if not value:
                self.values[key] = []
            else:
                self.values.setdefault(key, []).extend(value.split())

    def all(self, key: str) -> list[str]:
        return self.values.get(key, [])

    def last(self, key: str) -> str:
        return self.values[key][-1]

    def capabilities(self, key: str) -> str:
        """As setpriv takes them."""
        return ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}" for name in self.all(key))])

    def setpriv(self) -> list[str]:
        """systemd gives a user the groups that the user database has for it."""
        groups = self.all("SupplementaryGroups")
        command = ["setpriv", "--reuid", self.last("User"), "--regid", self.last("Group"),
                   *(["--groups", ",".join(groups)] if groups else ["--init-groups"]),
                   "--bounding-set", self.capabilities("CapabilityBoundingSet"),
                   "--inh-caps", self.capabilities("AmbientCapabilities"),
                   "--ambient-caps", self.capabilities("AmbientCapabilities")]
        return command + (["--no-new-privs"] if self.last("NoNewPrivileges") == "yes" else [])

    def mounts(self, root: Path) -> str:
        """A shell script that shuts what the unit shuts, in a mount namespace of its own."""
        if self.last("ProtectSystem") != "strict":
            raise RightsError("the unit has no ProtectSystem=strict")
        script = [f"mount --bind {root} {root}", f"mount -o remount,bind,ro {root}", f"mount -t proc proc {root}/proc"]
        for kind, below in (("RuntimeDirectory", "run"), ("StateDirectory", "var/lib")):
            for name in self.all(kind):
                script.append(f"mount --bind {root}/{below}/{name} {root}/{below}/{name}")
                script.append(f"mount -o remount,bind,rw {root}/{below}/{name}")
        for path in self.all("ReadOnlyPaths"):
            script.append(f"mount --bind {root}{path} {root}{path} && mount -o remount,bind,ro {root}{path}")
        for path in self.all("InaccessiblePaths"):
            inner = root / path.lstrip("-").lstrip("/")
            if inner.is_dir():
                script.append(f"mount -t tmpfs -o mode=000,ro none {inner}")
            elif inner.exists():
                script.append(f"mount --bind /dev/null {inner}")
        return "set -e\n" + "\n".join(script)

    def command(self, root: Path, *words: str) -> list[str]:
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                f'{self.mounts(root)}\nexec chroot {root} "$@"', "sh", *self.setpriv(), *words]


def check_rights(root: Path, inside: Callable[..., str], say: Callable[[str], None]) -> None:
    say("real daemons, and the agent as its own user with the rights of its unit")
    inside("apt-get", "-qq", "install", "-y", "--no-install-recommends", *PEERS)
    inside("install", "-d", "-o", "wardmote", "-g", "wardmote", "/run/wardmote", "/var/lib/wardmote")
    inside("install", "-d", "/etc/wardmote", "/run/ovn", "/run/bird", "/etc/sv")
    with peers(root, inside):
        with systemd_is_there(root):
            check_denied_then_granted(root, inside)
        check_under_runit(root, inside)


def check_denied_then_granted(root: Path, inside: Callable[..., str]) -> None:
    """Each time the command that doctor names is run as it stands there, but for systemctl, which is done here."""
    write(root, ALL_CHECKS)
    with agent(root):
        settle(root, {"nb/ctl-1": "denied", "bird": "denied", "runit": "denied"})
        granted = remedy(inside)
    write(root, BIRD_ONLY)
    with agent(root):
        settle(root, {"bird": "denied"})
        group = remedy(inside)
    expect(group == "usermod -aG bird wardmote && systemctl restart wardmoted", f"doctor says of BIRD's socket: {group}")
    carry_out(inside, group)
    with agent(root):
        settle(root, {"bird": None})
    expect("root-sockets.conf" in granted, f"doctor says of root's sockets: {granted}")
    carry_out(inside, granted)
    write(root, ALL_CHECKS)
    with agent(root):
        settle(root, {"nb/ctl-1": None, "bird": None, "runit": None, "child": None})
    check_nothing_else_is_granted(root)
    inside("rm", "-r", f"/{DROP_INS}")
    inside("gpasswd", "-d", "wardmote", "bird")


def check_nothing_else_is_granted(root: Path) -> None:
    """The right passes over permissions; the sandbox around it does not move."""
    settings = Settings.of(root)
    for words, why in ((("touch", "/etc/wardmote/x"), "writes a folder of root's"),
                       (("grep", "root", "/etc/shadow"), "reads passwords"),
                       (("sh", "-c", "echo 500 > /proc/1/oom_score_adj"), "writes below /proc")):
        done = subprocess.run(settings.command(root, *words), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        expect(done.returncode != 0, f"with the right to open sockets the agent's user {why}")
    done = subprocess.run(settings.command(root, "touch", "/var/lib/wardmote/x"), check=False)
    expect(done.returncode == 0, "the agent cannot write its own folder")


def check_under_runit(root: Path, inside: Callable[..., str]) -> None:
    """The shipped run file under the real runsv; doctor's command is run whole."""
    inside("cp", "-r", "/usr/share/doc/wardmote/examples/runit/wardmoted", "/etc/sv/wardmoted")
    with child(root, "runsv", "/etc/sv/wardmoted"):
        settle(root, {"nb/ctl-1": "denied", "runit": "denied"})
        named = remedy(inside)
        expect(named == "touch /etc/wardmote/root-sockets && sv restart wardmoted", f"under runit doctor says: {named}")
        inside("env", "SVDIR=/etc/sv", "sh", "-c", named)
        settle(root, {"nb/ctl-1": None, "bird": None, "runit": None, "child": None})
        inside("env", "SVDIR=/etc/sv", "sv", "-w", "20", "force-stop", "wardmoted")
        inside("env", "SVDIR=/etc/sv", "sv", "exit", "wardmoted")
    inside("rm", "-r", "/etc/sv/wardmoted", "/etc/wardmote/root-sockets")


@contextlib.contextmanager
def peers(root: Path, inside: Callable[..., str]) -> Iterator[None]:
    """Started as their packages start them, as root, so that their sockets have the rights that they have everywhere."""
    inside("ovsdb-tool", "create-cluster", "/var/lib/ovn/nb.db", "/usr/share/ovn/ovn-nb.ovsschema", "tcp:127.0.0.1:46643")
    (root / "tmp/bird.conf").write_text("router id 10.9.9.9;\nprotocol device {}\n", encoding="utf-8")
    inside("install", "-d", "/etc/sv/watched")
    run = root / "etc/sv/watched/run"
    run.write_text("#!/bin/sh\nexec sleep infinity\n", encoding="utf-8")
    run.chmod(0o755)
    inside("install", "-d", "-o", "bird", "-g", "bird", "-m", "775", "/run/bird")    # as bird2's prepare-environment
    with (child(root, "ovsdb-server", "--unixctl=/run/ovn/ovnnb_db.ctl", "--remote=punix:/run/ovn/ovnnb_db.sock", "/var/lib/ovn/nb.db"),
          child(root, "bird", "-f", "-u", "bird", "-g", "bird", "-c", "/tmp/bird.conf", "-s", "/run/bird/bird.ctl"),
          child(root, "runsv", "/etc/sv/watched")):
        for path in ("run/ovn/ovnnb_db.sock", "run/ovn/ovnnb_db.ctl", "run/bird/bird.ctl", "etc/sv/watched/supervise/ok"):
            until((root / path).exists, f"/{path}")
        mode = (root / "run/ovn/ovnnb_db.ctl").stat()
        expect((mode.st_mode & 0o777, mode.st_uid) == (0o750, 0), "OVS makes its sockets otherwise than 0750 root today")
        yield
        inside("sv", "force-stop", "/etc/sv/watched")
        inside("sv", "exit", "/etc/sv/watched")


@contextlib.contextmanager
def systemd_is_there(root: Path) -> Iterator[None]:
    """sd_booted(3)."""
    (root / "run/systemd/system").mkdir(parents=True)
    yield
    (root / "run/systemd/system").rmdir()


@contextlib.contextmanager
def agent(root: Path) -> Iterator[None]:
    """As the unit and its drop-ins say."""
    with started(Settings.of(root).command(root, "wardmoted", "--config", CONFIG)):
        yield


@contextlib.contextmanager
def child(root: Path, *words: str) -> Iterator[None]:
    with started(["chroot", str(root), *words]):
        yield


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[None]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(20)


def settle(root: Path, wanted: dict[str, str | None]) -> None:
    """Waits until each of these has that reason; None is good."""
    seen: dict[str, str | None] = {}

    def settled() -> bool:
        seen.update(reasons(root))
        return all(name in seen and seen[name] == reason for name, reason in wanted.items())

    try:
        until(settled, "")
    except RightsError:
        raise RightsError(f"wanted {wanted}, seen {seen}") from None


def reasons(root: Path) -> dict[str, str | None]:
    done = subprocess.run(["chroot", root, "wardmote", "status", "--socket", SOCKET, "-o", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2, 3) or not done.stdout.startswith("{"):
        return {}
    status = json.loads(done.stdout)
    found = {check["name"]: "not looked at" if check["outcome"] is None else check["reason"] for check in status["checks"]}
    for cluster in status["clusters"]:
        for member in cluster["members"]:
            found[f"{cluster['cluster']}/{member['name']}"] = member["reason"]
    return found


def remedy(inside: Callable[..., str]) -> str:
    told = json.loads(inside("sh", "-c", f"wardmote doctor --socket {SOCKET} -o json || [ $? -eq 2 ]"))
    advice = [one["advice"] for one in told["diagnoses"] if one["name"] == "looks"]
    expect(len(advice) == 1, f"doctor says {told}")
    return advice[0]


def carry_out(inside: Callable[..., str], command: str) -> None:
    for part in command.split(" && "):
        if not part.startswith("systemctl "):
            inside(*part.split())


def write(root: Path, config: str) -> None:
    (root / CONFIG.lstrip("/")).write_text(config, encoding="utf-8")
    os.chmod(root / CONFIG.lstrip("/"), 0o644)


def until(true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < deadline, f"waited in vain for {what}")
        time.sleep(0.1)


def expect(good: bool, otherwise: str) -> None:
    if not good:
        raise RightsError(otherwise)
