"""./dev bench scale: how late, how large and how busy one agent is that watches a thousand OVN members, and ten thousand.

The agent has one core; the members are fakes on the other one, which replay what real ones said (tests/bench/fake_ovn_members.cc).
Each member is asked once a second, on its control socket and its database socket, and watched on a third connection; three members
a cluster are judged together. Ten thousand members have a control socket only: three descriptors each are more than many machines
allow. The last run has a thousand members that accept and never answer besides. Prints what came of it and appends it to
docs/evidence/bench.jsonl.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from tools.evidence import append, commit
from tools.measure import BIN, agent_at, crowd, raise_descriptors

MEMBERS = 3  # of a cluster
# Clusters that are well, and that hang, and whether they have database sockets.
RUNS = [(333, 0, True), (1000, 0, True), (2000, 0, True), (333, 0, False), (3333, 0, False), (333, 333, True)]
WARM = 7


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench scale", description=__doc__)
    parser.add_argument("--seconds", type=int, default=15, help="of each run (15)")
    parser.add_argument("--only", type=int, help="one run by its number, from 0 on; nothing is appended")
    given = parser.parse_args()
    raise_descriptors()
    print(f"{'members':>8}{'hung':>6}{'sockets':>9}{'CPU %':>8}{'us/look':>9}{'RSS MB':>8}{'late p50':>10}{'p99 ms':>8}{'max ms':>8}{'on time %':>11}", flush=True)
    runs = RUNS if given.only is None else [RUNS[given.only]]
    rows = [measure(well, hung, both, given.seconds) for well, hung, both in runs]
    if given.only is None:
        append("bench", [{"bench": "scale", "commit": commit(), "command": "./dev bench scale", "cpus": os.cpu_count(),
                          "kernel": platform.release(), "load": os.getloadavg()[0], "runs": rows}])
    return 0


def measure(well: int, hung: int, both: bool, seconds: int) -> dict:
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name:
        folder = Path(name)
        with crowd(folder, [BIN / "fake_ovn_members", folder]) as peers, agent_at(folder, clusters(folder, well, hung, both)) as (agent, account):
            time.sleep(WARM)
            begin, before, looks_before = time.time(), account.used(), looks(agent)
            time.sleep(seconds)
            end, after, looks_after = time.time(), account.used(), looks(agent)
            replies = peers.between(begin, end)[1]
            late = agent.json("/debug/latency")["looks"]
    passed = after.at - before.at
    rounds = looks_after - looks_before
    row = {"members": well * MEMBERS, "hung": hung * MEMBERS, "sockets": 2 if both else 1, "seconds": round(passed, 1), "cpu_percent": round(100 * after.since(before), 1),
           "cpu_us_per_member": round(1e6 * (after.cpu - before.cpu) / (rounds * MEMBERS), 1), "rss_mb": round(after.rss / 1e6, 1),
           "late_p50_us": late["p50_us"], "late_p99_us": late["p99_us"], "late_max_us": late["max_us"],
           "on_time_percent": round(100 * rounds / ((well + hung) * passed), 2), "replies_per_s": round(replies)}
    print(f"{row['members']:>8}{row['hung']:>6}{row['sockets']:>9}{row['cpu_percent']:>8}{row['cpu_us_per_member']:>9}{row['rss_mb']:>8}"
          f"{row['late_p50_us'] / 1e3:>10.2f}{row['late_p99_us'] / 1e3:>8.2f}{row['late_max_us'] / 1e3:>8.2f}{row['on_time_percent']:>11}", flush=True)
    return row


def looks(agent) -> int:
    return agent.json("/debug/latency")["looks"]["count"]


def clusters(folder: Path, well: int, hung: int, both: bool) -> str:
    lines = ["clusters:"]
    for i in range(well + hung):
        sockets = [f"{folder}/{'hung-' if i >= well else ''}{n}" for n in range(1, MEMBERS + 1)]
        members = ", ".join(f"{{name: m{n}, control: {at}.ctl{f', ovsdb: {at}.sock' if both else ''}}}" for n, at in enumerate(sockets))
        lines.append(f"  - {{name: c{i}, every: 1s, timeout: 900ms, ovn: {{database: OVN_Northbound, members: [{members}]}}}}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
