"""What an adversary does to active/backup OVN databases without Pacemaker: real ovsdb-servers, a real etcd, a wardmoted on each of three
hosts. In every case no two hosts have the address at once, and no acknowledged row is lost by what the agents do."""

import contextlib
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from disks import fill, small_disk

from lab import wire
from lab.instance import FOLDER, ROOT
from lab.packages import fetch
from lab.processes import holds, wait_until
from lab.standalone import SplitWatch, StandaloneNode, StandaloneSite, Writer

pytestmark = pytest.mark.slow
TTL = 6


@pytest.fixture(name="pair")
def pair_fixture():
    """An active node and two backups."""
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        for node in site.nodes:
            node.start_agent()
        active = site.wait_active(60)
        site.wait_follow(active, *site.others(active))
        yield site


@contextlib.contextmanager
def watched(pair: StandaloneSite, tag: str, lost: int = 0):
    """A client writes meanwhile; in the end at most so many of its acknowledged rows are gone, and the address was never on two hosts."""
    watch, writer = SplitWatch(pair), Writer(pair, tag)
    wait_until(lambda: any(row.startswith(f"{tag}_") for row in pair.active().rows()), 20, "rows to be written")
    try:
        yield
    finally:
        result = writer.end()
        split = watch.stop()
    assert split == []
    assert result["lost"] <= lost, result


def all_well(pair: StandaloneSite, seconds: float = 60) -> StandaloneNode:
    """Somebody is active, and the others follow him."""
    active = pair.wait_active(seconds)
    wait_until(lambda: all(node.follows(pair.active() or node) for node in pair.others(pair.active())), seconds, "all to follow", every=0.1)
    return pair.active() or active


def own_row(node: StandaloneNode, name: str) -> None:
    """Written on the host itself, as northd or an administrator does."""
    wire.transact(node.path("nb.sock"), "OVN_Northbound", {"op": "insert", "table": "Address_Set", "row": {"name": name}})


def test_a_node_that_is_cut_off_from_the_store_alone_loses_no_row(pair):
    active = pair.active()
    with watched(pair, "c"):
        pair.network.cut(active.number, 4)
        other = pair.wait_active(30, other_than=active)
        pair.network.heal(active.number)
        pair.wait_follow(other, *pair.others(other))


def test_backups_that_are_cut_off_from_the_active_node_are_not_promoted_after_it(pair):
    active = pair.active()
    backups = pair.others(active)
    with watched(pair, "b"):
        for node in backups:
            pair.network.cut(active.number, node.number)
        rows = len(active.rows())
        wait_until(lambda: len(active.rows()) > rows + 30, 20, "more rows")
        assert pair.active() is active
        time.sleep(1.5)  # the active node publishes each second, and nothing that can be asked says what
        active.kill_agent()
        for short in ("nb", "sb"):
            active.server(short).kill()
        wait_until(lambda: all(node.pair()["candidate"]["verdict"] == "refuse" for node in backups), 30, "both to be refused")
        holds(lambda: pair.active() is None, TTL, "nobody is active")
        pair.network.heal(active.number)
        for short in ("nb", "sb"):
            active.start_server(short)
        active.start_agent()
        all_well(pair)


def kill_for_a_moment(node: StandaloneNode):
    node.kill_agent()
    time.sleep(random.uniform(0, 2))
    node.start_agent()


def stop_for_longer_than_the_lease(node: StandaloneNode):
    node.agent.process.send_signal(signal.SIGSTOP)
    time.sleep(TTL + random.uniform(1, 4))
    node.agent.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("strike", [kill_for_a_moment, stop_for_longer_than_the_lease])
def test_an_agent_that_is_struck_in_the_middle_of_a_promotion(pair, strike):
    with watched(pair, "k"):
        for _ in range(6):
            active = all_well(pair)
            heir = random.choice(pair.others(active))
            assert active.order("switchover", to=heir.name) == 202
            time.sleep(random.uniform(0.02, 0.5))  # the moment of the fault
            strike(random.choice([heir, heir, active]))
        all_well(pair)


def test_two_switchovers_at_once(pair):
    with watched(pair, "2"):
        for _ in range(5):
            active = all_well(pair)
            first, second = pair.others(active)
            wait_until(lambda node=first: node.order("switchover", to=node.name) == 202, 60, "the order before to be answered")
            # It is refused while the first waits.
            assert second.order("switchover", to=second.name) in (202, 409)
            other = pair.wait_active(30)
            wait_until(lambda: pair.nodes[0].pair()["order"] and "not taken up" not in pair.nodes[0].pair()["order"], 30, "an answer")
        all_well(pair)
    assert other


def test_an_old_active_node_that_returns_with_rows_of_its_own_keeps_them_aside(pair):
    active = pair.active()
    active.agent.process.send_signal(signal.SIGSTOP)
    other = pair.wait_active(30, other_than=active)
    own_row(active, "mine")
    own_row(other, "theirs")
    active.agent.process.send_signal(signal.SIGCONT)
    pair.wait_follow(other, *pair.others(other))
    wait_until(lambda: active.rows() == other.rows(), 10, "the same rows")
    assert "mine" not in active.rows() and "theirs" in active.rows()
    kept = list(active.folder.glob("nb.db.before-sync.*"))
    assert any(b'"mine"' in copy.read_bytes() for copy in kept), kept


def test_rows_that_were_set_aside_outlive_the_next_copies(pair):
    active = pair.active()
    active.agent.process.send_signal(signal.SIGSTOP)
    other = pair.wait_active(30, other_than=active)
    own_row(active, "mine")
    active.agent.process.send_signal(signal.SIGCONT)
    pair.wait_follow(other, *pair.others(other))
    # It becomes writable by itself, as after any error of replication, and gets other rows.
    wire.control(active.path("nb.ctl"), "ovsdb-server/disconnect-active-ovsdb-server")
    with contextlib.suppress(wire.WireError):
        own_row(active, "later")
    pair.wait_follow(other, active)
    kept = [copy.read_bytes() for copy in active.folder.glob("nb.db.before-sync.*")]
    assert any(b'"mine"' in copy for copy in kept)


def test_a_backup_that_becomes_writable_by_itself_is_read_only_within_a_second(pair):
    active = pair.active()
    backup = pair.others(active)[0]
    with watched(pair, "w"):
        for short in ("nb", "sb"):
            wire.control(backup.path(f"{short}.ctl"), "ovsdb-server/disconnect-active-ovsdb-server")
            wait_until(lambda short=short: backup.role(short) != "active", 2, "it to be read-only", every=0.02)
            pair.wait_follow(active, backup)
        assert pair.active() is active


def renew_empty(node: StandaloneNode) -> None:
    """Its disk was replaced: both databases are new."""
    for short in ("nb", "sb"):
        node.server(short).kill()
        Path(node.path(f"{short}.db")).unlink()
        node.create_database(short)
        node.start_server(short)


def test_an_active_node_that_loses_its_rows_empties_nobody(pair):
    active = pair.active()
    with watched(pair, "e", lost=2):
        rows = len(active.rows())
        wait_until(lambda: len(active.rows()) > rows + 10, 20, "more rows")
        renew_empty(active)
        other = pair.wait_active(30, other_than=active)
        pair.wait_follow(other, *pair.others(other))


def test_an_empty_copy_is_not_promoted_even_if_it_is_the_only_one(pair):
    active = pair.active()
    heir, gone = pair.others(active)
    for row in range(20):
        own_row(active, f"r{row}")
    wait_until(lambda: len(heir.rows()) == 20, 10, "the rows")
    for node in (active, gone):
        node.kill_agent()
        for short in ("nb", "sb"):
            node.server(short).kill()
    renew_empty(heir)
    wait_until(lambda: heir.pair()["candidate"]["verdict"] == "refuse", 30, "the empty copy to be refused")
    holds(lambda: pair.active() is None, TTL, "nobody is active")
    for node in (active, gone):
        for short in ("nb", "sb"):
            node.start_server(short)
        node.start_agent()
    assert len(all_well(pair).rows()) == 20


@contextlib.contextmanager
def with_a_disk_of_its_own(node: StandaloneNode, short: str):
    """One of the two databases of a node that has no agent yet moves to a small disk."""
    node.server(short).kill()
    disk = node.folder / "disk"
    disk.mkdir()
    with small_disk(disk, 16):
        shutil.move(node.path(f"{short}.db"), disk / f"{short}.db")
        os.symlink(disk / f"{short}.db", node.path(f"{short}.db"))
        node.start_server(short)
        yield disk


@pytest.fixture(name="site")
def site_fixture():
    """Nodes without an agent."""
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        yield site


@pytest.mark.parametrize("full", ["nb", "sb"])
def test_an_heir_with_a_full_disk_gives_way(site, full):
    heir = site.nodes[2]
    with with_a_disk_of_its_own(heir, full) as disk:
        for node in site.nodes:
            node.start_agent(priority="-1" if node is heir else "0")
        first = site.wait_active(60)
        site.wait_follow(first, *site.others(first))
        with watched(site, "d", lost=2):
            fill(disk / "filler")
            first.kill_agent()
            for short in ("nb", "sb"):
                first.server(short).kill()
            other = site.wait_active(60, other_than=first)
            assert other is not heir


@pytest.mark.parametrize("full", ["nb", "sb"])
def test_an_active_node_whose_disk_becomes_full_hands_over(site, full):
    first = site.nodes[0]
    with with_a_disk_of_its_own(first, full) as disk:
        for node in site.nodes:
            node.start_agent(priority="5" if node is first else "0")
        assert site.wait_active(60) is first
        site.wait_follow(first, *site.others(first))
        with watched(site, "d"):
            fill(disk / "filler")
            other = site.wait_active(20, other_than=first)
            wait_until(lambda: "is full" in (first.pair()["members"][0]["unfit"] or ""), 5, "the reason")
            (disk / "filler").unlink()
            site.wait_follow(other, *site.others(other))


def test_an_heir_that_hangs_does_not_get_it(pair):
    active = pair.active()
    heir = pair.others(active)[0]
    with watched(pair, "h"):
        heir.server("nb").send(signal.SIGSTOP)
        assert active.order("switchover", to=heir.name) == 202
        wait_until(lambda: "taken back" in (active.pair()["order"] or "") or "not taken" not in (active.pair()["order"] or "not taken"), 20, "an answer")
        assert pair.wait_active(10) is not heir
        heir.server("nb").send(signal.SIGCONT)
        all_well(pair)


def test_an_agent_that_ends_in_good_order_hands_over_without_a_loss(pair):
    with watched(pair, "g"):
        for _ in range(3):
            active = all_well(pair)
            begun = time.monotonic()
            active.agent.stop()
            pair.wait_active(10, other_than=active)
            assert time.monotonic() - begun < 4
            active.start_agent()
        all_well(pair)


def test_a_store_that_lost_everything_promotes_nobody_until_somebody_says_so(pair):
    active = pair.active()
    rows = {f"r{row}" for row in range(10)}
    for row in rows:
        own_row(active, row)
    watch = SplitWatch(pair)
    pair.etcd_process.kill()
    shutil.rmtree(pair.folder / "etcd")
    pair.start_etcd()
    wait_until(lambda: not active.has_address(), 2 * TTL, "the address to be gone", every=0.05)
    wait_until(lambda: all("older store" in node.pair()["candidate"]["why"] for node in pair.nodes), 60, "the reason")
    holds(lambda: pair.active() is None, TTL, "nobody is active")
    assert active.order("failover", to=active.name, force=True) == 202
    assert all_well(pair) is active
    assert active.rows() >= rows and watch.stop() == []


def test_everybody_loses_power_and_returns_in_any_order(pair):
    with watched(pair, "p"):
        for _ in range(2):
            all_well(pair)
            nodes = list(pair.nodes)
            random.shuffle(nodes)
            for node in nodes:
                node.kill_agent()
                for short in ("nb", "sb"):
                    node.server(short).kill()
            random.shuffle(nodes)
            for node in nodes:
                for short in ("nb", "sb"):
                    node.start_server(short)
                node.start_agent()
                time.sleep(random.uniform(0, 4))
            all_well(pair, 90)


def test_rows_that_nobody_else_has_are_not_lost_to_a_storm_of_orders(pair):
    with watched(pair, "o"):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            node, to = random.sample(pair.nodes, 2)
            with contextlib.suppress(OSError, json.JSONDecodeError):
                node.order(random.choice(["switchover", "failover"]), to=to.name)
            time.sleep(random.uniform(0.05, 1.5))
        all_well(pair)
