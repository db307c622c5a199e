"""A real Alertmanager on loopback, from Debian's package."""

import json
import os
import urllib.request
from pathlib import Path

from lab.packages import unpack
from lab.ports import free_port
from lab.processes import Process, start, wait_until

PACKAGES = ["prometheus-alertmanager"]
# Debian's program looks for its templates in one place only, so it gets a /usr/share of its own.
IN_ITS_OWN_ROOM = """
mount -t tmpfs none /usr/share && cp -r "$0" /usr/share/prometheus && exec "$@"
"""
CONFIGURATION = "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"


class Alertmanager:
    """Leaving it ends the process, by its id. It can be killed and started again on the same port and data."""

    def __init__(self, packages: Path, folder: Path):
        unpack(packages, PACKAGES)
        self.packages = packages
        self.program = packages / "usr/bin/prometheus-alertmanager"
        self.folder = folder
        self.port = free_port()
        self.process: Process | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "alertmanager.yml").write_text(CONFIGURATION, encoding="utf-8")

    def __enter__(self) -> "Alertmanager":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.kill()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = start(["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_ITS_OWN_ROOM,
                              str(self.packages / "usr/share/prometheus"), str(self.program), f"--config.file={self.folder}/alertmanager.yml",
                              f"--storage.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{self.port}",
                              "--cluster.listen-address="], dict(os.environ), self.folder / "log")
        wait_until(self._ready, 20.0, "Alertmanager")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None

    def alerts(self) -> list[dict]:
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=5) as answer:
            return json.load(answer)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=1) as answer:
                return answer.status == 200
        except OSError:
            return False
