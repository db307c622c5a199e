"""Three agents that all may act on one OVN cluster, and one etcd: a dead server is kicked once, whoever dies meanwhile."""

import os
import sqlite3
from pathlib import Path

import pytest

from agents_site import TTL, SharedAgent
from lab import faults
from lab.etcd import EtcdCluster
from lab.instance import Lab
from lab.ovn import Cluster
from lab.processes import wait_until

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"
NAMES = ["ctl-1", "ctl-2", "ctl-3"]
GHOSTS = "on: [RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER], mode: act, approval: false, after: 1s"
REBUILD = "on: [RAFT_MEMBER_DOWN], mode: act, approval: true, after: 1s"


@pytest.fixture
def lab():
    with Lab.up(f"acting-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


class ActingAgent(SharedAgent):
    def __init__(self, lab: Lab, etcd: EtcdCluster, folder: Path, name: str, policy: str = GHOSTS):
        self.folder = folder / name
        (self.folder / "data").mkdir(parents=True)
        endpoints = ", ".join(f"'{at}'" for at in etcd.endpoints)
        lines = [line for line in lab.write_config().read_text(encoding="utf-8").splitlines() if not line.startswith(("node:", "api:"))]
        repair = "repair: {copy: {command: [/bin/true]}, rejoin: {command: [/bin/true]}, timeout: 20s}"
        lines = [f"{line.rstrip()[:-1]}, {repair}}}" if line.lstrip().startswith("- {name:") and "control:" in line else line for line in lines]
        lines += [f"node: {{name: {name}}}", f"api: {{socket: {self.folder}/api.sock}}", f"data: {self.folder}/data",
                  f"store: {{etcd: {{endpoints: [{endpoints}]}}, ttl: {TTL}s}}",
                  f"policies: [{{name: repair, {policy}}}]"]
        config = self.folder / "wardmote.yaml"
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        super().__init__(name, config, self.folder / "api.sock")
        self.wait_healthy()
        wait_until(lambda: name in self.queue(), 10.0, f"{name} to stand in the queue")

    def journal(self) -> list[tuple[str, str]]:
        with sqlite3.connect(f"file:{self.folder}/data/wardmote.db?mode=ro", uri=True) as database:
            return database.execute("SELECT kind, step FROM journal ORDER BY seq").fetchall()

    def plans(self) -> list[tuple[int, str]]:
        return [(plan["id"], plan["state"]) for plan in self.json("/api/v1/plans?all=true")["plans"]]


@pytest.fixture
def agents(lab, tmp_path):
    with EtcdCluster(PACKAGES, tmp_path / "etcd") as etcd:
        agents = []
        try:
            for name in NAMES:
                agents.append(ActingAgent(lab, etcd, tmp_path, name))
            yield agents
        finally:
            for agent in agents:
                if agent.process.poll() is None:
                    agent.resume()
                    agent.kill()


def test_whom_two_agents_look_at_is_repaired_when_it_has_died(lab, tmp_path):
    """Both look at every member. Whoever is refused does not wait for an answer, and so holds nobody back."""
    with EtcdCluster(PACKAGES, tmp_path / "etcd") as etcd:
        agents = []
        try:
            for name in NAMES[:2]:
                agents.append(ActingAgent(lab, etcd, tmp_path, name, REBUILD))
            cluster = lab.clusters["nb"]
            cluster.kill(cluster.followers()[0])
            wait_until(agents[0].plans, 40.0, "the plan")
            assert agents[0].plans() == [(1, "proposed")]
        finally:
            for agent in agents:
                agent.kill()


def whole(lab: Lab) -> bool:
    views = lab.clusters["nb"].views()
    return len(views) == 3 and all(len(view.servers) == 3 and view.status == "cluster member" for view in views.values())


def intents(agents: list[ActingAgent]) -> int:
    return sum(agent.journal().count(("intent", "kick")) for agent in agents)


def wipe_and_rejoin(cluster: Cluster, agents: list[ActingAgent]) -> None:
    number = cluster.followers()[0]

    def seen() -> None:
        for agent in agents:
            agent.wait_lost(cluster.members[number].name)
    faults.wipe_and_rejoin(cluster, number, seen)


def test_a_dead_server_is_kicked_once_and_all_agents_show_the_plan(lab, agents):
    wait_until(agents[0].leads, 10.0, "the first to lead")
    cluster = lab.clusters["nb"]
    wipe_and_rejoin(cluster, agents)
    wait_until(lambda: ("done", "") in agents[0].journal(), 60.0, "the end of the plan")
    wait_until(lambda: whole(lab), 10.0, "a whole cluster")
    assert intents(agents) == 1
    ended = agents[0].plans()
    assert [state for _, state in ended] == ["done"]
    for agent in agents[1:]:
        wait_until(lambda one=agent: one.plans() == ended, 5.0, f"{agent.name} to show it")
        refused = agent.cli("pause", "ovn-nb")
        assert refused.returncode != 0 and f"another agent leads: {agents[0].name}" in refused.stderr
    paused = agents[0].cli("pause", "ovn-nb")
    assert paused.returncode == 0, paused
    for agent in agents[1:]:
        wait_until(lambda one=agent: one.json("/api/v1/plans")["pauses"], 5.0, f"{agent.name} to show the pause")


@pytest.mark.parametrize("fault", ["kill", "pause"])
@pytest.mark.slow
def test_a_leader_that_dies_or_hangs_before_the_plan_leaves_it_to_the_next(lab, agents, fault):
    wait_until(agents[0].leads, 10.0, "the first to lead")
    wait_until(lambda: agents[0].cli("pause", "ovn-nb").returncode == 0, 5.0, "its journal to be open")
    cluster = lab.clusters["nb"]
    wipe_and_rejoin(cluster, agents)
    wait_until(lambda: any(one["code"] == "RAFT_STALE_MEMBER" for one in agents[1].json("/api/v1/findings")["findings"]), 30.0, "the finding")
    getattr(agents[0], fault)()
    wait_until(agents[1].leads, 10.0, "the second to lead")
    wait_until(lambda: agents[1].json("/api/v1/plans")["pauses"], 5.0, "the pause to have outlived the leader")
    assert intents(agents) == 0
    wait_until(lambda: agents[1].cli("resume", "ovn-nb").returncode == 0, 5.0, "it to have read what the leader left")
    wait_until(lambda: ("done", "") in agents[1].journal(), 60.0, "the end of the plan")
    wait_until(lambda: whole(lab), 10.0, "a whole cluster")
    if fault == "pause":
        agents[0].resume()
        wait_until(lambda: agents[0].plans() == agents[1].plans(), 10.0, "the first to follow")
    assert intents(agents) == 1
