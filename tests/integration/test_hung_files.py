"""The probe `file` where the file system hangs: a real kernel, and a FUSE daemon that never answers."""

import json
import os
import socket
import subprocess

import pytest

from lab.hung_files import HungFiles
from lab.processes import wait_until
from tools.agent import Agent, programs


@pytest.fixture
def hung(tmp_path):
    with HungFiles(tmp_path / "hung") as files:
        yield files


def check(agent, name):
    return next(one for one in agent.json("/api/v1/checks")["checks"] if one["name"] == name)


def test_once_it_is_unknown_by_the_deadline(hung):
    done = subprocess.run([*hung.inside, programs() / "wardmote", "probe", "file", hung.folder / "backup", "--timeout", "300ms",
                           "-o", "json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 3, done
    seen = json.loads(done.stdout)
    assert (seen["outcome"], seen["reason"]) == ("unknown", "hung")
    assert "its file system does not answer" in seen["detail"]


def test_nobody_else_waits_and_a_path_is_asked_once(hung, tmp_path):
    (tmp_path / "here").touch()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        config = tmp_path / "wardmote.yaml"
        often = "every: 200ms, timeout: 150ms"
        config.write_text(f"""
api: {{socket: {tmp_path}/api.sock}}
checks:
  - {{name: gone, file: {{path: {hung.folder}/backup}}, {often}}}
  - {{name: gone-too, file: {{path: {hung.folder}/other}}, {often}}}
  - {{name: here, file: {{path: {tmp_path}/here}}, {often}}}
  - {{name: port, tcp: {{address: 127.0.0.1:{listener.getsockname()[1]}}}, {often}}}
""", encoding="utf-8")
        with Agent(config, tmp_path / "api.sock", hung.inside) as agent:
            agent.wait_serving()
            wait_until(lambda: check(agent, "gone")["looks"] >= 10, 60, "ten looks")
            for name in ("gone", "gone-too"):
                seen = check(agent, name)
                assert (seen["outcome"], seen["reason"], seen["state"]) == ("unknown", "hung", "discovery"), seen
            for name in ("here", "port"):
                assert check(agent, name)["state"] == "healthy"
            # One for each path that hangs and one for the others, beside what the agent has anyway.
            threads = len(os.listdir(f"/proc/{agent.process.pid}/task"))
            looks = check(agent, "gone")["looks"]
            wait_until(lambda: check(agent, "gone")["looks"] >= looks + 10, 60, "ten more looks")
            assert len(os.listdir(f"/proc/{agent.process.pid}/task")) == threads
            # Its daemon dies: what was asked is answered, and what is asked anew too.
            hung.end()
            wait_until(lambda: check(agent, "gone")["reason"] not in ("hung", None), 30, "the end of the waiting")
            assert agent.stop() == 0


def test_the_agent_ends_while_it_hangs(hung, tmp_path):
    config = tmp_path / "wardmote.yaml"
    config.write_text(f"""
api: {{socket: {tmp_path}/api.sock}}
checks: [{{name: gone, file: {{path: {hung.folder}/backup}}, every: 200ms, timeout: 150ms}}]
""", encoding="utf-8")
    with Agent(config, tmp_path / "api.sock", hung.inside) as agent:
        agent.wait_serving()
        wait_until(lambda: check(agent, "gone")["looks"] >= 1, 30, "a look")
        assert agent.stop() == 0
