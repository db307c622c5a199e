"""Each fault of a real Pacemaker cluster, some rounds with OVN's shell script and some with our agent, in turns on new clusters."""

import os
import sys
from pathlib import Path

from lab.failover_faults import ALL, Outcome, median, play
from lab.pacemaker import Pacemaker

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "build/lab/pacemaker-ovn"
PROGRAM = ROOT / "build/release/bin/wardmote"
ROUNDS = 5
# Ours may take this much longer than the shell script, where that one neither loses a row nor lets two be writable.
TOLERANCE = 1.1


def play_all(rounds: int, only: list[str] | None) -> dict:
    """The record for docs/evidence."""
    faults, failed = {}, []
    for fault in only or ALL:
        outcomes: dict[str, list[Outcome]] = {"shell script": [], "wardmote": []}
        for number in range(rounds):
            for who, agent in (("shell script", None), ("wardmote", PROGRAM)):
                with Pacemaker(f"s{os.getpid() % 10000}-{number}{who[0]}", PACKAGES, agent) as lab:
                    outcomes[who].append(play(lab, fault))
        faults[fault] = {who: median(mine) for who, mine in outcomes.items()}
        print(f"    {fault}: {faults[fault]}", flush=True)
        failed += [f"{fault}: {reason}" for reason in worse(faults[fault])]
    for reason in failed:
        print(f"    {reason}", file=sys.stderr, flush=True)
    return {"schedules": rounds * len(faults), "faults": faults, "result": "; ".join(failed) or "clean"}


def worse(medians: dict[str, dict]) -> list[str]:
    """In what ours did not do what it promises."""
    stock, ours = medians["shell script"], medians["wardmote"]
    found = []
    if ours["lost"] > 0:
        found.append(f"{ours['lost']} rows are lost")
    if ours["not_well"] > 0:
        found.append("the cluster did not become well")
    harmless = stock["lost"] == 0 and stock["split_s"] == 0 and stock["not_well"] == 0
    if harmless and ours["outage_s"] > TOLERANCE * stock["outage_s"] and ours["outage_s"] > 0.5:
        found.append(f"the outage is {ours['outage_s']} s and not {stock['outage_s']} s")
    return found
