"""The ways to ask a member that is elsewhere: by commands, and its `_Server` row over TCP."""

import json
import os
import subprocess

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import Agent, programs


def argv(*words: str) -> str:
    return json.dumps(list(words))


def by_commands(lab: Lab) -> str:
    """Every member behind `ovn-appctl` and `ovsdb-client`, as if over kubectl exec."""
    cluster = lab.clusters["nb"]
    tools = cluster.tools
    library_path = f"LD_LIBRARY_PATH={tools.environment()['LD_LIBRARY_PATH']}"
    lines = [f"api: {{socket: {lab.api_socket}}}", "clusters:", "  - name: ovn-nb", "    every: 2s", "    timeout: 1900ms", "    ovn:",
             "      database: OVN_Northbound", "      members:"]
    for number, member in cluster.members.items():
        control = argv("env", library_path, tools.appctl, "-T", "1", "-t", cluster.control(number))
        ovsdb = argv("env", library_path, tools.client, "query", f"unix:{cluster.socket(number)}")
        lines += [f"        - name: {member.name}", f"          control: {{command: {control}}}",
                  f"          ovsdb: {{command: {ovsdb}}}"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def lab():
    with Lab.up(f"ways-{os.getpid()}", ["nb"], transient=True) as running:
        yield running


def told(agent: Agent) -> set[tuple[str, str]]:
    findings = agent.json("/api/v1/findings")["findings"]
    return {(one["code"], one["subjects"][0] if one["subjects"] else "") for one in findings}


@pytest.mark.slow
def test_members_behind_commands_are_told_apart_by_exit_code_and_words(lab):
    cluster = lab.clusters["nb"]
    config = lab.folder / "commands.yaml"
    config.write_text(by_commands(lab), encoding="utf-8")
    first, second = cluster.followers()
    with Agent(config, lab.api_socket) as agent:
        agent.wait_healthy()
        members = agent.json("/api/v1/clusters/ovn-nb")["members"]
        assert {member["outcome"] for member in members} == {"ok"}
        assert all(member["servers"] and member["server_id"] for member in members)
        name = cluster.members[first].name
        cluster.pause(first)
        wait_until(lambda: ("RAFT_MEMBER_HUNG", name) in told(agent), 12.0, "a hung member, by exit code 142")
        cluster.resume(first)
        wait_until(lambda: not told(agent), 12.0, "all to be well again")
        name = cluster.members[second].name
        cluster.kill(second)
        wait_until(lambda: ("RAFT_MEMBER_DOWN", name) in told(agent), 12.0, "a member that refuses, by the words of ovn-appctl")


@pytest.mark.slow
def test_the_server_row_of_a_remote_member_over_tcp(lab):
    cluster = lab.clusters["nb"]
    for number, member in cluster.members.items():
        remote = f"tcp:{cluster.network.address(member.host)}:{cluster.database.ovsdb_port}"
        asking = cluster.others(number)[0]
        probe = cluster.network.inside(cluster.members[asking].host, str(programs() / "wardmote"), "probe", "ovn", "--ovsdb", remote,
                                       "-o", "json")
        done = subprocess.run(probe, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (cluster.view(number).server_id or "?") in done.stdout
