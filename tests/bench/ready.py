"""./dev bench ready: how often a second, and how fast, one core answers /readyz with a hundred checks behind it.

wrk, on the other core, asks over kept connections, as probes of load balancers and kubelets do. Appends to docs/evidence/bench.jsonl.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab import rivals
from lab.ports import free_port
from tools.evidence import append, commit
from tools.measure import BIN, LOOKED_AT, ROOT, agent_at, crowd, raise_descriptors

CHECKS, PORT = 100, 18080
SECONDS = 6
UNIT_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
# One asks after the other has been answered; and as many as one core can answer.
CONNECTIONS = [1, 4, 16]


def main() -> int:
    raise_descriptors()
    tools = rivals.fetch(ROOT / "build/lab/rivals")
    names = [f"c{i}" for i in range(CHECKS)]
    looks = "".join(f"  - {{name: {name}, every: 5s, timeout: 900ms, tcp: {{address: '{rivals.address(i)}:{PORT}'}}}}\n" for i, name in enumerate(names))
    checks = f"checks:\n{looks}gates: {{ready: {{all: [{', '.join(names)}]}}}}\n"
    rows = []
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name:
        folder, at = Path(name), f"127.0.0.1:{free_port()}"
        with crowd(folder, [BIN / "fake_endpoints", str(PORT)]), agent_at(folder, checks, listen=at) as (agent, account):
            agent.wait_healthy()
            time.sleep(1)
            for connections in CONNECTIONS:
                before = account.used()
                done = subprocess.run(["taskset", "-c", LOOKED_AT, tools.program("wrk"), "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency",
                                       f"http://{at}/readyz"], env=tools.environment, capture_output=True, text=True, check=True)
                rows.append(read(done.stdout, connections, account.used().since(before)))
    append("bench", [{"bench": "ready", "commit": commit(), "command": "./dev bench ready", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], "checks": CHECKS, "runs": rows}])
    return 0


def read(text: str, connections: int, cpu: float) -> dict:
    if "Non-2xx" in text or "Socket errors" in text:
        raise RuntimeError(text)
    latency = {f"p{share}": float(value) * UNIT_MS[unit] for share, value, unit in re.findall(r"^ +(\d+)% +([\d.]+)(us|ms|s)$", text, re.MULTILINE)}
    rate = float(re.search(r"Requests/sec: +([\d.]+)", text)[1])
    row = {"connections": connections, "requests_per_s": round(rate), "per_cpu_s": round(rate / cpu), "p50_ms": latency["p50"], "p99_ms": latency["p99"]}
    print(row, flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
