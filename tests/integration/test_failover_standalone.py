"""Active/backup OVN databases without Pacemaker: real ovsdb-servers and a real etcd, a wardmoted on each of three hosts."""

import os
import signal
import time

import pytest

from lab.instance import FOLDER, ROOT
from lab.packages import fetch
from lab.processes import holds, wait_until
from lab.standalone import SplitWatch, StandaloneSite, Writer

TTL = 6


@pytest.fixture(name="site")
def site_fixture():
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        yield site


@pytest.fixture(name="pair")
def pair_fixture(site):
    """An active node and two backups."""
    for node in site.nodes:
        node.start_agent()
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    return site


def test_a_switchover_loses_nothing_and_a_dead_node_is_replaced(pair):
    active = pair.active()
    heir = pair.others(active)[-1]
    watch, writer = SplitWatch(pair), Writer(pair, "w")
    wait_until(lambda: len(active.rows()) > 5, 20, "rows to be written")
    assert active.order("switchover", to=heir.name) == 202
    wait_until(heir.serves, 20, f"{heir.name} to be active", every=0.05)
    pair.wait_follow(heir, *pair.others(heir))
    wait_until(lambda: heir.pair()["active"] == heir.name, 5, "the heir to call itself active")
    wait_until(lambda: heir.agent.cli("failover", "explain", "ovn").stdout.count("yes") == 2, 20, "both of the others to be told as heirs")
    assert heir.agent.get("/primary/ovn")[0] == 200
    assert active.agent.get("/primary/ovn")[0] == 503
    assert active.agent.get("/replica/ovn")[0] == 200
    rows = len(heir.rows())
    wait_until(lambda: len(heir.rows()) > rows, 20, "more rows to be written")
    result = writer.end()
    assert result["lost"] == 0 and result["acknowledged"] > 5, result
    # And now without a word: the host of the active node is gone.
    heir.kill_agent()
    for short in ("nb", "sb"):
        heir.server(short).kill()
    third = pair.wait_active(40, other_than=heir)
    assert watch.stop() == []
    assert third.rows() >= {"w_1"}
    wait_until(lambda: [past["node"] for past in third.pair()["history"]][-1] == third.name, 5, "the promotion in the history")


@pytest.mark.slow
def test_a_server_that_dies_or_hangs_is_replaced_within_seconds(pair):
    for number in (signal.SIGKILL, signal.SIGSTOP):
        active = pair.active()
        watch, writer = SplitWatch(pair), Writer(pair, f"s{number}")
        wait_until(lambda active=active: any(row.startswith(f"s{number}") for row in active.rows()), 20, "rows")
        active.server("nb").send(number)
        begun = time.monotonic()
        other = pair.wait_active(30, other_than=active)
        assert time.monotonic() - begun < 10
        wait_until(lambda active=active: not active.has_address(), 5, "the address to be gone")
        result = writer.end()
        assert result["lost"] <= 2, result  # the tail that was not replicated when it died
        assert watch.stop() == []
        if number == signal.SIGKILL:
            active.start_server("nb")
        else:
            active.server("nb").send(signal.SIGCONT)
        pair.wait_follow(other, *pair.others(other))


@pytest.mark.slow
def test_a_frozen_node_loses_the_address_by_the_kernel_and_steps_down_when_it_goes_on(pair):
    active = pair.active()
    watch = SplitWatch(pair)
    # The agent alone: its server goes on to be writable.
    active.agent.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: not active.has_address(), TTL, "the kernel to take the address away", every=0.05)
    assert active.role("nb") == "active"
    other = pair.wait_active(30, other_than=active)
    active.agent.process.send_signal(signal.SIGCONT)
    pair.wait_follow(other, *pair.others(other))
    # Everything on the host.
    other.stop_all()
    third = pair.wait_active(40, other_than=other)
    other.resume_all()
    pair.wait_follow(third, *pair.others(third))
    assert watch.stop() == []


@pytest.mark.slow
def test_a_node_that_is_cut_off_gives_up_before_another_is_promoted(pair):
    active = pair.active()
    watch, writer = SplitWatch(pair), Writer(pair, "p")
    wait_until(lambda: "p_1" in active.rows(), 20, "rows")
    # The client first: what is acknowledged between two cuts is on this node only.
    for host in (5, 4, *(node.number for node in pair.others(active))):
        pair.network.cut(active.number, host)
    wait_until(lambda: not active.has_address(), TTL, "the address to be gone", every=0.05)
    other = pair.wait_active(40, other_than=active)
    pair.network.heal(active.number)
    pair.wait_follow(other, *pair.others(other))
    result = writer.end()
    assert watch.stop() == []
    assert result["lost"] <= 2, result


@pytest.mark.slow
def test_nobody_is_promoted_without_the_store_and_all_goes_on_with_it(pair):
    active = pair.active()
    pair.etcd_process.kill()
    wait_until(lambda: not active.has_address(), TTL, "the address to be gone", every=0.05)
    holds(lambda: pair.active() is None, 2 * TTL, "nobody is active")
    pair.start_etcd()
    again = pair.wait_active(60)
    pair.wait_follow(again, *pair.others(again), seconds=60)


@pytest.mark.slow
def test_a_copy_that_is_behind_is_not_promoted(pair):
    """The last active node is dead, and so is the only backup that had everything."""
    active = pair.active()
    fresh, stale = pair.others(active)
    # Cut off, and not only stopped: the kernel takes the rows for a server that is stopped, and still sends those of one that is dead.
    for node in (active, fresh):
        pair.network.cut(stale.number, node.number)
    writer = Writer(pair, "f")
    wait_until(lambda: len(fresh.rows()) > 40, 30, "rows")
    writer.end()
    wait_until(lambda: fresh.rows() == active.rows(), 10, "the last rows")
    rows = fresh.rows()
    time.sleep(1.5)  # the active node publishes each second, and nothing that can be asked says what
    for node in (active, fresh):
        node.kill_agent()
        for short in ("nb", "sb"):
            node.server(short).kill()
    wait_until(lambda: stale.pair()["candidate"]["verdict"] == "refuse", 30, "the stale copy to be refused")
    holds(lambda: not stale.has_address() and pair.active() is None, 2 * TTL, "nobody is active")
    told = stale.agent.cli("failover", "explain", "ovn")
    assert told.returncode == 2 and "nobody is active" in told.stdout, told
    assert f"nothing shows that this copy has what {active.name} had last" in told.stdout, told
    pair.network.heal(stale.number)
    for short in ("nb", "sb"):
        fresh.start_server(short)
    for short in ("nb", "sb"):
        active.start_server(short)
    active.start_agent()
    fresh.start_agent()
    again = pair.wait_active(60)
    assert again is not stale and again.rows() >= rows
    pair.wait_follow(again, *pair.others(again), seconds=60)


@pytest.mark.slow
def test_a_pause_keeps_everybody_from_being_promoted(pair):
    active = pair.active()
    assert active.order("pause") == 202
    wait_until(lambda: all(node.pair()["paused_by"] for node in pair.nodes), 10, "the pause")
    active.server("nb").kill()
    wait_until(lambda: not active.has_address(), TTL, "the address to be gone", every=0.05)
    holds(lambda: pair.active() is None, TTL, "nobody is active")
    active.start_server("nb")
    assert active.order("resume") == 202
    pair.wait_active(60)


@pytest.mark.slow
def test_an_address_of_ipv6_moves_too():
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd", six=True) as site:
        for node in site.nodes:
            node.start_agent()
        active = site.wait_active(60)
        heir = site.others(active)[0]
        site.wait_follow(active, *site.others(active))
        watch, writer = SplitWatch(site), Writer(site, "six")
        wait_until(lambda: len(active.rows()) > 5, 20, "rows to be written")
        assert active.order("switchover", to=heir.name) == 202
        wait_until(heir.serves, 20, f"{heir.name} to be active", every=0.05)
        rows = len(heir.rows())
        wait_until(lambda: len(heir.rows()) > rows + 5, 20, "more rows to be written")
        result = writer.end()
        assert watch.stop() == [] and result["lost"] == 0, result


@pytest.mark.slow
def test_nobody_is_promoted_before_the_last_active_node_is_fenced(site):
    fenced, may = site.folder / "fenced", site.folder / "may"
    fence = site.folder / "fence"
    fence.write_text(f"#!/bin/sh\necho $1 >> {fenced}\n[ -e {may} ] || {{ echo no power switch >&2; exit 3; }}\n", encoding="utf-8")
    fence.chmod(0o755)
    for node in site.nodes:
        node.start_agent(fence=f"[{fence}]")
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    assert not fenced.exists(), "nobody was active before"
    # Who gives up in good order need not be fenced.
    heir = site.others(active)[0]
    assert active.order("switchover", to=heir.name) == 202
    wait_until(heir.serves, 20, f"{heir.name} to be active", every=0.05)
    site.wait_follow(heir, *site.others(heir))
    assert not fenced.exists()
    heir.kill_agent()
    for short in ("nb", "sb"):
        heir.server(short).kill()
    wait_until(fenced.exists, 4 * TTL, "the program to be run")
    holds(lambda: site.active() is None, TTL, "nobody is active")
    assert "no power switch" in str(site.others(heir)[0].pair()) + str(site.others(heir)[1].pair())
    may.touch()
    site.wait_active(60, other_than=heir)
    assert set(fenced.read_text(encoding="utf-8").split()) == {heir.name}
