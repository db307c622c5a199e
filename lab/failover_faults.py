"""What can happen to a Pacemaker cluster with OVN databases, and what came of it: rows that were acknowledged and are gone, seconds
without a row, seconds with two writable copies that had the address."""

import json
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.pacemaker import Node, Pacemaker, Writer
from lab.processes import Process


@dataclass
class Outcome:
    """What a fault cost. `lost`: rows that the surviving cluster had acknowledged; `split`: seconds."""

    acknowledged: int
    lost: int
    outage: float
    split: float
    note: str = ""


class SplitWatch:
    """Counts the time in which two nodes were writable and had the address."""

    def __init__(self, lab: Pacemaker):
        self._lab, self._ends, self.seconds = lab, threading.Event(), 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        last = time.monotonic()
        while not self._ends.wait(0.2):
            roles = list(self._lab.roles().values())
            now = time.monotonic()
            if roles.count("AAV") > 1:
                self.seconds += now - last
            last = now

    def end(self) -> float:
        self._ends.set()
        self._thread.join()
        return round(self.seconds, 1)


def kill_worker(lab: Pacemaker, active: Node) -> None:
    active.server("nb").send(signal.SIGKILL)
    time.sleep(20)


def kill_worker_and_monitor(lab: Pacemaker, active: Node) -> None:
    worker = active.server("nb")
    stat = Path(f"/proc/{worker.pid}/stat").read_text(encoding="utf-8")
    parent = Process.of(int(stat[stat.rindex(")") + 2:].split()[1]))
    parent.send(signal.SIGKILL)
    worker.send(signal.SIGKILL)
    time.sleep(20)


def power_off(lab: Pacemaker, active: Node) -> None:
    active.power_off()
    time.sleep(8)


def stop_server(lab: Pacemaker, active: Node) -> None:
    active.server("nb").send(signal.SIGSTOP)
    time.sleep(20)


def one_becomes_backup(lab: Pacemaker, active: Node) -> None:
    for command in (["ovsdb-server/set-active-ovsdb-server", "tcp:192.0.2.254:6642"], ["ovsdb-server/connect-active-ovsdb-server"]):
        active.on("ovn-appctl", "-t", "/run/ovn/ovnsb_db.ctl", *command, check=True)
    time.sleep(20)


def backup_becomes_writable(lab: Pacemaker, active: Node) -> None:
    backup = next(node for node in lab.nodes if node is not active)
    for short in ("nb", "sb"):
        backup.on("ovn-appctl", "-t", f"/run/ovn/ovn{short}_db.ctl", "ovsdb-server/disconnect-active-ovsdb-server", check=True)
    time.sleep(35)


def pause(lab: Pacemaker, active: Node) -> None:
    """As the host of a virtual machine does it."""
    active.pause()
    time.sleep(12)
    active.resume()
    time.sleep(20)


def cut(lab: Pacemaker, active: Node) -> None:
    active.cut()
    time.sleep(20)
    active.heal()
    time.sleep(15)


def switch_over(lab: Pacemaker, active: Node) -> None:
    active.on("crm_standby", "-v", "on", "-N", active.name, check=True)
    time.sleep(8)
    active.on("crm_standby", "-D", "-N", active.name, check=True)


def cluster_stack_dies(lab: Pacemaker, active: Node) -> None:
    names = ("corosync", "pacemakerd", "pacemaker-based", "pacemaker-fence", "pacemaker-execd", "pacemaker-attrd", "pacemaker-sched",
             "pacemaker-contr")
    for process in active.named(*names):
        process.send(signal.SIGKILL)
    time.sleep(15)


FAULTS: dict[str, Callable[[Pacemaker, Node], None]] = {
    "kill-worker": kill_worker,
    "kill-worker-and-monitor": kill_worker_and_monitor,
    "power-off": power_off,
    "stop-server": stop_server,
    "one-becomes-backup": one_becomes_backup,
    "backup-becomes-writable": backup_becomes_writable,
    "pause": pause,
    "cut": cut,
    "switch-over": switch_over,
}
# Whose copy is old: Pacemaker takes one of two equal nodes by its name.
STALE = {"stale-first": 0, "stale-second": 1}
ALL = [*FAULTS, *STALE]


def play(lab: Pacemaker, name: str) -> Outcome:
    """One fault of a cluster that is well, with a client that writes all the time."""
    if name in STALE:
        return stale_copy(lab, STALE[name])
    active = lab.wait_active()
    watch, writer = SplitWatch(lab), Writer(lab, f"{name}-{os.getpid()}-{time.monotonic_ns()}")
    time.sleep(2)
    FAULTS[name](lab, active)
    try:
        lab.wait_active(90)
        note = ""
    except TimeoutError as error:
        note = str(error)
    split = watch.end()
    time.sleep(1)
    counted = json.loads(writer.end())
    return Outcome(counted["acknowledged"], counted["lost"], max(counted["outages"], default=0.0), split, note)


def stale_copy(lab: Pacemaker, stale_one: int) -> Outcome:
    """Power is lost while one node was away, and the last active node does not come back."""
    active = lab.wait_active()
    others = [node for node in lab.nodes if node is not active]
    stale, fresh = others[stale_one], others[1 - stale_one]
    stale.power_off()
    time.sleep(3)
    writer = Writer(lab, "tie")
    time.sleep(2)
    # The line ends here: what the client asks in the end is asked below.
    names = [f"gap_{number}" for number in range(20)]
    for name in names:
        active.on("ovn-nbctl", "--no-leader-only", "create", "Address_Set", f"name={name}", check=True)
    time.sleep(1)
    active.power_off()
    fresh.power_off()
    time.sleep(1)
    begun = time.monotonic()
    fresh.boot()
    stale.boot()
    note = ""
    try:
        lab.wait_active(90)
    except TimeoutError as error:
        note = str(error)
    outage = round(time.monotonic() - begun, 1)
    writer.end()
    lost = len(names)
    for node in (fresh, stale):
        found = node.on("ovn-nbctl", "--no-leader-only", "--bare", "--columns=name", "list", "Address_Set").stdout.split()
        lost = min(lost, len([name for name in names if name not in found]))
    return Outcome(len(names), lost, outage, 0.0, note)


def median(outcomes: list[Outcome]) -> dict:
    """What is written down of several rounds: the worst of what must not happen, the median of what it costs."""
    return {"rounds": len(outcomes), "acknowledged": sum(one.acknowledged for one in outcomes), "lost": max(one.lost for one in outcomes),
            "outage_s": statistics.median(one.outage for one in outcomes), "split_s": max(one.split for one in outcomes),
            "not_well": len([one for one in outcomes if one.note])}
