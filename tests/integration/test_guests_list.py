"""More of the list by which the guest monitor was specified (tests/scenarios.md), on real guests."""

import datetime
import signal
import tempfile
import time
from pathlib import Path

import pytest

from lab.guests import Guests, name_of
from lab.processes import holds, wait_until
from test_guests import watching
from tools.agent import ROOT

# All in one worker, which boots the guests once.
pytestmark = pytest.mark.xdist_group("guests")


@pytest.fixture(name="lab", scope="module")
def fixture_lab():
    with tempfile.TemporaryDirectory(prefix="wg-", dir="/tmp") as folder, Guests(ROOT / "build/lab/guests", Path(folder)) as guests:
        yield guests


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["standard", "masakari"])
def test_a_guest_whose_agent_was_never_heard_is_no_incident(lab, tmp_path, rules):
    number = 14 if rules == "standard" else 15
    lab.up(number, arguments="noga")
    with watching(lab, tmp_path, f"every: 1s, timeout: 900ms, threshold: 3, boot_deadline: 5s, rules: {rules}") as site:
        seen = site.wait(number, "AGENT_NEVER_ANSWERED", 30)
        assert seen["state"] == "discovery" and [one["severity"] for one in seen["findings"]] == ["info"]
        site.stays(number, "AGENT_NEVER_ANSWERED", 8)
        assert site.told() == [] and site.agent.json("/api/v1/incidents?all=true")["incidents"] == []
        assert site.agent.get("/readyz")[0] == 200
        lab.virsh("destroy", name_of(number))


@pytest.mark.slow
def test_it_takes_three_failures_and_two_are_forgiven(lab, tmp_path):
    lab.up(16)
    with watching(lab, tmp_path, "every: 3s, timeout: 1s, threshold: 3") as site:
        def failures(wanted: int) -> bool:
            return site.guest(16).get("failures") == wanted

        site.wait(16, "HEALTHY", 30)
        lab.stop_agent(16)
        wait_until(lambda: failures(2), 20, "two failures", every=0.1)
        assert site.guest(16)["state"] == "error"
        lab.continue_agent(16)
        wait_until(lambda: failures(0), 20, "an answer", every=0.1)
        assert site.guest(16)["state"] == "healthy" and site.told() == []
        lab.stop_agent(16)
        counted = []
        while not counted or counted[-1][1] != "reported":
            seen = wait_until(lambda: site.guest(16), 5, "the guest")
            step = (seen["failures"], seen["state"])
            if step[0] > 0 and step not in counted:
                counted.append(step)
        assert counted == [(1, "error"), (2, "error"), (3, "reported")]
        lab.virsh("destroy", name_of(16))


@pytest.mark.slow
def test_an_agent_that_comes_and_goes_wakes_nobody(lab, tmp_path):
    lab.up(17)
    with watching(lab, tmp_path) as site:
        site.wait(17, "HEALTHY", 30)
        lab.shell(17, "for i in $(seq 20); do killall -9 qemu-ga; sleep 1; gastart; sleep 1; done")
        site.wait(17, "AGENT_DOWN", 10)
        holds(lambda: site.told() == [], 45, "nobody to be told", every=0.5)
        site.wait(17, "HEALTHY", 20)
        site.stays(17, "HEALTHY", 5)
        lab.virsh("destroy", name_of(17))


@pytest.mark.slow
def test_a_panic_after_which_it_boots_is_one_episode(lab, tmp_path):
    lab.up(18, on_crash="restart")
    with watching(lab, tmp_path) as site:
        site.wait(18, "HEALTHY", 30)
        lab.shell(18, "echo c > /proc/sysrq-trigger")
        wait_until(lambda: site.told() == ["opened GUEST_PANIC"], 15, "the panic")
        site.wait(18, "HEALTHY", 60)
        wait_until(lambda: site.told() == ["opened GUEST_PANIC", "resolved GUEST_PANIC"], 10, "its end")
        lab.virsh("destroy", name_of(18))


@pytest.mark.slow
def test_a_reboot_that_outlasts_the_deadline_and_a_guest_that_is_started_anew(lab, tmp_path):
    lab.up(19)
    with watching(lab, tmp_path, "every: 1s, timeout: 900ms, threshold: 3, boot_deadline: 3s") as site:
        site.wait(19, "HEALTHY", 30)
        lab.virsh("reset", name_of(19))
        site.wait(19, "GUEST_BOOT_STUCK", 15)
        wait_until(lambda: site.told() == ["opened GUEST_BOOT_STUCK"], 10, "one notice")
        site.wait(19, "HEALTHY", 90)
        wait_until(lambda: site.told()[1:] == ["resolved GUEST_BOOT_STUCK"], 10, "its end")
        lab.stop_agent(19)
        site.wait(19, "GUEST_IDLE_HUNG", 15)
        lab.virsh("destroy", name_of(19))
        wait_until(lambda: site.guest(19) == {}, 10, "the guest to be gone")
        lab.virsh("start", name_of(19))
        seen = wait_until(lambda: site.guest(19), 10, "the guest to be back", every=0.1)
        assert seen["failures"] == 0 and seen["state"] == "discovery" and seen["booting"], "nothing of it is held against it"
        site.wait(19, "HEALTHY", 90)
        lab.virsh("destroy", name_of(19))


def tell(lab: Guests, number: int, attributes: str) -> None:
    """Its own policy, while it runs."""
    lab.virsh("metadata", name_of(number), "--uri", "https://wardmote.io/xmlns/guest/1", "--key", "w", "--set", f"<guest {attributes}/>", "--live")


@pytest.mark.slow
def test_its_own_policy_and_its_own_maintenance_count_at_once(lab, tmp_path):
    lab.up(20)
    with watching(lab, tmp_path) as site:
        site.wait(20, "HEALTHY", 30)
        tell(lab, 20, 'threshold="30" interval="2s"')
        wait_until(lambda: site.guest(20)["threshold"] == 30, 5, "its own threshold")
        lab.stop_agent(20)
        wait_until(lambda: site.guest(20)["failures"] > 3, 30, "four failures")
        assert site.guest(20)["verdict"] == "SILENT"
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        tell(lab, 20, f'threshold="5" interval="1s" maintenance="{now} for 1h"')
        site.wait(20, "MAINTENANCE", 10)
        site.stays(20, "MAINTENANCE", 8)
        assert site.guest(20)["failures"] == 0 and site.told() == []
        tell(lab, 20, 'threshold="5"')
        counted = wait_until(lambda: site.guest(20)["failures"], 10, "the count to begin", every=0.1)
        assert counted < 5 and site.told() == [], "at zero"
        site.wait(20, "GUEST_IDLE_HUNG", 20)
        wait_until(lambda: site.told() == ["opened GUEST_IDLE_HUNG"], 10, "one notice")
        tell(lab, 20, 'watch="no"')
        site.wait(20, "IGNORED", 10)
        lab.virsh("destroy", name_of(20))


@pytest.mark.slow
def test_a_shutdown_that_takes_long_is_no_alarm(lab, tmp_path):
    lab.up(21)
    # As an init system does it: the command returns, the agent ends first, and the rest takes its time.
    lab.shell(21, "mkdir -p /sbin; printf '#!/bin/sh\\n(sleep 1; killall qemu-ga; sleep 8; poweroff -f) &\\n' > /sbin/shutdown; chmod +x /sbin/shutdown")
    with watching(lab, tmp_path) as site:
        site.wait(21, "HEALTHY", 30)
        lab.virsh("shutdown", name_of(21), "--mode", "agent")
        site.wait(21, "AGENT_DOWN", 10)
        wait_until(lambda: site.guest(21) == {}, 60, "the guest to be off")
        assert site.told() == []


@pytest.mark.slow
def test_a_qemu_that_is_stopped_holds_up_no_other_guest(lab, tmp_path):
    lab.up(22, 23)
    with watching(lab, tmp_path) as site:
        for number in (22, 23):
            site.wait(number, "HEALTHY", 30)
        qemu, begun = lab.qemu(22), time.monotonic()
        qemu.send(signal.SIGSTOP)
        try:
            site.wait(22, "QEMU_STUCK", 25)
            site.stays(23, "HEALTHY", 20)
            assert site.guest(22)["verdict"] == "QEMU_STUCK" and site.guest(23)["failures"] == 0
            elapsed = time.monotonic() - begun
            # What a minute has begun is written at the end.
            assert site.agent.stop() == 0
            site.agent = site.start()
            site.wait(23, "HEALTHY", 20)
            rows = site.agent.json("/api/v1/heatmap?prefix=guest/&since=10m")["rows"]
            cells = [cell for row in rows if row["subject"] == f"guest/{name_of(23)}" for cell in row["cells"] if cell]
            pings, good = (sum(cell[part] for cell in cells) for part in (0, 1))
            assert pings == good >= 0.9 * elapsed, f"{good} of {pings} in {elapsed:.0f} s"
        finally:
            qemu.send(signal.SIGCONT)
        for number in (22, 23):
            lab.virsh("destroy", name_of(number))


@pytest.mark.slow
def test_a_libvirtd_that_stays_away_is_one_incident_and_none_of_a_guest(lab, tmp_path):
    lab.up(24)
    with watching(lab, tmp_path) as site:
        site.wait(24, "HEALTHY", 30)
        lab.libvirtd.kill()
        try:
            wait_until(lambda: site.told() == ["opened CHECK_FAILED"], 60, "the incident of the hypervisor")
            site.stays(24, "HEALTHY", 10)
            assert site.guest(24)["failures"] == 0 and len(site.told()) == 1
        finally:
            lab.start_libvirtd()
        wait_until(lambda: site.told()[1:] == ["resolved CHECK_FAILED"], 60, "its end")
        site.stays(24, "HEALTHY", 5)
        lab.virsh("destroy", name_of(24))
