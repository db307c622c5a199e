"""Real guests with real agents under a real libvirtd: what is said of them, and what outlives whom."""

import json
import os
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from http_sink import Sink
from lab.guests import Guests, name_of, uuid_of
from lab.processes import wait_until
from tools.agent import ROOT, Agent, programs

CONFIG = """
node: {{name: compute-1}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
guests: {{uri: "{uri}", {keys}}}
notify:
  receivers:
    - {{name: hook, timeout: 2s, webhook: {{url: "http://127.0.0.1:{port}/"}}}}
  routes:
    - {{receiver: hook, group_wait: 0s, group_interval: 1s, repeat_interval: 0s}}
"""


# All in one worker, which boots the guests once.
pytestmark = pytest.mark.xdist_group("guests")


@pytest.fixture(name="lab", scope="module")
def fixture_lab():
    with tempfile.TemporaryDirectory(prefix="wg-", dir="/tmp") as folder, Guests(ROOT / "build/lab/guests", Path(folder)) as guests:
        yield guests


class Site:
    """An agent that watches all guests of the lab, and whoever it tells."""

    def __init__(self, lab: Guests, folder: Path, sink: Sink, keys: str, more: str):
        self.lab, self.sink, self.folder = lab, sink, folder
        (folder / "data").mkdir()
        (folder / "wardmote.yaml").write_text(
            CONFIG.format(folder=folder, uri=lab.uri, port=sink.port, keys=keys) + more, encoding="utf-8")
        self.agent = self.start()

    def start(self) -> Agent:
        # libvirt is not installed on this machine: it is loaded from where the lab has it.
        return Agent(self.folder / "wardmote.yaml", self.folder / "api.sock", ["env", f"LD_LIBRARY_PATH={self.lab.libraries}"])

    def restart(self) -> None:
        """kill -9, and another one on the same data."""
        self.agent.process.kill()
        self.agent.process.wait()
        self.agent = self.start()

    def guest(self, number: int) -> dict:
        status, body = self.agent.get(f"/api/v1/guests/{name_of(number)}")
        return json.loads(body) if status == 200 else {}

    def wait(self, number: int, verdict: str, seconds: float) -> dict:
        try:
            return wait_until(lambda: self.guest(number) if self.guest(number).get("verdict") == verdict else None, seconds, verdict, every=0.1)
        except TimeoutError as error:
            raise TimeoutError(f"{error} of {self.guest(number)}\n{self.agent.output()}") from None

    def stays(self, number: int, verdict: str, seconds: float) -> None:
        """Says nothing else of it for so long."""
        try:
            other = wait_until(lambda: self.guest(number).get("verdict", verdict) != verdict and self.guest(number), seconds, "another", every=0.2)
        except TimeoutError:
            return
        raise AssertionError(f"{other['verdict']} in place of {verdict}")

    def told(self) -> list[str]:
        """`opened GUEST_PANIC` of every item of every notice. An agent that was killed may send its last one again, under the same key."""
        once = {notice["key"]: notice for notice in self.sink.taken}
        return [f"{item['kind']} {item['code']}" for notice in once.values() for item in notice["incidents"]]


@contextmanager
def watching(lab, folder, keys="every: 1s, timeout: 900ms, threshold: 3", more=""):
    with Sink() as sink:
        site = Site(lab, folder, sink, keys, more)
        try:
            yield site
        finally:
            site.agent.stop()


def probe(lab: Guests, *arguments: str) -> tuple[int, str]:
    """`wardmote probe qga`, which starts wardmoted."""
    done = subprocess.run([str(programs() / "wardmote"), "probe", "qga", lab.uri, *arguments], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "LD_LIBRARY_PATH": lab.libraries})
    return done.returncode, done.stdout + done.stderr


def test_a_hung_guest_is_told_of_once_and_again_when_it_hangs_again(lab, tmp_path):
    lab.up(1)
    lab.mount(1)
    status, told = probe(lab, name_of(1), "-o", "json")
    seen = json.loads(told)
    assert status == 0 and seen["uuid"] == uuid_of(1) and seen["guest-ping"].startswith("answered after")
    assert seen["guest-fsfreeze-status"] == "thawed" and "the host's clock" in seen["guest-get-time"]
    assert seen["guest-get-fsinfo"].startswith("/srv (ext2) ")
    with watching(lab, tmp_path) as site:
        site.wait(1, "HEALTHY", 20)
        lab.stop_agent(1)
        # Its kernel goes on, without a disk and without a network: nobody can tell it from a halted one.
        seen = site.wait(1, "GUEST_IDLE_HUNG", 10)
        assert seen["state"] == "reported" and seen["uuid"] == uuid_of(1)
        wait_until(lambda: site.told() == ["opened GUEST_IDLE_HUNG"], 5, "one notice")
        site.restart()
        site.wait(1, "GUEST_IDLE_HUNG", 10)
        site.stays(1, "GUEST_IDLE_HUNG", 3)
        assert site.told() == ["opened GUEST_IDLE_HUNG"], "a restart of the agent is no news"
        lab.continue_agent(1)
        site.wait(1, "HEALTHY", 10)
        wait_until(lambda: site.told()[1:] == ["resolved GUEST_IDLE_HUNG"], 5, "its end")
        lab.stop_agent(1)
        wait_until(lambda: len(site.told()) == 3, 15, "a second episode")
        assert site.told()[2].endswith("GUEST_IDLE_HUNG")
        lab.continue_agent(1)
        site.wait(1, "HEALTHY", 10)
        # What a minute has begun is written at the end.
        assert site.agent.stop() == 0
        site.agent = site.start()
        site.wait(1, "HEALTHY", 20)
        status, body = site.agent.get("/api/v1/heatmap?prefix=guest/&since=10m")
        cells = {row["subject"]: row["cells"] for row in json.loads(body)["rows"]}[f"guest/{name_of(1)}"]
        pings, good = (sum(cell[part] for cell in cells if cell) for part in (0, 1))
        assert status == 200 and pings > good > 1, "it answered at least twice, and failed to"


@pytest.mark.slow
def test_one_guest_is_asked_by_hand(lab):
    lab.up(7)
    status, told = probe(lab, uuid_of(7))
    assert status == 0 and told.startswith(f"{name_of(7)} ({uuid_of(7)})\n") and "guest-get-fsinfo       none" in told
    lab.stop_agent(7)
    status, told = probe(lab, name_of(7), "--timeout", "1s")
    assert status == 2 and "guest-ping             no answer" in told and "guest-get-time" not in told
    lab.continue_agent(7)
    status, told = probe(lab, "nobody")
    assert status == 3 and "no guest 'nobody' runs" in told
    lab.virsh("suspend", name_of(7))
    status, told = probe(lab, name_of(7))
    assert status == 2 and "the guest does not run" in told
    lab.virsh("destroy", name_of(7))


@pytest.mark.slow
def test_what_is_wrong_inside_a_guest_that_lives(lab, tmp_path):
    """One question a minute: that of a clock and that of file systems must be answered twice."""
    lab.up(8, 9, 10)
    for number in (9, 10):
        lab.mount(number)
    with watching(lab, tmp_path, "every: 5s, timeout: 2s, threshold: 3, inside: {frozen_after: 1m}") as site:
        for number in (8, 9, 10):
            site.wait(number, "HEALTHY", 30)
        lab.shell(8, "date -s '2030-01-01 00:00:00'")
        lab.shell(9, "dd if=/dev/zero of=/srv/big bs=64k")
        lab.virsh("domfsfreeze", name_of(10))
        expected = ["opened VM_CLOCK_DRIFT", "opened VM_FS_FROZEN", "opened VM_FS_FULL"]
        wait_until(lambda: sorted(site.told()) == expected, 480, "all three findings", every=1)
        for number in (8, 9, 10):
            assert site.guest(number)["verdict"] == "HEALTHY"
        assert "/srv (ext2) is 100 % full" in str(site.guest(9)["findings"])
        site.restart()
        site.wait(10, "HEALTHY", 30)
        assert [one["code"] for one in site.guest(10)["findings"]] == ["VM_FS_FROZEN"], "from the first moment"
        lab.virsh("domfsthaw", name_of(10))
        wait_until(lambda: "resolved VM_FS_FROZEN" in site.told(), 150, "its end", every=1)
    for number in (8, 9, 10):
        lab.virsh("destroy", name_of(number))


@pytest.mark.slow
def test_a_backup_that_holds_the_agent_is_no_failure(lab, tmp_path):
    lab.up(11)
    lab.mount(11)
    with watching(lab, tmp_path, "every: 5s, timeout: 900ms, threshold: 3, inside: {freeze: false, clock: false, file_systems: false}") as site:
        site.wait(11, "HEALTHY", 30)
        lab.shell(11, "echo 40 > /hook")
        # Returns when the hook in the guest does: until then nobody else may talk to the agent.
        lab.virsh("domfsfreeze", name_of(11))
        lab.shell(11, "echo 0 > /hook")
        assert site.told() == []
        lab.virsh("domfsthaw", name_of(11))
        site.wait(11, "HEALTHY", 60)
        assert site.told() == []
        lab.virsh("destroy", name_of(11))


@pytest.mark.slow
def test_a_guest_that_ends_while_it_is_silent_is_no_alarm(lab, tmp_path):
    lab.up(12, 13)
    with watching(lab, tmp_path, "every: 1s, timeout: 900ms, threshold: 30") as site:
        site.wait(12, "HEALTHY", 30)
        lab.stop_agent(12)
        site.wait(12, "SILENT", 10)
        lab.virsh("destroy", name_of(12))
        wait_until(lambda: site.guest(12) == {}, 10, "the guest to be gone")
        # A shutdown ends the agent long before it ends the guest.
        site.wait(13, "HEALTHY", 30)
        lab.shell(13, "killall -9 qemu-ga; sleep 6; poweroff -f")
        site.wait(13, "AGENT_DOWN", 10)
        wait_until(lambda: site.guest(13) == {}, 60, "the guest to be off")
        assert site.told() == []


@pytest.mark.slow
def test_what_is_said_of_each_fault(lab, tmp_path):
    lab.up(2)
    with watching(lab, tmp_path) as site:
        site.wait(2, "HEALTHY", 20)
        # Its agent ends: the guest runs.
        lab.shell(2, "killall -9 qemu-ga")
        site.wait(2, "AGENT_DOWN", 3)
        lab.shell(2, "gastart")
        site.wait(2, "HEALTHY", 5)
        assert site.told() == [], "nobody is woken within half a minute"
        # Somebody pauses it.
        lab.virsh("suspend", name_of(2))
        site.wait(2, "SUPPRESSED", 3)
        site.stays(2, "SUPPRESSED", 8)
        lab.virsh("resume", name_of(2))
        site.wait(2, "HEALTHY", 5)
        # It boots anew, and takes longer than three pings.
        lab.virsh("reset", name_of(2))
        site.wait(2, "WAITING", 5)
        site.wait(2, "HEALTHY", 60)
        assert site.told() == []
        # QEMU itself is stopped: other calls go on, and the host is to blame.
        qemu = lab.qemu(2)
        qemu.send(signal.SIGSTOP)
        site.wait(2, "QEMU_STUCK", 25)
        assert site.agent.get("/readyz")[0] == 200, "libvirt answers"
        qemu.send(signal.SIGCONT)
        site.wait(2, "HEALTHY", 10)
        # What comes back before its end was told goes on as the same.
        wait_until(lambda: site.told()[-1].startswith("resolved"), 10, "the end to be told")
        # Its kernel panics, and tells.
        lab.shell(2, "echo c > /proc/sysrq-trigger")
        site.wait(2, "GUEST_PANIC", 5)
        # What ends before it was told would be told as brief.
        wait_until(lambda: "opened GUEST_PANIC" in site.told(), 10, "the message about the panic")
        lab.virsh("destroy", name_of(2))
        wait_until(lambda: site.guest(2) == {}, 5, "the guest to be gone")
        assert len([one for one in site.told() if one == "opened GUEST_PANIC"]) == 1


@pytest.mark.slow
def test_a_panic_that_nobody_tells_of_is_a_guest_that_spins(lab, tmp_path):
    lab.up(3, panic=False)
    with watching(lab, tmp_path) as site:
        site.wait(3, "HEALTHY", 20)
        lab.shell(3, "echo c > /proc/sysrq-trigger")
        site.wait(3, "GUEST_SPINNING", 15)
        lab.virsh("destroy", name_of(3))


@pytest.mark.slow
def test_a_qemu_that_is_killed_is_told_of_until_its_guest_is_back(lab, tmp_path):
    lab.up(4)
    with watching(lab, tmp_path) as site:
        site.wait(4, "HEALTHY", 20)
        lab.qemu(4).kill()
        site.wait(4, "GUEST_DIED", 5)
        site.restart()
        site.wait(4, "GUEST_DIED", 10)
        lab.virsh("start", name_of(4))
        site.wait(4, "HEALTHY", 60)
        try:
            wait_until(lambda: site.told() == ["opened GUEST_DIED", "resolved GUEST_DIED"], 10, "one episode")
        except TimeoutError as error:
            raise TimeoutError(f"{error}, not {site.told()}\n{site.agent.output()}") from None
        lab.virsh("destroy", name_of(4))


@pytest.mark.slow
def test_a_libvirtd_that_restarts_or_hangs_is_no_guests_fault(lab, tmp_path):
    lab.up(5)
    with watching(lab, tmp_path) as site:
        site.wait(5, "HEALTHY", 20)
        lab.libvirtd.kill()
        site.stays(5, "HEALTHY", 6)
        lab.start_libvirtd()
        wait_until(lambda: site.agent.json("/api/v1/checks")["checks"][0]["outcome"] == "ok", 40, "the connection", every=0.2)
        site.stays(5, "HEALTHY", 5)
        lab.libvirtd.send(signal.SIGSTOP)
        try:
            wait_until(lambda: "opened CHECK_FAILED" in site.told(), 120, "the hypervisor's own incident", every=0.2)
            assert site.guest(5)["verdict"] == "HEALTHY" and site.guest(5)["failures"] == 0
        finally:
            lab.libvirtd.send(signal.SIGCONT)
        wait_until(lambda: site.agent.json("/api/v1/checks")["checks"][0]["outcome"] == "ok", 60, "its return", every=0.2)
        site.stays(5, "HEALTHY", 5)
        assert not [one for one in site.told() if "GUEST" in one or "AGENT" in one]
        lab.virsh("destroy", name_of(5))


@pytest.mark.slow
def test_a_guest_that_dies_while_no_agent_runs_is_reported(lab, tmp_path):
    lab.up(6)
    with watching(lab, tmp_path) as site:
        site.wait(6, "HEALTHY", 20)
        site.agent.process.kill()
        site.agent.process.wait()
        lab.stop_agent(6)
        site.agent = site.start()
        site.wait(6, "GUEST_IDLE_HUNG", 15)
        # Its QEMU is killed, too, while libvirtd is away, and later while no agent runs.
        qemu = lab.qemu(6)
        lab.libvirtd.kill()
        qemu.kill()
        lab.start_libvirtd()
        site.wait(6, "GUEST_DIED", 60)
        lab.virsh("start", name_of(6))
        site.wait(6, "HEALTHY", 60)
        site.agent.process.kill()
        site.agent.process.wait()
        lab.qemu(6).kill()
        wait_until(lambda: "shut off" in lab.virsh("domstate", name_of(6)), 10, "libvirt to notice")
        site.agent = site.start()
        site.wait(6, "GUEST_DIED", 15)
        site.restart()
        site.stays(6, "GUEST_DIED", 3)
