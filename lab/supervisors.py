"""Real runit, s6 and daemontools, each service with a supervisor of its own, below a folder of the caller's."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lab.packages import unpack
from lab.processes import Process, start, wait_until

PACKAGES = ["runit", "s6", "daemontools", "libexecline2.9", "libs6-2.11", "libskarnet2.13"]
# The program that watches one service, and the one that gives it orders.
PROGRAMS = {"runit": ("usr/bin/runsv", "usr/bin/sv"), "s6": ("usr/bin/s6-supervise", "usr/bin/s6-svc"),
            "daemontools": ("usr/bin/supervise", "usr/bin/svc")}


class Supervisors:
    """Services by name. Leaving it ends every supervisor and service that it started, by process id."""

    def __init__(self, packages: Path, folder: Path, inside: Callable[..., list[str]] = lambda *argv: list(argv)):
        """`inside` turns a command into one that runs it elsewhere, on a host of a lab."""
        unpack(packages, PACKAGES)
        self.packages = packages
        self.folder = folder
        self.inside = inside
        self.running: dict[str, tuple[str, Process]] = {}

    def __enter__(self) -> "Supervisors":
        return self

    def __exit__(self, *_) -> None:
        self.down()

    def environment(self) -> dict[str, str]:
        libraries = [str(path) for path in sorted(self.packages.glob("**/*-linux-gnu")) if path.is_dir()]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries),
                "PATH": f"{self.packages}/usr/bin:{os.environ['PATH']}"}

    def add(self, kind: str, name: str, script: str = "exec sleep 1000", supervised: bool = True, **files: str) -> Path:
        """A service that runs `script`, with further files in its folder; `finish` and `check` are scripts."""
        service = self.folder / name
        service.mkdir(parents=True)
        for file, text in {"run": script, **files}.items():
            path = service / file.replace("_", "-")
            is_script = file in ("run", "finish", "check")
            path.write_text(f"#!/bin/sh\n{text}\n" if is_script else text, encoding="utf-8")
            path.chmod(0o755 if is_script else 0o644)
        if supervised:
            self.supervise(kind, name)
        return service

    def supervise(self, kind: str, name: str) -> None:
        program = str(self.packages / PROGRAMS[kind][0])
        process = start(self.inside(program, str(self.folder / name)), self.environment(), self.folder / f"{name}.log")
        self.running[name] = (kind, process)
        wait_until(lambda: (self.folder / name / "supervise/status").exists(), 15.0, f"the status of {name}")

    def order(self, kind: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """sv, s6-svc or svc with `arguments`."""
        return subprocess.run([str(self.packages / PROGRAMS[kind][1]), *arguments], env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def pid(self, name: str) -> int:
        """Of the service's process; 0 when it is down."""
        kind, _ = self.running[name]
        status = (self.folder / name / "supervise/status").read_bytes()
        return int.from_bytes(status[24:32], "big") if kind == "s6" else int.from_bytes(status[12:16], "little")

    def down(self) -> None:
        for name, (_, supervisor) in self.running.items():
            with suppress(OSError):
                service = Process.of(pid) if (pid := self.pid(name)) else None
                supervisor.send(signal.SIGCONT)
                supervisor.kill()
                if service and service.alive():
                    service.kill()
        self.running.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
