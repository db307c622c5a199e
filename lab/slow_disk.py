"""A disk that is slow for one real process: the kernel holds up each of its fsyncs, and nothing else is changed. strace does that, because a
machine like this one has no dm-delay, and a limit on a block device does not hold up the journal of its file system."""

import signal
from pathlib import Path

from lab.processes import Process, start, wait_until


class SlowDisk:
    """While it is open, every fsync of `process` takes `milliseconds` longer."""

    def __init__(self, process: Process, milliseconds: int, log: Path):
        self._process, self._log = process, log
        self._argv = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
                      "-e", f"inject=fsync,fdatasync:delay_enter={milliseconds}ms", "-p", str(process.pid)]

    def __enter__(self) -> "SlowDisk":
        self._strace = start(self._argv, {"PATH": "/usr/bin:/bin"}, self._log)
        wait_until(lambda: self._traced(), 20.0, f"strace to be attached: see {self._log}")
        return self

    def __exit__(self, *_) -> None:
        self._strace.send(signal.SIGINT)  # it lets go of the process
        wait_until(lambda: not self._strace.alive(), 20.0, "the end of strace")

    def _traced(self) -> bool:
        tasks = list(Path(f"/proc/{self._process.pid}/task").iterdir())
        return all(f"TracerPid:\t{self._strace.pid}\n" in (task / "status").read_text(encoding="utf-8") for task in tasks)
