"""A repair of a real member while the machine of the agent has troubles of its own: frozen in mid step, or no room for the journal."""

import os
import signal
import time

import pytest

from disks import fill, small_disk
from lab.instance import Lab
from lab.processes import wait_until
from plans_site import REBUILD, Site, damage


@pytest.fixture
def lab():
    with Lab.up(f"hardship-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


def proposed(site: Site) -> int:
    site.agent.wait_healthy()
    number = damage(site)
    wait_until(lambda: site.state() == "proposed", 30.0, "the plan")
    return number


def finished(site: Site) -> bool:
    return site.state() in ("done", "failed", "unclear")


@pytest.mark.parametrize("step", ["kick", pytest.param("rejoin", marks=pytest.mark.slow)])
def test_frozen_in_the_middle_of_a_step_it_goes_on_and_repeats_nothing(lab, tmp_path, step):
    site = Site(lab, tmp_path, REBUILD)
    try:
        number = proposed(site)
        assert site.agent.cli("approve", "1").returncode == 0
        wait_until(lambda: site.has("intent", step), 40.0, f"the intent to {step}", every=0.001)
        site.agent.process.send_signal(signal.SIGSTOP)
        time.sleep(5)  # how long it is frozen: longer than a look, shorter than the step may take
        site.agent.process.send_signal(signal.SIGCONT)
        wait_until(lambda: finished(site), 90.0, "the plan's end", every=0.2)
        assert site.state() == "done", site.rows()
        assert site.whole() and site.starts(number) == 1
        # A kick may be tried again when it is not known how it went; what it did, it did once.
        assert [row[:2] for row in site.rows()].count(("result", "kick")) == 1
        assert site.verify().returncode == 0
    finally:
        site.end()


def test_nothing_is_done_that_the_journal_has_no_room_for(lab, tmp_path):
    (tmp_path / "data").mkdir()
    with small_disk(tmp_path / "data"):
        site = Site(lab, tmp_path, REBUILD)
        try:
            number = proposed(site)
            full = tmp_path / "data/filler"
            fill(full)
            told = site.agent.cli("approve", "1")
            assert told.returncode != 0 and "the order holds, but it is not written down" in told.stderr, told
            site.wait_finding("RAFT_MEMBER_DOWN")
            wait_until(lambda: "journal_not_written" in site.agent.output(), 20.0, "the log to tell")
            assert site.starts(number) == 0 and not site.has("result", "kick")
            assert site.agent.get("/livez")[0] == 200
            full.unlink()
            wait_until(lambda: finished(site), 90.0, "the plan's end", every=0.2)
            assert site.state() == "done", site.rows()
            assert site.whole() and site.starts(number) == 1
            assert site.verify().returncode == 0
        finally:
            site.end()
