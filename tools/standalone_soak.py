"""Rounds of faults at random moments against real ovsdb-servers, a real etcd and a wardmoted on each of three hosts: how long nobody is
active, what is lost, and whether two hosts ever have the address."""

import os
import random
import statistics
import time

from lab.instance import FOLDER, ROOT
from lab.packages import fetch
from lab.processes import wait_until
from lab.standalone import SplitWatch, StandaloneNode, StandaloneSite, Writer

ROUNDS = 200
# By fault: what each round asks for: the longest median and the longest outage of all in seconds, and rows that may be lost.
# A host that dies takes with it what no other host has yet; the writer writes twenty rows a second.
LIMITS = {"switchover": (1.0, 1.0, 0), "power": (6.0, 8.0, 2), "freeze": (11.0, 11.0, 2)}


def play(rounds: int, only: list[str] | None) -> dict:
    """The record for docs/evidence."""
    took: dict[str, list[float]] = {fault: [] for fault in only or LIMITS}
    failed = []
    with StandaloneSite(f"s{os.getpid() % 10000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        for node in site.nodes:
            node.start_agent()
        watch = SplitWatch(site)
        for number in range(rounds):
            fault = list(took)[number % len(took)]
            active = site.wait_active(60)
            site.wait_follow(active, *site.others(active), seconds=60)
            writer = Writer(site, f"r{number}")
            time.sleep(random.uniform(1, 3))
            took[fault].append(round(inflict(fault, site, active), 2))
            repair(fault, active)
            site.wait_active(60)
            lost = writer.end()["lost"]
            print(f"    round {number}: {fault}: {took[fault][-1]} s, {lost} rows lost", flush=True)
            if lost > LIMITS[fault][2]:
                failed.append(f"round {number}: {fault}: {lost} rows are lost")
        if split := watch.stop():
            failed.append(f"two hosts had the address: {split}")
    faults = {fault: {"rounds": len(all_of), "median_s": round(statistics.median(all_of), 2), "longest_s": max(all_of)}
              for fault, all_of in took.items() if all_of}
    for fault, seen in faults.items():
        if seen["median_s"] > LIMITS[fault][0] or seen["longest_s"] > LIMITS[fault][1]:
            failed.append(f"{fault}: {seen}")
    for reason in failed:
        print(f"    {reason}", flush=True)
    return {"schedules": rounds, "faults": faults, "result": "; ".join(failed) or "clean"}


def inflict(fault: str, site: StandaloneSite, active: StandaloneNode) -> float:
    """The seconds until another node is active."""
    begun = time.monotonic()
    if fault == "switchover":
        heir = random.choice(site.others(active))
        active.order("switchover", to=heir.name)
    elif fault == "freeze":
        active.stop_all()
    else:
        active.kill_agent()
        for short in ("nb", "sb"):
            active.server(short).kill()
    wait_until(lambda: any(node.serves() for node in site.others(active)), 60, "another node to be active", every=0.01)
    return time.monotonic() - begun


def repair(fault: str, node: StandaloneNode) -> None:
    if fault == "freeze":
        node.resume_all()
    elif fault == "power":
        for short in ("nb", "sb"):
            node.start_server(short)
        node.start_agent()
