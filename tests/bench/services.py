"""./dev bench services: what one look at a service under runit costs, against exec of `sv status`, in one run.

Brings up a real runsv with a service, and takes looks in ways that take turns (bench_service_look.cc). Prints the ratios and appends
everything to docs/evidence/bench.jsonl.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.supervisors import Supervisors
from tools.evidence import append, commit

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/release/bin/bench_service_look"
SETTLED = 2.5  # seconds: a service is unknown before


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, Supervisors(ROOT / "build/lab/supervisors", Path(folder) / "service") as lab:
        service = lab.add("runit", "bench")
        time.sleep(SETTLED)
        done = subprocess.run([PROGRAM, lab.packages / "usr/bin/sv", service], stdout=subprocess.PIPE, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    report(rows)
    append("bench", [{"bench": "services", "commit": commit(), "command": "./dev bench services", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], "looks": rows}])
    return 0


def report(rows: list[dict]) -> None:
    def of(way: str, field: str) -> list[float]:
        return [row[field] for row in rows if row["way"] == way]

    print(f"{'a look by':<12}{'CPU us':>10}{'p50 us':>10}{'p99 us':>10}{'less CPU':>12}{'lower p50':>12}")
    for way in ("exec", "look", "status"):
        ratios = [statistics.median(a / b for a, b in zip(of("exec", field), of(way, field))) for field in ("cpu_us", "wall_p50_us")]
        print(f"{way:<12}{statistics.median(of(way, 'cpu_us')):>10.2f}{statistics.median(of(way, 'wall_p50_us')):>10.2f}"
              f"{statistics.median(of(way, 'wall_p99_us')):>10.2f}{ratios[0]:>11.0f}x{ratios[1]:>11.0f}x")
    print("\n(medians of five rounds; ratios round by round against exec; look includes the process in /proc and the judgement)")


if __name__ == "__main__":
    sys.exit(main())
