"""A repair of a real member while the machine of the agent has troubles of its own: frozen in mid step, or no room for the journal."""

import os
import signal
import time

import pytest

from disks import fill, small_disk
from lab import faults
from lab.instance import Lab
from lab.processes import wait_until
from plans_site import REBUILD, Site, damage

REPORT_HOLDS = 15.0  # seconds, from the start of its command (docs/plans.md)


@pytest.fixture
def lab():
    with Lab.up(f"hardship-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


def proposed(site: Site) -> int:
    site.agent.wait_healthy()
    number = damage(site)
    site.wait_proposed()
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
            kinds = [row[0] for row in site.rows()]
            assert [kinds.count(kind) for kind in ("proposed", "approved")] == [1, 1], site.rows()
            assert kinds.index("proposed") < kinds.index("approved") < kinds.index("intent"), site.rows()
            assert site.verify().returncode == 0
        finally:
            site.end()


@pytest.mark.parametrize("end", ["SIGTERM", pytest.param("SIGKILL", marks=pytest.mark.slow)])
def test_what_somebody_forbade_on_a_full_disk_is_not_forgotten_silently(lab, tmp_path, end):
    """He was told that the order is lost when the agent ends; who comes later was not."""
    (tmp_path / "data").mkdir()
    with small_disk(tmp_path / "data"):
        site = Site(lab, tmp_path, REBUILD)
        try:
            site.agent.wait_healthy()
            fill(tmp_path / "data/filler")
            # A little more may fit into what the database has already.
            for _ in range(400):
                told = site.agent.cli("pause", "ovn-nb")
                if told.returncode != 0:
                    break
                site.agent.cli("resume", "ovn-nb")
            assert "the order holds, but it is not written down" in told.stderr, told
            site.agent.process.send_signal(getattr(signal, end))
            site.agent.process.wait()
            (tmp_path / "data/filler").unlink()
            site.agent = site.run()
            site.agent.wait_serving()
            wait_until(lambda: "all" in [pause["scope"] for pause in site.agent.json("/api/v1/plans")["pauses"]], 20.0, "everything to be paused")
            assert any("it ended before all that forbids acts was written down" in str(row) for row in site.rows()), site.rows()
        finally:
            site.end()


def test_an_agent_whose_data_folder_was_emptied_begins_no_step(lab, tmp_path):
    site = Site(lab, tmp_path, REBUILD)
    try:
        number = proposed(site)
        for file in (tmp_path / "data").iterdir():
            file.unlink()
        wait_until(lambda: "data folder was taken away" in (site.agent.json("/api/v1/plans")["frozen"] or ""), 20.0, "the plans to be frozen")
        told = site.agent.cli("approve", "1")
        assert told.returncode != 0 and "the data folder was taken away, and another agent may act" in told.stderr, told
        site.look_on()
        assert site.starts(number) == 0 and site.state() == "proposed"
    finally:
        site.end()


def test_a_database_that_was_put_in_the_members_place_while_the_agent_was_away_is_left_alone(lab, tmp_path):
    site = Site(lab, tmp_path, REBUILD)
    try:
        number = proposed(site)
        (tmp_path / "hold-the-copy").touch()
        assert site.agent.cli("approve", "1").returncode == 0
        wait_until((tmp_path / f"copying-{number}").exists, 30.0, "the copy to begin")
        assert site.agent.cli("pause").returncode == 0
        (tmp_path / "hold-the-copy").unlink()
        wait_until(lambda: site.has("result", "copy_database"), 30.0, "the copy to end")
        file, cluster = site.cluster.file(number), site.cluster
        file.unlink()
        cluster.tool("create-cluster", str(file), cluster.tools.schema(cluster.database.schema), cluster.address(number))
        other = file.read_bytes()
        site.kill_agent()  # what an earlier life was told by the host is not believed; the pause holds
        site.agent = site.run()
        site.agent.wait_serving()
        assert site.agent.cli("resume").returncode == 0
        wait_until(lambda: finished(site), 90.0, "the plan's end", every=0.2)
        assert site.state() == "failed" and "the file on the host of" in site.plans()[-1]["reason"], site.plans()[-1]
        assert not site.has("intent", "kick") and site.starts(number) == 0
        assert file.read_bytes() == other
    finally:
        site.end()


@pytest.mark.slow
def test_a_server_that_was_started_while_the_copy_hung_is_left_alone(lab, tmp_path):
    """Only its host can know that it runs: no raft packet passes, and its sockets are elsewhere."""
    site = Site(lab, tmp_path, REBUILD)
    cluster = site.cluster
    try:
        site.agent.wait_healthy()
        number = cluster.followers()[0]
        cluster.kill(number)
        site.wait_proposed()
        (tmp_path / "hold-the-copy").touch()
        assert site.agent.cli("approve", "1").returncode == 0
        wait_until((tmp_path / f"copying-{number}").exists, 30.0, "the copy to have looked")
        faults.partition(cluster, number)
        cluster.start_out_of_sight(number, tmp_path)
        looked = (tmp_path / f"copying-{number}").stat().st_mtime
        wait_until(lambda: time.time() - looked > REPORT_HOLDS, 30.0, "its report to be too old", every=0.2)
        (tmp_path / "hold-the-copy").unlink()
        wait_until(lambda: site.has("failed", "copy_database"), 90.0, "the plan's end", every=0.2)
        kinds = [row[:2] for row in site.rows()]
        assert ("asked", "kick") in kinds and ("intent", "kick") not in kinds, site.rows()
        assert site.starts(number) == 0
    finally:
        site.end()
