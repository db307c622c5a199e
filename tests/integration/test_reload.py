"""A running agent whose configuration changes: by itself, by SIGHUP, refused."""

import os
import signal
import socket
import urllib.request

import pytest

from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import Agent


@pytest.fixture
def port():
    """Somebody who accepts connections."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        yield listener.getsockname()[1]


def configuration(folder, checks):
    lines = [f"api: {{socket: {folder}/api.sock}}", "checks:"]
    lines += [f"  - {{name: {name}, tcp: {{address: 127.0.0.1:{target}}}, every: 200ms, fall: 1}}" for name, target in checks.items()]
    return "\n".join(lines) + "\n"


def save(file, text):
    """As editors do: a new file in place of the old."""
    beside = file.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, file)


def check(agent, name):
    return next(one for one in agent.json("/api/v1/checks")["checks"] if one["name"] == name)


def names(agent):
    return {one["name"] for one in agent.json("/api/v1/checks")["checks"]}


@pytest.fixture
def agent(tmp_path, port):
    save(tmp_path / "wardmote.yaml", configuration(tmp_path, {"stays": port, "goes": port}))
    with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock") as running:
        running.wait_healthy()
        yield running


def test_a_changed_file_is_applied_and_the_rest_goes_on(agent, port):
    before = check(agent, "stays")
    save(agent.config, configuration(agent.config.parent, {"new": port, "stays": port}))
    wait_until(lambda: names(agent) == {"new", "stays"}, 15.0, "the new configuration")
    after = check(agent, "stays")
    assert after["looks"] >= before["looks"] > 0
    assert after["since_ms"] > before["since_ms"]
    assert after["missed"] == 0
    agent.wait_healthy()
    assert agent.json("/api/v1/status")["config"]["reloads"] == 1


def test_sighup_and_a_file_that_is_refused(agent, port):
    good = agent.config.read_text(encoding="utf-8")
    save(agent.config, good + "chekcs: []\n")
    agent.process.send_signal(signal.SIGHUP)
    wait_until(lambda: agent.json("/api/v1/status")["config"]["refused"], 15.0, "the refusal")
    refused = agent.json("/api/v1/status")["config"]["refused"]
    assert len(refused["problems"]) == 1
    assert "wardmote.yaml:5:1: unknown key 'chekcs'" in refused["problems"][0]
    assert names(agent) == {"stays", "goes"}
    assert "unknown key 'chekcs'" in agent.cli("status").stdout
    assert "wardmote_config_last_reload_successful 0" in agent.get("/metrics")[1]
    assert agent.get("/readyz")[0] == 200

    save(agent.config, configuration(agent.config.parent, {"stays": port}))
    agent.process.send_signal(signal.SIGHUP)
    wait_until(lambda: names(agent) == {"stays"}, 15.0, "the mended configuration")
    assert agent.json("/api/v1/status")["config"]["refused"] is None


def test_the_order(agent, port):
    assert agent.cli("reload").stdout.startswith("unchanged ")
    save(agent.config, configuration(agent.config.parent, {"stays": port, "new": port}))
    done = agent.cli("reload")
    assert (done.returncode, done.stdout.split()[0]) == (0, "applied"), done.stderr
    assert names(agent) == {"stays", "new"}, "when the order ends, it is done"
    runs = agent.json("/debug/config")
    assert runs["hash"] == agent.json("/api/v1/status")["config"]["hash"]
    assert [(one["name"], one["every"], one["rise"]) for one in runs["config"]["checks"]] == [("stays", "200ms", 2), ("new", "200ms", 2)]
    save(agent.config, "chekcs: []\n")
    refused = agent.cli("reload")
    assert refused.returncode == 65
    assert "wardmote.yaml:1:1: unknown key 'chekcs'" in refused.stderr
    assert names(agent) == {"stays", "new"}
    assert agent.json("/debug/config") == runs, "what runs, not what the file says"


def test_a_turned_link(tmp_path, port):
    """As the kubelet updates a ConfigMap."""
    for version, checks in {"1": {"a": port}, "2": {"b": port}}.items():
        (tmp_path / version).mkdir()
        save(tmp_path / version / "wardmote.yaml", configuration(tmp_path, checks))
    (tmp_path / "..data").symlink_to("1")
    (tmp_path / "wardmote.yaml").symlink_to("..data/wardmote.yaml")
    with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock") as agent:
        agent.wait_healthy()
        (tmp_path / "..data_tmp").symlink_to("2")
        os.replace(tmp_path / "..data_tmp", tmp_path / "..data")
        wait_until(lambda: names(agent) == {"b"}, 15.0, "the other version")


def test_the_api_moves_without_a_gap(agent, port):
    elsewhere = agent.config.parent / "other.sock"
    text = agent.config.read_text(encoding="utf-8")
    save(agent.config, text.replace("api.sock", "other.sock"))
    agent.process.send_signal(signal.SIGHUP)
    wait_until(lambda: not agent.api_socket.exists() and elsewhere.exists(), 15.0, "the other socket")
    agent.api_socket = elsewhere
    agent.wait_healthy()


def test_an_address_that_is_taken_is_refused_and_taken_when_free(agent, port):
    text = agent.config.read_text(encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        elsewhere = text.replace("api: {socket:", f"api: {{listen: 127.0.0.1:{number}, socket:")
        save(agent.config, elsewhere)
        refused = agent.cli("reload")
        assert refused.returncode != 0
        assert f"127.0.0.1:{number}" in refused.stderr and "in use" in refused.stderr.lower(), refused.stderr
        assert names(agent) == {"stays", "goes"}, "what ran before runs on"
    assert agent.cli("reload").returncode == 0
    with urllib.request.urlopen(f"http://127.0.0.1:{number}/livez", timeout=5) as answer:
        assert answer.status == 200


def test_a_check_that_becomes_optional_or_is_not_any_more_while_it_fails(agent, port):
    """The open incident gets the severity that the new configuration gives it, and the gate its rule."""
    folder = agent.config.parent
    nobody = free_port()

    def apply(how):
        save(agent.config, configuration(folder, {"stays": port, "bad": nobody}).replace(f":{nobody}}},", f":{nobody}}}, optional: {how},"))
        assert agent.cli("reload").returncode == 0

    def incident():
        return next(((one["severity"], one["root"]) for one in agent.json("/api/v1/incidents")["incidents"]), None)

    apply("false")
    wait_until(lambda: incident() == ("critical", "check:bad"), 20, "its incident")
    assert agent.get("/readyz")[0] == 503
    apply("true")
    assert incident() is None and agent.get("/readyz")[0] == 200, "it was never good, so it counts nowhere"
    apply("false")
    assert incident() == ("critical", "check:bad") and agent.get("/readyz")[0] == 503
    with socket.create_server(("127.0.0.1", nobody)):
        wait_until(lambda: incident() is None, 20, "it to be good")
    wait_until(lambda: incident() == ("critical", "check:bad"), 20, "its incident")
    apply("true")
    assert incident() == ("warning", "check:bad"), "it was good once"
    assert agent.get("/readyz")[0] == 200, "/readyz follows what is not optional"
