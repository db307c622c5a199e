"""Probes of services against real runit, s6 and daemontools, and what their own programs say of the same moment."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab.processes import Process, wait_until
from lab.supervisors import Supervisors
from tools.agent import programs

ROOT = Path(__file__).resolve().parents[2]
WARDMOTE = programs() / "wardmote"
OUTCOMES = {0: "ok", 1: "warn", 2: "fail", 3: "unknown"}


@pytest.fixture
def lab(tmp_path):
    with Supervisors(ROOT / "build/lab/supervisors", tmp_path / "service") as lab:
        yield lab


def probe(kind: str, *arguments: str) -> dict:
    done = subprocess.run([str(WARDMOTE), "probe", kind, *map(str, arguments), "-o", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=20, check=False)
    seen = json.loads(done.stdout)
    assert OUTCOMES[done.returncode] == seen["outcome"], done
    return seen


def until(outcome: str, kind: str, *arguments: str, words: str = "") -> dict:
    def look():
        seen = probe(kind, *arguments)
        return seen if seen["outcome"] == outcome and words in (seen["detail"] or "") else None
    return wait_until(look, 10.0, f"{outcome} '{words}' of {arguments[0]}", every=0.1)


def test_runit_a_service_comes_up_is_stopped_and_comes_back(lab):
    service = lab.add("runit", "good")
    seen = until("ok", "runit", service)
    assert seen["facts"]["pid"] == lab.pid("good") and seen["facts"]["state"] == "run"
    assert seen["facts"]["process"]["name"] == "sleep"
    assert lab.order("runit", "status", str(service)).stdout.startswith(f"run: {service}: (pid {lab.pid('good')})")
    lab.order("runit", "down", str(service))
    until("fail", "runit", service, words="wanted down, normally up")
    lab.order("runit", "up", str(service))
    until("unknown", "runit", service, words="less than 2.0s")
    until("ok", "runit", service)


def test_runit_what_sv_status_calls_run(lab):
    paused = lab.add("runit", "paused")
    stubborn = lab.add("runit", "stubborn", "trap '' TERM\nwhile :; do sleep 1; done")
    once = lab.add("runit", "once")
    for service in (paused, stubborn, once):
        until("ok", "runit", service)
    lab.order("runit", "pause", str(paused))
    lab.order("runit", "-w", "1", "down", str(stubborn))
    lab.order("runit", "once", str(once))
    until("fail", "runit", paused, words="paused")
    until("fail", "runit", stubborn, words="got TERM and is still there")
    until("warn", "runit", once, words="will not be restarted")
    for service in (paused, stubborn, once):
        assert lab.order("runit", "status", str(service)).stdout.startswith("run: ")
        assert probe("runit", service, "--compat", "calico")["outcome"] == "ok"
    # Or the lab could not end them.
    lab.order("runit", "cont", str(paused))


def test_runit_a_crash_loop_is_never_ok(lab):
    service = lab.add("runit", "crash", "exit 1")
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert probe("runit", service)["outcome"] in ("fail", "unknown")
        time.sleep(0.05)


def test_runit_a_finish_script_that_runs(lab):
    service = lab.add("runit", "fin", finish="exec sleep 30")
    until("ok", "runit", service)
    lab.order("runit", "-w", "1", "down", str(service))
    until("fail", "runit", service, words="finish script")


def test_runit_a_dead_supervisor_and_a_stopped_one(lab):
    service = lab.add("runit", "orphan")
    until("ok", "runit", service)
    pid = Process.of(lab.pid("orphan"))
    _, supervisor = lab.running["orphan"]
    supervisor.send(signal.SIGSTOP)
    until("warn", "runit", service, words="is stopped (T): nobody would restart it")
    pid.send(signal.SIGSTOP)
    until("fail", "runit", service, words="is stopped (T)")
    pid.send(signal.SIGCONT)
    supervisor.kill()
    until("fail", "runit", service, words="runsv is not running")
    assert pid.alive(), "the service outlives its supervisor"
    assert lab.order("runit", "status", str(service)).stdout == f"fail: {service}: runsv not running\n"
    pid.kill()


def test_runit_a_zombie_is_seen_while_its_supervisor_is_stopped(lab):
    service = lab.add("runit", "zombie")
    until("ok", "runit", service)
    _, supervisor = lab.running["zombie"]
    supervisor.send(signal.SIGSTOP)
    os.kill(lab.pid("zombie"), signal.SIGKILL)
    until("fail", "runit", service, words="is a zombie (Z)")
    supervisor.send(signal.SIGCONT)


def test_runit_status_files_that_are_none(lab, tmp_path):
    service = lab.add("runit", "broken", supervised=False)
    assert probe("runit", service)["reason"] == "missing"
    (service / "supervise").mkdir()
    os.mkfifo(service / "supervise/ok")
    reader = os.open(service / "supervise/ok", os.O_RDONLY | os.O_NONBLOCK)
    status = service / "supervise/status"
    try:
        assert probe("runit", service)["reason"] == "missing"
        for content in (b"", b"short", bytes(19), bytes(20), os.urandom(21), b"x" * 1000):
            status.write_bytes(content)
            assert probe("runit", service)["outcome"] == "unknown", content
        status.unlink()
        os.mkfifo(status)
        assert probe("runit", service)["outcome"] == "unknown"
        status.unlink()
        status.mkdir()
        assert probe("runit", service)["outcome"] == "unknown"
        status.rmdir()
        status.symlink_to(tmp_path)
        assert probe("runit", service)["outcome"] == "unknown"
    finally:
        os.close(reader)


def test_s6_readiness_deaths_and_the_end_of_its_supervisor(lab):
    tells = lab.add("s6", "tells", "sleep 1\necho >&3\nexec sleep 1000", notification_fd="3\n")
    silent = lab.add("s6", "silent", notification_fd="3\n")
    crash = lab.add("s6", "crash", "exit 3")
    assert until("ok", "s6", tells)["facts"]["ready"] is True
    until("fail", "s6", silent, words="has not said that it is ready")
    # From one look: s6 remembers the deaths itself.
    until("fail", "s6", crash, words="restarting: 3 restarts within 1m00s")
    until("fail", "s6", crash, words="it ended with exit code 3")
    lab.order("s6", "-d", str(tells))
    seen = until("fail", "s6", tells, words="wanted down")
    assert seen["facts"]["last_signal"] == signal.SIGTERM
    _, supervisor = lab.running["silent"]
    service = Process.of(lab.pid("silent"))
    supervisor.kill()
    until("fail", "s6", silent, words="s6-supervise is not running")
    service.kill()


def test_daemontools_up_and_down(lab):
    service = lab.add("daemontools", "classic")
    assert until("ok", "daemontools", service)["facts"]["pid"] == lab.pid("classic")
    lab.order("daemontools", "-d", str(service))
    until("fail", "daemontools", service, words="wanted down")


def test_processes_by_name_and_pid_file(lab, tmp_path):
    # 15 bytes and more: the kernel keeps no more of it.
    program = tmp_path / "a-name-longer-than-fifteen-bytes"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "1000"], stdin=subprocess.DEVNULL)
    try:
        pid_file = tmp_path / "pid"
        pid_file.write_text(f"{child.pid}\n", encoding="utf-8")
        assert probe("process", program.name)["facts"]["processes"][0]["pid"] == child.pid
        assert probe("process", program.name, "--max", "1", "--max-rss", "64MiB")["outcome"] == "ok"
        assert probe("process", program.name + "x")["reason"] == "missing"
        assert probe("process", pid_file)["outcome"] == "ok"
        child.send_signal(signal.SIGSTOP)
        until("fail", "process", pid_file, words="is stopped (T)")
        child.send_signal(signal.SIGCONT)
    finally:
        child.kill()
        child.wait()
    assert probe("process", pid_file)["reason"] == "missing"


def test_a_file_and_its_age(tmp_path):
    file = tmp_path / "heartbeat"
    assert probe("file", file)["reason"] == "missing"
    assert probe("file", file, "--absent")["outcome"] == "ok"
    file.write_text("beat", encoding="utf-8")
    assert probe("file", file, "--max-age", "1m", "--min-size", "4")["outcome"] == "ok"
    os.utime(file, (time.time() - 120, time.time() - 120))
    assert "2m00s ago" in probe("file", file, "--max-age", "1m")["detail"]
