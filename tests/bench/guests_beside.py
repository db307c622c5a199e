"""./dev bench guests_beside: Masakari's own introspective monitor and ours on the same real guests, of which some hang: how evenly the
others are pinged meanwhile, and how long it takes until it is known.

One after the other, because two monitors of one guest wait for each other's pings. When a ping began says the log of libvirtd, which both
ask; when the original knows of a guest, the database of a real masakari-api. Appends to docs/evidence/bench.jsonl.
"""

import argparse
import os
import platform
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lab.guests import Guests, name_of, uuid_of
from lab.masakari_monitor import MasakariMonitor
from lab.openstack import HOST, PASSWORD, OpenStack
from lab.processes import wait_until
from tools.agent import ROOT, Agent
from tools.evidence import append, commit

TIMEOUT, THRESHOLD = 2, 3
BEFORE, MEANWHILE = 5, 8  # intervals, at least
ON_TIME = 0.1  # of the interval
PATIENCE = 240.0
LIBVIRTD = 'log_filters="1:libvirt-qemu"\nlog_outputs="1:file:{log}"\n'
CALL = re.compile(r"^(\S+ \S+): \d+: debug : virDomainQemuAgentCommand:\d+ : .*VM: name=([^,]+),.*guest-ping", re.MULTILINE)
RAISED = re.compile(r"^at=(\S+) .*event=finding_raised guest=(\S+) .*severity=critical", re.MULTILINE)
CONFIG = """
node: {{name: {host}}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
guests: {{uri: "{uri}", every: {interval}s, timeout: {timeout}s, threshold: {threshold}, rules: {rules}}}
notify:
  receivers:
    - name: masakari
      timeout: 30s
      masakari: {{type: instance, host: {host}, keystone: {{url: "{keystone}", user: watcher, project: admin, secret_file: {folder}/secret}}}}
  routes:
    - {{receiver: masakari, match: ["scope=guest", "code=GUEST_*"], group_wait: 0s, repeat_interval: 0s}}
"""


@dataclass
class Site:
    lab: Guests
    cloud: OpenStack
    calls: Path
    interval: int  # seconds; the original takes whole ones
    guests: list[int] = field(default_factory=list)

    def pings(self, begin: float, end: float) -> dict[int, list[float]]:
        """When each guest was pinged, from `begin` to `end`."""
        numbers = {name_of(number): number for number in self.guests}
        seen = defaultdict(list)
        for at, name in CALL.findall(self.calls.read_text(encoding="utf-8", errors="replace")):
            moment = datetime.fromisoformat(at).timestamp()
            if begin <= moment <= end:
                seen[numbers[name]].append(moment)
        return {number: sorted(seen[number]) for number in self.guests}

    def masakari_knows(self) -> set[int]:
        with sqlite3.connect(self.cloud.folder / "masakari.sqlite", timeout=30) as database:
            told = " ".join(row[0] for row in database.execute("SELECT payload FROM notifications"))
        return {number for number in self.guests if uuid_of(number) in told}

    def forget(self) -> None:
        """Within three minutes the same would be a repetition, which Masakari does not record."""
        with sqlite3.connect(self.cloud.folder / "masakari.sqlite", timeout=30) as database:
            database.execute("DELETE FROM notifications")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench guests_beside", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--interval", type=int, default=5, help="seconds from one ping of a guest to the next")
    parser.add_argument("--guests", type=int, default=20, help="that both watch")
    parser.add_argument("--hung", type=int, default=8, help="of them")
    parser.add_argument("--more", default="16/20,50/55", help="for us alone: HUNG/GUESTS,…")
    parser.add_argument("--ours", action="store_true", help="without the original")
    given = parser.parse_args()
    more = [tuple(map(int, one.split("/"))) for one in given.more.split(",") if one]
    rows = []
    with tempfile.TemporaryDirectory(prefix="wb-", dir="/tmp") as temporary:
        folder = Path(temporary)
        calls = folder / "calls.log"
        with OpenStack(ROOT / "build/lab/openstack", folder / "cloud") as cloud, \
                Guests(ROOT / "build/lab/guests", folder / "lab", LIBVIRTD.format(log=calls)) as lab:
            site = Site(lab, cloud, calls, given.interval)
            boot(site, given.guests)
            watched = [("Masakari's", original), ("ours, Masakari's rules", ours("masakari")), ("ours", ours("standard"))]
            for who, watch in watched[given.ours:]:
                rows.append(measure(site, who, watch, given.hung, folder / str(len(rows))))
            for hung, guests in more:
                boot(site, guests)
                rows.append(measure(site, "ours", ours("standard"), hung, folder / str(len(rows))))
    append("bench", [{"bench": "guests_beside", "commit": commit(), "command": " ".join(["./dev bench guests_beside", *sys.argv[1:]]),
                      "cpus": os.cpu_count(), "kernel": platform.release(), "load": rows[0]["load"], "interval_s": given.interval, "timeout_s": TIMEOUT,
                      "threshold": THRESHOLD, "monitors": rows}])
    return 0


def boot(site: Site, count: int) -> None:
    new = range(len(site.guests) + 1, count + 1)
    site.lab.up(*new, within=300.0)
    site.guests += new


@contextmanager
def original(site: Site, folder: Path) -> Iterator[Callable[[], dict[int, float]]]:
    with MasakariMonitor(ROOT / "build/lab/masakari-monitors", folder, site.lab, site.cloud, site.interval, TIMEOUT, THRESHOLD):
        yield arrivals(site)


def arrivals(site: Site) -> Callable[[], dict[int, float]]:
    """When each guest was first seen in Masakari's database."""
    first: dict[int, float] = {}

    def look() -> dict[int, float]:
        known = site.masakari_knows()
        for number in known - first.keys():
            first[number] = time.time()
        return first
    return look


def ours(rules: str):
    """By Masakari's rules it tells Masakari of each guest. By its own, many are one storm, of which Masakari is not told: then it counts
    when the agent itself says it of a guest."""
    @contextmanager
    def watch(site: Site, folder: Path) -> Iterator[Callable[[], dict[int, float]]]:
        (folder / "data").mkdir(parents=True)
        (folder / "secret").write_text(PASSWORD + "\n", encoding="utf-8")
        (folder / "wardmote.yaml").write_text(CONFIG.format(folder=folder, host=HOST, uri=site.lab.uri, keystone=site.cloud.keystone_url, rules=rules,
                                                            interval=site.interval, timeout=TIMEOUT, threshold=THRESHOLD), encoding="utf-8")
        with Agent(folder / "wardmote.yaml", folder / "api.sock", ["env", f"LD_LIBRARY_PATH={site.lab.libraries}"]) as agent:
            agent.wait_serving()
            yield arrivals(site) if rules == "masakari" else lambda: raised(site, agent)
    return watch


def raised(site: Site, agent: Agent) -> dict[int, float]:
    """When the agent first said of each guest that it is lost."""
    numbers = {name_of(number): number for number in site.guests}
    told = RAISED.findall(agent.output())
    return {numbers[name]: datetime.fromisoformat(at).timestamp() for at, name in reversed(told)}


def measure(site: Site, who: str, watch, count: int, folder: Path) -> dict:
    """`count` guests hang at once, spread over all of them."""
    hung = [site.guests[i * len(site.guests) // count] for i in range(count)]
    healthy = [number for number in site.guests if number not in hung]
    site.forget()
    started = time.time()
    load = os.getloadavg()[0]
    with watch(site, folder) as known, ThreadPoolExecutor(count) as pool:
        wait_until(lambda: all(len(times) >= 2 for times in site.pings(started, time.time()).values()), 120.0, f"the pings of {who}", every=0.5)
        begun = time.time()
        time.sleep(BEFORE * site.interval)
        if known():
            raise RuntimeError(f"{who} reported {sorted(known())} while all were well")
        hang = time.time()
        list(pool.map(site.lab.stop_agent, hung))
        stopped = time.time()
        end = hang + PATIENCE
        while not set(known()) >= set(hung) and time.time() < end:
            time.sleep(0.2)
        time.sleep(max(0.0, hang + MEANWHILE * site.interval - time.time()))
        end = time.time()
        found = dict(known())
        load = max(load, os.getloadavg()[0])
    list(map(site.lab.continue_agent, hung))
    for number in hung:
        wait_until(lambda n=number: site.lab.answers(n), 120.0, f"the agent of {name_of(number)}", every=0.5)
    after = {number: found[number] - hang for number in hung if number in found}
    asked = [len(site.pings(hang, found[number])[number]) for number in after]
    row = {"who": who, "guests": len(site.guests), "hung": count, "load": round(load, 1), "hanging_took_s": round(stopped - hang, 2),
           "before": gaps(site, healthy, begun, hang), "meanwhile": gaps(site, healthy, hang, end),
           "found": len(after), "found_though_well": len(found.keys() - set(hung)), "detection_p50_s": round(statistics.median(after.values()), 2),
           "detection_min_s": round(min(after.values()), 2), "detection_max_s": round(max(after.values()), 2),
           "observed_s": round(end - hang, 1), "asked_until_found": sorted(asked)}
    show(row)
    return row


def gaps(site: Site, numbers: list[int], begin: float, end: float) -> dict:
    """From one ping of a guest to its next, of all guests, whose ping from before `begin` counts. What lasts at the end and is late counts, too."""
    every = []
    for times in (times for number, times in site.pings(begin - PATIENCE, end).items() if number in numbers):
        first = max((i for i, at in enumerate(times) if at < begin), default=0)
        times = times[first:]
        every += [b - a for a, b in zip(times, times[1:])]
        if end - times[-1] > site.interval * (1 + ON_TIME):
            every.append(end - times[-1])
    on_time = sum(abs(gap - site.interval) <= site.interval * ON_TIME for gap in every)
    return {"cycles": len(every), "p50_s": round(statistics.median(every), 3), "min_s": round(min(every), 3), "max_s": round(max(every), 3),
            "on_time_percent": round(100 * on_time / len(every), 1)}


def show(row: dict) -> None:
    print(f"{row['who']}: {row['hung']} of {row['guests']} hang, load {row['load']}")
    for when in ("before", "meanwhile"):
        print(f"  {when:<10} " + "  ".join(f"{key} {value}" for key, value in row[when].items()))
    print("  detection  " + "  ".join(f"{key.removeprefix('detection_')} {row[key]}" for key in (
        "found", "found_though_well", "detection_p50_s", "detection_min_s", "detection_max_s", "observed_s", "asked_until_found")), flush=True)


if __name__ == "__main__":
    sys.exit(main())
