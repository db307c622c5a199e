"""./dev soak: many more random schedules of a simulation than the tests play; appends to docs/evidence/soak.jsonl what came of it."""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tools.evidence import append, commit

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
# By name: the program, and its tests.
SIMULATIONS = {"notices": ("unit_agent", "SimNotify.*"), "plans": ("unit_agent", "SimPlans.*"), "store": ("unit_store", "SimStore.*")}
SCHEDULES = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("name", choices=sorted(SIMULATIONS))
    parser.add_argument("--schedules", type=int, default=SCHEDULES, help=f"for each test (default: {SCHEDULES})")
    parser.add_argument("--no-evidence", action="store_true", help="write nothing to docs/evidence")
    given = parser.parse_args()
    program, tests = SIMULATIONS[given.name]
    began, used = time.monotonic(), os.times()
    done = subprocess.run([BIN / program, f"--gtest_filter={tests}"], cwd=ROOT, env={**os.environ, "WARDMOTE_SIM_MORE": str(given.schedules)},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    names = re.findall(r"^\[ RUN      \] (\S+)", done.stdout, re.MULTILINE)
    now = os.times()
    result = {"simulation": given.name, "tests": names, "schedules": given.schedules, "seconds": round(time.monotonic() - began),
              "cpu_seconds": round(now.children_user + now.children_system - used.children_user - used.children_system, 1),
              "commit": commit(), "result": "clean" if done.returncode == 0 and names else "failed"}
    print(f"    {given.name}: {result['result']}, {given.schedules} schedules in {result['seconds']} s", flush=True)
    if result["result"] != "clean":
        print(done.stdout[-8000:] + done.stderr, file=sys.stderr, flush=True)
    if not given.no_evidence:
        append("soak", [result])
    return 0 if result["result"] == "clean" else 1


if __name__ == "__main__":
    sys.exit(main())
