"""From nothing to a running agent with the built programs: init, config, doctor."""

import json
import os
import socket
import subprocess
import tarfile

import pytest

from tools.agent import Agent, programs


def run(program, *words, **more):
    return subprocess.run([programs() / program, *words], capture_output=True, text=True, timeout=20, check=False, **more)


def put(root, path, data=b""):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def test_what_init_finds_is_a_valid_configuration(tmp_path):
    root = tmp_path / "root"
    put(root, "run/ovn/ovnnb_db.ctl")
    put(root, "run/ovn/ovnnb_db.sock")
    put(root, "run/ovn/ovnsb_db.ctl")
    put(root, "run/calico/bird.ctl")
    put(root, "run/frr/bgpd.pid", b"1\n")
    put(root, "proc/net/tcp", b"   0: 0100007F:238B 00000000:0000 0A 0:0\n")
    put(root, "etc/service/enabled/felix/supervise/status", bytes(20))
    put(root, "run/service/web/supervise/status", bytes(43))
    found = run("wardmote", "init", "--root", root)
    assert found.returncode == 0, found.stderr
    file = tmp_path / "wardmote.yaml"
    file.write_text(found.stdout, encoding="utf-8")
    checked = run("wardmote", "config", "check", file)
    assert (checked.returncode, checked.stdout) == (0, "ok\n"), checked.stderr
    shown = run("wardmote", "config", "show", "--effective", file).stdout
    for word in ("ovn-nb", "ovn-sb", "bird", "frr-bgpd-process", "felix-live", "felix-ready", "felix", "web"):
        assert f"name: {word}\n" in shown


def test_init_on_an_empty_machine(tmp_path):
    nothing = run("wardmote", "init", "--root", tmp_path)
    assert nothing.returncode == 1
    assert "Nothing was found" in nothing.stdout


def test_config_through_wardmote_is_that_of_wardmoted(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("chekcs: []\n", encoding="utf-8")
    for program in ("wardmote", "wardmoted"):
        refused = run(program, "config", "check", bad)
        assert refused.returncode == 65
        assert "bad.yaml:1:1: unknown key 'chekcs'" in refused.stderr
    assert json.loads(run("wardmote", "config", "schema").stdout)["type"] == "object"


@pytest.mark.parametrize("program", ["wardmote", "wardmoted"])
def test_manual_pages(program):
    page = run(program, "man").stdout
    assert page.startswith(f".TH {program} ")


@pytest.fixture
def agent(tmp_path):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        file = tmp_path / "wardmote.yaml"
        file.write_text(f"api: {{socket: {tmp_path}/api.sock}}\n"
                        f"checks: [{{name: a, tcp: {{address: 127.0.0.1:{listener.getsockname()[1]}}}, every: 200ms}}]\n",
                        encoding="utf-8")
        with Agent(file, tmp_path / "api.sock") as running:
            running.wait_healthy()
            yield running


def test_every_format(agent):
    assert agent.cli("get", "checks", "-o", "name").stdout == "a\n"
    assert agent.cli("status", "-o", "name").stdout == "check/a\n"
    assert json.loads(agent.cli("get", "checks", "-o", "jsonl").stdout)["name"] == "a"
    assert "\n  - name: a\n" in agent.cli("get", "checks", "-o", "yaml").stdout
    assert "MISSED" in agent.cli("get", "checks", "-o", "wide").stdout


def test_the_environment_overrides_the_file(tmp_path, agent):
    shown = run("wardmoted", "config", "show", agent.config, env={**os.environ, "WARDMOTE_NODE_NAME": "me"})
    assert "node:\n  name: me\n" in shown.stdout


def test_a_reload_that_needs_a_restart_says_so(agent, tmp_path):
    (tmp_path / "data").mkdir()
    text = agent.config.read_text(encoding="utf-8")
    agent.config.write_text(f"data: {tmp_path}/data\n" + text, encoding="utf-8")
    told = agent.cli("reload")
    assert told.returncode == 0, told.stderr
    assert "restart needed: data" in told.stderr
    assert "restart needed: the changed data" in agent.cli("status").stdout
    assert "data was changed" in agent.cli("doctor", timeout=40.0).stdout
    agent.config.write_text(text, encoding="utf-8")
    assert "restart" not in agent.cli("reload").stderr
    assert "restart needed" not in agent.cli("status").stdout


STARTS_NOT = {
    "no such folder": ("data: {0}/none\n", 69, "data: {0}/none: there is no such folder; create it"),
    "no such secret": ("notify: {{receivers: [{{name: hook, webhook: {{url: 'http://127.0.0.1:1/', secret_file: {0}/none}}}}], "
                       "routes: [{{receiver: hook}}]}}\n", 65, "receiver hook: {0}/none"),
    "no such certificate": ("api: {{socket: {0}/api.sock, listen: '127.0.0.9:9471', tls: {{certificate: {0}/none.pem, key: {0}/none.key}}}}\n", 65,
                            "{0}/none.pem"),
}


@pytest.mark.parametrize("fault", STARTS_NOT)
def test_what_the_start_refuses_the_check_refuses(tmp_path, fault):
    text, code, says = (each.format(tmp_path) if isinstance(each, str) else each for each in STARTS_NOT[fault])
    file = tmp_path / "wardmote.yaml"
    api = "" if text.startswith("api:") else f"api: {{socket: {tmp_path}/api.sock}}\n"
    file.write_text(f"{text}{api}checks: [{{name: a, tcp: {{address: 127.0.0.1:1}}}}]\n", encoding="utf-8")
    for command in (("wardmote", "config", "check", file), ("wardmoted", "config", "check", file),
                    ("wardmoted", "--check", "--config", file)):
        checked = run(*command)
        assert checked.returncode == 65 and says in checked.stderr, (command, checked.stdout, checked.stderr)
    started = run("wardmoted", "--config", file)
    assert started.returncode == code and says in started.stderr, started.stderr


def test_doctor(agent, tmp_path):
    bundle = tmp_path / "bundle.tar"
    told = agent.cli("doctor", "--bundle", bundle)
    assert told.returncode in (0, 1, 3), told.stdout + told.stderr
    assert "agent: answers" in told.stdout
    assert "is valid" in told.stdout
    assert bundle.stat().st_mode & 0o777 == 0o600
    with tarfile.open(bundle) as archive:
        names = set(archive.getnames())
        assert names == {f"wardmote/{name}" for name in
                         ("doctor.json", "version.txt", "status.json", "metrics.txt", "configuration.yaml")}
        assert json.load(archive.extractfile("wardmote/status.json"))["verdict"] == "ok"
        assert b"name: a" in archive.extractfile("wardmote/configuration.yaml").read()
    assert agent.cli("doctor", "--bundle", bundle).returncode == 64, "it writes over nothing"
    diagnoses = json.loads(agent.cli("doctor", "-o", "json").stdout)["diagnoses"]
    assert {"agent", "configuration", "file", "clock", "descriptors", "socket"} <= {one["name"] for one in diagnoses}


def test_doctor_without_an_agent(tmp_path):
    told = run("wardmote", "doctor", "--socket", tmp_path / "none.sock")
    assert told.returncode == 2
    assert "cannot reach the agent" in told.stdout
