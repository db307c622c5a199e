"""Somebody who follows a page literally: what he runs must stand there, and a clock runs until he sees the first true verdict of a fault."""

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tools import package
from tools.package_rights import Settings, started

ROOT = Path(__file__).resolve().parents[2]
FIVE_MINUTES = 300.0


class Page:
    """One page of the documentation."""

    def __init__(self, name: str):
        self.name, self.text = name, " ".join((ROOT / name).read_text(encoding="utf-8").split())

    def says(self, command: str) -> str:
        assert " ".join(command.split()) in self.text, f"{self.name} does not say: {command}"
        return command


class Clock:
    def __init__(self):
        self.began = time.monotonic()

    def stop(self, what: str) -> None:
        taken = time.monotonic() - self.began
        print(f"{what}: {taken:.0f} s")
        assert taken <= FIVE_MINUTES, f"{what} took {taken:.0f} s"


class Root:
    """A fresh Debian 12, with apt's lists and a network. Leaving it ends what was started in it."""

    def __init__(self, folder: Path):
        self.folder = folder
        package.unpack_base(folder)
        for source in ("/etc/resolv.conf", "/etc/hosts"):
            if os.path.exists(source):
                shutil.copy(source, folder / "etc")
        shutil.copytree("/etc/apt", folder / "etc/apt", dirs_exist_ok=True)
        # Packages of daemons start none: the test does.
        policy = folder / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
        policy.chmod(0o755)

    def __enter__(self) -> "Root":
        subprocess.run(["mount", "-t", "proc", "proc", self.folder / "proc"], check=True)
        return self

    def __exit__(self, *_) -> None:
        subprocess.run(["umount", "--lazy", self.folder / "proc"], check=True)
        shutil.rmtree(self.folder)

    def shell(self, command: str, ends: tuple[int, ...] = (0,)) -> str:
        """As root in /root, where what was downloaded lies."""
        done = subprocess.run(["chroot", self.folder, "env", "DEBIAN_FRONTEND=noninteractive", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                               "bash", "-c", f"cd /root && {command}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode in ends, f"# {command}\n{done.stdout}{done.stderr}\nended with {done.returncode}"
        return done.stdout + done.stderr

    @contextlib.contextmanager
    def daemon(self, *words: str) -> Iterator[None]:
        with started(["chroot", str(self.folder), *words]):
            yield

    @contextlib.contextmanager
    def unit(self) -> Iterator[None]:
        """`systemctl start wardmoted`, by what the installed unit and its drop-ins say: no systemd runs in the root."""
        exec_start = re.search(r"(?m)^ExecStart=(.*)$", (self.folder / "lib/systemd/system/wardmoted.service").read_text(encoding="utf-8"))[1]
        words = [word for word in exec_start.split() if word != "$WARDMOTED_OPTIONS"]
        socket = self.folder / "run/wardmote/api.sock"
        socket.unlink(missing_ok=True)
        with started(Settings.of(self.folder).command(self.folder, *words)):
            until(socket.is_socket, lambda: "the agent does not serve")    # systemctl waits for READY=1
            yield


def until(true: Callable[[], bool], what: Callable[[], str], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.2)
