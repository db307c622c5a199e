"""What the benchmarks that watch other programs measure by: CPU of a process with its children, memory, and a crowd of fake peers."""

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.processes import wait_until
from tools.agent import Agent, programs

ROOT = Path(__file__).resolve().parent.parent
BIN = programs()
# The one who looks has the first core for himself, and those who are looked at have the second.
LOOKING, LOOKED_AT = "0", "1"


def raise_descriptors() -> None:
    """To the most that is allowed, for this process and all that it starts."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@dataclass(frozen=True)
class Used:
    """What a family of processes has used so far."""

    at: float
    cpu: float  # seconds
    rss: int  # bytes, now

    def since(self, before: "Used") -> float:
        """CPU per second."""
        return (self.cpu - before.cpu) / (self.at - before.at)


class Account:
    """The CPU time of a process, of its children, and of theirs that have ended, by a cgroup of their own; /proc would lose what a
    plugin used whose parent was not waited for."""

    def __init__(self, name: str):
        label = f"wardmote-bench-{name}-{os.getpid()}"
        self.folder = Path("/sys/fs/cgroup/cpuacct") / label
        self.unified = not self.folder.parent.is_dir()
        if self.unified:
            self.folder = Path("/sys/fs/cgroup") / label
        self.folder.mkdir()

    def add(self, pid: int) -> None:
        """Counts that process, and all that it starts, from now on."""
        (self.folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def pids(self) -> list[int]:
        return [int(line) for line in (self.folder / "cgroup.procs").read_text(encoding="ascii").split()]

    def used(self) -> Used:
        if self.unified:
            usage = (self.folder / "cpu.stat").read_text(encoding="ascii").split()
            cpu = int(usage[usage.index("usage_usec") + 1]) / 1e6
        else:
            cpu = int((self.folder / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
        return Used(time.monotonic(), cpu, sum(_rss(pid) for pid in self.pids()))

    def close(self) -> None:
        """Ends what is in it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + 3
            while self.pids() and time.monotonic() < end:
                for pid in self.pids():
                    try:
                        os.kill(pid, number)
                    except ProcessLookupError:
                        pass
                time.sleep(0.1)
        self.folder.rmdir()


def _rss(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@contextmanager
def running(name: str, argv: list, log: Path, environment: dict[str, str] | None = None, core: str = LOOKING) -> Iterator[Account]:
    """`argv` in an account of its own, on the core of those who look."""
    account = Account(name)
    with open(log, "wb") as output:
        process = subprocess.Popen(["taskset", "-c", core, *map(str, argv)], env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, preexec_fn=lambda: account.add(os.getpid()))
    try:
        yield account
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended by itself with {process.returncode}:\n{log.read_text(errors='replace')[-2000:]}")
    finally:
        account.close()
        process.wait()


@contextmanager
def agent_at(folder: Path, checks: str, listen: str | None = None) -> Iterator[tuple[Agent, Account]]:
    """wardmoted on the core of those who look, with a configuration that says `checks`."""
    name = "wardmoted"
    config, api = folder / f"{name}.yaml", folder / f"{name}.sock"
    config.write_text(f"node: {{name: bench}}\napi: {{socket: {api}{f', listen: {listen}' if listen else ''}}}\n{checks}", encoding="utf-8")
    account = Account(name)
    try:
        with Agent(config, api, ["taskset", "-c", LOOKING]) as agent:
            account.add(agent.process.pid)
            agent.wait_serving()
            yield agent, account
    finally:
        account.close()


@dataclass
class Crowd:
    """Fake peers in one process on the other core."""

    log: Path
    pid: int

    def between(self, begin: float, end: float) -> tuple[float, float]:
        """Connections accepted and replies sent a second, from `begin` to `end` by the wall clock."""
        lines = [line.split() for line in self.log.read_text(encoding="ascii").splitlines()]
        rows = [row for row in lines if len(row) == 4 and begin + 1 <= float(row[0]) <= end]
        if not rows:
            raise RuntimeError("the peers did not tell whom they saw")
        accepted, replied = (sum(float(row[column]) for row in rows) / len(rows) for column in (1, 2))
        return accepted, replied


@contextmanager
def crowd(folder: Path, argv: list) -> Iterator[Crowd]:
    """Fake peers, once they are there."""
    log = folder / f"{Path(argv[0]).name}.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(["taskset", "-c", LOOKED_AT, *map(str, argv)], stdin=subprocess.DEVNULL, stdout=output)
    try:
        wait_until(lambda: log.stat().st_size > 0, 5.0, log.name)
        yield Crowd(log, process.pid)
    finally:
        process.kill()
        process.wait()


def connections_opened() -> int:
    """TCP connections that this machine has ever begun: who resets at once is never accepted, so the peers do not see it."""
    names, values = [line.split() for line in Path("/proc/net/snmp").read_text(encoding="ascii").splitlines() if line.startswith("Tcp:")]
    return int(values[names.index("ActiveOpens")])
