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

TIMEOUT = 1.0
LATE = 0.3          # starting the program, on a busy machine
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
    assert look.seconds < TIMEOUT + LATE, look
    assert look.peak_kb < good.peak_kb + GROWTH_KB, f"{look.peak_kb} kB after {good.peak_kb} kB"
    assert look.exit_code != 0 or in_part, look
    assert any(f'"{reason}"' in json.dumps(look.output) for reason in REASONS[manner]), look.output


def test_a_hung_member_delays_no_other(honest):
    """The others are asked at the same phase of every second, whether or not one hangs."""
    lab, _ = honest
    cluster = lab.clusters["nb"]
    hung = cluster.followers()[0]
    with Agent(lab.write_config(), lab.api_socket) as agent:
        agent.wait_healthy()
        before = phases(agent, 5)
        cluster.pause(hung)
        try:
            name = cluster.members[hung].name
            wait_until(lambda: member(agent, name)["reason"] == "hung", 5.0, "the hung member to be noticed")
            after = phases(agent, 5)
        finally:
            cluster.resume(hung)
    for number, other in cluster.members.items():
        if number != hung:
            shift = (after[other.name] - before[other.name] + 0.5) % 1.0 - 0.5
            assert abs(shift) <= 0.010, f"{other.name} is answered {shift * 1000:.1f} ms later"


def member(agent: Agent, name: str) -> dict:
    return next(one for one in agent.json("/api/v1/members")["members"] if one["name"] == name)


def phases(agent: Agent, seconds: float) -> dict[str, float]:
    """When in the second each member's last look ended, as the middle of many samples."""
    seen: dict[str, list[float]] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked = time.monotonic()
        for one in agent.json("/api/v1/members")["members"]:
            if one["age_ms"] is not None:
                ended = (asked + time.monotonic()) / 2 - one["age_ms"] / 1000
                seen.setdefault(one["name"], []).append(ended)
        time.sleep(0.05)
    # Around the first sample, so that a phase near 0 does not look like one near 1.
    return {name: (ends[0] + statistics.median((end - ends[0] + 0.5) % 1.0 - 0.5 for end in ends)) % 1.0
            for name, ends in seen.items()}
