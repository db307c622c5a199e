"""The systemd probe against a real systemd, over a real bus and over systemd's own socket, and what systemctl says at the same time."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from lab.processes import wait_until
from lab.systemd import Systemd
from tools.agent import programs

ROOT = Path(__file__).resolve().parents[2]
WARDMOTE = programs() / "wardmote"
OUTCOMES = {0: "ok", 1: "warn", 2: "fail", 3: "unknown"}
SLEEP = "[Service]\nExecStart=/bin/sleep 1000\n"
CRASH = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/sh -c 'exit 3'\nRestart=always\nRestartSec=200ms\n"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with Systemd(ROOT / "build/lab/systemd", tmp_path_factory.mktemp("systemd")) as lab:
        yield lab


def probe(lab: Systemd, unit: str, *arguments: str, bus: Path | None = None) -> dict:
    done = subprocess.run([str(WARDMOTE), "probe", "systemd", unit, "--bus", str(bus or lab.bus), *arguments, "-o", "json"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    seen = json.loads(done.stdout)
    assert OUTCOMES[done.returncode] == seen["outcome"], done
    return seen


def until(lab: Systemd, outcome: str, unit: str, *arguments: str, words: str = "") -> dict:
    def look():
        seen = probe(lab, unit, *arguments)
        return seen if seen["outcome"] == outcome and words in (seen["detail"] or "") else None
    return wait_until(look, 10.0, f"{outcome} '{words}' of {unit}", every=0.1)


def shown(lab: Systemd, unit: str, name: str) -> str:
    return lab.order("show", "--value", "--property", name, unit).stdout.strip()


def start(lab: Systemd, name: str, text: str) -> str:
    unit = lab.add(name, text)
    lab.order("daemon-reload")
    lab.order("start", unit)
    return unit


@pytest.mark.parametrize("socket", ["bus", "private"])
def test_a_service_comes_up_and_is_stopped(lab, socket):
    unit = start(lab, f"good-{socket}.service", SLEEP)
    path = getattr(lab, socket)
    assert "less than 1h" in probe(lab, unit, "--min-uptime", "1h", bus=path)["detail"]
    # systemd forks first, and is called so until the program runs.
    wait_until(lambda: probe(lab, unit, "--min-uptime", "0s", bus=path)["facts"]["process"]["name"] == "sleep", 5, "the program to run")
    seen = probe(lab, unit, "--min-uptime", "0s", bus=path)
    assert seen["outcome"] == "ok", seen
    assert seen["facts"]["pid"] == int(shown(lab, unit, "MainPID"))
    assert (seen["facts"]["active_state"], seen["facts"]["sub_state"]) == ("active", "running")
    assert seen["facts"]["process"]["name"] == "sleep"
    lab.order("stop", unit)
    assert "inactive (dead)" in probe(lab, unit, bus=path)["detail"]


def test_a_stopped_process_is_not_active(lab):
    unit = start(lab, "paused.service", SLEEP)
    pid = int(shown(lab, unit, "MainPID"))
    os.kill(pid, signal.SIGSTOP)
    assert f"pid {pid} is stopped (T)" in until(lab, "fail", unit, words="stopped")["detail"]
    assert shown(lab, unit, "ActiveState") == "active", "what systemctl says of it"
    os.kill(pid, signal.SIGCONT)
    lab.order("stop", unit)


def test_a_crash_loop_is_never_ok(lab):
    unit = start(lab, "crash.service", CRASH)
    seen = until(lab, "fail", unit, words="waits to be restarted")
    assert "exit-code, exit code 3" in seen["detail"]
    wait_until(lambda: probe(lab, unit)["facts"]["restarts"] >= 3, 10.0, "three restarts")
    assert probe(lab, unit)["outcome"] in ("fail", "unknown")
    assert probe(lab, unit)["facts"]["restarts"] <= int(shown(lab, unit, "NRestarts"))
    lab.order("stop", unit)


def test_failed_masked_unknown_and_oneshot_units(lab):
    failed = lab.add("failed.service", "[Service]\nExecStart=/bin/sh -c 'exit 3'\n")
    once = lab.add("once.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n")
    slow = lab.add("slow.service", "[Service]\nType=oneshot\nExecStart=/bin/sleep 1000\n")
    lab.order("daemon-reload")
    lab.order("start", failed, once)
    lab.order("start", "--no-block", slow)
    until(lab, "fail", failed, words="exit code 3")
    assert probe(lab, once)["outcome"] == "ok"
    assert "activating" in until(lab, "unknown", slow, words="activating")["detail"]
    assert probe(lab, "nosuch")["reason"] == "missing"
    (lab.units / "masked.service").symlink_to("/dev/null")
    lab.order("daemon-reload")
    assert probe(lab, "masked")["detail"] == "its unit is masked"
    assert probe(lab, "dbus.socket")["outcome"] == "ok", "a unit that is no service"
    lab.order("stop", slow)


def test_a_watchdog_that_is_not_fed(lab):
    unit = start(lab, "watched.service", "[Service]\nExecStart=/bin/sleep 1000\nWatchdogSec=4\nRestart=no\n")
    assert probe(lab, unit, "--min-uptime", "0s")["facts"]["watchdog_ms"] == 4000
    until(lab, "warn", unit, "--min-uptime", "0s", words="told its watchdog")
    seen = until(lab, "fail", unit, words="watchdog")
    assert shown(lab, unit, "Result") == "watchdog" or "told its watchdog" in seen["detail"]


def test_a_stopped_systemd_is_unknown_by_the_deadline(lab):
    unit = start(lab, "asked.service", SLEEP)
    lab.manager.send(signal.SIGSTOP)
    try:
        seen = probe(lab, unit, "--timeout", "500ms", bus=lab.private)
        assert (seen["outcome"], seen["reason"]) == ("unknown", "hung"), seen
        assert seen["took_us"] < 1_000_000
    finally:
        lab.manager.send(signal.SIGCONT)
    assert probe(lab, unit, bus=lab.private.with_name("nosuch"))["reason"] == "missing"
    lab.order("stop", unit)
