"""A server joins with the address of another, and the address moves to its host when that one is down: who was alive beside another is no
ghost, also for an agent that has begun since. One that could not write it down does nothing until somebody has looked."""

import os

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from disks import fill, small_disk
from plans_site import GHOSTS, Site


@pytest.fixture
def lab():
    with Lab.up(f"taken-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


@pytest.mark.slow
def test_who_was_alive_beside_another_at_its_address_is_not_kicked_after_a_restart(lab, tmp_path):
    cluster = lab.clusters["nb"]
    cluster.wait_healthy()
    owner = cluster.followers()[0]
    name, ident = cluster.members[owner].name, cluster.view(owner).server_id
    taker = cluster.add_at(cluster.address(owner))
    site = Site(lab, tmp_path, GHOSTS)
    try:
        site.agent.stop()
        for file in (tmp_path / "data").iterdir():
            file.unlink()
        # No agent is told of the one that has the address.
        lines = site.config.read_text(encoding="utf-8").splitlines()
        site.config.write_text("\n".join(line for line in lines if f"name: {name}," not in line) + "\n", encoding="utf-8")
        site.agent = site.run()
        site.agent.wait_serving()

        def told(what: str) -> bool:
            return any(what in f"{one['code']} {one['summary']} {one['advice']}" for one in site.agent.json("/api/v1/findings")["findings"])

        wait_until(lambda: "acts/beside" in site.keys(), 60.0, "what was seen to be written down", every=0.2)
        site.kill_agent()
        cluster.kill(owner)
        lab.network.move_address(cluster.members[owner].host, cluster.members[taker].host)
        wait_until(lambda: "<-" in cluster.view(taker).text, 60.0, "others to connect there", every=0.2)
        site.agent = site.run()
        site.agent.wait_serving()
        wait_until(lambda: told("two of them seem to have been alive at once"), 60.0, "the finding", every=0.2)
        site.look_on()
        assert told("Remove none of them") and not site.plans(), site.plans()
        assert ident[:4] in cluster.view(cluster.leader()).servers
    finally:
        site.end()


@pytest.mark.slow
def test_what_could_not_be_written_down_holds_the_next_life_back(lab, tmp_path):
    cluster = lab.clusters["nb"]
    cluster.wait_healthy()
    owner = cluster.followers()[0]
    ident = cluster.view(owner).server_id
    data = tmp_path / "data"
    data.mkdir()
    with small_disk(data, 4):
        site = Site(lab, tmp_path, GHOSTS)
        try:
            site.agent.wait_serving()
            site.look_on()
            fill(data / "filler")
            taker = cluster.add_at(cluster.address(owner))
            wait_until((data / "wardmote.owed").exists, 60.0, "the mark", every=0.2)
            site.kill_agent()
            cluster.kill(owner)
            lab.network.move_address(cluster.members[owner].host, cluster.members[taker].host)
            wait_until(lambda: "<-" in cluster.view(taker).text, 60.0, "others to connect there", every=0.2)
            (data / "filler").unlink()
            site.agent = site.run()
            site.agent.wait_serving()
            site.look_on(8)
            assert [one["by"] for one in site.agent.json("/api/v1/plans")["pauses"]] == [
                "the agent: it ended before all that forbids acts was written down; what somebody paused or rejected may be lost"]
            assert not site.has("intent", "kick") and ident[:4] in cluster.view(cluster.leader()).servers
            assert site.agent.cli("resume", "all").returncode == 0
            wait_until((data / "wardmote.kept").exists, 10.0, "the mark to go", every=0.2)
        finally:
            site.end()
