"""A running agent to which programs push: over HTTP, by datagrams, as systemd's sd_notify does; and gates that want enough of several."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.processes import wait_until
from tools.agent import Agent

CONFIGURATION = """
api: {{socket: {folder}/api.sock}}
reporters:
  - {{name: felix, timeout: 2s, socket: {folder}/felix.sock}}
  - {{name: typha, reports: [ready], timeout: 1s, override: 0s}}
checks:
  - {{name: a, file: {{path: {folder}/a}}, every: 100ms, fall: 1, rise: 1}}
  - {{name: b, file: {{path: {folder}/b}}, every: 100ms, fall: 1, rise: 1}}
  - {{name: c, file: {{path: {folder}/c}}, every: 100ms, fall: 1, rise: 1}}
gates:
  live: {{all: [felix.live]}}
  ready: {{all: [felix.ready, typha.ready]}}
  files: {{at_least: {{count: 2, of: [a, b, c]}}}}
"""


@pytest.fixture
def agent(tmp_path):
    file = tmp_path / "wardmote.yaml"
    file.write_text(CONFIGURATION.format(folder=tmp_path), encoding="utf-8")
    with Agent(file, tmp_path / "api.sock") as running:
        running.wait_serving()
        yield running


def push(agent: Agent, reporter: str, body, method: str = "PUT", timeout: float = 2.0) -> int:
    text = body if isinstance(body, str) else json.dumps(body)
    return agent.order(method, f"/api/v1/reporters/{reporter}", text, timeout)[0]


def notify(agent: Agent, message: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(message.encode(), str(agent.config.parent / "felix.sock"))


def gate(agent: Agent, name: str) -> dict:
    return next(one for one in agent.json("/api/v1/status")["gates"] if one["name"] == name)


def test_reports_open_and_close_the_gates(agent):
    assert agent.get("/readyz")[0] == 503
    assert push(agent, "typha", {"ready": True}) == 200
    notify(agent, "READY=1\nSTATUS=in sync")
    wait_until(lambda: agent.get("/readyz")[0] == 200, 15.0, "the gate to open at once")
    assert push(agent, "felix", {"ready": False, "detail": "resyncing"}, "POST") == 200
    wait_until(lambda: agent.get("/readyz")[0] == 503, 15.0, "the gate to close at once")
    assert "resyncing" in agent.get("/readyz?verbose")[1]
    notify(agent, "WATCHDOG=trigger")
    wait_until(lambda: agent.get("/livez")[0] == 503, 15.0, "the other gate")


def test_who_falls_silent_is_not_live_and_whoever_is_overridden_is(agent):
    push(agent, "typha", {"ready": True, "timeout": "1s"})
    notify(agent, "READY=1")
    begun = time.monotonic()
    wait_until(lambda: agent.get("/readyz")[0] == 200, 15.0, "the gate to open")
    wait_until(lambda: agent.get("/livez")[0] == 503, 15.0, "the timeout")
    assert 1.9 < time.monotonic() - begun < 5.0
    felix, typha = agent.json("/api/v1/reporters")["reporters"]
    assert felix["timed_out"] and not felix["live"] and not felix["ready"]
    assert typha["overridden"] and typha["ready"] and typha["live"] is None
    notify(agent, "WATCHDOG=1")
    wait_until(lambda: agent.get("/livez")[0] == 200, 15.0, "the one that speaks again")


def test_what_is_no_report_is_refused(agent):
    assert push(agent, "nobody", {}) == 404
    assert push(agent, "felix", "{") == 400
    assert push(agent, "felix", {"raedy": True}) == 400
    assert push(agent, "felix", " " * 20_000) == 413
    notify(agent, "nonsense")
    notify(agent, "x" * 20_000)
    notify(agent, "READY=1")
    wait_until(lambda: agent.json("/api/v1/reporters")["reporters"][0]["ready"], 15.0, "the good one after the bad ones")
    wait_until(lambda: "report_refused" in agent.output(), 15.0, "a line in the log")
    assert agent.output().count("report_refused") == 1


def test_a_real_sd_notify_reports(agent):
    script = ("import os, socket\n"
              "with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as s:\n"
              "    s.connect(os.environ['NOTIFY_SOCKET'])\n"
              "    s.sendall(b'READY=1\\nMAINPID=%d' % os.getpid())\n")
    subprocess.run([sys.executable, "-c", script], check=True,
                   env={**os.environ, "NOTIFY_SOCKET": str(agent.config.parent / "felix.sock")})
    wait_until(lambda: agent.json("/api/v1/reporters")["reporters"][0]["ready"], 15.0, "its report")


def test_reports_outlive_a_reload(agent):
    push(agent, "typha", {"ready": True})
    text = agent.config.read_text(encoding="utf-8")
    agent.config.write_text(text.replace("name: felix, timeout: 2s", "name: felix, timeout: 60s"), encoding="utf-8")
    agent.process.send_signal(signal.SIGHUP)
    wait_until(lambda: agent.json("/api/v1/reporters")["reporters"][0]["timeout_ms"] == 60_000, 15.0, "the new timeout")
    assert agent.json("/api/v1/reporters")["reporters"][1]["ready"]
    notify(agent, "READY=1")
    wait_until(lambda: agent.get("/readyz")[0] == 200, 15.0, "the socket goes on")


def test_two_of_three(agent):
    folder = agent.config.parent
    assert gate(agent, "files")["ready"] is False
    (folder / "a").touch()
    (folder / "b").touch()
    wait_until(lambda: gate(agent, "files")["ready"], 15.0, "two of three")
    assert gate(agent, "files")["failing"] == []
    (folder / "b").unlink()
    wait_until(lambda: not gate(agent, "files")["ready"], 15.0, "one of three")
    assert set(gate(agent, "files")["failing"]) == {"b", "c"}
    (folder / "c").touch()
    wait_until(lambda: gate(agent, "files")["ready"], 15.0, "another two of three")


def test_sixteen_who_report_at_once_lose_nothing(tmp_path):
    names = [f"worker-{number}" for number in range(160)]
    file = tmp_path / "wardmote.yaml"
    lines = [f"api: {{socket: {tmp_path}/api.sock}}", "reporters:", *(f"  - {{name: {name}, timeout: 0s}}" for name in names)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Agent(file, tmp_path / "api.sock") as agent:
        agent.wait_serving()

        def report(first: int) -> set[int]:
            mine = names[first::16]
            return {push(agent, name, {"live": True, "ready": last == 9, "detail": f"{name} {last}"}, timeout=30.0)
                    for last in range(10) for name in mine}

        with ThreadPoolExecutor(16) as together:
            assert set().union(*together.map(report, range(16))) == {200}
        told = {one["name"]: (one["live"], one["ready"], one["detail"]) for one in agent.json("/api/v1/reporters")["reporters"]}
        assert told == {name: (True, True, f"{name} 9") for name in names}
        wait_until(lambda: agent.get("/readyz")[0] == 200, 30, "all of them to be ready")


def test_who_floods_his_socket_starves_nobody(agent):
    """Without a limit the agent read, judged and wrote down each of tens of thousands of reports."""
    stop = time.monotonic() + 3
    slowest, sent = 0.0, 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.connect(str(agent.config.parent / "felix.sock"))
        while time.monotonic() < stop:
            for _ in range(200):
                try:
                    sender.send(b"READY=1" if sent % 2 else b"STOPPING=1")
                    sent += 1
                except BlockingIOError:
                    break
            begun = time.monotonic()
            assert agent.get("/livez")[0] in (200, 503)
            slowest = max(slowest, time.monotonic() - begun)
    # 50 a second, and what the socket holds.
    assert sent < 50 * 5 + 600, sent
    assert slowest < 2, slowest
    changes = agent.json("/api/v1/history")["events"]
    assert len([one for one in changes if one["subject"] == "felix.ready"]) < 50 * 5 + 600
