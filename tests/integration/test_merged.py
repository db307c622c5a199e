"""What receivers hear of an incident that becomes a part of another, and of a check that is defined anew or removed in an outage."""

import os

import pytest

from http_sink import Sink
from lab.processes import wait_until
from tools.agent import Agent


@pytest.fixture
def sink():
    with Sink() as sink:
        yield sink


def configure(folder, sink, checks):
    """The receiver is told of the check `watched` only."""
    (folder / "data").mkdir(exist_ok=True)
    listed = "".join(f"  - {{name: {name}, every: 200ms, timeout: 100ms, fall: 2, rise: 1, {rest}}}\n" for name, rest in checks.items())
    text = (f"api: {{socket: {folder}/api.sock}}\ndata: {folder}/data\nchecks:\n{listed}"
            f"notify:\n  receivers:\n    - {{name: hook, webhook: {{url: 'http://127.0.0.1:{sink.port}/'}}}}\n"
            "  routes:\n    - {receiver: hook, match: [subject=watched], group_wait: 0s, group_interval: 1s}\n")
    (folder / "new").write_text(text, encoding="utf-8")
    os.replace(folder / "new", folder / "wardmote.yaml")


def file_of(folder, name):
    return f"file: {{path: {folder}/{name}.ok}}"


def put(folder, *names):
    for name in names:
        (folder / f"{name}.ok").touch()


def take(folder, *names):
    for name in names:
        (folder / f"{name}.ok").unlink()


def run(folder) -> Agent:
    return Agent(folder / "wardmote.yaml", folder / "api.sock")


def reported(agent) -> set[str]:
    return {one["name"] for one in agent.json("/api/v1/checks")["checks"] if one["state"] == "reported"}


def looks(agent) -> int:
    return next(one["looks"] for one in agent.json("/api/v1/checks")["checks"] if one["name"] == "watched")


def incident(agent, number) -> dict:
    return agent.json(f"/api/v1/incidents/{number}")


def test_what_is_merged_is_over_when_it_is_good_also_after_a_kill(tmp_path, sink):
    checks = {name: file_of(tmp_path, name) for name in ("cause", "other", "watched")}
    for name in ("other", "watched"):
        checks[name] += ", depends_on: [cause]"
    put(tmp_path, *checks)
    configure(tmp_path, sink, checks)
    with run(tmp_path) as agent:
        agent.wait_healthy()
        take(tmp_path, "other")
        wait_until(lambda: reported(agent) == {"other"}, 10.0, "the first failure")
        take(tmp_path, "watched")
        wait_until(lambda: sink.kinds() == ["opened 2"], 10.0, "the beginning")
        take(tmp_path, "cause")
        wait_until(lambda: sink.kinds() == ["opened 2", "changed 2"], 10.0, "what became of it")
        assert sink.taken[-1]["status"] == "open"
        assert "it goes on in incident 1, check:cause" in sink.taken[-1]["title"]
        # Killed before it has written that the receiver took the notice, it would send that once more.
        wait_until(lambda: agent.cli("history", "--incident", "2").stdout.count("notice_delivered") == 2, 10.0, "both written down")
        agent.process.kill()
        agent.process.wait()
    with run(tmp_path) as agent:
        agent.wait_serving()
        assert incident(agent, 2)["phase"] == "merged"
        put(tmp_path, "cause")
        wait_until(lambda: "cause" not in reported(agent), 10.0, "the end of the cause")
        assert len(sink.taken) == 2, "it still fails"
        put(tmp_path, "watched")
        wait_until(lambda: sink.kinds()[2:] == ["resolved 2"], 10.0, "the end")
        assert sink.taken[-1]["title"].startswith("RESOLVED check:watched CHECK_FAILED: watched fails")
        assert incident(agent, 1)["phase"] == "open"


def test_another_definition_is_no_end_and_a_removal_says_what_it_is(tmp_path, sink):
    checks = {"watched": file_of(tmp_path, "watched"), "other": file_of(tmp_path, "other")}
    put(tmp_path, *checks)
    configure(tmp_path, sink, checks)
    with run(tmp_path) as agent:
        agent.wait_healthy()
        take(tmp_path, "watched")
        wait_until(lambda: sink.kinds() == ["opened 1"], 10.0, "the beginning")
        for definition in (checks["watched"] + ", depends_on: [other]", f"file: {{path: {tmp_path}/watched.ok, min_size: 1}}"):
            configure(tmp_path, sink, checks | {"watched": definition})
            assert agent.cli("reload").stdout.startswith("applied ")
            assert "watched" in reported(agent)
            known = looks(agent)
            wait_until(lambda known=known: looks(agent) > known + 5, 10.0, "some looks")
            assert incident(agent, 1)["phase"] == "open" and sink.kinds() == ["opened 1"]
        put(tmp_path, "watched")  # which is empty
        configure(tmp_path, sink, {"other": checks["other"]})
        assert agent.cli("reload").stdout.startswith("applied ")
        wait_until(lambda: sink.kinds() == ["opened 1", "unwatched 1"], 10.0, "the end")
        assert sink.taken[-1]["title"].startswith("NOT WATCHED check:watched CHECK_FAILED: it is not watched any more, and nobody saw it good")
