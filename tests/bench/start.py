"""./dev bench start: what `wardmote calico-health` costs as a process, against the mere start of a Go program of calico-node's size.

The Go program is Debian's prometheus (50 MB), which prints its version and ends; calico-node does the same start and looks besides.
Ours looks: it asks the readiness of Felix, which a fake answers (tests/bench/fake_endpoints.cc). They take turns. What is resident is
read from /proc while ours waits for one that never answers: wait4 would count the memory of whoever started it. Appends to
docs/evidence/bench.jsonl.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab import rivals
from tools.evidence import append, commit
from tools.measure import BIN, ROOT, crowd

PORT = 18080
ROUNDS, RUNS = 5, 60


def main() -> int:
    tools = rivals.fetch(ROOT / "build/lab/rivals")
    go = tools.program("prometheus")
    programs = {"wardmote calico-health": [str(BIN / "wardmote"), "calico-health", "-felix-ready"], "Go program": [str(go), "--version"]}
    environment = {**os.environ, "FELIX_HEALTHHOST": "127.0.0.1", "FELIX_HEALTHPORT": str(PORT)}
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name, crowd(Path(name), [BIN / "fake_endpoints", str(PORT)]):
        resident = resident_kib(programs["wardmote calico-health"], {**environment, "FELIX_HEALTHPORT": str(PORT + 1)})
        rows = [{"who": who, "round": number, **cost(argv, environment)} for number in range(ROUNDS) for who, argv in programs.items()]
    for who in programs:
        mine = [row for row in rows if row["who"] == who]
        print(f"{who:<24}" + "  ".join(f"{key} {statistics.median(row[key] for row in mine):.2f}" for key in ("cpu_ms", "wall_ms")))
    print(f"{'wardmote calico-health':<24}resident, while it waits: {resident} KiB")
    append("bench", [{"bench": "start", "commit": commit(), "command": "./dev bench start", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], "go_bytes": go.stat().st_size, "resident_kib": resident, "starts": rows}])
    return 0


def cost(argv: list[str], environment: dict[str, str]) -> dict:
    """Of one run, the mean of many."""
    cpu, begun = 0.0, time.monotonic()
    for _ in range(RUNS):
        child = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise RuntimeError(f"{argv}: {child.returncode}")
        cpu += used.ru_utime + used.ru_stime
    return {"cpu_ms": round(1e3 * cpu / RUNS, 3), "wall_ms": round(1e3 * (time.monotonic() - begun) / RUNS, 3)}


def resident_kib(argv: list[str], environment: dict[str, str]) -> int:
    """The most that it had at once, until shortly before its deadline."""
    most = 0
    with subprocess.Popen([*argv, "-deadline", "300ms"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            for line in Path(f"/proc/{child.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    most = max(most, int(line.split()[1]))
    return most


if __name__ == "__main__":
    sys.exit(main())
