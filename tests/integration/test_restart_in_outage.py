"""An agent that is killed in the middle of an outage and started again says the same on every face."""

import datetime
import os
import socket
import sqlite3
import threading
import time

import pytest

from lab.instance import Lab
from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import Agent

FALL = 3
CRITICAL = 2


class Peer:
    """A port on which somebody listens, or nobody."""

    def __init__(self):
        self._listener = None
        self.port = free_port()

    def up(self):
        self._listener = socket.create_server(("127.0.0.1", self.port))

    def down(self):
        if self._listener:
            self._listener.close()
            self._listener = None


@pytest.fixture
def peers():
    peers = {name: Peer() for name in ("host", "child", "maybe")}
    yield peers
    for peer in peers.values():
        peer.down()


def write_config(folder, peers):
    (folder / "data").mkdir(exist_ok=True)
    schedule = f"every: 500ms, timeout: 400ms, fall: {FALL}, rise: 2"
    (folder / "wardmote.yaml").write_text(
        f"""api: {{socket: {folder}/api.sock}}
data: {folder}/data
checks:
  - {{name: host, tcp: {{address: 127.0.0.1:{peers["host"].port}}}, {schedule}}}
  - {{name: child, tcp: {{address: 127.0.0.1:{peers["child"].port}}}, {schedule}, depends_on: [host]}}
  - {{name: maybe, tcp: {{address: 127.0.0.1:{peers["maybe"].port}}}, {schedule}, optional: true}}
""", encoding="utf-8")


def run(folder) -> Agent:
    return Agent(folder / "wardmote.yaml", folder / "api.sock")


def faces(agent):
    """What does not change by time alone, of every face."""
    status = agent.json("/api/v1/status")
    incidents = agent.json("/api/v1/incidents")["incidents"]
    for incident in incidents:
        for key in ("age_ms", "changed", "confirmed", "opened", "since"):
            incident.pop(key)
        for symptom in incident["standing"]:
            symptom.pop("since")
    return {
        "verdict": status["verdict"],
        "incidents in status": status["incidents"],
        "checks": {check["name"]: (check["state"], check["exit_code"], check["reason"], check["detail"]) for check in status["checks"]},
        "gates": status["gates"],
        "readyz": agent.get("/readyz")[0],
        "exit code": agent.cli("status").returncode,
        "incidents": incidents,
    }


def wait_all_healthy(agent):
    """The optional one too, without which the node is healthy before."""
    agent.wait_healthy()
    wait_until(lambda: {check["exit_code"] for check in agent.json("/api/v1/status")["checks"]} == {0}, 20, "all to be healthy")


def moments(agent):
    """Since when it is said to be so, in seconds."""
    found = {}
    for incident in agent.json("/api/v1/incidents")["incidents"]:
        found[incident["id"]] = datetime.datetime.fromisoformat(incident["opened"]).timestamp()
        for symptom in incident["standing"]:
            found[symptom["component"]] = datetime.datetime.fromisoformat(symptom["since"]).timestamp()
    return found


def test_a_restart_in_the_middle_of_an_outage_changes_nothing_that_is_said(tmp_path, peers):
    write_config(tmp_path, peers)
    for peer in peers.values():
        peer.up()
    with run(tmp_path) as agent:
        wait_all_healthy(agent)
        for peer in peers.values():
            peer.down()
        wait_until(lambda: {check["state"] for check in agent.json("/api/v1/status")["checks"]} == {"reported"}, 20, "all to be reported")
        wait_until(lambda: sum(one["symptoms"] for one in agent.json("/api/v1/incidents")["incidents"]) == 3, 10, "all symptoms")
        before, since = faces(agent), moments(agent)
        assert before["verdict"] == "critical"
        assert before["exit code"] == CRITICAL
        assert before["readyz"] == 503
        roots = {one["root"]: one["summary"] for one in before["incidents"]}
        assert set(roots) == {"check:host", "check:maybe"}, roots
        assert roots["check:host"].startswith("host fails: "), "called by its cause, not by the child"
        wait_until(lambda: written(tmp_path, 3), 10, "the states to be written down")
        agent.process.kill()
        agent.process.wait()
    with run(tmp_path) as agent:
        agent.wait_serving()
        assert faces(agent) == before, "the first answers of its new life"
        assert moments(agent) == pytest.approx(since, abs=0.01)
        # And also when it has looked again itself, from when on it says so.
        wait_until(lambda: all(check["looks"] > FALL for check in agent.json("/api/v1/status")["checks"]), 20, "looks")
        assert faces(agent) == before
        assert all(one["confirmed"] for one in agent.json("/api/v1/incidents")["incidents"])
        for peer in peers.values():
            peer.up()
        wait_all_healthy(agent)
        assert agent.json("/api/v1/incidents")["incidents"] == []
        ended = agent.json("/api/v1/incidents?all=true")["incidents"]
        assert {one["root"]: one["summary"] for one in ended if one["merged_into"] is None} == roots


def test_an_optional_check_that_was_good_once_counts_after_a_restart(tmp_path, peers):
    """What it looks at died while nobody looked: it is not taken for one that was never there."""
    write_config(tmp_path, peers)
    for peer in peers.values():
        peer.up()
    with run(tmp_path) as agent:
        wait_all_healthy(agent)
        wait_until(lambda: written(tmp_path, 1, "good"), 10, "that it was good to be written down")
        agent.process.kill()
        agent.process.wait()
    peers["maybe"].down()
    with run(tmp_path) as agent:
        wait_until(lambda: agent.get("/readyz")[0] == 503, 20, "the gate to close")
        wait_until(lambda: [one["root"] for one in agent.json("/api/v1/incidents")["incidents"]] == ["check:maybe"], 10, "its incident")
        peers["maybe"].up()
        wait_all_healthy(agent)


def written(folder, count, kind="check"):
    with sqlite3.connect(f"file:{folder}/data/wardmote.db?mode=ro", uri=True) as database:
        return database.execute("SELECT count(*) FROM store_kv WHERE key LIKE ?", (f"{kind}/%",)).fetchone()[0] == count


def test_an_agent_that_starts_in_an_outage_is_red_after_fall_looks(tmp_path, peers):
    write_config(tmp_path, peers)
    peers["maybe"].up()
    with run(tmp_path) as agent:
        agent.wait_serving()
        wait_until(lambda: agent.cli("status").returncode == CRITICAL, 10, "status to be critical")
        assert agent.json("/api/v1/status")["verdict"] == "critical"
        assert agent.get("/readyz")[0] == 503
        # The child's last look may end before the host's.
        wait_until(lambda: [one["root"] for one in agent.json("/api/v1/incidents")["incidents"]] == ["check:host"], 10, "the cause")
        shown = agent.cli("explain", "check:host")
        assert "CHECK_FAILED" in shown.stdout and "No finding names it" not in shown.stdout, shown.stdout
        assert shown.returncode == CRITICAL


class CuttingPeer(threading.Thread):
    """Speaks HTTP as far as the middle of every answer, then hangs up."""

    WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    def __init__(self):
        super().__init__(daemon=True)
        self.cuts = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            with caller:
                caller.settimeout(2)
                try:
                    while caller.recv(4096):
                        caller.sendall(self.WHOLE[:20] if self.cuts else self.WHOLE)
                        if self.cuts:
                            break
                except OSError:
                    pass


def test_answers_that_are_cut_off_close_readyz_after_fall_looks(tmp_path):
    peer = CuttingPeer()
    peer.start()
    (tmp_path / "wardmote.yaml").write_text(
        f"""api: {{socket: {tmp_path}/api.sock}}
checks:
  - {{name: web, http: {{url: 'http://127.0.0.1:{peer.port}/'}}, every: 1s, timeout: 900ms, fall: {FALL}, rise: 1}}
""", encoding="utf-8")
    with run(tmp_path) as agent:
        wait_all_healthy(agent)
        peer.cuts = True
        begun = time.monotonic()
        wait_until(lambda: agent.get("/readyz")[0] == 503, 20, "the gate to close", every=0.05)
        took = time.monotonic() - begun
        # Fall looks, the first of which comes within an interval.
        assert FALL - 1 - 0.1 < took < FALL + 2, took
        check = agent.json("/api/v1/status")["checks"][0]
        assert (check["state"], check["outcome"]) == ("reported", "unknown"), check
        assert check["reason"] in ("closed", "protocol"), check
        assert agent.cli("status").returncode == CRITICAL
        peer.cuts = False
        wait_all_healthy(agent)
    peer.listener.close()


@pytest.mark.parametrize("way", ["kill", "pause"])
def test_an_agent_that_starts_in_an_outage_is_not_ready_before_it_has_seen_its_end(tmp_path, way):
    """Nothing is confirmed yet in its first seconds, and it must not call the cluster good for that."""
    with Lab.up(f"outage-{os.getpid()}", ["nb"], transient=True) as lab:
        cluster = lab.clusters["nb"]
        cluster.wait_healthy()
        leader = cluster.leader()
        config = tmp_path / "wardmote.yaml"
        config.write_text("\n".join([f"api: {{socket: {tmp_path}/api.sock}}", "clusters:", *cluster.config_lines()]) + "\n", encoding="utf-8")
        lost = [leader, cluster.others(leader)[0]]
        for number in lost:
            getattr(cluster, way)(number)
        with Agent(config, tmp_path / "api.sock") as agent:
            agent.wait_serving()
            seen = []

            def is_reported() -> bool:
                check = agent.json("/api/v1/checks")["checks"][0]
                seen.append((agent.get("/readyz")[0], check["state"]))
                return check["state"] == "reported"

            wait_until(is_reported, 60.0, "the outage to be confirmed", every=0.02)
            assert {status for status, _ in seen} == {503}, seen
            assert {state for _, state in seen} == {"discovery", "reported"}, seen
            for number in lost:
                (cluster.start if way == "kill" else cluster.resume)(number)
            wait_until(lambda: agent.get("/readyz")[0] == 200, 60.0, "the cluster to be well again")
