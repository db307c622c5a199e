"""Peers that never end, paths that lead nowhere, and a prober that itself is poor: never ok, never long, never large. Scenarios 25, 28,
31-33, 61, 69 and 85 of tests/scenarios.md."""

import json
import os
import resource
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lab.processes import wait_until
from tools.agent import Agent, programs

WARDMOTE = programs() / "wardmote"
OUTCOMES = {0: "ok", 1: "warn", 2: "fail", 3: "unknown"}


def probe(*arguments: str, inside: list[str] = (), **options) -> dict:
    done = subprocess.run([*inside, str(WARDMOTE), "probe", *map(str, arguments), "-o", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=20, check=False, **options)
    assert done.stdout, done
    seen = json.loads(done.stdout)
    assert OUTCOMES[done.returncode] == seen["outcome"], done
    return seen


class Endless:
    """A control socket of a BIRD whose table does not end."""

    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        connection, _ = self.socket.accept()
        rows = b" peer1 BGP ---     up     07:55:57.017  Established   \n" * 1000
        with suppress(OSError), connection:
            connection.sendall(b"0001 BIRD 2.0.12 ready.\n")
            connection.recv(4096)
            connection.sendall(b"0016 Access restricted\n1000-BIRD 2.0.12\n1011-Router ID is 10.9.1.1\n0013 Daemon is up and running\n"
                               b"2002-Name       Proto      Table      State  Since         Info\n1002-x BGP --- up 07:55:57.017  Established\n")
            while True:
                connection.sendall(rows)


def test_rows_without_an_end_stop_at_the_cap_in_little_memory(tmp_path):
    Endless(tmp_path / "bird.ctl")

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (8 << 20, 8 << 20))

    seen = probe("bird", tmp_path / "bird.ctl", "--brief", preexec_fn=little_memory)
    assert (seen["outcome"], seen["reason"]) == ("unknown", "over_limit"), seen


def test_paths_that_lead_nowhere(tmp_path):
    file = tmp_path / "file"
    file.touch()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagrams.bind(str(tmp_path / "datagrams"))
    begun = time.monotonic()
    for path in (tmp_path, file, fifo, file / "bird.ctl", loop / "bird.ctl", tmp_path / "datagrams"):
        for kind in ("bird", "frr"):
            assert probe(kind, path)["outcome"] in ("fail", "unknown"), path
    assert time.monotonic() - begun < 10, "none of them blocks"
    # sun_path has 108 bytes, with the one behind the path: unix(7).
    longest = tmp_path / ("x" * (107 - len(str(tmp_path)) - 1))
    control = socket.socket(socket.AF_UNIX)
    control.bind(str(longest))
    assert probe("bird", longest)["reason"] == "refused", "bound, and nobody listens"
    refused = subprocess.run([str(WARDMOTE), "probe", "bird", f"{longest}x"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert refused.returncode == 64 and "a socket path has at most 107 bytes" in refused.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder away")
def test_a_folder_that_is_not_ours(tmp_path):
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o700)
    control = socket.socket(socket.AF_UNIX)
    control.bind(str(shut / "bird.ctl"))
    os.chown(shut, 65534, 65534)
    seen = probe("bird", shut / "bird.ctl", inside=["setpriv", "--bounding-set=-all", "--inh-caps=-all"])
    assert (seen["outcome"], seen["reason"]) == ("unknown", "denied"), seen


def test_a_name_whose_first_address_refuses():
    """`localhost` leads to ::1 and 127.0.0.1; only one of them is served."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert probe("tcp", f"localhost:{server.getsockname()[1]}")["outcome"] == "ok"


def test_without_descriptors_it_says_so(tmp_path):
    def poor() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))

    with socket.create_server(("127.0.0.1", 0)) as server:
        for kind, target in (("tcp", f"127.0.0.1:{server.getsockname()[1]}"), ("bird", tmp_path / "bird.ctl")):
            seen = probe(kind, target, preexec_fn=poor)
            assert (seen["outcome"], seen["reason"]) == ("unknown", "prober_starved"), seen


@pytest.mark.skipif(os.geteuid() != 0, reason="unmounts")
def test_without_proc_a_process_is_unknown():
    seen = probe("process", "sh", inside=["unshare", "--mount", "--propagation", "private", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"])
    assert (seen["outcome"], seen["reason"]) == ("unknown", "denied"), seen


class Throttle:
    """A cgroup that may use `percent` of one processor; of version 1 or 2, whichever this machine has."""

    def __init__(self, percent: float):
        self.percent = percent
        period = 1_000_000
        quota = int(period * percent / 100)
        folders = [Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")]
        parent = next((folder for folder in folders if (folder / "cgroup.procs").exists()), None)
        assert parent is not None, "no cgroups on this machine"
        self.folder = parent / f"wardmote-throttle-{os.getpid()}"
        if not (parent / "cpu.cfs_quota_us").exists() and (parent / "cgroup.subtree_control").exists():
            (parent / "cgroup.subtree_control").write_text("+cpu", encoding="utf-8")
        self.folder.mkdir()
        if (self.folder / "cpu.cfs_quota_us").exists():
            (self.folder / "cpu.cfs_period_us").write_text(str(period), encoding="utf-8")
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota), encoding="utf-8")
        else:
            (self.folder / "cpu.max").write_text(f"{quota} {period}", encoding="utf-8")

    def take(self, pid: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(pid), encoding="utf-8")

    def give_back(self, pid: int) -> None:
        with suppress(OSError):
            (self.folder.parent / "cgroup.procs").write_text(str(pid), encoding="utf-8")

    def remove(self) -> None:
        wait_until(lambda: self._empty(), 15.0, "the end of a cgroup")

    def _empty(self) -> bool:
        with suppress(OSError):
            self.folder.rmdir()
        return not self.folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a cgroup")
def test_a_starved_prober_says_so_and_blames_nobody(tmp_path):
    """100 checks of a healthy target, from an agent that gets 1 % of a processor."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as server:
        def accept() -> None:
            with suppress(OSError):
                while True:
                    server.accept()[0].close()
        threading.Thread(target=accept, daemon=True).start()
        port = server.getsockname()[1]
        checks = "\n".join(f"  - {{name: c{i}, tcp: {{address: '127.0.0.1:{port}'}}, every: 100ms, timeout: 50ms, fall: 2}}" for i in range(100))
        config = tmp_path / "wardmote.yaml"
        api = tmp_path / "api.sock"
        config.write_text(f"node: {{name: poor}}\napi: {{socket: {api}}}\nchecks:\n{checks}\n", encoding="utf-8")
        throttle = Throttle(1.0)
        try:
            with Agent(config, api) as agent:
                agent.wait_healthy()
                throttle.take(agent.process.pid)
                time.sleep(5)  # what is shown is that nobody is blamed meanwhile
                throttle.give_back(agent.process.pid)
                assert set(states(agent)) == {"healthy"}
                assert "\nwardmote_degraded 1\n" in agent.get("/metrics")[1], "it knows that it was poor"
        finally:
            throttle.remove()


def states(agent: Agent) -> list[str]:
    return [check["state"] for check in agent.json("/api/v1/checks")["checks"]]
