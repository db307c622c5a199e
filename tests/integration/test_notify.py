"""Incidents and who is told of them: a real agent, a real Alertmanager, receivers that misbehave, and kill -9."""

import datetime
import hashlib
import hmac
import json
import os
import subprocess
import time

import pytest

from http_sink import Sink
from lab.alertmanager import Alertmanager
from lab.ports import free_port
from lab.processes import wait_until
from tcp_target import Target
from tools.agent import ROOT, Agent, programs

SECRET = "not-to-be-seen"


@pytest.fixture
def sink():
    with Sink() as sink:
        yield sink


def write_config(folder, target, receivers, route="group_wait: 0s, group_interval: 1s"):
    (folder / "data").mkdir(exist_ok=True)
    (folder / "secret").write_text(SECRET + "\n", encoding="utf-8")
    names = "".join(f"    - {{receiver: {name}, {route}, continue: true}}\n" for name in receivers)
    ways = "".join(f"    - {{name: {name}, timeout: 2s, {way}}}\n" for name, way in receivers.items())
    (folder / "wardmote.yaml").write_text(
        f"api: {{socket: {folder}/api.sock}}\ndata: {folder}/data\n"
        f"checks:\n  - {{name: web, tcp: {{address: 127.0.0.1:{target.port}}}, every: 200ms, timeout: 200ms, fall: 2, rise: 1}}\n"
        f"notify:\n  receivers:\n{ways}  routes:\n{names}", encoding="utf-8")


def run(folder, inside=None) -> Agent:
    return Agent(folder / "wardmote.yaml", folder / "api.sock", inside)


def answers(agent) -> bool:
    return agent.get("/api/v1/incidents")[0] == 200


def hook(sink, folder) -> str:
    return f"webhook: {{url: 'http://127.0.0.1:{sink.port}/PATHSECRET', secret_file: {folder}/secret, token_file: {folder}/secret}}"


def incidents(agent):
    return agent.json("/api/v1/incidents")["incidents"]


def fail_and_recover(agent, target, heard, seconds=10.0):
    target.down()
    wait_until(lambda: heard("opened 1"), seconds, "the beginning")
    assert [one["id"] for one in incidents(agent)] == [1]
    target.up()
    wait_until(lambda: heard("resolved 1"), seconds, "the end")


def test_a_reload_changes_who_is_told(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with Sink() as other, run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: "opened 1" in sink.kinds(), 10.0, "the beginning")
        write_config(tmp_path, target, {"hook": hook(other, tmp_path), "second": hook(other, tmp_path)})
        assert agent.cli("reload").stdout.startswith("applied ")
        assert [one["name"] for one in agent.json("/api/v1/receivers")["receivers"]] == ["hook", "second"]
        target.up()
        wait_until(lambda: "resolved 1" in other.kinds(), 10.0, "the end, at the new address")
        assert sink.kinds() == ["opened 1"]

        # One whose secret is not there is refused whole.
        write_config(tmp_path, target, {"third": hook(sink, tmp_path)})
        (tmp_path / "secret").unlink()
        assert agent.cli("reload").returncode == 65
        assert [one["name"] for one in agent.json("/api/v1/receivers")["receivers"]] == ["hook", "second"]
        write_config(tmp_path, target, {"second": hook(other, tmp_path)})
        assert agent.cli("reload").returncode == 0
        assert agent.cli("notify", "test", "hook").returncode != 0
        assert agent.cli("notify", "test", "second").returncode == 0


def test_a_webhook_hears_the_beginning_and_the_end_signed_once(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        fail_and_recover(agent, target, lambda what: what in sink.kinds())
        time.sleep(1.5)
        assert sink.kinds() == ["opened 1", "resolved 1"]
        _, key, headers = sink.attempts[0]
        signed = f"{headers['X-Wardmote-Timestamp']}.".encode() + sink.taken[0]["raw"]
        assert headers["X-Wardmote-Signature"] == "sha256=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert key == sink.taken[0]["key"] and key.startswith("hook{root=check:web}#")
        story = agent.cli("history", "--incident", "1").stdout
        for word in ("incident_opened", "notice_delivered", "incident_resolved", "check_changed"):
            assert word in story


def test_secrets_are_in_no_log_answer_or_argument(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        sink.manner = "500"
        target.down()
        wait_until(lambda: sink.attempts, 10.0, "an attempt")
        wait_until(lambda: agent.json("/api/v1/receivers")["receivers"][0]["refused"], 15.0, "the refusal")
        shown = "".join(agent.get(path)[1] for path in (
            "/api/v1/receivers", "/api/v1/incidents", "/api/v1/history", "/api/v1/status", "/metrics", "/api/v1/silences"))
        with open(f"/proc/{agent.process.pid}/cmdline", encoding="utf-8") as arguments:
            shown += arguments.read()
        shown += agent.cli("get", "receivers").stdout + agent.output()
        for path in (tmp_path / "data").iterdir():
            shown += path.read_bytes().decode(errors="replace")
        assert SECRET not in shown and "PATHSECRET" not in shown
        assert SECRET in str(sink.attempts[0][2]["Authorization"])


def firing(manager) -> list[dict]:
    return [one for one in manager.alerts() if one["labels"].get("incident")]


@pytest.mark.parametrize("restart", ["when the cause has shown", "when all is well again", "never"])
def test_an_alert_whose_cause_shows_ends_in_alertmanager(tmp_path, target, restart):
    """`web` needs `db`: the alert begins as that of `web`, and is that of `db` when it ends."""
    with Alertmanager(ROOT / "build/lab/alertmanager", tmp_path / "am") as manager:
        db = Target()
        write_config(tmp_path, target, {"am": f"alertmanager: {{urls: ['{manager.url}']}}"}, route="group_wait: 0s, group_interval: 1s, group_by: [root]")
        text = (tmp_path / "wardmote.yaml").read_text(encoding="utf-8")
        text = text.replace("fall: 2, rise: 1}", "fall: 2, rise: 1, depends_on: [db]}\n"
                            f"  - {{name: db, tcp: {{address: 127.0.0.1:{db.port}}}, every: 200ms, timeout: 200ms, fall: 2, rise: 1}}")
        (tmp_path / "wardmote.yaml").write_text(text, encoding="utf-8")
        agent = run(tmp_path)
        try:
            def again(when: str) -> None:
                nonlocal agent
                if when == restart:
                    agent.process.kill()
                    agent.process.wait()
                    agent = run(tmp_path)
                    agent.wait_serving()

            agent.wait_healthy()
            target.down()
            alerts = wait_until(lambda: firing(manager), 20.0, "the alert")
            labels = alerts[0]["labels"]
            assert labels["root"] == "check:web"
            db.down()
            wait_until(lambda: [one["annotations"]["root"] for one in firing(manager)] == ["check:db"], 20.0, "its cause")
            assert [one["labels"] for one in firing(manager)] == [labels], "it is the same alert"
            again("when the cause has shown")
            wait_until(lambda: [one["root"] for one in incidents(agent)] == ["check:db"], 20.0, "the same incident")
            manager.kill()
            target.up()
            db.up()
            wait_until(lambda: not incidents(agent), 30.0, "its end")
            again("when all is well again")
            manager.start()
            wait_until(lambda: not firing(manager), 40.0, "nothing to fire")
        finally:
            db.listener.close()
            agent.process.kill()
            agent.process.wait()


@pytest.mark.parametrize("manner", ["302", "403"])
def test_a_receiver_that_somebody_may_mend_is_tried_again_and_shown(tmp_path, target, sink, manner):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        sink.manner = manner
        target.down()
        wait_until(lambda: sink.attempts, 20.0, "an attempt")
        last = wait_until(lambda: agent.json("/api/v1/receivers")["receivers"][0]["last"], 20.0, "the refusal")
        assert not last["good"] and f"HTTP {manner}" in last["reason"] and "PATHSECRET" not in last["reason"]
        assert agent.json("/api/v1/receivers")["dead_letters"] == []
        assert agent.cli("get", "receivers").returncode == 1
        # Mended, and no ten seconds to wait.
        sink.manner = "ok"
        text = (tmp_path / "wardmote.yaml").read_text(encoding="utf-8")
        (tmp_path / "wardmote.yaml").write_text(text.replace("timeout: 2s", "timeout: 3s"), encoding="utf-8")
        assert agent.cli("reload").returncode == 0
        wait_until(lambda: "opened 1" in sink.kinds(), 20.0, "the beginning")
        assert agent.json("/api/v1/receivers")["dead_letters"] == []


@pytest.mark.parametrize("manner", ["slow", "500", "429", "hang", "half"])
def test_a_receiver_that_misbehaves_hears_all_when_it_is_well_again(tmp_path, target, sink, manner):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        sink.manner = manner
        target.down()
        wait_until(lambda: sink.attempts, 10.0, "an attempt")
        time.sleep(0.5)
        if manner == "429":
            time.sleep(2.0)
            assert len(sink.attempts) == 1, "it asked for time"
        sink.manner = "slow" if manner == "slow" else "ok"
        wait_until(lambda: "opened 1" in sink.kinds(), 25.0, "the beginning")
        target.up()
        wait_until(lambda: "resolved 1" in sink.kinds(), 25.0, "the end")
        assert sink.kinds() == ["opened 1", "resolved 1"]


def test_what_is_never_taken_is_kept_as_undelivered(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        sink.manner = "400"
        target.down()
        letters = wait_until(lambda: agent.json("/api/v1/receivers")["dead_letters"], 10.0, "the dead letter")
        assert letters[0]["incidents"] == [1] and "HTTP 400" in letters[0]["reason"]
        shown = agent.cli("get", "receivers")
        assert shown.returncode == 1 and "HTTP 400" in shown.stdout


def test_killed_at_random_moments_it_tells_each_beginning_and_each_end(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    deaths = 0
    agent = run(tmp_path)
    try:
        agent.wait_healthy()
        target.down()
        for pause in (0.35, 0.45, 0.52, 0.6, 0.8):
            time.sleep(pause)
            agent.process.kill()
            agent.process.wait()
            deaths += 1
            agent = run(tmp_path)
        wait_until(lambda: answers(agent), 10.0, "the last life")
        # Numbers that an earlier life may have told without writing them down are left out.
        wait_until(lambda: any(kind.startswith("opened ") for kind in sink.kinds()), 15.0, "the beginning")
        target.up()
        wait_until(lambda: not incidents(agent), 15.0, "the end")
        wait_until(lambda: sink.kinds()[-1].startswith(("resolved", "brief")), 15.0, "the last notice")
        keys = [key for _, key, _ in sink.attempts]
        assert len(keys) - len(set(keys)) <= deaths
        open_now, seen = {}, set()
        for notice in sink.taken:
            if notice["key"] in seen:
                continue
            seen.add(notice["key"])
            for item in notice["incidents"]:
                if item["kind"] == "resolved":
                    assert open_now.get(item["id"]), "an end before its beginning"
                open_now[item["id"]] = item["phase"] == "open"
        assert not any(open_now.values())
    finally:
        agent.process.kill()
        agent.process.wait()


def test_what_an_earlier_life_may_have_told_comes_again_with_its_key_and_is_counted(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        sink.manner = "hang"
        target.down()
        wait_until(lambda: sink.attempts, 30.0, "an attempt")
        agent.process.kill()
        agent.process.wait()
    before = {key for _, key, _ in sink.attempts}
    sink.manner = "ok"
    with run(tmp_path) as agent:
        wait_until(lambda: "opened 1" in sink.kinds(), 30.0, "the beginning, again")
        assert sink.taken[0]["key"] in before
        agent.wait_serving()
        assert 'wardmote_notices_total{receiver="hook",kind="webhook",result="repeated"} 1\n' in agent.get("/metrics")[1]


def test_alertmanager_shows_it_firing_over_an_outage_and_ends_it(tmp_path, target):
    with Alertmanager(ROOT / "build/lab/alertmanager", tmp_path / "am") as manager:
        write_config(tmp_path, target, {"am": f"alertmanager: {{urls: ['{manager.url}']}}"})
        with run(tmp_path) as agent:
            agent.wait_healthy()
            done = agent.cli("notify", "test", "am", timeout=40.0)
            assert done.returncode == 0, done.stderr
            manager.kill()
            target.down()
            wait_until(lambda: incidents(agent), 10.0, "the incident")
            wait_until(lambda: agent.json("/api/v1/receivers")["receivers"][0]["refused"], 10.0, "the refusal")
            manager.start()
            alerts = wait_until(lambda: [one for one in manager.alerts() if one["labels"].get("incident") == "1"], 30.0, "the alert")
            assert alerts[0]["labels"]["alertname"] == "wardmote"
            assert alerts[0]["labels"]["root"] == "check:web"
            assert alerts[0]["status"]["state"] == "active"
            assert alerts[0]["annotations"]["severity"] == "critical"
            target.up()
            wait_until(lambda: not [one for one in manager.alerts() if one["labels"].get("incident") == "1"], 30.0, "its end")


def fires(member: Sink) -> bool:
    """Whether a member of an Alertmanager cluster, that only was told this, has an alert that fires."""
    until = member.taken[-1]["alerts"][0]["endsAt"].replace("Z", "+00:00")
    return datetime.datetime.fromisoformat(until) > datetime.datetime.now(datetime.UTC)


def test_an_alertmanager_that_misses_an_end_hears_it_later_also_after_a_kill(tmp_path, target, sink):
    with Sink() as other:
        urls = f"['http://127.0.0.1:{sink.port}', 'http://127.0.0.1:{other.port}']"
        write_config(tmp_path, target, {"am": f"alertmanager: {{urls: {urls}}}"})
        with run(tmp_path) as agent:
            agent.wait_healthy()
            target.down()
            wait_until(lambda: sink.taken and other.taken, 10.0, "the beginning")
            assert fires(sink) and fires(other)
            other.manner = "500"
            target.up()
            wait_until(lambda: not fires(sink), 20.0, "the end at the one")
            wait_until(lambda: len(other.attempts) > len(other.taken), 10.0, "the refusal of the other")
            rows = {one["name"]: one["waiting"] for one in agent.json("/api/v1/receivers")["receivers"]}
            assert rows == {f"am@127.0.0.1:{sink.port}": 0, f"am@127.0.0.1:{other.port}": 1}
            agent.process.kill()
            agent.process.wait()
        with run(tmp_path) as agent:
            agent.wait_serving()
            assert fires(other)
            other.manner = "ok"
            wait_until(lambda: not fires(other), 30.0, "the end at the other")
            assert agent.cli("notify", "test", f"am@127.0.0.1:{other.port}").returncode == 0
            several = agent.cli("notify", "test", "am")
            assert several.returncode == 64 and f"am@127.0.0.1:{sink.port}" in several.stderr


def test_a_receiver_that_is_taken_out_and_put_back_misses_no_end(tmp_path, target, sink):
    config = tmp_path / "wardmote.yaml"
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    whole = config.read_text(encoding="utf-8")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: sink.taken, 10.0, "the beginning")
        config.write_text(whole[:whole.index("notify:")], encoding="utf-8")
        assert agent.cli("reload").returncode == 0
        target.up()
        wait_until(lambda: not incidents(agent), 10.0, "the end that nobody is told")
        agent.process.kill()
        agent.process.wait()
    with run(tmp_path) as agent:
        agent.wait_serving()
        config.write_text(whole, encoding="utf-8")
        assert agent.cli("reload").returncode == 0
        wait_until(lambda: len(sink.taken) == 2, 10.0, "the end")
        assert sink.kinds() == ["opened 1", "resolved 1"]


def test_a_receiver_that_comes_later_is_told_what_is_open(tmp_path, target, sink):
    with Sink() as other:
        write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
        with run(tmp_path) as agent:
            agent.wait_healthy()
            target.down()
            wait_until(lambda: sink.taken, 10.0, "the beginning")
            write_config(tmp_path, target, {"hook": hook(sink, tmp_path), "other": hook(other, tmp_path)})
            assert agent.cli("reload").returncode == 0
            wait_until(lambda: other.taken, 10.0, "the same, to the new one")
            target.up()
            wait_until(lambda: len(sink.taken) == 2 and len(other.taken) == 2, 10.0, "the end, to both")
        assert sink.kinds() == other.kinds() == ["opened 1", "resolved 1"]


def test_much_at_once_is_one_notice(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)}, route="group_wait: 3s, group_interval: 5s")
    text = (tmp_path / "wardmote.yaml").read_text(encoding="utf-8")
    more = "".join(f"  - {{name: web-{i}, tcp: {{address: 127.0.0.1:{target.port}}}, every: 1s, timeout: 500ms, fall: 1, rise: 1}}\n"
                   for i in range(300))
    (tmp_path / "wardmote.yaml").write_text(text.replace("notify:\n", more + "notify:\n"), encoding="utf-8")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: sink.taken, 20.0, "the notice")
        time.sleep(2.0)
        assert len(sink.taken) == 1
        assert sink.taken[0]["incidents"][0]["storm"] and len(sink.taken[0]["incidents"]) == 1
        shown = agent.json("/api/v1/incidents")
        assert shown["acts_frozen"] and [one["root"] for one in shown["incidents"]] == ["storm:tcp"]
        assert shown["incidents"][0]["symptoms"] == 301


def test_a_program_is_run_with_json_on_its_input(tmp_path, target):
    script = tmp_path / "page"
    script.write_text(f"#!/bin/sh\ncat >> {tmp_path}/said\n", encoding="utf-8")
    script.chmod(0o755)
    write_config(tmp_path, target, {"page": f"exec: {{command: [{script}]}}", "journal": "log: {}"})
    with run(tmp_path) as agent:
        agent.wait_healthy()

        def said(what: str) -> bool:
            path = tmp_path / "said"
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            return any(f"{item['kind']} {item['id']}" == what for line in lines for item in json.loads(line)["incidents"])

        fail_and_recover(agent, target, said)
        assert "event=notification receiver=journal" in agent.output()


def test_ack_and_silence_by_the_command_line(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        added = agent.cli("silence", "add", "--match", "root=check:*", "--for", "1h", "--comment", "tests")
        assert added.returncode == 0, added.stderr
        target.down()
        wait_until(lambda: incidents(agent), 10.0, "the incident")
        assert agent.cli("get", "incidents").returncode == 2
        explained = agent.cli("explain", "1")
        assert explained.returncode == 2 and "what to do:" in explained.stdout and "check:web" in explained.stdout
        assert agent.cli("explain", "99").returncode not in (0, 1, 2)
        of_code = agent.cli("explain", "CHECK_FAILED")
        assert of_code.returncode == 2 and "check:web" in of_code.stdout and "has this code now" not in of_code.stdout
        findings = agent.cli("get", "findings")
        assert findings.returncode == 0 and "An incident is open: wardmote get incidents" in findings.stdout
        assert "more" not in json.loads(agent.cli("get", "findings", "-o", "json").stdout)
        known = agent.cli("ack", "1", "--comment", "on it")
        assert known.returncode == 0 and "acknowledged by user:0" in known.stdout, known.stderr
        assert f"user:{os.getuid()}" in incidents(agent)[0]["acknowledged"]["by"]
        assert agent.cli("get", "incidents").returncode == 1, "acknowledged: a warning"
        time.sleep(1.5)
        assert not sink.taken
        listed = agent.cli("silence", "list").stdout
        assert "root=check:*" in listed and "tests" in listed
        assert agent.cli("silence", "expire", "1").returncode == 0
        wait_until(lambda: "opened 1" in sink.kinds(), 10.0, "the beginning, late")
        assert agent.cli("silence", "add", "--match", "nonsense", "--for", "1h").returncode != 0
        unknown = agent.cli("silence", "add", "--match", "sevrity=critical", "--for", "1h")
        assert unknown.returncode != 0 and "no incident has the label 'sevrity'; there are cluster, code" in unknown.stderr
        assert agent.cli("ack", "99").returncode != 0


def test_a_silence_in_a_file_holds_while_it_stands_there(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    config, file = tmp_path / "wardmote.yaml", tmp_path / "silences.d/upgrade.yaml"
    config.write_text("include: [silences.d/*.yaml]\n" + config.read_text(encoding="utf-8"), encoding="utf-8")
    file.parent.mkdir()
    now = datetime.datetime.now(datetime.timezone.utc)
    begin, end = ((now + datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ") for hours in (-1, 1))
    file.write_text(f"silences:\n  - {{name: upgrade, match: ['root=check:*'], from: {begin}, until: {end}, comment: ticket 17}}\n",
                    encoding="utf-8")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: incidents(agent), 20.0, "the incident")
        assert agent.cli("notify", "test", "hook", timeout=40.0).returncode == 0
        assert sink.kinds() == ["opened 0"], "the test alone"
        assert "upgrade" in agent.cli("silence", "list").stdout
        assert "upgrade\n" in agent.cli("silence", "list", "-o", "name").stdout

        # A mistake is refused whole, and the silence goes on.
        file.write_text("silences:\n  - {name: upgrade, match: ['root=check:*'], until: tomorrow}\n", encoding="utf-8")
        refused = agent.cli("reload")
        assert refused.returncode == 65 and "upgrade.yaml:2:" in refused.stderr and "'tomorrow'" in refused.stderr, refused.stderr
        assert [one["name"] for one in agent.json("/api/v1/silences")["silences"]] == ["upgrade"]

        # Taken out, it ends by itself.
        file.unlink()
        wait_until(lambda: "opened 1" in sink.kinds(), 30.0, "the beginning, late")
        assert agent.json("/api/v1/silences")["silences"] == []


def test_an_order_that_was_answered_outlives_kill_9(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: incidents(agent), 10.0, "the incident")
        assert agent.order("POST", "/api/v1/silences", '{"match": ["root=check:other"], "for": "1h"}')[0] == 201
        assert agent.order("POST", "/api/v1/incidents/1/ack", '{"comment": "on it"}')[0] == 200
        agent.process.kill()
        agent.process.wait()
    with run(tmp_path) as agent:
        wait_until(lambda: answers(agent), 10.0, "the next life")
        assert incidents(agent)[0]["acknowledged"]["comment"] == "on it"
        assert agent.json("/api/v1/silences")["silences"][0]["match"] == ["root=check:other"]


def test_orders_over_tcp_are_refused(tmp_path, target, sink):
    write_config(tmp_path, target, {"hook": hook(sink, tmp_path)})
    text = (tmp_path / "wardmote.yaml").read_text(encoding="utf-8")
    port = free_port()
    (tmp_path / "wardmote.yaml").write_text(text.replace("api: {", f"api: {{listen: 127.0.0.1:{port}, "), encoding="utf-8")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        refused = subprocess.run([programs() / "wardmote", "notify", "test", "hook", "--host", f"127.0.0.1:{port}"], capture_output=True,
                                 text=True, check=False)
        assert refused.returncode == 77, refused.stderr
        assert not sink.attempts


