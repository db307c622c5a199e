"""The documented layout: the agent asks its own member by its sockets and the others by TCP, and the network between them fails."""

import os

import pytest

from lab.instance import Lab
from lab.network import run
from lab.processes import wait_until
from tools.agent import Agent

PATIENCE = 30.0


@pytest.fixture
def lab():
    with Lab.up(f"cut-{os.getpid()}", ["nb"], transient=True) as running:
        yield running


@pytest.fixture
def agent(lab, tmp_path):
    cluster = lab.clusters["nb"]
    lines = [f"api: {{socket: {lab.api_socket}}}", "clusters:", "  - name: ovn-nb", "    every: 500ms", "    timeout: 400ms", "    ovn:",
             f"      database: {cluster.database.name}", "      members:",
             f"        - {{name: {cluster.members[1].name}, control: \"{cluster.control(1)}\", ovsdb: \"unix:{cluster.socket(1)}\"}}"]
    lines += [f"        - {{name: {cluster.members[number].name}, ovsdb: \"{cluster.ovsdb(number)}\"}}" for number in (2, 3)]
    config = tmp_path / "wardmote.yaml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Agent(config, lab.api_socket, inside=cluster.network.inside(1)) as running:
        running.wait_healthy()
        yield running


def codes(agent: Agent) -> set[str]:
    return {finding["code"] for finding in agent.json("/api/v1/findings")["findings"]}


def test_an_agent_that_is_cut_off_with_its_member_says_so_in_time(lab, agent):
    network = lab.clusters["nb"].network
    run("ip", "-n", network.namespace(1), "link", "set", "eth0", "down")
    wait_until(lambda: "RAFT_NO_LEADER" in codes(agent), PATIENCE, "RAFT_NO_LEADER")
    for _ in range(5):
        agent.look_on(2)
        assert "RAFT_NO_LEADER" in codes(agent) and not {"RAFT_NO_QUORUM", "RAFT_MEMBER_HUNG"} & codes(agent)
        status = agent.cli("status")
        assert status.returncode == 2 and "CRITICAL" in status.stdout, status.stdout
        assert "in 0ms" not in status.stdout, status.stdout
        assert agent.get("/readyz")[0] == 503
    run("ip", "-n", network.namespace(1), "link", "set", "eth0", "up")
    wait_until(lambda: agent.get("/readyz")[0] == 200, 60.0, "the cluster to be well again")


def test_a_member_behind_a_firewall_is_not_hung(lab, agent):
    network = lab.clusters["nb"].network
    run(*network.inside(3, "iptables", "-w", "-I", "INPUT", "-p", "tcp", "--dport", "6641", "-j", "REJECT", "--reject-with",
                        "icmp-host-prohibited"))
    name = lab.clusters["nb"].members[3].name

    def reason() -> str:
        return next(one["reason"] or "" for one in agent.json("/api/v1/clusters/ovn-nb")["members"] if one["name"] == name)

    wait_until(lambda: "unreachable" in reason(), PATIENCE, "the member to be out of reach")
    for _ in range(10):
        agent.look_on(2)
        assert "RAFT_MEMBER_HUNG" not in codes(agent) and "hung" not in reason(), reason()
    kept = agent.json("/api/v1/history")["events"]
    assert not [event for event in kept if event.get("code") == "RAFT_MEMBER_HUNG"], kept
