"""A real Prometheus on loopback, from Debian's package."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from lab.packages import unpack
from lab.ports import free_port
from lab.processes import Process, start, wait_until


class Prometheus:
    """Scrapes `targets` each second. Leaving it ends the process, by its id."""

    def __init__(self, packages: Path, folder: Path, targets: list[str]):
        unpack(packages, ["prometheus"])
        self.program = packages / "usr/bin/prometheus"
        self.folder = folder
        self.port = free_port()
        self.process: Process | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "wardmote", "static_configs": [{"targets": targets}]}]}), encoding="utf-8")

    def __enter__(self) -> "Prometheus":
        self.process = start([
            str(self.program), f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
            f"--web.listen-address=127.0.0.1:{self.port}"], dict(os.environ), self.folder / "log")
        wait_until(self._ready, 60.0, "Prometheus is ready")
        return self

    def __exit__(self, *_) -> None:
        if self.process:
            self.process.kill()

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def query(self, expression: str) -> list[dict]:
        """The result of an instant query; an error of Prometheus is an exception with its words."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode()) from error
