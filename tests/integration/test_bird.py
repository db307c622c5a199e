"""The probe `bird` against real BIRDs, 1.6 and 2."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import Agent, programs

OK, WARN, FAIL, UNKNOWN = 0, 1, 2, 3


@pytest.fixture(params=["1.6", "2"])
def lab(request):
    """Two daemons of one version with a session between them."""
    with Lab.up(f"bird-{os.getpid()}", [], members=2, transient=True, birds=[request.param] * 2) as up:
        yield up


def probe(bird, *options, timeout="2s"):
    done = subprocess.run([programs() / "wardmote", "probe", "bird", bird.control, "--timeout", timeout, "-o", "json", *options],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=20)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def peer(seen, address):
    return next(peer for peer in seen["facts"]["peers"] if peer["address"] == address)


def test_a_session_is_seen_from_both_ends(lab):
    first, second = lab.birds
    for bird, other in ((first, second), (second, first)):
        # A session is up before the first route has come over it.
        wait_until(lambda bird=bird, other=other: peer(probe(bird)[1], other.address)["imported"], 20, f"a route at {bird.name}")
        code, seen = probe(bird, "--expect", other.address)
        assert (code, seen["outcome"]) == (OK, "ok"), seen
        session = peer(seen, other.address)
        assert (session["state"], session["remote_as"], session["imported"]) == ("Established", 64512, 1)
        assert seen["facts"]["lines_not_understood"] == 0
        assert seen["facts"]["version"].startswith(f"BIRD {bird.version}")
    code, seen = probe(first, "--expect", "192.0.2.1")
    assert (code, seen["outcome"]) == (FAIL, "fail")
    assert "192.0.2.1" in seen["detail"]


def test_any_format_of_times_is_understood(lab):
    """Without the daemon's start the window after a start would be lost; without the end of the time an established peer is none."""
    first, second = lab.birds
    first.wait_established()
    config = first.folder / f"{first.name}.conf"
    config.write_text('timeformat base "%d.%m.%Y %T";\ntimeformat protocol "%b %d %T %Y";\n' + config.read_text(encoding="utf-8"),
                      encoding="utf-8")
    first.ask("configure")
    wait_until(lambda: any(time.strftime(" %Y") in line for line in first.ask("show protocols")), 10, "the other format")
    code, seen = probe(first, "--expect", second.address)
    assert code == OK, seen
    assert peer(seen, second.address)["state"] == "Established"
    assert 0 < seen["facts"]["up_ms"] < 600_000


def test_what_it_asked_for_cannot_change_anything(lab):
    """`restrict` was understood: the daemon says so, or the look would have failed."""
    code, _ = probe(lab.birds[0])
    assert code == OK
    assert lab.birds[0].established()


def test_a_stopped_daemon_hangs_by_the_deadline(lab):
    first, _ = lab.birds
    first.pause()
    try:
        begun = time.monotonic()
        code, seen = probe(first, timeout="500ms")
        assert time.monotonic() - begun < 1.5
        assert (code, seen["reason"]) == (FAIL, "hung"), seen
        assert "no greeting" in seen["detail"]
        assert f"process {first.process.pid} (bird) is stopped (T): " in seen["detail"]
        # Eight connections fill its queue; what comes then cannot even connect.
        for _ in range(9):
            subprocess.run([programs() / "wardmote", "probe", "bird", first.control, "--timeout", "50ms"], check=False,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        code, seen = probe(first, timeout="300ms")
        assert (code, seen["reason"]) == (FAIL, "hung"), seen
    finally:
        first.resume()
    wait_until(lambda: probe(first)[0] == OK, 10, "the daemon to answer again")


def test_the_holder_of_the_socket_must_be_the_supervised_process(lab, tmp_path):
    """An old daemon that was not ended answers for the one that runit supervises."""
    first, second = lab.birds
    supervise = tmp_path / "bird/supervise"
    supervise.mkdir(parents=True)
    os.mkfifo(supervise / "ok")
    runsv = os.open(supervise / "ok", os.O_RDONLY | os.O_NONBLOCK)
    try:
        def supervised(pid: int) -> tuple[int, dict]:
            # runit's own format: TAI64N, pid, paused, want, TERM, state.
            stamp = (int(time.time()) + (1 << 62) + 10).to_bytes(8, "big") + bytes(4)
            (supervise / "status").write_bytes(stamp + pid.to_bytes(4, "little") + b"\0u\0\1")
            return probe(first, "--runit", str(tmp_path / "bird"))
        assert supervised(first.process.pid)[0] == OK
        code, seen = supervised(second.process.pid)
        assert code == FAIL and f"process {first.process.pid} holds the control socket" in seen["detail"], seen
    finally:
        os.close(runsv)
    code, seen = probe(first, "--runit", str(tmp_path / "bird"))
    assert seen["outcome"] == "unknown" and "runsv is not running" in seen["detail"], seen


def test_killed_and_ended_daemons_are_told_apart(lab):
    first, second = lab.birds
    first.kill()
    code, seen = probe(first)
    assert (code, seen["reason"]) == (FAIL, "refused"), "kill -9 leaves the socket file"
    second.stop()
    code, seen = probe(second)
    assert (code, seen["reason"]) == (FAIL, "missing"), "SIGTERM takes it along"


def test_a_disabled_peer_is_told_from_an_absent_one(lab):
    first, second = lab.birds
    first.peers[0].disabled = True
    first.reconfigure()
    wait_until(lambda: first.sessions() == {first.protocol(first.peers[0]): ""}, 15.0, "the protocol to go down")
    code, seen = probe(first, "--expect", second.address)
    assert code == FAIL
    assert "administratively down" in seen["detail"]
    assert peer(seen, second.address)["admin_down"]
    code, _ = probe(first, "--policy", "calico")
    assert code == OK, "as Calico judges"
    wait_until(lambda: probe(second)[0] == FAIL, 10, "the other end to see it")


@pytest.mark.slow
def test_why_a_session_is_down(lab):
    first, second = lab.birds
    first.peers[0].remote_as = 64999
    first.reconfigure()

    def says_why():
        seen = probe(first)[1]
        return "Bad peer AS" in (peer(seen, second.address)["last_error"] or "")

    wait_until(says_why, 20, "the wrong AS to be told")
    first.peers[0].remote_as = 64512
    first.peers[0].password = "other"
    first.reconfigure()
    wait_until(lambda: peer(probe(first)[1], second.address)["state"] in ("Active", "Connect"), 20, "the password to matter")


@pytest.mark.slow
def test_a_graceful_restart_shows_its_timer(lab):
    first, second = lab.birds
    first.kill()
    second.pause()  # so that it does not end at once
    try:
        first.start(recover=True)
        code, seen = probe(first)
        restart = seen["facts"]["graceful_restart"]
        assert code == FAIL and restart is not None, seen
        assert 200_000 < restart["left_ms"] <= restart["total_ms"] == 240_000
        assert "graceful restart" in seen["detail"]
    finally:
        second.resume()
    wait_until(lambda: probe(first)[0] == OK, 30, "the session and the routes to be back")


@pytest.mark.slow
def test_the_agent_sees_a_restart(lab):
    first, second = lab.birds
    with Agent(lab.write_config(), lab.api_socket) as agent:
        agent.wait_healthy()
        status = agent.cli("status").stdout
        assert "bird-1" in status and "bird-2" in status
        second.kill()
        wait_until(lambda: agent.cli("status").returncode == FAIL, 15, "the agent to report it")
        second.start()
        agent.wait_healthy()
        assert first.established()


def test_many_checks_of_a_daemon_share_one_connection(lab, tmp_path):
    bird = lab.birds[0]
    file = tmp_path / "wardmote.yaml"
    checks = [f'  - {{name: bgp-{number}, bird: {{socket: "{bird.control}", min_peers: {number % 3}}}, every: 500ms}}' for number in range(40)]
    file.write_text("\n".join([f"api: {{socket: {tmp_path}/api.sock}}", "checks:", *checks]) + "\n", encoding="utf-8")

    def held() -> int:
        """The ends that were accepted carry the path of the socket."""
        lines = Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
        return sum(line.split()[5] == "03" and line.endswith(f" {bird.control}") for line in lines)

    with Agent(file, tmp_path / "api.sock") as agent:
        agent.wait_serving()
        seen = []

        def looked() -> bool:
            seen.append(held())
            return all(check["looks"] >= 5 for check in agent.json("/api/v1/checks")["checks"])

        wait_until(looked, 60, "five looks of every check")
        # One that it has let go of may be there until the daemon notices.
        assert max(seen) <= 2, seen
        assert {check["outcome"] for check in agent.json("/api/v1/checks")["checks"]} <= {"ok", "warn", "fail"}
