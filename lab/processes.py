"""Processes that are known by id and start time, so that a reused id is never signalled."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    pid: int
    started: int  # clock ticks since boot

    @staticmethod
    def of(pid: int) -> "Process":
        fields = _stat(pid)
        return Process(pid, int(fields[19]) if fields else -1)

    def alive(self) -> bool:
        _reap(self.pid)
        fields = _stat(self.pid)
        if fields is None or int(fields[19]) != self.started:
            return False
        # The first thread may be gone while others still hold locks and sockets.
        return fields[0] not in "ZX" or _threads(self.pid) > 1

    def send(self, number: signal.Signals) -> None:
        if self.alive():
            os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9, and wait for the end."""
        self.send(signal.SIGKILL)
        wait_until(lambda: not self.alive(), 15.0, f"the end of process {self.pid}")


def start(argv: list[str], environment: dict[str, str], log: Path) -> Process:
    """Starts a program in a session of its own; its output goes to `log`."""
    with open(log, "ab") as output:
        child = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                 start_new_session=True)
    child.returncode = 0  # not ours to wait for: it may outlive this program
    return Process.of(child.pid)


def wait_until(condition, seconds: float, what: str, every: float = 0.02):
    """Returns the condition's first true value; TimeoutError after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(every)


def holds(condition, seconds: float, what: str, every: float = 0.1) -> None:
    """For what must not happen in this time: AssertionError as soon as the condition is false."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert condition(), f"not all the time: {what}"
        time.sleep(every)


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text[text.rindex(")") + 2:].split()


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
