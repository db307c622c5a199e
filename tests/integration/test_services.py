"""Receivers at services (chats, push, on call), a real agent, and a fake of each service: an HTTP server that keeps what it is sent.

The fake cannot say whether a service would take the request; tests/unit/act/services_test.cc compares every payload with what the service
publishes. Here it is shown that the configuration, the secrets' files, the routes and both ends of an incident come together.
"""

import json

import pytest

from http_sink import Sink
from lab.processes import wait_until
from tools.agent import Agent

SECRET = "not-to-be-seen"


@pytest.fixture
def sink():
    with Sink() as sink:
        yield sink


def write_config(folder, target, port) -> None:
    server = f"http://127.0.0.1:{port}"
    (folder / "data").mkdir()
    (folder / "secret").write_text(SECRET + "\n", encoding="utf-8")
    (folder / "hook").write_text(f"{server}/hook/{SECRET}\n", encoding="utf-8")
    key = f"{folder}/secret"
    ways = {
        "slack": f"{{url_file: {folder}/hook}}",
        "teams": f"{{url_file: {folder}/hook}}",
        "pagerduty": f"{{url: '{server}', routing_key_file: {key}}}",
        "opsgenie": f"{{url: '{server}', key_file: {key}, team: ops}}",
        "ntfy": f"{{url: '{server}/topic', token_file: {key}, text: '{{{{#incidents}}}}{{{{code}}}} of {{{{root}}}}{{{{/incidents}}}}'}}",
        "gotify": f"{{url: '{server}', token_file: {key}}}",
        "telegram": f"{{url: '{server}', token_file: {key}, chat: '-1001'}}",
        "matrix": f"{{url: '{server}', token_file: {key}, room: '!r:example.org'}}",
    }
    receivers = "".join(f"    - {{name: my-{kind}, timeout: 2s, {kind}: {options}}}\n" for kind, options in ways.items())
    routes = "".join(f"    - {{receiver: my-{kind}, match: ['code=~CHECK_(FAILED|X)'], group_wait: 0s, group_interval: 1s, continue: true}}\n"
                     for kind in ways)
    (folder / "wardmote.yaml").write_text(
        f"api: {{socket: {folder}/api.sock}}\ndata: {folder}/data\n"
        f"checks:\n  - {{name: web, tcp: {{address: 127.0.0.1:{target.port}}}, every: 200ms, timeout: 200ms, fall: 2, rise: 1}}\n"
        f"notify:\n  receivers:\n{receivers}  routes:\n{routes}", encoding="utf-8")


def test_each_service_hears_the_beginning_and_the_end(tmp_path, target, sink):
    write_config(tmp_path, target, sink.port)
    with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock") as agent:
        agent.wait_healthy()
        tried = agent.cli("notify", "route", "test", "-l", "root=check:web", "-l", "code=CHECK_FAILED")
        assert tried.returncode == 0 and tried.stdout.count("gets it") == 8, tried.stdout
        assert "my-slack{root=check:web}" in tried.stdout
        tried = agent.cli("notify", "route", "test", "-l", "root=check:web", "-l", "code=RAFT_NO_QUORUM")
        assert tried.returncode == 1 and "code=~CHECK_(FAILED|X) does not match" in tried.stdout, tried.stdout
        assert agent.cli("notify", "route", "test", "-l", "colour=red").returncode != 0

        target.down()
        wait_until(lambda: len(sink.taken) >= 8, 30.0, "eight beginnings")
        target.up()
        wait_until(lambda: len(sink.taken) >= 16, 30.0, "eight ends")

        def told(method: str, path: str) -> list[dict]:
            return [json.loads(body["raw"]) for request, body in zip(sink.requests, sink.taken) if request[0] == method and request[1].startswith(path)]

        hooks = told("POST", f"/hook/{SECRET}")
        slack = [one for one in hooks if "blocks" in one]
        assert len(slack) == 2 and slack[0]["text"].startswith("CRITICAL check:web") and slack[1]["text"].startswith("RESOLVED check:web")
        assert [one["attachments"][0]["content"]["body"][0]["color"] for one in hooks if "attachments" in one] == ["attention", "good"]
        events = told("POST", "/v2/enqueue")
        assert [event["event_action"] for event in events] == ["trigger", "resolve"]
        assert events[0]["dedup_key"] == events[1]["dedup_key"] and events[0]["routing_key"] == SECRET
        alerts = [path for _, path in sink.requests if path.startswith("/v2/alerts")]
        assert len(alerts) == 2 and alerts[1].endswith("/close?identifierType=alias")
        assert [one["message"] for one in told("POST", "/") if one.get("topic") == "topic"] == ["CHECK_FAILED of check:web"] * 2
        assert len(told("POST", "/message")) == 2
        assert {one["chat_id"] for one in told("POST", f"/bot{SECRET}/sendMessage")} == {"-1001"}
        assert len(told("PUT", "/_matrix/client/v3/rooms/%21r%3Aexample.org/send/m.room.message/")) == 2

        shown = "".join(agent.get(path)[1] for path in ("/api/v1/receivers", "/api/v1/history", "/metrics"))
        assert SECRET not in shown + agent.output() + agent.cli("config", "show", "--effective", str(tmp_path / "wardmote.yaml")).stdout
