"""What operators want of a pair at run time, on real ovsdb-servers and a real etcd: settings, scheduled switchovers, programs of their own."""

import datetime
import json
import os
import signal
import time
from pathlib import Path

import pytest

from lab import wire
from lab.instance import FOLDER, ROOT
from lab.packages import fetch
from lab.processes import holds, wait_until
from lab.standalone import StandaloneSite

pytestmark = pytest.mark.slow
TTL = 6


@pytest.fixture(name="site")
def site_fixture():
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        yield site


def start(site, **keys):
    for node in site.nodes:
        node.start_agent(**keys)
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    return active


def member(seen_by, name):
    return next(one for one in seen_by.pair()["members"] if one["name"] == name)


def soon(seconds):
    at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def last_order(node):
    return node.pair()["order"] or ""


def test_settings_of_a_node_are_edited_at_run_time_and_outlive_its_agent(site):
    active = start(site)
    first, second = site.others(active)
    told = active.agent.cli("failover", "edit", "ovn", "--node", first.name, "--nofailover", "yes", "--priority", "7")
    assert told.returncode in (0, 1), told
    wait_until(lambda: member(active, first.name)["nofailover"], 10, "the active node to hear of the tag")
    assert member(active, first.name)["priority"] == 7
    assert "user:0" in member(active, first.name)["edited_by"]
    assert "edited by" in active.agent.cli("failover", "status", "ovn").stdout
    assert active.order("switchover", to=first.name) == 202
    wait_until(lambda: "nofailover" in last_order(active), 10, "the order to be refused")
    # Of one that says nothing, the edit is shown and holds.
    second.kill_agent()
    wait_until(lambda: second.name in active.pair()["missing"], TTL + 10, "its silence to be told")
    active.agent.cli("failover", "edit", "ovn", "--node", second.name, "--priority", "3")
    edited = {"name": second.name, "nofailover": None, "priority": 3}
    wait_until(lambda: [edited] == [{key: one[key] for key in edited} for one in active.pair()["edited"]], 10, "its edit to be shown")
    assert "says nothing, priority 3, edited by" in active.agent.cli("failover", "status", "ovn").stdout
    second.start_agent()
    wait_until(lambda: second.name not in active.pair()["missing"] and member(active, second.name)["priority"] == 3, 20, "it to take the edit up")
    assert active.pair()["edited"] == []
    # Its own restart changes nothing.
    first.kill_agent()
    first.start_agent()
    wait_until(lambda: first.name in active.heirs(), 30, "it to follow again")
    holds(lambda: member(active, first.name)["nofailover"], 3, "the tag to stand all the time", every=0.05)
    wait_until(lambda: member(first, first.name)["edited_by"], 10, "it to know of it itself")
    assert member(first, first.name)["nofailover"] and member(first, first.name)["priority"] == 7
    # One setting is taken back, the other stays.
    assert active.order("edit", node=first.name, nofailover=None) == 202
    wait_until(lambda: not member(active, first.name)["nofailover"], 10, "the tag to be gone")
    assert member(active, first.name)["priority"] == 7 and member(active, first.name)["edited_by"]
    # Without a name, the higher priority is promoted.
    assert active.order("switchover") == 202
    wait_until(first.serves, 20, f"{first.name} to be active", every=0.05)
    assert first.order("edit", node=first.name, priority=None) == 202
    wait_until(lambda: member(second, first.name)["edited_by"] is None, 10, "everything to be as configured")
    for wrong in ({}, {"node": first.name}, {"node": "nobody", "priority": 1}, {"node": first.name, "priority": 1001},
                  {"node": first.name, "priority": "1"}, {"node": first.name, "nofailover": "yes"}):
        assert first.order("edit", **wrong) == 400, wrong


def test_a_scheduled_switchover_happens_once_at_its_time(site):
    active = start(site)
    heir = site.others(active)[0]
    at = soon(6)
    assert active.order("switchover", to=heir.name, at=at) == 202
    for node in site.nodes:
        wait_until(lambda node=node: (node.pair()["scheduled_at"] or "").startswith(at[:-1]), 5, f"{node.name} to know of it")
    # One at a time; and whoever asks for another must say that the first is not to be.
    wait_until(lambda: active.order("switchover", at=soon(60)) == 409, 5, "a second one to be refused")
    told = active.agent.cli("failover", "switchover", "ovn", "--at", soon(60))
    assert told.returncode not in (0, 1) and "flush it first" in told.stderr + told.stdout, told
    assert active.serves()
    wait_until(heir.serves, 30, f"{heir.name} to be active", every=0.05)
    assert datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ") >= at
    site.wait_follow(heir, *site.others(heir))
    assert heir.pair()["scheduled_at"] is None
    assert f"for {at[:-1]}" in last_order(heir) and "was promoted" in last_order(heir)
    holds(heir.serves, 3, "it happens once")
    # One that is flushed does not happen.
    assert heir.order("switchover", to=active.name, at=soon(4)) == 202
    wait_until(lambda: heir.pair()["scheduled_at"], 5, "it to be scheduled")
    assert heir.order("flush") == 202
    wait_until(lambda: heir.pair()["scheduled_at"] is None, 5, "it to be forgotten")
    assert heir.order("flush") == 409, "nothing is scheduled any more"
    holds(heir.serves, 6, "nothing happens")
    for wrong in ({"at": "tomorrow"}, {"at": soon(-5)}, {"at": soon(60), "to": "nobody"}):
        assert heir.order("switchover", **wrong) == 400, wrong


def test_a_switchover_whose_time_is_over_by_a_minute_does_not_happen(site):
    active = start(site)
    late = int((time.time() - 61) * 1000)
    heir = site.others(active)[0]
    record = json.dumps({"to": heir.name, "by": "ann", "at": late})
    # As a store that was away for an hour has it.
    site.put("failover/ovn/schedule", record)
    wait_until(lambda: "over by more than a minute" in last_order(active), 10, "it to be dropped")
    assert active.serves() and active.pair()["scheduled_at"] is None


def test_an_order_that_waits_is_not_passed_over(site):
    heir, _, ended = in_its_program(site)
    other = site.others(heir)[0]
    for node in (heir, other):
        told = node.agent.order("POST", "/api/v1/failover/ovn/switchover", json.dumps({"to": other.name}))
        assert told[0] == 409 and "waits already" in str(told[1]), told
    assert not ended.exists()
    site.wait_active(30)
    assert heir.serves()
    wait_until(lambda: f"{heir.name} was promoted" in last_order(heir), 5, "the first order to be answered")


def test_what_is_due_waits_for_an_order_that_came_before(site):
    active = start(site)
    first, second = site.others(active)
    # The active node learns of both at one moment.
    active.agent.process.send_signal(signal.SIGSTOP)
    now = int(time.time() * 1000)
    site.put("failover/ovn/order", json.dumps({"to": first.name, "by": "ann", "until": now + 60_000}))
    site.put("failover/ovn/schedule", json.dumps({"to": second.name, "by": "ben", "at": now}))
    active.agent.process.send_signal(signal.SIGCONT)
    wait_until(second.serves, 60, "what was scheduled to follow", every=0.05)
    wait_until(lambda: f"{second.name} was promoted" in last_order(second), 5, "it to be answered")
    # The first may have been active for a moment only.
    assert [past["node"] for past in second.pair()["history"]][-3:] == [active.name, first.name, second.name]


def test_orders_and_records_that_say_nothing_are_told(site):
    active = start(site)
    for word, body in (("switchover", {"to": ""}), ("switchover", {"at": ""}), ("failover", {"to": ""}), ("pause", {"for": ""}), ("pause", {"for": "0s"})):
        assert active.order(word, **body) == 400, (word, body)
    for arguments in (("switchover", "ovn", "--to", ""), ("pause", "ovn", "--for", "0s")):
        assert active.agent.cli("failover", *arguments).returncode == 64, arguments
    assert not active.pair()["paused_by"] and active.serves()
    site.put("failover/ovn/schedule", "rubbish")
    site.put("failover/ovn/order", "rubbish")
    wait_until(lambda: "failover flush ovn" in json.dumps(active.pair()["complaints"]), 5, "the record to be told")
    wait_until(lambda: "cannot be read" in last_order(active), 5, "the order to be told")
    assert active.order("flush") == 202
    wait_until(lambda: not active.pair()["complaints"], 5, "it to be gone")
    assert active.order("switchover", to=site.others(active)[0].name) == 202
    wait_until(site.others(active)[0].serves, 20, "the next order to be carried out", every=0.05)


def test_a_program_may_forbid_a_promotion_and_one_is_told_each_role(site):
    asked, may, roles = site.folder / "asked", site.folder / "may", site.folder / "roles"
    may.touch()
    asks, tells = site.folder / "asks", site.folder / "tells"
    asks.write_text(f"#!/bin/sh\necho $1 $2 >> {asked}\n[ -e {may} ] || {{ echo not before breakfast >&2; exit 3; }}\n", encoding="utf-8")
    tells.write_text(f"#!/bin/sh\necho $1 $2 $3 $4 >> {roles}\n", encoding="utf-8")
    for program in (asks, tells):
        program.chmod(0o755)

    def told(node):
        lines = roles.read_text(encoding="utf-8").splitlines() if roles.exists() else []
        return [line.split()[2] for line in lines if line.split()[0] == node.name and line.split()[1] == "on_role_change"]

    for node in site.nodes:
        node.start_agent(hooks=f"{{pre_promote: [{asks}], on_role_change: [{tells}, {node.name}]}}")
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    wait_until(lambda: told(active) == ["replica", "primary"], 10, "the active node's program to be told")
    heir, third = site.others(active)
    assert told(heir) == told(third) == ["replica"]
    assert asked.read_text(encoding="utf-8").split("\n")[0].strip() == "ovn", "there was no active node before"
    # One that cannot be run is told before it is needed.
    asks.chmod(0o644)
    wait_until(lambda: "the hook pre_promote cannot be run" in json.dumps(third.pair()), 5, "it to be told")
    asks.chmod(0o755)
    wait_until(lambda: "cannot be run" not in json.dumps(third.pair()), 5, "that to be over")
    # A veto: the copy that gave up is taken back.
    may.unlink()
    assert active.order("switchover", to=heir.name) == 202
    wait_until(lambda: f"ovn {active.name}" in asked.read_text(encoding="utf-8"), 20, "the program to be asked")
    wait_until(lambda: "not before breakfast" in json.dumps([node.pair() for node in site.nodes]), 10, "its words to be shown")
    holds(lambda: site.active() is None, 4, "nobody is active while it says no")
    may.touch()
    again = site.wait_active(60)
    site.wait_follow(again, *site.others(again))
    wait_until(lambda: told(again)[-1] == "primary" and all(told(node)[-1] == "replica" for node in site.others(again)), 10, "all to be told")
    # An agent that ends in good order says so.
    again.agent.process.terminate()
    again.agent.process.wait(30)
    assert told(again)[-1] == "replica"


def in_its_program(site, seconds=8):
    """A switchover whose heir is in its program now, which takes its time."""
    begun, ended, slow, armed = (site.folder / name for name in ("begun", "ended", "slow", "armed"))
    slow.write_text(f"#!/bin/sh\n[ -e {armed} ] || exit 0\necho $2 >> {begun}\nsleep {seconds}\necho $2 >> {ended}\n", encoding="utf-8")
    slow.chmod(0o755)
    for node in site.nodes:
        node.start_agent(hooks=f"{{pre_promote: [{slow}], timeout: 30s}}")
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    heir = site.others(active)[0]
    wire.transact(active.path("nb.sock"), "OVN_Northbound", {"op": "insert", "table": "Address_Set", "row": {"name": "kept"}})
    wait_until(lambda: all(node.rows() == {"kept"} for node in site.nodes), 10, "all to have the row")
    armed.touch()
    assert active.order("switchover", to=heir.name) == 202
    wait_until(begun.exists, 20, "the program to run")
    return heir, slow, ended


def test_what_changes_while_a_program_runs_counts(site):
    heir, _, ended = in_its_program(site)
    # The heir's database is set up anew meanwhile, as a backup of nobody and without a row.
    heir.server("nb").kill()
    os.unlink(heir.path("nb.db"))
    heir.create_database("nb")
    heir.start_server("nb")
    wait_until(ended.exists, 20, "the program to end")

    def whole():
        active = site.active()
        return active and len(active.heirs()) == 2 and all(node.rows() == {"kept"} for node in site.nodes)

    # The order stands for a minute, so that it may come to the heir when that has everything again.
    wait_until(whole, 90, "nothing to be lost")


def test_who_is_preferred_while_a_program_runs_does_not_stop_it(site):
    begun, ended, slow, armed = (site.folder / name for name in ("begun", "ended", "slow", "armed"))
    slow.write_text(f"#!/bin/sh\n[ -e {armed} ] || exit 0\necho $1 >> {begun}\nsleep 8\necho $1 >> {ended}\n", encoding="utf-8")
    slow.chmod(0o755)
    for node in site.nodes:
        node.start_agent(hooks=f"{{pre_promote: [{slow}, {node.name}], timeout: 30s}}")
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    armed.touch()
    active.kill_agent()
    wait_until(begun.exists, 30, "a program to run")
    heir = next(node for node in site.nodes if node.name == begun.read_text(encoding="utf-8").strip())
    preferred = site.others(active, heir)[0]
    preferred.agent.cli("failover", "edit", "ovn", "--node", preferred.name, "--priority", "9")
    wait_until(lambda: member(heir, preferred.name)["priority"] == 9, 5, "the heir to hear of it")
    assert not ended.exists()
    wait_until(ended.exists, 20, "the program to end")
    assert site.wait_active(5, other_than=active).name == heir.name
    assert begun.read_text(encoding="utf-8").split() == [heir.name]


def test_a_pause_while_a_program_runs_holds(site):
    heir, _, ended = in_its_program(site)
    assert heir.order("pause") == 202
    wait_until(ended.exists, 20, "the program to end")
    holds(lambda: site.active() is None, 4, "nobody is promoted")
    assert heir.order("resume") == 202
    site.wait_active(60)


def test_a_program_ends_with_the_lease(site):
    heir, slow, ended = in_its_program(site, seconds=3600)

    def runs():
        return any(str(slow).encode() in Path(f"/proc/{process.pid}/cmdline").read_bytes() for process in heir.processes())

    assert runs()
    site.network.cut(heir.number, 4)
    try:
        wait_until(lambda: not runs(), TTL + 5, "its program to be ended", every=0.05)
    finally:
        site.network.heal(heir.number)
    assert not ended.exists()


def test_an_order_that_the_store_does_not_take_is_not_said_to_hold(site):
    active = start(site)
    site.etcd_process.kill()
    for word, body in (("pause", {}), ("edit", {"node": active.name, "priority": 3}), ("switchover", {}), ("flush", {})):
        told = active.agent.order("POST", f"/api/v1/failover/ovn/{word}", json.dumps(body))
        assert told[0] == 503 and "the order holds, but" not in str(told[1]), (word, told)


def test_nodes_that_copy_from_each_other_by_tls():
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd", ssl=True) as site:
        active = start(site)
        heir = site.others(active)[0]
        assert active.order("switchover", to=heir.name) == 202
        wait_until(heir.serves, 20, f"{heir.name} to be active", every=0.05)
        site.wait_follow(heir, *site.others(heir))
        heir.kill_agent()
        for short in ("nb", "sb"):
            heir.server(short).kill()
        third = site.wait_active(40, other_than=heir)
        site.wait_follow(third, *site.others(third, heir))
