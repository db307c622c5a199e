"""Real guests with real agents under a real libvirtd: what is said of them, and what outlives whom."""

import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from http_sink import Sink
from lab.guests import Guests, name_of, uuid_of
from lab.processes import wait_until
from tools.agent import ROOT, Agent

CONFIG = """
node: {{name: compute-1}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
guests: {{uri: "{uri}", every: 1s, timeout: 900ms, threshold: 3, boot_deadline: {boot_deadline}}}
notify:
  receivers:
    - {{name: hook, timeout: 2s, webhook: {{url: "http://127.0.0.1:{port}/"}}}}
  routes:
    - {{receiver: hook, group_wait: 0s, group_interval: 1s, repeat_interval: 0s}}
"""


@pytest.fixture(name="lab", scope="module")
def fixture_lab():
    with tempfile.TemporaryDirectory(prefix="wg-", dir="/tmp") as folder, Guests(ROOT / "build/lab/guests", Path(folder)) as guests:
        yield guests


class Site:
    """An agent that watches all guests of the lab, and whoever it tells."""

    def __init__(self, lab: Guests, folder: Path, sink: Sink, boot_deadline: str):
        self.lab, self.sink, self.folder = lab, sink, folder
        (folder / "data").mkdir()
        (folder / "wardmote.yaml").write_text(
            CONFIG.format(folder=folder, uri=lab.uri, port=sink.port, boot_deadline=boot_deadline), encoding="utf-8")
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
        status, _ = self.agent.get(f"/api/v1/guests/{name_of(number)}")
        return self.agent.json(f"/api/v1/guests/{name_of(number)}") if status == 200 else {}

    def wait(self, number: int, verdict: str, seconds: float) -> dict:
        return wait_until(lambda: self.guest(number) if self.guest(number).get("verdict") == verdict else None, seconds,
                          f"{verdict} of {name_of(number)}, which is {self.guest(number).get('verdict')}", every=0.1)

    def stays(self, number: int, verdict: str, seconds: float) -> None:
        """Says nothing else of it for so long."""
        try:
            other = wait_until(lambda: self.guest(number).get("verdict", verdict) != verdict and self.guest(number), seconds, "another", every=0.2)
        except TimeoutError:
            return
        raise AssertionError(f"{other['verdict']} in place of {verdict}")

    def told(self) -> list[str]:
        """`opened GUEST_PANIC` of every item of every notice."""
        return [f"{item['kind']} {item['code']}" for notice in self.sink.taken for item in notice["incidents"]]


@contextmanager
def watching(lab, folder, boot_deadline="5m"):
    with Sink() as sink:
        site = Site(lab, folder, sink, boot_deadline)
        try:
            yield site
        finally:
            site.agent.stop()


def test_a_hung_guest_is_told_of_once_and_again_when_it_hangs_again(lab, tmp_path):
    lab.up(1)
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
