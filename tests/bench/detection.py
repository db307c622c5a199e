"""./dev bench detection: how long it takes until an endpoint that hangs is called down. ./dev bench endpoints does it too, at its end.

A thousand web servers are looked at once a second, with 900 ms to answer; the third failure in a row counts. All of them stop at
the same moment, so that every phase of an interval is there.
"""

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from lab import rivals
from tools.measure import BIN, LOOKING, ROOT, Crowd, agent_at, crowd, raise_descriptors

COUNT = 1000
SETTLED, PATIENCE = 4.0, 10.0
PORT = 18080


def main() -> int:
    raise_descriptors()
    compare(rivals.fetch(ROOT / "build/lab/rivals"), PORT)
    return 0


def compare(tools: rivals.Rivals, port: int) -> list[dict]:
    print(f"\ndetection of {COUNT} endpoints that stop (every 1 s, fall 3)\n{'':<20}{'p50 s':>9}{'max s':>9}", flush=True)
    rows = []
    for name, watch in (("wardmoted", by_us), ("haproxy", by_haproxy)):
        with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as folder:
            after = watch(tools, Path(folder), port)
        if len(after) != COUNT:
            raise RuntimeError(f"{name} called {len(after)} of {COUNT} endpoints down")
        rows.append({"who": name, "endpoints": COUNT, "p50_s": round(statistics.median(after), 3), "max_s": round(max(after), 3)})
        print(f"{name:<20}{rows[-1]['p50_s']:>9.2f}{rows[-1]['max_s']:>9.2f}", flush=True)
    return rows


def by_us(_: rivals.Rivals, folder: Path, port: int) -> list[float]:
    looks = (f"http: {{url: 'http://{rivals.address(i)}:{port}/'}}" for i in range(COUNT))
    checks = "".join(f"  - {{name: c{i}, every: 1s, timeout: {rivals.TIMEOUT_MS}ms, fall: 3, {look}}}\n" for i, look in enumerate(looks))
    with crowd(folder, [BIN / "fake_endpoints", str(port)]) as endpoints, agent_at(folder, "checks:\n" + checks) as (agent, _account):
        time.sleep(SETTLED)
        with stopped(endpoints) as begun:
            time.sleep(PATIENCE)
        told = re.findall(r"^at=(\S+) .*event=check_changed .* to=reported ", agent.output(), re.MULTILINE)
    return [datetime.fromisoformat(at).timestamp() - begun for at in told]


def by_haproxy(tools: rivals.Rivals, folder: Path, port: int) -> list[float]:
    """It says `Server b/s7 is DOWN` at once, without the time."""
    argv = ["taskset", "-c", LOOKING, *map(str, rivals.haproxy(tools, folder, COUNT, lambda _: port, True))]
    with crowd(folder, [BIN / "fake_endpoints", str(port)]) as endpoints:
        watcher = subprocess.Popen(argv, env=tools.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            time.sleep(SETTLED)
            with stopped(endpoints) as begun:
                os.set_blocking(watcher.stderr.fileno(), False)
                told = []
                while time.time() < begun + PATIENCE:
                    told += [time.time() - begun for line in watcher.stderr if " is DOWN" in line]
                    time.sleep(0.01)
        finally:
            watcher.kill()
            watcher.wait()
    return told


@contextmanager
def stopped(endpoints: Crowd) -> Iterator[float]:
    """Since when they have been."""
    os.kill(endpoints.pid, signal.SIGSTOP)
    try:
        yield time.time()
    finally:
        os.kill(endpoints.pid, signal.SIGCONT)


if __name__ == "__main__":
    sys.exit(main())
