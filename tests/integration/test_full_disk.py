"""A data folder on a disk that is full, at the start and while the agent runs: it watches, tells and serves on, and says so."""

import contextlib
import json
import sqlite3
import subprocess

import pytest

from disks import fill, small_disk
from http_sink import Sink
from lab.processes import wait_until
from tools.agent import Agent, programs

PATIENCE = 60.0
# Writing is tried again after a minute at the latest.
AGAIN = 100.0


@pytest.fixture
def config(tmp_path, target):
    (tmp_path / "data").mkdir()
    with Sink() as sink:
        file = tmp_path / "wardmote.yaml"
        file.write_text(f"api: {{socket: {tmp_path}/api.sock}}\ndata: {tmp_path}/data\n"
                        f"checks: [{{name: web, tcp: {{address: 127.0.0.1:{target.port}}}, every: 200ms, timeout: 200ms, fall: 1, rise: 1}}]\n"
                        f"notify:\n  receivers: [{{name: hook, webhook: {{url: 'http://127.0.0.1:{sink.port}/x'}}}}]\n"
                        f"  routes: [{{receiver: hook, group_wait: 0s, group_interval: 1s}}]\n", encoding="utf-8")
        yield file, sink


def run(file) -> Agent:
    return Agent(file, file.parent / "api.sock")


def degraded(agent) -> bool:
    """What status, the API, the metrics and doctor say alike."""
    told = agent.json("/api/v1/status")["self"]
    if told["degraded"]:
        assert "what it sees is not written down: " in told["complaint"] and "full" in told["complaint"], told
    return told["degraded"]


def expect_said(agent) -> None:
    assert "the agent itself is degraded: what it sees is not written down" in agent.cli("status").stdout
    assert "\nwardmote_degraded 1\n" in agent.get("/metrics")[1]
    doctor = agent.cli("doctor", timeout=40.0)
    assert doctor.returncode == 1 and "make room in the folder that 'data' names" in doctor.stdout, doctor.stdout


def unsent(data) -> list:
    """The notices that the next life would send."""
    with contextlib.closing(sqlite3.connect(f"file:{data}/wardmote.db?mode=ro", uri=True)) as database:
        return database.execute("SELECT key FROM store_kv WHERE key LIKE 'notify/group/%' AND value LIKE '%\"pending\"%'").fetchall()


def incidents(agent) -> list:
    return agent.json("/api/v1/incidents")["incidents"]


def test_a_full_disk_at_the_first_start_keeps_nobody_from_watching(config, target):
    file, sink = config
    data = file.parent / "data"
    with small_disk(data):
        fill(data / "filler")
        agent = run(file)
        try:
            agent.wait_healthy()
            wait_until(lambda: degraded(agent), PATIENCE, "the complaint")
            expect_said(agent)
            target.down()
            wait_until(lambda: incidents(agent), PATIENCE, "the incident")
            # Nobody knows which numbers an earlier life gave.
            number = incidents(agent)[0]["id"]
            wait_until(lambda: f"opened {number}" in sink.kinds(), PATIENCE, "the notice")
            assert agent.get("/livez")[0] == 200 and agent.get("/readyz")[0] == 503
            (data / "filler").unlink()
            wait_until(lambda: not degraded(agent), AGAIN, "the disk to be written")
            # The end of the complaint may wait to be written; what was before it does not.
            before = [one for one in agent.json("/api/v1/history")["events"] if one["kind"] != "agent_recovered"]
        finally:
            agent.process.kill()
            agent.process.wait()
        with run(file) as second:
            second.wait_serving()
            assert [one["id"] for one in incidents(second)] == [number]
            known = [(one["id"], one["kind"]) for one in second.json("/api/v1/history")["events"]]
            assert known[:len(before)] == [(one["id"], one["kind"]) for one in before]
            target.up()
            wait_until(lambda: sink.kinds() == [f"opened {number}", f"resolved {number}"], PATIENCE, "the end, and nothing twice")


@pytest.mark.parametrize("end", ["SIGTERM", "kill -9"])
def test_on_a_full_disk_it_knows_what_an_earlier_life_knew(config, target, end):
    file, sink = config
    data = file.parent / "data"
    with small_disk(data):
        with run(file) as first:
            first.wait_healthy()
            target.down()
            wait_until(lambda: "opened 1" in sink.kinds(), PATIENCE, "the notice")
            wait_until(lambda: first.json("/api/v1/receivers")["receivers"][0]["waiting"] == 0, PATIENCE, "its answer")
            wait_until(lambda: not unsent(data), PATIENCE, "the answer to be written down: else it is told once more")
            if end == "kill -9":
                first.process.kill()
                first.process.wait()
        fill(data / "filler")
        with run(file) as second:
            second.wait_serving()
            wait_until(lambda: degraded(second), PATIENCE, "the complaint")
            expect_said(second)
            assert [one["id"] for one in incidents(second)] == [1], "the same incident"
            target.up()
            wait_until(lambda: sink.kinds() == ["opened 1", "resolved 1"], PATIENCE, "the end, and nothing twice")
            (data / "filler").unlink()
            wait_until(lambda: not degraded(second), AGAIN, "the disk to be written")
            # Others can read again, too.
            done = subprocess.run([programs() / "wardmoted", "journal", "verify", data], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        with run(file) as third:
            third.wait_serving()
            assert incidents(third) == []


def test_a_disk_that_fills_while_it_runs_is_said_where_people_look(config, target):
    file, sink = config
    data = file.parent / "data"
    with small_disk(data), run(file) as agent:
        agent.wait_healthy()
        assert not degraded(agent)
        fill(data / "filler")
        up = True
        # A little more may fit into what the database has already.
        for turn in range(400):
            up = not up
            target.up() if up else target.down()
            if degraded(agent):
                break
            wait_until(lambda: agent.get("/readyz")[0] == (200 if up else 503), PATIENCE, "the change")
        expect_said(agent)
        assert agent.get("/livez")[0] == 200
        (data / "filler").unlink()
        wait_until(lambda: not degraded(agent), AGAIN, "the disk to be written")
        assert "degraded" not in agent.cli("status").stdout


def test_a_report_on_a_full_disk_is_answered_so(tmp_path):
    """Its state counts, and would be another one in the next life of the agent: the reporter hears that, and reports again."""
    data = tmp_path / "data"
    data.mkdir()
    file = tmp_path / "wardmote.yaml"
    file.write_text(f"api: {{socket: {tmp_path}/api.sock}}\ndata: {data}\nreporters: [{{name: felix, timeout: 0s}}]\n", encoding="utf-8")

    def report(agent, ready: bool) -> int:
        return agent.order("PUT", "/api/v1/reporters/felix", json.dumps({"live": True, "ready": ready}), PATIENCE)[0]

    with small_disk(data):
        with run(file) as agent:
            agent.wait_serving()
            assert report(agent, True) == 200
            fill(data / "filler")
            ready = True
            # A little more may fit into what the database has already.
            for _ in range(400):
                ready = not ready
                if report(agent, ready) == 503:
                    break
            assert report(agent, ready) == 503, "it is not written down by being said again"
            assert agent.get("/readyz")[0] == (200 if ready else 503), "it counts"
            (data / "filler").unlink()
            wait_until(lambda: report(agent, ready) == 200, AGAIN, "the disk to be written")
            agent.process.kill()
            agent.process.wait()
        with run(file) as second:
            second.wait_serving()
            assert [one["ready"] for one in second.json("/api/v1/reporters")["reporters"]] == [ready]
