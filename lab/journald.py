"""A real systemd-journald without systemd: in a mount namespace with a /run/systemd and a /run/log of its own, kept in memory."""

import json
import os
import subprocess
from pathlib import Path

from lab.processes import Process, start, wait_until

IN_ITS_OWN_ROOM = """
for folder in /run/systemd /run/log; do mkdir -p $folder && mount -t tmpfs none $folder || exit 1; done
mkdir -p /run/systemd/journal /run/log/journal && exec /lib/systemd/systemd-journald
"""


class Journald:
    """Leaving it ends the process, by its id. It can be killed and started again; its namespace lasts as long as somebody is inside."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.process: Process | None = None

    def __enter__(self) -> "Journald":
        self.process = start(["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_ITS_OWN_ROOM], dict(os.environ),
                             self.folder / "journald.log")
        wait_until(lambda: self._run("test", "-S", "/run/systemd/journal/socket").returncode == 0, 20.0, "journald")
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()

    @property
    def inside(self) -> list[str]:
        """Begins the command line of a program that is to see this journal."""
        return ["nsenter", "--target", str(self.process.pid), "--mount"]

    def entries(self, match: str) -> list[dict]:
        """`FIELD=value`; oldest first."""
        shown = self._run("journalctl", "-D", "/run/log/journal", "-o", "json", "--all", "--no-pager", match).stdout
        return [json.loads(line) for line in shown.splitlines()]

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.inside, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
