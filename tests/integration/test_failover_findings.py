"""What agents tell of a pair of databases in active/backup mode: real ovsdb-servers and a real etcd, a wardmoted on each of three hosts."""

import os

import pytest

from lab import wire
from lab.instance import FOLDER, ROOT
from lab.packages import fetch
from lab.processes import holds, wait_until
from lab.standalone import StandaloneSite


@pytest.fixture(name="site")
def site_fixture():
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        for node in site.nodes:
            node.start_agent()
        active = site.wait_active(60)
        site.wait_follow(active, *site.others(active))
        yield site


def codes(node) -> set[str]:
    return {finding["code"] for finding in node.pair()["findings"]}


def incidents(node) -> list[tuple[str, str]]:
    return [(one["code"], one["root"]) for one in node.agent.json("/api/v1/incidents")["incidents"]]


def test_an_outage_is_one_incident_of_all_nodes_and_survives_restarts(site):
    """Nobody may be promoted, since failover is paused, and then the active node dies."""
    active = site.active()
    first, second = site.others(active)
    wait_until(lambda: all(node.pair()["verdict"] == "ok" and not codes(node) for node in site.nodes), 30, "all to be well")
    holds(lambda: incidents(first) == [], 3, "no incident in a healthy pair")
    assert active.order("pause") == 202
    for node in site.nodes:
        wait_until(lambda node=node: codes(node) == {"FAILOVER_PAUSED"}, 10, f"{node.name} to know of the pause")
        assert node.pair()["verdict"] == "ok"
    active.kill_agent()
    for short in ("nb", "sb"):
        active.server(short).kill()
    for node in (first, second):
        wait_until(lambda node=node: "FAILOVER_NO_ACTIVE" in codes(node), 40, f"{node.name} to see that nobody is active")
        assert node.pair()["verdict"] == "critical"
    shown = first.agent.cli("status", "ovn")
    assert shown.returncode == 2 and "FAILOVER_NO_ACTIVE" in shown.stdout, shown
    shown = first.agent.cli("failover", "explain", "ovn")
    assert "its agent says nothing" in shown.stdout, shown
    wait_until(lambda: ("FAILOVER_NO_ACTIVE", "failover:ovn") in incidents(first), 20, "the incident")
    # Of the pair there is one, whoever tells it; that a node is gone is another one.
    assert [root for _, root in incidents(first)].count("failover:ovn") == 1, incidents(first)
    first.kill_agent()
    first.start_agent()
    holds(lambda: first.pair()["verdict"] == "critical", 5, "the pair to stay critical over a restart", every=0.05)
    wait_until(lambda: [root for _, root in incidents(second)].count("failover:ovn") == 1, 20, "still one incident")
    assert second.order("resume") == 202
    site.wait_active(60, other_than=active)

    def only_missed() -> bool:
        pair = second.pair()
        # Until the other one follows, the verdict is unknown: that may become a finding.
        return pair["verdict"] == "warning" and {one["code"] for one in pair["findings"]} == {"FAILOVER_MEMBER_MISSING"}

    wait_until(only_missed, 40, "the end of the outage, and the dead node to be missed")


@pytest.mark.slow
def test_who_cannot_hear_etcd_does_not_say_that_nobody_is_active(site):
    """The active node loses its lease, and another is promoted, of which it hears nothing."""
    cut = site.active()
    site.network.cut(cut.number, 4)
    try:
        holds(lambda: cut.pair()["lock"] != "none", 20, "it to claim nothing", every=0.1)
        assert "who is active is not known here" in cut.agent.cli("failover", "status", "ovn").stdout
        heir = site.wait_active(30, other_than=cut)
    finally:
        site.network.heal(cut.number)
    wait_until(lambda: f"{heir.name} is active" in cut.agent.cli("failover", "status", "ovn").stdout, 30, "it to know again")


@pytest.mark.slow
def test_who_does_not_follow_and_a_second_writable_copy_are_named(site):
    active = site.active()
    first, second = site.others(active)
    first.server("sb").kill()
    wait_until(lambda: "FAILOVER_NOT_FOLLOWING" in codes(second), 40, "the other backup to tell it")
    assert "FAILOVER_NO_STANDBY" not in codes(second)
    first.start_server("sb")
    wait_until(lambda: not codes(second), 40, "all to be well again")
    # An agent that only observes, and a server that somebody made writable.
    second.kill_agent()
    second.start_agent(mode="observe")
    site.wait_follow(active, first)
    wire.control(second.path("nb.ctl"), "ovsdb-server/disconnect-active-ovsdb-server", timeout=2.0)
    wait_until(lambda: "FAILOVER_TWO_ACTIVE" in codes(first), 40, "two writable copies to be seen")
    finding = next(one for one in first.pair()["findings"] if one["code"] == "FAILOVER_TWO_ACTIVE")
    assert sorted(finding["subjects"]) == sorted([active.name, second.name])


@pytest.mark.slow
def test_without_the_store_the_pair_is_unknown_and_not_good(site):
    node = site.others(site.active())[0]
    site.etcd_process.kill()
    wait_until(lambda: node.pair()["verdict"] == "unknown", 40, "the pair to be unknown")
    holds(lambda: node.pair()["verdict"] != "ok", 5, "nothing to be called good")
    site.start_etcd()
    wait_until(lambda: node.pair()["verdict"] == "ok", 60, "all to be well again")
