"""The faces of a running agent: command line, HTTP, metrics, configuration errors."""

import json
import os
import re
import signal
import subprocess

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import Agent, programs


@pytest.fixture(scope="module")
def lab():
    with Lab.up(f"faces-{os.getpid()}", ["nb", "sb"], transient=True) as up:
        yield up


@pytest.fixture(scope="module")
def agent(lab):
    with Agent(lab.write_config(), lab.api_socket) as running:
        running.wait_healthy()
        yield running


def test_status_of_healthy_clusters(agent):
    status = agent.cli("status")
    assert status.returncode == 0
    for word in ("ovn-nb", "ovn-sb", "ctl-1", "ctl-2", "ctl-3", "leader", "follower"):
        assert word in status.stdout
    assert agent.cli("status", "ovn-sb").returncode == 0
    assert "ovn-nb" not in agent.cli("status", "ovn-sb").stdout


def test_json_has_the_published_shape(agent, lab):
    cluster = agent.json("/api/v1/clusters/ovn-nb")
    assert {"cluster", "database", "at", "verdict", "members", "findings"} <= cluster.keys()
    assert (cluster["cluster"], cluster["database"], cluster["verdict"]) == ("ovn-nb", "OVN_Northbound", "ok")
    views = {lab.clusters["nb"].members[number].name: view for number, view in lab.clusters["nb"].views().items()}
    assert [member["name"] for member in cluster["members"]] == ["ctl-1", "ctl-2", "ctl-3"]
    for member in cluster["members"]:
        assert {"server_id", "cluster_id", "address", "outcome", "reason", "role", "term", "leader", "vote", "log", "uncommitted",
                "unapplied", "status", "connections", "servers", "age_ms"} <= member.keys()
        truth = views[member["name"]]
        assert (member["server_id"], member["cluster_id"]) == (truth.server_id, truth.cluster_id)
        assert (member["address"], member["role"], member["term"]) == (truth.address, truth.role, truth.term)
        assert member["outcome"] == "ok"


@pytest.mark.parametrize("words", [["status"], ["get", "clusters"], ["get", "meshes"], ["get", "members"], ["get", "findings"], ["get", "checks"]], ids=" ".join)
def test_every_reading_verb_speaks_json(agent, words):
    done = agent.cli(*words, "-o", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_gates(agent):
    assert agent.get("/livez") == (200, "ok")
    assert agent.get("/readyz")[0] == 200
    assert agent.cli("livez").returncode == 0
    assert agent.cli("readyz").returncode == 0


def test_explain_a_code_that_does_not_stand(agent):
    told = agent.cli("explain", "raft_no_quorum")
    assert told.returncode == 0
    assert "RAFT_NO_QUORUM" in told.stdout


def test_explain_a_code_without_the_agent_that_was_named(tmp_path):
    def explain(*words, **more) -> subprocess.CompletedProcess:
        return subprocess.run([programs() / "wardmote", "explain", "RAFT_NO_QUORUM", *words], capture_output=True, text=True, timeout=20,
                              check=False, env={**os.environ, **more})

    nobody = f"{tmp_path}/nobody.sock"
    for told in (explain("--socket", nobody), explain("--host", "127.0.0.1:1"), explain(WARDMOTE_HOST="127.0.0.1:1")):
        assert told.returncode == 69 and "what to do:" in told.stdout and "What is wrong now is not known" in told.stderr
    assert json.loads(explain("--socket", nobody, "-o", "json").stdout)["code"] == "RAFT_NO_QUORUM"
    for form in ("jsonl", "name"):
        told = explain("--socket", nobody, "-o", form)
        assert told.returncode == 69 and not told.stdout and told.stderr, form


@pytest.mark.parametrize("words", ["wardmote version", "wardmote man", "wardmote completion bash", "wardmote --help",
                                   "wardmote explain RAFT_NO_QUORUM --socket /nonexistent", "wardmote probe file /etc/passwd",
                                   "wardmoted config schema", "wardmoted man", "wardmoted --help"])
def test_lost_output_is_an_error(words):
    program, *rest = words.split()
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([programs() / program, *rest], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20, check=False)
    assert done.returncode != 0 and f"{program}: standard output cannot be written" in done.stderr, done


def test_the_page(agent):
    status, body = agent.get("/")
    assert status == 200
    assert body.lstrip().lower().startswith("<!doctype html>")


METRIC = re.compile(r'^[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]\w*="(\\[\\"n]|[^"\\\n])*",?)*\})? ([-+]?(\d+(\.\d+)?([eE][-+]?\d+)?|Inf)|NaN)$')


def test_metrics_are_well_formed(agent):
    status, body = agent.get("/metrics")
    assert status == 200
    described, families = set(), set()
    for line in body.splitlines():
        if line.startswith("# HELP "):
            described.add(line.split()[2])
        elif not line.startswith("#"):
            assert METRIC.match(line), line
            families.add(re.match(r"[\w:]+", line).group())
    undescribed = {family for family in families if not any(family.startswith(name) for name in described)}
    assert not undescribed
    assert {"ovn_cluster_quorum", "ovn_cluster_members_observed", "ovn_member_connected", "ovn_member_leader"} <= families


def test_metrics_name_every_member(agent, lab):
    body = agent.get("/metrics")[1]
    for cluster in lab.clusters.values():
        for view in cluster.views().values():
            assert re.search(rf'^ovn_member_connected\{{[^}}]*sid="{view.server_id}"[^}}]*\}} 1$', body, re.MULTILINE)


def test_nothing_else_is_served(agent):
    assert agent.get("/api/v1/nothing")[0] == 404
    assert agent.get("/../etc/passwd")[0] in (400, 404)


def test_no_agent_and_no_such_verb(tmp_path):
    wardmote = programs() / "wardmote"
    nobody = subprocess.run([wardmote, "status", "--socket", tmp_path / "none.sock"], capture_output=True, text=True, check=False)
    assert nobody.returncode == 69
    assert "none.sock" in nobody.stderr
    assert subprocess.run([wardmote, "frobnicate"], capture_output=True, check=False).returncode == 64


def test_a_lost_quorum_reaches_the_gate_and_comes_back(lab, agent):
    cluster = lab.clusters["sb"]
    dead = cluster.followers()
    for number in dead:
        cluster.kill(number)
    wait_until(lambda: agent.get("/readyz")[0] == 503, 20.0, "the agent to be not ready", every=0.1)
    assert agent.cli("readyz").returncode == 2
    assert agent.cli("status").returncode == 2
    assert agent.cli("status", "ovn-nb").returncode == 0
    assert agent.get("/livez")[0] == 200
    for number in dead:
        cluster.start(number)
    agent.wait_healthy(30.0)


BAD = {
    "unknown key": ("node: {nmae: x}\n", 1, 8),
    "wrong type": ("clusters: 7\n", 1, 11),
    "bad unit": ("clusters:\n  - name: a\n    ovn: {database: X, members: [{name: m, control: /m.ctl}]}\n    every: 1 parsec\n", 4, 12),
    "no YAML": ("node: {name: x\n", None, None),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_configuration_is_refused_with_its_place(kind, tmp_path):
    text, line, column = BAD[kind]
    file = tmp_path / "bad.yaml"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([programs() / "wardmoted", "--config", file], capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 65
    place = rf"bad\.yaml:{line or r'[0-9]+'}:{column or r'[0-9]+'}: "
    assert re.search(place, done.stderr), done.stderr


def test_the_agent_ends_when_told_to(tmp_path, lab):
    # Its own socket, so that it stands beside the other agent.
    config = tmp_path / "wardmote.yaml"
    text = lab.write_config().read_text(encoding="utf-8")
    config.write_text(text.replace(str(lab.api_socket), str(tmp_path / "api.sock")), encoding="utf-8")
    second = Agent(config, tmp_path / "api.sock")
    second.wait_serving()
    assert second.stop() == 0
    assert second.process.returncode != -signal.SIGKILL
    assert not (tmp_path / "api.sock").exists()
