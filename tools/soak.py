"""./dev soak: many more random schedules of a simulation than the tests play; appends to docs/evidence/soak.jsonl what came of it.

`advice` and `agents` play on all cores, write down each piece that was clean, and go on where they were interrupted as long as all that
decides what comes of a world is the same. `guards` removes one guard of the judge and the planner after the other, and expects that a world of
`advice` notices; `guest-guards` does so for restarts of guests, `gate-guards` for the version gate and the worlds of `gate`, `failover-guards` for the choice of an active node and the worlds of `standalone`. `failover` brings up real Pacemaker clusters, as root, and plays each fault of lab/failover_faults.py with OVN's
resource agent and with ours; `standalone-rounds` does so with the manager without Pacemaker."""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import failover_soak, guards, standalone_soak
from tools.evidence import append, commit, rows

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
# By name: the program, and its tests.
SIMULATIONS = {"notices": ("unit_agent", "SimNotify.*"), "plans": ("unit_act", "SimPlans.*"), "store": ("unit_store", "SimStore.*"),
               "guests": ("sim", "SimGuestTruth.*"), "guest-restarts": ("sim", "SimGuestRestart.Nobody*"),
               "standalone": ("failover", "SimStandalone.One*"),
               "advice": ("advice", "SimAdvice.*"), "failover-schedules": ("failover", "SimFailover.Nobody*"),
               "gate": ("version_gate", "SimVersionGate.*"), "agents": ("agents", "SimCoordination.*")}
SCHEDULES = 10_000
WORLDS = 100_000
CHUNK = 2_500
# Pieces with a failing world, after which no other is begun.
ENOUGH = 5
# All that decides what comes of a world.
PIECES = {
    "advice": ("src/base", "src/judge/condition", "src/judge/plan", "src/judge/raft", ":(glob)src/judge/*.h", ":(glob)src/judge/*.cc",
               "src/runtime/random.h", "tests/advice", ":(exclude)tests/advice/guards.yaml"),
    "agents": ("src/base", "src/codec", "src/runtime", "src/net/sqlite", "src/store", "src/judge", "src/incidents", "src/agent/coordination",
               "tests/agents", "tests/sim", ":(exclude)tests/sim/*_test.cc"),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=sorted([*SIMULATIONS, *guards.SUITES, "failover", "standalone-rounds"]))
    parser.add_argument("--schedules", type=int, help=f"for each test (default: {SCHEDULES}; advice, agents, gate, failover-schedules, standalone: {WORLDS}; guards: at most {guards.WORLDS} a guard; "
                        f"failover, standalone-rounds: {failover_soak.ROUNDS}, {standalone_soak.ROUNDS} rounds)")
    parser.add_argument("--only", metavar="NAME", action="append", help="guards, failover, standalone-rounds: only this guard or fault (may be repeated)")
    parser.add_argument("--no-evidence", action="store_true", help="write nothing to docs/evidence")
    given = parser.parse_args()
    began, used = time.monotonic(), os.times()
    if suite := guards.SUITES.get(given.name):
        result = guards.remove_each(suite, given.schedules or guards.WORLDS, given.only)
    elif given.name == "failover":
        result = failover_soak.play_all(given.schedules or failover_soak.ROUNDS, given.only)
    elif given.name == "standalone-rounds":
        result = standalone_soak.play(given.schedules or standalone_soak.ROUNDS, given.only)
    elif given.name in PIECES:
        result = play_in_pieces(given.name, given.schedules or WORLDS)
    elif given.name in ("failover-schedules", "gate", "standalone"):
        result = play(*SIMULATIONS[given.name], given.schedules or WORLDS)
    else:
        result = play(*SIMULATIONS[given.name], given.schedules or SCHEDULES)
    now = os.times()
    record = {"simulation": given.name, **result, "seconds": round(time.monotonic() - began),
              "cpu_seconds": round(now.children_user + now.children_system - used.children_user - used.children_system, 1), "commit": commit()}
    print(f"    {given.name}: {record['result']}, {record['schedules']} schedules in {record['seconds']} s", flush=True)
    if not given.no_evidence:
        append("soak", [record])
    return 0 if record["result"] == "clean" else 1


def play(program: str, tests: str, schedules: int) -> dict:
    done = run(program, tests, {"WARDMOTE_SIM_MORE": str(schedules)})
    names = re.findall(r"^\[ RUN      \] (\S+)", done.stdout, re.MULTILINE)
    clean = done.returncode == 0 and names
    if not clean:
        print(done.stdout[-8000:] + done.stderr, file=sys.stderr, flush=True)
    return {"tests": names, "schedules": schedules, "result": "clean" if clean else "failed"}


def play_in_pieces(name: str, worlds: int) -> dict:
    """Side by side. A piece that was played clean is written down at once, and not played again on the same sources."""
    program, tests = SIMULATIONS[name]
    sources = fingerprint(name)
    known = {row["first"] for row in rows("soak") if row["simulation"] == name and row.get("sources") == sources
             and row["result"] == "clean" and "first" in row}
    # From the last: the tests play the first ones every day.
    firsts = range(1, worlds + 1, CHUNK)[::-1]
    failed = []

    def piece(first: int) -> int:
        count = min(CHUNK, worlds + 1 - first)
        if first in known:
            return count
        if len(failed) >= ENOUGH:
            return 0
        done = run(program, tests, {"WARDMOTE_SIM_FIRST": str(first), "WARDMOTE_SIM_MORE": str(count)})
        if done.returncode != 0:
            failed.append(done.stdout[-8000:] + done.stderr)
            print(failed[-1], file=sys.stderr, flush=True)
            return 0
        append("soak", [{"simulation": name, "first": first, "schedules": count, "sources": sources, "commit": commit(), "result": "clean"}])
        return count

    played = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for count in pool.map(piece, firsts):
            played += count
            print(f"    {played} of {worlds} worlds are clean", flush=True)
    return {"tests": [tests], "schedules": played, "sources": sources, "result": "failed" if failed else "clean"}


def fingerprint(name: str) -> str:
    """Of all that decides what comes of a world, as it stands in the checkout."""
    files = subprocess.run(["git", "ls-files", *PIECES[name]], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.encode() + b"\0" + (ROOT / file).read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def run(program: str, tests: str, more: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run([BIN / program, f"--gtest_filter={tests}"], cwd=ROOT, env={**os.environ, **more}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)


if __name__ == "__main__":
    sys.exit(main())
