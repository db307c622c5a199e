"""What a running agent wrote down outlives kill -9, a full disk and a damaged file."""

import random
import sqlite3
import time

import pytest

from disks import fill, small_disk
from lab.processes import wait_until
from tools.agent import Agent

# Events are on stable storage this long after they were told (store/history.h), and then some for a busy machine.
WRITTEN = 1.0


@pytest.fixture
def config(tmp_path, target):
    (tmp_path / "data").mkdir()
    file = tmp_path / "wardmote.yaml"
    file.write_text(f"api: {{socket: {tmp_path}/api.sock}}\ndata: {tmp_path}/data\n"
                    f"checks: [{{name: web, tcp: {{address: 127.0.0.1:{target.port}}}, every: 100ms, timeout: 90ms, fall: 1, rise: 1}}]\n",
                    encoding="utf-8")
    return file


def run(config) -> Agent:
    return Agent(config, config.parent / "api.sock")


def history(agent) -> dict:
    return agent.json("/api/v1/history")


def changes(agent) -> int:
    return sum(one["kind"] == "check_changed" for one in history(agent)["events"])


def turn(agent, target, up: bool) -> None:
    """One change of the check that the agent has seen."""
    before = changes(agent)
    target.up() if up else target.down()
    wait_until(lambda: changes(agent) > before, 10.0, "the change")


def wait_good(agent: Agent) -> None:
    """Not that all is well: what fails in each life flaps, and its incident stays open."""
    agent.wait_serving()
    wait_until(lambda: agent.get("/readyz")[0] == 200, 20.0, "the check to be good")


def test_killed_at_any_moment_it_knows_what_it_had_written(config, target):
    chance, kept = random.Random(7), []
    for life in range(5):
        agent = run(config)
        try:
            wait_good(agent)
            told = history(agent)
            assert told["stored"] and told["complaint"] is None
            assert told["events"][:len(kept)] == kept, f"life {life} lost what was written"
            for up in (False, True, False):
                turn(agent, target, up)
            time.sleep(WRITTEN)
            kept = history(agent)["events"]
            target.up()
            time.sleep(chance.uniform(0, 0.4))  # the moment of the death, in the middle of writing
        finally:
            agent.process.kill()
            agent.process.wait()
        with sqlite3.connect(config.parent / "data/wardmote.db") as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with run(config) as agent:
        wait_good(agent)
        events = history(agent)["events"]
        assert events[:len(kept)] == kept
        ids = [one["id"] for one in events]
        assert ids == sorted(set(ids)), "no number was given twice"


def test_samples_of_looks_outlive_the_agent(config):
    with run(config) as agent:
        agent.wait_healthy()
        wait_until(lambda: agent.json("/api/v1/checks")["checks"][0]["looks"] >= 5, 10.0, "five looks")
    with run(config) as agent:  # what was measured of a minute is written when the agent ends
        agent.wait_serving()
        told = agent.json("/api/v1/samples?subject=web")
        assert {one["measure"] for one in told["series"]} == {"good", "took_us"}
        looks = next(one["samples"] for one in told["series"] if one["measure"] == "took_us")
        assert sum(sample["count"] for sample in looks) >= 5
        assert " %" in agent.cli("samples", "web").stdout
        assert agent.cli("samples").stdout.splitlines()[1:] == ["web"]


def test_a_full_disk_stops_nothing_and_loses_nothing(config, target):
    data = config.parent / "data"
    with small_disk(data):
        agent = run(config)
        try:
            agent.wait_healthy()
            fill(data / "filler")
            up = True
            # A few more may fit into what the database has already.
            for _ in range(200):
                up = not up
                turn(agent, target, up)
                if history(agent)["complaint"]:
                    break
            assert history(agent)["complaint"], "a full disk is said"
            up = not up
            turn(agent, target, up)
            assert agent.get("/livez")[0] == 200
            known = history(agent)
            assert known["dropped"] == 0
            (data / "filler").unlink()
            wait_until(lambda: history(agent)["complaint"] is None, 30.0, "the history to be written again")
            time.sleep(WRITTEN)
        finally:
            agent.process.kill()
            agent.process.wait()
        with run(config) as second:
            second.wait_serving()
            assert history(second)["events"][:len(known["events"])] == known["events"]


@pytest.mark.parametrize("loss", ["removed", "emptied"])
def test_a_database_that_is_gone_took_a_pause_with_it(config, loss):
    file = config.parent / "data/wardmote.db"
    with run(config) as agent:
        agent.wait_healthy()
        assert "Paused" not in agent.cli("get", "plans").stdout
        assert agent.cli("pause").returncode == 0
    for part in file.parent.glob("wardmote.db*"):
        part.unlink()
    if loss == "emptied":
        file.touch()
    with run(config) as agent:
        agent.wait_healthy()
        assert "Paused: all by the agent: the database of an earlier life is gone" in agent.cli("get", "plans").stdout
        assert "database_gone" in agent.output()
        assert agent.cli("resume", "all").returncode == 0
    with run(config) as agent:
        agent.wait_healthy()
        assert "Paused" not in agent.cli("get", "plans").stdout, "it is said once"


@pytest.mark.parametrize("damage", ["no database at all", "in the middle"])
def test_a_damaged_file_is_put_aside(config, target, damage):
    file = config.parent / "data/wardmote.db"
    with run(config) as agent:
        agent.wait_healthy()
        turn(agent, target, False)
        turn(agent, target, True)
        time.sleep(WRITTEN)
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = file.read_bytes()
    broken = b"x" * 8192 if damage == "no database at all" else whole[:4096] + b"\xa5" * (len(whole) - 4096)
    file.write_bytes(broken)
    with run(config) as agent:
        agent.wait_healthy()
        aside = [path for path in file.parent.iterdir() if ".damaged-" in path.name and not path.name.endswith(("-wal", "-shm"))]
        assert [path.read_bytes() for path in aside] == [broken]
        assert "database_damaged" in agent.output()
        assert agent.json("/api/v1/status")["self"]["put_aside"] == str(aside[0])
        assert f"the database was damaged at the start: it lies at {aside[0]}" in agent.cli("status").stdout
        assert str(aside[0]) in agent.cli("doctor", timeout=40.0).stdout
        told = history(agent)
        assert told["stored"] and told["complaint"] is None
        turn(agent, target, False)
        time.sleep(WRITTEN)
        now = history(agent)["events"]
    with run(config) as agent:
        agent.wait_serving()
        assert history(agent)["events"][:len(now)] == now, "the new one is written"
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
