"""Whoever answers, and however: a look ends at its deadline, says why, and costs no memory."""

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from hostile_peer import MANNERS, HostilePeer
from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import Agent, programs

TIMEOUT = 2.0       # an honest server on a busy machine answers well within it
AGENT_TIMEOUT_MS = 900  # as lab/ovn.py configures it
LATE = 0.1
START = 2.0         # of the program and its end, on a busy machine
GROWTH_KB = 8 * 1024
REASONS = {
    "silent": {"hung"}, "drip": {"hung"}, "endless": {"over_limit"}, "endless_messages": {"hung", "over_limit", "protocol"},
    "garbage": {"protocol"}, "half": {"hung"}, "half_and_gone": {"closed", "protocol"}, "huge_string": {"over_limit"},
    "deep": {"protocol", "over_limit"}, "wrong_id": {"hung", "protocol"}, "reply_to_nothing": {"hung", "protocol"},
    "gone": {"closed"},
}
# Runs a program from a process smaller than this one, since the kernel counts the memory of the caller before exec too.
SMALL_PARENT = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass
class Look:
    exit_code: int
    seconds: float
    peak_kb: int
    output: dict


def probe(control: str, *more: str) -> Look:
    argv = [str(programs() / "wardmote"), "probe", "ovn", control, "--database", "OVN_Northbound", "--timeout", f"{TIMEOUT:g}s",
            "-o", "json", *more]
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-I", "-S", "-c", SMALL_PARENT, *argv], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=TIMEOUT + 10, check=False)
    return Look(done.returncode, time.monotonic() - begun, int(done.stderr.split()[-1]), json.loads(done.stdout))


@pytest.fixture(scope="module")
def honest():
    """A real server, and what a look at it costs."""
    with Lab.up(f"hostile-{os.getpid()}", ["nb"], transient=True) as lab:
        cluster = lab.clusters["nb"]
        look = probe(cluster.control(1), "--ovsdb", f"unix:{cluster.socket(1)}")
        assert look.exit_code == 0, look.output
        yield lab, look


@pytest.mark.parametrize("manner", MANNERS)
def test_hostile_control_socket(manner, honest, tmp_path):
    path = tmp_path / "peer.ctl"
    with HostilePeer(path, manner):
        check(manner, probe(str(path)), honest[1])


@pytest.mark.parametrize("manner", MANNERS)
def test_hostile_database_socket_leaves_the_control_view(manner, honest, tmp_path):
    """One of the two ways to ask fails; what the other says is kept."""
    path = tmp_path / "peer.sock"
    lab, good = honest
    with HostilePeer(path, manner):
        look = probe(lab.clusters["nb"].control(1), "--ovsdb", f"unix:{path}")
    check(manner, look, good, in_part=True)
    assert json.dumps(look.output).count("cluster member") == 1, look.output


def check(manner: str, look: Look, good: Look, in_part: bool = False) -> None:
    assert look.output["took_us"] / 1e6 < TIMEOUT + LATE, look
    assert look.seconds < TIMEOUT + START, look
    assert look.peak_kb < good.peak_kb + GROWTH_KB, f"{look.peak_kb} kB after {good.peak_kb} kB"
    assert look.exit_code != 0 or in_part, look
    assert any(f'"{reason}"' in json.dumps(look.output) for reason in REASONS[manner]), look.output


def test_nonsense_from_all_is_unknown_and_never_ready(tmp_path):
    """Nothing can be said of the cluster, and no finding is: but what cannot be read time and again is a failure of its check."""
    controls = [tmp_path / f"{number}.ctl" for number in (1, 2, 3)]
    members = ", ".join(f"{{name: ctl-{number}, control: {path}}}" for number, path in enumerate(controls, 1))
    config = tmp_path / "wardmote.yaml"
    config.write_text(f"api: {{socket: {tmp_path}/api.sock}}\nclusters:\n  - name: ovn-nb\n    ovn:\n"
                      f"      database: OVN_Northbound\n      members: [{members}]\n", encoding="utf-8")
    with HostilePeer(controls[0], "garbage"), HostilePeer(controls[1], "garbage"), HostilePeer(controls[2], "garbage"), \
            Agent(config, tmp_path / "api.sock") as agent:
        agent.wait_serving()
        wait_until(lambda: all(one["reason"] == "protocol" for one in agent.json("/api/v1/members")["members"]), 15.0,
                   "all members to have been looked at")
        wait_until(lambda: agent.cli("status").returncode == 2, 15.0, "the check to have failed often enough")
        assert "UNKNOWN" in agent.cli("status").stdout
        assert agent.get("/readyz")[0] == 503
        assert agent.json("/api/v1/findings")["findings"] == []


def test_a_hung_member_delays_no_other(honest):
    """All are asked at once, and the hung one ends at its timeout: so the others must have ended just that long before it."""
    lab, _ = honest
    cluster = lab.clusters["nb"]
    hung = cluster.followers()[0]
    others = [cluster.members[number].name for number in cluster.others(hung)]
    with Agent(lab.write_config(), lab.api_socket) as agent:
        agent.wait_healthy()
        cluster.pause(hung)
        try:
            rounds = [whole_round(agent, cluster.members[hung].name) for _ in range(5)]
        finally:
            cluster.resume(hung)
    for name in others:
        delays = [AGENT_TIMEOUT_MS - (ages[name] - ages[cluster.members[hung].name]) for ages in rounds]
        assert statistics.median(delays) <= 10, f"{name} ended so many ms after it was asked: {delays}"


def whole_round(agent: Agent, hung: str) -> dict[str, int]:
    """The ages of all members' last looks, when the hung one's has just timed out and belongs to the same round."""

    def timed_out() -> dict[str, int] | None:
        members = agent.json("/api/v1/members")["members"]
        ages = {one["name"]: one["age_ms"] for one in members}
        reasons = {one["name"]: one["reason"] for one in members}
        youngest = min(ages, key=ages.get)
        return ages if youngest == hung and reasons[hung] == "hung" and ages[hung] < 100 else None

    ages = wait_until(timed_out, 10.0, "the hung member to time out")
    wait_until(lambda: not timed_out(), 10.0, "the next round")
    return ages
