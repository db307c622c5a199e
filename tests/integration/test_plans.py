"""Plans carried out on real ovsdb-servers: what is kicked and rebuilt, what never is, and kill -9 of the agent at each step."""

import os
import sqlite3
import subprocess
import time

import pytest

from lab import faults
from lab.instance import Lab
from lab.processes import wait_until
from plans_site import GHOSTS, REBUILD, Site, damage
from tools.agent import Agent, programs


@pytest.fixture
def lab():
    with Lab.up(f"plans-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


@pytest.fixture
def make(lab, tmp_path):
    sites = []

    def make(policy: str, healthy: bool = True, **more) -> Site:
        sites.append(Site(lab, tmp_path, policy, **more))
        sites[-1].agent.wait_healthy() if healthy else sites[-1].agent.wait_serving()
        return sites[-1]

    yield make
    for site in sites:
        site.end()


def test_a_ghost_is_kicked_and_the_journal_holds_each_step(make):
    site = make(GHOSTS)
    follower = site.cluster.followers()[0]
    old = site.cluster.view(follower).server_id
    site.wipe_and_rejoin(follower)
    wait_until(lambda: site.has("done", ""), 40.0, "the plan's end")
    wait_until(site.whole, 10.0, "a whole cluster")
    plan = site.plans()[0]
    assert plan["server"] == old or plan["server"] == old[:4]
    assert plan["incident"] and plan["approver"] == "policy repair"
    words = [(row[0], row[1]) for row in site.rows()]
    assert words.index(("intent", "kick")) < words.index(("result", "kick")) < words.index(("done", ""))
    story = site.agent.cli("history", "--incident", str(plan["incident"])).stdout
    assert "step_begun" in story and "plan_done" in story
    assert "kick" in site.agent.cli("get", "actions").stdout
    told = site.verify()
    assert told.returncode == 0, told.stderr
    rows = site.exported()
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1)) and all(len(row["hash"]) == 64 for row in rows)
    kick = next(row for row in rows if (row["kind"], row["step"]) == ("result", "kick"))
    assert kick["plan"] == plan["id"] and kick["incident"] == plan["incident"] and kick["token"] and kick["actor"]
    with sqlite3.connect(site.folder / "data/wardmote.db") as database:
        database.execute("UPDATE journal SET actor = 'nobody' WHERE step = 'kick' AND kind = 'intent'")
    told = site.verify()
    assert told.returncode == 2 and "not as it was written" in told.stdout


def test_a_policy_that_observes_shows_the_act_and_does_nothing(make):
    site = make(GHOSTS.replace("mode: act", "mode: observe"))
    site.wipe_and_rejoin(site.cluster.followers()[0])
    wait_until(lambda: site.state() == "observed", 30.0, "the plan")
    assert "kick" in site.agent.cli("get", "plans").stdout
    assert site.agent.cli("approve", "1").returncode != 0
    site.look_on()
    assert len(site.cluster.view(site.cluster.leader()).servers) == 4


def test_a_member_with_a_damaged_database_is_rebuilt_when_somebody_approves(make):
    site = make(REBUILD)
    number = damage(site)
    site.wait_proposed()
    assert site.agent.cli("pause", "--for", "1h").returncode == 0
    assert any(row[0] == "paused" for row in site.rows()), "what is answered is written"
    assert site.agent.cli("approve", "1").returncode == 0
    wait_until(lambda: "paused" in (site.plans()[0]["reason"] or ""), 10.0, "the pause to hold")
    assert not site.has("intent", "copy_database")
    assert site.agent.cli("resume").returncode == 0
    wait_until(lambda: site.state() in ("done", "failed", "unclear"), 40.0, "the plan's end")
    assert site.state() == "done", site.rows()
    assert site.whole() and site.starts(number) == 1
    assert (site.folder / f"copy-of-{number}").read_bytes()[:512] == b"\0" * 512


MOMENTS = [("approved", ""), ("intent", "copy_database"), ("result", "copy_database"), ("intent", "kick"), ("result", "kick"),
           ("intent", "rejoin"), ("result", "rejoin"), ("result", "verify")]
# What a run without --full plays: an act that may be repeated, and a member that is half way.
SMOKE = {("intent", "kick"), ("result", "kick")}


@pytest.mark.parametrize("kind,step", [pytest.param(*one, marks=[] if one in SMOKE else [pytest.mark.slow]) for one in MOMENTS])
def test_killed_at_any_step_it_goes_on_and_repeats_nothing(make, kind, step):
    site = make(REBUILD)
    number = damage(site)
    site.wait_proposed()
    assert site.agent.cli("approve", "1").returncode == 0
    wait_until(lambda: site.has(kind, step), 40.0, f"{kind} {step}", every=0.001)
    site.kill_agent()
    site.agent = site.run()
    site.agent.wait_serving()
    wait_until(lambda: site.state() in ("done", "failed", "unclear"), 90.0, "the plan's end", every=0.2)
    if site.state() == "unclear":
        # Killed between the intent and the command: nobody can know, so somebody is asked.
        assert (kind, step) == ("intent", "rejoin") and site.starts(number) == 0
        assert site.agent.cli("approve", "1").returncode == 0
        wait_until(lambda: site.state() in ("done", "failed"), 60.0, "the plan's end", every=0.2)
    assert site.state() == "done", site.rows()
    assert site.whole() and site.starts(number) == 1
    assert [row[:2] for row in site.rows()].count(("result", "kick")) <= 1
    assert site.verify().returncode == 0


def test_an_orderly_end_in_the_middle_of_a_rejoin_breaks_nothing_off(make):
    site = make(REBUILD)
    number = damage(site)
    site.wait_proposed()
    (site.folder / "hold-the-rejoin").touch()
    assert site.agent.cli("approve", "1").returncode == 0
    wait_until((site.folder / f"rejoining-{number}").exists, 60.0, "the rejoin to begin")
    site.agent.process.terminate()
    assert site.agent.process.wait(20) == 0
    site.agent = site.run()
    site.agent.wait_serving()
    (site.folder / "hold-the-rejoin").unlink()
    wait_until(site.whole, 30.0, "a whole cluster")
    # Whether the command has ended nobody tells this agent, so the plan waits for two minutes.
    wait_until(lambda: "the command may still run" in (site.plans()[0]["reason"] or ""), 10.0, "the plan to see it")
    assert site.starts(number) == 1


# What the member's own host says of it, and what the plan then says.
ANOTHER = "11111111-2222-4333-8444-555555555555"
TESTIMONIES = {
    "it runs": ('{"running": true, "server": "", "cluster": ""}', "its host says that the server"),
    "it is another server's file": (f'{{"running": false, "server": "{ANOTHER}", "cluster": ""}}', "that of server 1111"),
    "nothing": ("copied", "must say as its last line"),
}


@pytest.mark.parametrize("testimony,why", [
    pytest.param(*said, id=name, marks=[] if name == "it runs" else [pytest.mark.slow]) for name, said in TESTIMONIES.items()])
def test_no_server_is_kicked_of_which_its_own_host_does_not_say_that_it_is_dead(make, testimony, why):
    site = make(REBUILD.replace("approval: true", "approval: false"))
    (site.folder / "say-of-the-copy").write_text(testimony, encoding="utf-8")
    number = damage(site)
    wait_until(lambda: site.state() == "failed", 60.0, "the plan's end")
    assert why in site.plans()[0]["reason"], site.plans()[0]["reason"]
    assert not site.has("intent", "kick") and site.starts(number) == 0
    assert len(site.cluster.view(site.cluster.leader()).servers) == 3


def restarted(site: Site) -> None:
    site.kill_agent()
    site.agent = site.run()
    site.agent.wait_serving()


def test_what_was_rejected_is_not_done_by_an_agent_that_starts_anew(make):
    site = make(REBUILD.replace("approval: true", "approval: false"))
    assert site.agent.cli("pause").returncode == 0
    number = damage(site)
    site.wait_proposed()
    assert site.agent.cli("reject", "1", "--comment", "I do it by hand").returncode == 0
    assert site.agent.cli("resume").returncode == 0
    restarted(site)
    site.wait_finding("RAFT_MEMBER_DOWN")
    wait_until(lambda: site.agent.json("/api/v1/plans")["frozen"] is None, 30.0, "the agent to have looked long enough")
    site.look_on(10)
    assert [(plan["id"], plan["state"]) for plan in site.plans()] == [(1, "rejected")]
    assert "I do it by hand" in site.agent.json("/api/v1/plans")["refusals"][0]["reason"]
    assert not site.has("intent", "copy_database") and site.starts(number) == 0


def test_a_plan_keeps_its_number_when_the_agent_starts_anew(make):
    site = make(REBUILD)
    number = damage(site)
    site.wait_proposed()
    restarted(site)
    site.wait_unhindered(120.0)
    assert [(plan["id"], plan["state"]) for plan in site.plans()] == [(1, "proposed")]
    assert site.agent.cli("approve", "1").returncode == 0
    wait_until(lambda: site.state() == "done", 60.0, "the plan's end")
    assert site.whole() and site.starts(number) == 1
    assert [row[0] for row in site.rows() if row[0] in ("proposed", "approved")] == ["proposed", "approved"]


def test_a_policy_that_only_observes_after_a_reload_stops_what_runs_before_the_kick(make):
    site = make(REBUILD)
    (site.folder / "hold-the-copy").touch()
    number = damage(site)
    site.wait_proposed()
    assert site.agent.cli("approve", "1").returncode == 0
    wait_until(lambda: site.has("intent", "copy_database"), 40.0, "the copy to begin")
    site.configure("mode: act", "mode: observe")
    assert site.agent.json("/api/v1/plans")["policies"][0]["acts"] is False
    (site.folder / "hold-the-copy").unlink()
    wait_until(lambda: site.plans()[0]["state"] == "withdrawn", 30.0, "the plan's end")
    site.look_on(5)
    assert not site.has("intent", "kick") and site.starts(number) == 0
    assert len(site.cluster.view(site.cluster.leader()).servers) == 3


def test_two_agents_of_which_nobody_says_that_it_is_alone_do_nothing(make, lab, tmp_path):
    site = make(REBUILD.replace("sole: true, ", "").replace("approval: true", "approval: false"))
    other = tmp_path / "other"
    (other / "data").mkdir(parents=True)
    config = other / "wardmote.yaml"
    config.write_text(site.config.read_text(encoding="utf-8").replace(str(lab.api_socket), f"{other}/api.sock")
                      .replace(f"data: {tmp_path}/data", f"data: {other}/data"), encoding="utf-8")
    checked = subprocess.run([programs() / "wardmoted", "config", "check", config], capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and "warning" in checked.stderr and "sole: true" in checked.stderr, checked
    with Agent(config, other / "api.sock") as second:
        second.wait_healthy()
        number = damage(site)
        for agent in (site.agent, second):
            wait_until(lambda: [plan["state"] for plan in agent.json("/api/v1/plans")["plans"]] == ["observed"], 30.0, "the plan")
            assert "sole: true" in agent.json("/api/v1/plans")["plans"][0]["reason"]
            assert "sole: true" in agent.cli("get", "plans").stdout and "sole: true" in agent.cli("doctor").stdout
            assert agent.cli("approve", "1").returncode != 0
            assert "policy_only_observes" in agent.output()
        site.look_on(10)
    assert not site.has("intent", "copy_database") and site.starts(number) == 0


def test_a_member_that_is_stuck_joining_is_rebuilt_and_joins(make, lab):
    faults.join_nowhere(lab.clusters["nb"])
    site = make(REBUILD.replace("RAFT_MEMBER_DOWN", "RAFT_JOINING_STUCK").replace("approval: true", "approval: false"), healthy=False)
    number = max(site.cluster.members)
    wait_until(lambda: site.has("done", ""), 90.0, "the plan's end")
    assert site.starts(number) == 1 and not site.has("intent", "kick")
    assert site.cluster.view(number).status == "cluster member"
    assert len(site.cluster.view(site.cluster.leader()).servers) == 4


@pytest.mark.slow
def test_a_wiped_member_that_is_stuck_joining_is_rebuilt_and_its_ghost_kicked_after(make):
    """Its former server stays listed until the member has joined: nobody says before that it has ended."""
    site = make("on: [RAFT_JOINING_STUCK, RAFT_STALE_MEMBER], mode: act, sole: true, approval: false, after: 1s, cooldown: 0s, budget: 2")
    cluster = site.cluster
    number = cluster.followers()[0]
    former = cluster.view(number).server_id
    cluster.kill(number)
    cluster.file(number).unlink()
    cluster.join(number, [f"tcp:{cluster.network.address(0)}:1"])
    cluster.start(number)
    wait_until(lambda: [plan["state"] for plan in site.plans()] == ["done", "done"], 200.0, "both plans' ends", every=0.2)
    assert [row[1] for row in site.rows() if row[0] == "intent"] == ["copy_database", "rejoin", "kick"], site.rows()
    assert site.starts(number) == 1
    wait_until(site.whole, 10.0, "a whole cluster")
    assert former not in cluster.view(cluster.leader()).servers
    assert site.agent.cli("status").returncode == 0


def test_a_kick_that_was_done_and_ended_with_255_is_found_done(make):
    site = make(REBUILD, kick_ends_with=255)
    number = damage(site)
    site.wait_proposed()
    assert site.agent.cli("approve", "1").returncode == 0
    wait_until(lambda: site.state() in ("done", "failed", "unclear"), 60.0, "the plan's end")
    assert site.state() == "done", site.rows()
    assert site.whole() and site.starts(number) == 1
    assert [row[0] for row in site.rows() if row[1] == "kick"] == ["intent", "unknown", "result"], site.rows()


EVERYTHING = "on: [RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER, RAFT_MEMBER_DOWN, RAFT_JOINING_STUCK], mode: act, sole: true, approval: false, after: 0s"


def test_kube_ovn_a_planned_removal_is_no_reason_to_act(make):
    """PR 6721: a member that was kicked on purpose, and is then stopped."""
    site = make(EVERYTHING)
    number = site.cluster.followers()[0]
    before = site.cluster.file(number).stat().st_ino
    faults.kick(site.cluster, number)
    site.wait_finding("RAFT_MEMBER_REMOVED")
    site.cluster.kill(number)
    site.wait_finding("RAFT_MEMBER_DOWN")
    site.look_on()
    assert site.plans() == [], site.plans()
    refusals = site.agent.json("/api/v1/plans")["refusals"]
    assert [one["code"] for one in refusals] == ["RAFT_MEMBER_DOWN"] and "may have meant it" in refusals[0]["reason"]
    assert not site.rows() and site.starts(number) == 0
    assert site.cluster.file(number).stat().st_ino == before


def test_kube_ovn_two_leaders_for_a_moment_are_no_reason_to_act(make):
    """PR 7138: the leader is cut off, another is elected, and both lead until the first notices."""
    site = make(EVERYTHING)
    leader = site.cluster.leader()
    faults.partition(site.cluster, leader)
    time.sleep(6)
    faults.heal(site.cluster, leader)
    site.agent.wait_healthy()
    assert site.plans() == [] and not site.rows()


def test_kube_ovn_an_expected_list_that_is_old_removes_nobody(make, lab):
    """PR 6363: the configuration expects addresses that nobody has."""
    lab.clusters["nb"].expected = ["tcp:10.99.0.1:6643", "tcp:10.99.0.2:6643", "tcp:10.99.0.3:6643"]
    site = make(EVERYTHING, healthy=False)
    site.wait_finding("RAFT_STALE_HINT")
    site.look_on()
    assert site.plans() == [] and not site.rows() and site.whole()
