"""./dev bench reload: what a reload of many checks costs the core loop, step by step (bench_reload.cc).

Five repetitions; prints their medians and appends all of them to docs/evidence/bench.jsonl.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from tools.evidence import append, commit

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/release/bin/bench_reload"


def main() -> int:
    # What it says of itself goes to the log of the agents that it makes, on standard error.
    done = subprocess.run([PROGRAM, "--benchmark_format=json", "--benchmark_repetitions=5"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True)
    runs = [run for run in json.loads(done.stdout)["benchmarks"] if run["run_type"] == "iteration"]
    if broken := [run for run in runs if run.get("error_occurred")]:
        print(broken, file=sys.stderr)
        return 1
    rows: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        row = rows.setdefault(run["run_name"], {"cpu_ms": [], "wall_ms": []})
        row["cpu_ms"].append(round(run["cpu_time"], 4))
        row["wall_ms"].append(round(run["real_time"], 4))
    print(f"{'step/checks':<28}{'CPU ms':>10}{'wall ms':>10}")
    for name, row in rows.items():
        print(f"{name:<28}{statistics.median(row['cpu_ms']):>10.2f}{statistics.median(row['wall_ms']):>10.2f}")
    append("bench", [{"bench": "reload", "commit": commit(), "command": "./dev bench reload", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], "steps": rows}])
    return 0


if __name__ == "__main__":
    sys.exit(main())
