"""Old copies, half a removal, and a helping hand on real servers: who alone has what was committed is never sent away or emptied."""

import os
import shutil

import pytest

from field_site import A_KICK, ACTS, TO_THROW_DATA_AWAY, alone, scenes
from lab import faults
from lab.instance import Lab
from lab.processes import wait_until

COPIES_FIRST = "copy the databases of all servers aside"


@pytest.fixture
def lab():
    with Lab.up(f"copies-{os.getpid()}", ["nb"], hosts=5, transient=True) as lab:
        yield lab


@pytest.fixture
def make(lab, tmp_path):
    with scenes(lab, tmp_path) as make:
        yield make


def take_snapshot(cluster, folder) -> None:
    for number in list(cluster.members):
        cluster.kill(number)
        shutil.copy(cluster.file(number), folder / f"snapshot-{number}")
    for number in list(cluster.members):
        cluster.start(number)
    cluster.wait_healthy()


def put_back(cluster, folder, numbers) -> None:
    for number in numbers:
        cluster.kill(number)
    for number in numbers:
        shutil.copy(folder / f"snapshot-{number}", cluster.file(number))
        cluster.start(number)
    wait_until(lambda: any(cluster.view(number).role == "leader" for number in numbers), 30.0, "those of the snapshot to lead")


@pytest.mark.slow
def test_a_server_that_joined_after_the_snapshot_has_what_was_committed(make, tmp_path):
    """It was removed by nobody; also when the cluster or the members are called otherwise, and when it is down."""
    def join_one_more(cluster):
        take_snapshot(cluster, tmp_path)
        cluster.wait_member(cluster.add())

    scene = make(ACTS, healthy=False, before=join_one_more)
    cluster = scene.cluster
    *others, keeper = cluster.members
    name = cluster.members[keeper].name
    cluster.write(cluster.leader(), 100)
    scene.look_on(3)
    with scene.never(A_KICK, TO_THROW_DATA_AWAY):
        cluster.pause(keeper)
        put_back(cluster, tmp_path, others)
        scene.cause()
        scene.said("RAFT_LOG_ROLLED_BACK", 10, severity="critical")
        cluster.resume(keeper)
        scene.look_on(8)
        assert cluster.view(keeper).server_id[:4] not in cluster.view(others[0]).servers, "the list is the one of before"
        scene.configure("name: ovn-nb\n", "name: ovn-other\n")
        scene.cause()
        scene.said("RAFT_LOG_ROLLED_BACK", 10, severity="critical")
        scene.look_on(8)
        first = cluster.members[others[0]].name
        scene.configure(f"name: {first},", "name: renamed,")
        scene.cause()
        scene.said("RAFT_LOG_ROLLED_BACK", 10, subject="renamed")
        cluster.kill(keeper)
        scene.cause()
        scene.said("RAFT_MEMBER_DOWN", 10, subject=name, words=COPIES_FIRST)
        scene.look_on(3)
    assert "RAFT_ZOMBIE_MEMBER" not in {finding["code"] for sample in scene.samples for finding in sample.findings}
    assert not scene.has("intent", "copy_database")


@pytest.mark.slow
def test_one_that_was_put_back_and_has_all_again_is_well(make, tmp_path):
    scene = make(before=lambda cluster: take_snapshot(cluster, tmp_path))
    cluster = scene.cluster
    for _ in range(10):
        cluster.write(cluster.leader(), 100)
    scene.look_on(3)
    put_back_one = cluster.followers()[0]
    cluster.kill(put_back_one)
    shutil.copy(tmp_path / f"snapshot-{put_back_one}", cluster.file(put_back_one))
    cluster.start(put_back_one)
    scene.cause()
    scene.ends("RAFT_LOG_ROLLED_BACK", 20)
    wait_until(lambda: scene.status()[0] == 0, 20.0, "all to be well", every=0.3)


@pytest.mark.slow
def test_a_leader_of_one_is_not_the_cluster_when_the_others_lose_their_leader(make):
    scene = make()
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    faults.partition(cluster, number)
    alone(cluster, number, term=cluster.view(number).term + 8, index=1000)
    leader = next(other for other in cluster.others(number) if cluster.view(other).role == "leader")
    scene.look_on(8)
    cluster.kill(leader)
    scene.cause()
    with scene.never(A_KICK, TO_THROW_DATA_AWAY):
        scene.said("RAFT_NO_LEADER", 15, words="1 of 3 voters answer, 2 are needed")
        scene.said("RAFT_MEMBER_DOWN", 15, subject=cluster.members[leader].name)
        scene.look_on(8)
    assert "RAFT_ZOMBIE_MEMBER" not in scene.codes()
    assert not any("1 voters" in finding["summary"] for sample in scene.samples for finding in sample.findings)


@pytest.mark.slow
def test_a_removal_that_is_not_committed_removed_nobody(make):
    """The leader dies before the third has heard of it: the one that is down is needed."""
    def be_patient(cluster):
        for timer in (2000, 4000, 8000):
            faults.set_election_timer(cluster, timer)

    scene = make(before=be_patient)
    cluster = scene.cluster
    leader, (down, third) = cluster.leader(), cluster.followers()
    name, gone = cluster.members[down].name, cluster.view(down).server_id
    cluster.kill(down)
    scene.cause()
    scene.said("RAFT_MEMBER_DOWN", 20, subject=name)
    faults.partition(cluster, third)
    faults.order_kick(cluster, down)
    scene.cause()
    with scene.never(TO_THROW_DATA_AWAY):
        scene.said("RAFT_MEMBER_DOWN", 8, subject=name, words="is being removed")
        faults.partition(cluster, leader)
        cluster.kill(leader)
        faults.heal(cluster, third)
        assert gone[:4] in cluster.view(third).servers, "it has not heard of the removal"
        cluster.start(down)
        wait_until(lambda: "leader" in (cluster.view(down).role, cluster.view(third).role), 60.0, "the two to go on")


def test_a_rejoin_that_comes_after_a_helping_hand_is_ended(make, tmp_path):
    """Somebody brings the member back while the agent's command is on its way: it would empty a full member."""
    scene = make(ACTS)
    cluster = scene.cluster
    number, leader = cluster.followers()[0], cluster.leader()
    (tmp_path / "hold-the-rejoin").touch()
    cluster.kill(number)
    wait_until(lambda: (tmp_path / f"rejoining-{number}").exists(), 60.0, "the command that rebuilds it")
    cluster.file(number).unlink()
    cluster.join(number, [cluster.address(other) for other in cluster.others(number)])
    cluster.start(number)
    cluster.wait_member(number)
    by_hand = cluster.view(number).server_id
    wait_until(lambda: scene.has("unknown", "rejoin"), 40.0, "the command to be ended")
    detail = next(row[2] for row in scene.rows() if row[:2] == ("unknown", "rejoin"))
    assert "takes part, and what still runs could only harm it" in detail
    (tmp_path / "hold-the-rejoin").unlink()
    scene.look_on(3)
    assert cluster.view(number).server_id == by_hand and by_hand[:4] in cluster.view(leader).servers
    assert scene.state() == "running" and "waits whether it stays so" in scene.plans()[-1]["reason"]
    assert not (tmp_path / f"rejoined-{number}").exists()
