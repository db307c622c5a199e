"""Incidents of the field on real servers: what is said and in which second, what is never advised, and what plans make whole.

tests/scenarios.md says which incident has which tests. Here are those of ids, lists and leaders; test_field_hosts.py has those of
hosts, disks, names and clients.
"""

import os
import re
import uuid
from collections.abc import Callable
from functools import partial

import pytest

from field_site import (A_KICK, A_RESTART, ACTS, GONE_AFTER, TO_JOIN_ANEW, TO_THROW_DATA_AWAY, TO_WAIT, alone, nowhere, put_header,
                        scenes)
from lab import faults, wire
from lab.instance import Lab
from lab.processes import wait_until
from lab.wire import WireError


@pytest.fixture
def lab():
    with Lab.up(f"field-{os.getpid()}", ["nb"], hosts=5, transient=True) as lab:
        yield lab


@pytest.fixture
def make(lab, tmp_path):
    with scenes(lab, tmp_path) as make:
        yield make


def earlier_lives(cluster, wipe_and_rejoin: Callable[[int], None] | None = None) -> tuple[int, int, int, int]:
    """Three hosts and five servers in the list: one is a ghost, one was on a host that is gone. Leader, rebuilt, other, gone."""
    leader, (rebuilt, other) = cluster.leader(), cluster.followers()
    (wipe_and_rejoin or partial(faults.wipe_and_rejoin, cluster))(rebuilt)
    gone = cluster.add()
    cluster.wait_member(gone)
    cluster.kill(gone)
    return leader, rebuilt, other, gone


def found_anew(cluster, first: int, second: int) -> None:
    """Both lose their databases and are a cluster of their own."""
    for number in (first, second):
        cluster.kill(number)
        cluster.file(number).unlink()
    cluster.found(first)
    cluster.start(first)
    cluster.tool("join-cluster", str(cluster.file(second)), cluster.database.name, cluster.address(second), cluster.address(first))
    cluster.start(second)
    cluster.wait_member(second)


@pytest.mark.slow
def test_1_one_master_goes_offline_and_servers_of_earlier_lives_deny_the_quorum(make):
    """kubeovn/kube-ovn 5669: said long before the loss; then without a kick, and without throwing a copy away."""
    scene = make()
    cluster = scene.cluster
    with scene.never(TO_THROW_DATA_AWAY):
        scene.cause()
        leader, rebuilt, other, gone = earlier_lives(cluster, scene.wipe_and_rejoin)
        names = {number: member.name for number, member in cluster.members.items()}
        scene.said("RAFT_STALE_MEMBER", 30, subject=names[rebuilt])
        scene.said("RAFT_QUORUM_MARGIN", 30, words="3 of 5 voters")
        scene.said("RAFT_DEAD_MEMBER", 30)
        cluster.kill(leader)
        scene.cause()
        with scene.never(A_KICK):
            scene.said("RAFT_NO_(QUORUM|LEADER)", 10, severity="critical", words="2 of 5 voters")
            scene.said("RAFT_MEMBER_DOWN", 5, subject=names[leader])
        copies = scene.said("RAFT_NO_(QUORUM|LEADER)", 15, severity="critical")["evidence"]
        for number in (rebuilt, other):
            said = [one["says"] for one in copies if one["by"] == names[number]]
            assert any("Term" in says and "Log" in says for says in said), f"the copy of {names[number]} by term and index: {said}"
        # What they did: both live copies are dropped, and the master comes back to a cluster of its own.
        found_anew(cluster, rebuilt, other)
        cluster.start(leader)
        scene.cause()
        found = scene.said("RAFT_CLUSTER_ID_MISMATCH", 5, subject=names[leader])
        assert cluster.view(leader).cluster_id[:4] in found["summary"] and cluster.view(other).cluster_id[:4] in found["summary"]
    assert not scene.rows(), "a policy that observes"


@pytest.mark.slow
def test_1_the_copy_of_a_master_that_is_down_is_nobodys_to_rebuild(make):
    """kubeovn/kube-ovn 5669: the two of the new cluster are its majority, and the file of the third may be the only one with the rows."""
    scene = make(ACTS, edits=[GONE_AFTER])
    cluster, leader = scene.cluster, scene.cluster.leader()
    name, file = cluster.members[leader].name, cluster.file(leader)
    with scene.never(A_KICK, TO_THROW_DATA_AWAY, TO_JOIN_ANEW):
        for number in cluster.members:
            cluster.kill(number)
        kept = file.read_bytes()
        found_anew(cluster, *cluster.others(leader))
        scene.cause()
        scene.said("RAFT_CLUSTER_ID_MISMATCH", 5, subject=name)
        scene.said("RAFT_MEMBER_DOWN", 5, subject=name)
        scene.look_on(15)
    refusals = scene.agent.json("/api/v1/plans")["refusals"]
    assert [one["reason"] for one in refusals if "may hold what no other has" in one["reason"]], refusals
    assert not any(row[0] == "intent" for row in scene.rows()) and file.read_bytes() == kept


@pytest.mark.slow
def test_1_servers_of_earlier_lives_are_removed_before_a_master_goes_offline(make):
    """kubeovn/kube-ovn 5669: what was asked for there. With the ghosts gone the same loss is borne."""
    scene = make(ACTS, edits=[GONE_AFTER])
    cluster = scene.cluster
    with scene.never(TO_THROW_DATA_AWAY):
        leader, _, _, gone = earlier_lives(cluster, scene.wipe_and_rejoin)
        del cluster.members[gone]
        wait_until(scene.whole, 90.0, "a whole cluster", every=0.2)
        cluster.kill(leader)
        scene.cause()
        scene.said("RAFT_MEMBER_DOWN", 5, subject=cluster.members[leader].name)
        scene.said("RAFT_QUORUM_MARGIN", 10, words="2 of 3 voters")
        assert cluster.leader() != leader and "RAFT_NO_QUORUM" not in scene.codes()
        cluster.start(leader)
        wait_until(lambda: scene.status()[0] == 0, 60.0, "all to be well", every=0.3)
    assert [row[1] for row in scene.rows() if row[0] == "intent"].count("kick") == 2 and scene.verify().returncode == 0


@pytest.mark.slow
def test_10_five_servers_are_listed_and_two_live(make):
    """openvswitch/ovs-issues 242: the agent comes when quorum is lost, where `cluster/kick` ends with a bare error."""
    cluster_of = {}

    def break_first(cluster):
        cluster_of["all"] = earlier_lives(cluster)
        leader, _, _, gone = cluster_of["all"]
        del cluster.members[gone]
        cluster.kill(leader)

    scene = make(ACTS, healthy=False, edits=[GONE_AFTER], before=break_first)
    cluster = scene.cluster
    leader, rebuilt, other, _ = cluster_of["all"]
    with scene.never(A_KICK, TO_THROW_DATA_AWAY, TO_JOIN_ANEW):
        scene.said("RAFT_NO_(QUORUM|LEADER)", 10, severity="critical", words="2 of 5 voters")
        scene.said("RAFT_NO_(QUORUM|LEADER)", 10, severity="critical", words="a kick needs a commit and cannot work")
        scene.said("RAFT_CLUSTER_SIZE", 10, words="5 voters, 3 are expected")
        dead = next(one for one, line in cluster.view(rebuilt).servers.items() if cluster.network.address(4) in line)
        with pytest.raises(WireError):
            wire.control(cluster.control(rebuilt), "cluster/kick", cluster.database.name, dead)
        scene.look_on(15)
        assert len(cluster.view(rebuilt).servers) == 5, "a kick is a write"
    cluster.start(leader)
    scene.cause()
    with scene.never(TO_THROW_DATA_AWAY):
        scene.ends("RAFT_NO_LEADER", 10)
        wait_until(scene.whole, 120.0, "a whole cluster", every=0.2)
        wait_until(lambda: scene.status()[0] == 0, 60.0, "all to be well", every=0.3)
    assert scene.verify().returncode == 0


@pytest.mark.slow
def test_2_a_header_that_is_older_than_its_peer_keeps_a_member_joining(make):
    """kubeovn/kube-ovn 6907. ovsdb-server itself has no header file: one record is written by hand that dials where the peer was."""
    scene = make(ACTS)
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    name, former = cluster.members[number].name, cluster.view(number).server_id
    with scene.never(A_RESTART, TO_THROW_DATA_AWAY):
        put_header(cluster, number, server_id=str(uuid.uuid4()), cluster_id=cluster.cluster_id(), remote_addresses=[nowhere(cluster)])
        cluster.start(number)
        scene.cause()
        scene.said("RAFT_QUORUM_MARGIN", 8, words="2 of 3 voters")
        found = scene.said("RAFT_JOINING_STUCK", 33, subject=name, severity="critical")
        assert any(nowhere(cluster) in one["says"] for one in found["evidence"]), "whom it dials"
        assert re.search(r"no (server|member)\b|not (listed|in the list)|in no\b.*list", found["summary"] + found["advice"]["text"]), found
        wait_until(scene.whole, 90.0, "a whole cluster", every=0.2)
        wait_until(lambda: scene.status()[0] == 0, 60.0, "all to be well", every=0.3)
    assert [row[1] for row in scene.rows() if row[0] == "intent"] == ["copy_database", "rejoin", "kick"], scene.rows()
    assert former[:4] not in cluster.view(cluster.leader()).servers and scene.starts(number) == 1


@pytest.mark.slow
def test_3_a_node_is_deleted_and_the_survivors_wait_for_it(make, lab):
    """kubeovn/kube-ovn 6815. Their start scripts wait for the address of a host that is gone, so that no server comes up."""
    cluster = lab.clusters["nb"]
    survivors, gone = [cluster.leader(), cluster.followers()[0]], cluster.followers()[1]
    name, address = cluster.members[gone].name, cluster.address(gone)
    over_the_network = (rf'{{name: {name}, control: [^,]+, ovsdb: "[^"]+"', f'{{name: {name}, ovsdb: "{cluster.ovsdb(gone)}"')
    scene = make(ACTS, edits=[over_the_network, GONE_AFTER], inside=cluster.network.inside(cluster.network.hosts))
    with scene.never(TO_WAIT, A_KICK, TO_JOIN_ANEW):
        cluster.kill(gone)
        cluster.network.lose_host(cluster.members[gone].host)
        del cluster.members[gone]
        scene.cause()
        scene.said("RAFT_QUORUM_MARGIN", 8, words="2 of 3 voters")
        scene.said("RAFT_MEMBER_DOWN", 8, subject=name, words="cannot be reached")
        for number in survivors:
            cluster.kill(number)
        scene.cause()
        for number in survivors:
            scene.said("RAFT_MEMBER_DOWN", 5, subject=cluster.members[number].name, words="Start the server")
        lost = scene.said("RAFT_NO_QUORUM", 6, words="0 of 3 voters")
        told = lost["summary"] + lost["advice"]["text"]
        assert all(cluster.members[number].name in told for number in survivors), f"who would be a majority: {told}"
        for number in survivors:
            cluster.start(number)
        scene.cause()
        scene.ends("RAFT_NO_QUORUM", 10)
        scene.said("RAFT_QUORUM_MARGIN", 10)
    # The node is taken out of what is expected, and then its server is out of the list.
    text = scene.config.read_text(encoding="utf-8")
    scene.configure(next(line for line in text.splitlines(True) if f"name: {name}," in line), "")
    scene.configure(f', "{address}"' if f', "{address}"' in text else f'"{address}", ', "")
    wait_until(lambda: len(cluster.view(survivors[0]).servers) == 2, 60.0, "the list of the two", every=0.2)
    wait_until(lambda: scene.status()[0] == 0, 30.0, "all to be well", every=0.3)
    assert scene.verify().returncode == 0


def test_4_a_broken_snapshot_elects_a_leader_of_one(make):
    """kubeovn/kube-ovn 6363: 1 of 1 votes. The others are the majority of the list that they have."""
    scene = make(ACTS)
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    with scene.never(A_KICK, A_RESTART):
        alone(cluster, number, term=cluster.view(number).term - 1, index=1000)
        scene.cause()
        scene.said("RAFT_TWO_LEADERS_SAME_TERM", 3, subject=cluster.members[number].name, severity="critical")
        scene.look_on(8)
    assert not scene.rows(), "nothing of this has a safe repair"


@pytest.mark.slow
@pytest.mark.parametrize("where", ["in the same term", "in a later term, cut off"])
def test_4_a_leader_of_one_is_no_reason_to_stop_the_majority(make, where):
    """kubeovn/kube-ovn 6363: the two others hear each other and commit. The one that lists itself alone is wrong."""
    scene = make()
    cluster, leader, number = scene.cluster, scene.cluster.leader(), scene.cluster.followers()[0]
    majority = {cluster.members[other].name for other in cluster.others(number)}
    if where == "in the same term":
        alone(cluster, number, term=cluster.view(number).term - 1, index=1000)
    else:
        faults.partition(cluster, number)
        alone(cluster, number, term=cluster.view(number).term + 8, index=1000)
    scene.cause()
    scene.said("RAFT_TWO_LEADERS_SAME_TERM|RAFT_STALE_LEADER|RAFT_TERM_DIVERGENCE|RAFT_MEMBER_LIST_MISMATCH", 12)
    cluster.write(leader, 100)
    scene.look_on(8)
    assert cluster.view(leader).role == "leader" and len(cluster.view(leader).servers) == 3
    told = {f"{finding['code']}: {finding['summary']}" for sample in scene.samples for finding in sample.findings
            if finding["code"] in ("RAFT_ZOMBIE_MEMBER", "RAFT_STALE_LEADER") and majority & set(finding["subjects"])}
    assert not told, "\n".join(told)
    assert "RAFT_MISSING_MEMBER" not in scene.codes(), "both are in the list that two of three have"



@pytest.mark.slow
def test_4_a_short_list_spreads_and_the_third_is_excluded(make):
    """kubeovn/kube-ovn 6363: two agree on a list of two; the third campaigns for ever, and an expected count kicks nobody."""
    scene = make(ACTS)
    cluster = scene.cluster
    excluded = cluster.followers()[1]
    one, other = [number for number in cluster.members if number != excluded]
    name, address = cluster.members[excluded].name, cluster.address(excluded)
    with scene.never(A_KICK):
        alone(cluster, one, term=cluster.view(one).term + 8, index=1000, with_others=(other,))
        scene.cause()
        scene.said("RAFT_MISSING_MEMBER", 12, subject=address)
        scene.said("RAFT_CLUSTER_SIZE", 12, words="2 voters, 3 are expected", severity="warning")
        scene.said("RAFT_ZOMBIE_MEMBER", 12, subject=name, severity="critical")
        scene.look_on(5)
        assert not scene.rows() and len(cluster.view(one).servers) == 2
        cluster.kill(excluded)
        cluster.file(excluded).unlink()
        cluster.join(excluded, [cluster.address(one), cluster.address(other)])
        cluster.start(excluded)
        wait_until(lambda: scene.whole() and scene.status()[0] == 0, 60.0, "all to be well", every=0.3)


@pytest.mark.slow
def test_4_a_member_that_lists_itself_alone_follows_in_name(make):
    """kubeovn/kube-ovn 6363: it acknowledges what its log does not hold, and serves old rows."""
    scene = make()
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    with scene.never(A_KICK):
        alone(cluster, number, term=cluster.view(number).term + 8, index=1000)
        wait_until(lambda: cluster.view(number).role == "follower" and cluster.view(number).leader != "unknown", 15.0, "it to follow")
        cluster.write(cluster.leader(), 100)
        assert len(cluster.view(number).servers) == 1
        scene.cause()
        scene.said("RAFT_MEMBER_LIST_MISMATCH", 12, subject=cluster.members[number].name)



def test_4_a_planned_kick_is_an_old_expectation_and_no_fault(make):
    """kubeovn/kube-ovn 6721, which took back the cure: NODE_IPS never shrinks. test_plans.py has what plans make of it: nothing."""
    scene = make(ACTS)
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    name, address = cluster.members[number].name, cluster.address(number)
    faults.kick(cluster, number)
    cluster.kill(number)
    del cluster.members[number]
    line = next(line for line in scene.config.read_text(encoding="utf-8").splitlines(True) if f"name: {name}," in line)
    scene.configure(line, "")
    scene.cause()
    with scene.never(A_KICK, A_RESTART, TO_THROW_DATA_AWAY):
        scene.said("RAFT_MISSING_MEMBER", 8, subject=address, words="or correct the list of expected addresses")
        scene.said("RAFT_CLUSTER_SIZE", 8, words="or correct the expected number")
        scene.ends("RAFT_MEMBER_DOWN", 8)
        wait_until(lambda: scene.status()[0] == 1, 8.0, "no more than a warning")
    assert not scene.rows()


@pytest.mark.slow
def test_5_a_member_that_rejoins_leads_a_cluster_of_one_for_a_moment(make):
    """kubeovn/kube-ovn 7138: checkers restarted both leaders, again and again."""
    scene = make(ACTS)
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    name, term = cluster.members[number].name, cluster.view(cluster.leader()).term
    with scene.never(A_RESTART):
        with scene.never(A_KICK):
            faults.rebootstrap(cluster, number)
            scene.cause()
            found = scene.said("RAFT_CLUSTER_ID_MISMATCH", 3, subject=name)
            assert name in found["subjects"] and cluster.members[cluster.leader()].name not in found["subjects"]
        cluster.kill(number)
        cluster.file(number).unlink()
        cluster.join(number, [cluster.address(other) for other in cluster.others(number)])
        cluster.start(number)
        scene.cause()
        scene.ends("RAFT_CLUSTER_ID_MISMATCH", 5)
        wait_until(scene.whole, 60.0, "a whole cluster", every=0.2)
        wait_until(lambda: scene.status()[0] == 0, 30.0, "all to be well", every=0.3)
    said = {finding["code"] for sample in scene.samples for finding in sample.findings}
    assert not said & {"RAFT_TWO_LEADERS_SAME_TERM", "RAFT_STALE_LEADER", "RAFT_LEADER_FLAP"}, said
    assert cluster.view(cluster.leader()).term == term, "nobody disturbed the leader"


def test_6_a_header_with_a_foreign_cluster_id(make):
    """kubeovn/kube-ovn 7112: the joiner is told from a slow one by the cluster that it asks for."""
    scene = make()
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    foreign = str(uuid.uuid4())
    remotes = [cluster.address(other) for other in cluster.others(number)]
    with scene.never(A_RESTART, A_KICK):
        put_header(cluster, number, server_id=str(uuid.uuid4()), cluster_id=foreign, remote_addresses=remotes)
        cluster.start(number)
        scene.cause()
        found = scene.said("RAFT_CLUSTER_ID_MISMATCH", 3, subject=cluster.members[number].name, severity="critical")
        assert foreign[:4] in found["summary"] and cluster.cluster_id()[:4] in found["summary"]
        scene.said("RAFT_QUORUM_MARGIN", 8, words="2 of 3 voters")


@pytest.mark.slow
def test_6_a_header_with_a_zero_cluster_id_makes_a_fourth_member(make):
    """kubeovn/kube-ovn 7112: ovsdb-server takes zero for "whichever", and the member joins with a new id."""
    scene = make(ACTS)
    cluster, number = scene.cluster, scene.cluster.followers()[0]
    former = cluster.view(number).server_id
    with scene.never(A_RESTART, TO_THROW_DATA_AWAY):
        put_header(cluster, number, server_id=str(uuid.uuid4()), cluster_id=str(uuid.UUID(int=0)),
                   remote_addresses=[cluster.address(other) for other in cluster.others(number)])
        cluster.start(number)
        scene.cause()
        scene.said("RAFT_CLUSTER_SIZE", 8, words="4 voters, 3 are expected")
        scene.said("RAFT_STALE_MEMBER", 25, subject=former, words=f"cluster/kick OVN_Northbound {former}")
        wait_until(scene.whole, 60.0, "a whole cluster", every=0.2)
        wait_until(lambda: scene.status()[0] == 0, 30.0, "all to be well", every=0.3)


@pytest.mark.slow
def test_13_the_same_address_with_a_new_id_and_a_node_at_another_address(make):
    """ovn-kubernetes 1637, 1717: who is removed is known by what lives; an address that is expected keeps its only server."""
    scene = make(ACTS, edits=[GONE_AFTER])
    cluster = scene.cluster
    one, other = cluster.followers()
    old, dead, address = cluster.view(one).server_id, cluster.view(other).server_id, cluster.address(other)
    scene.wipe_and_rejoin(one)
    scene.cause()
    scene.said("RAFT_STALE_MEMBER", 30, subject=old, words=f"cluster/kick OVN_Northbound {old}")
    wait_until(scene.whole, 60.0, "a whole cluster", every=0.2)
    wait_until(lambda: scene.status()[0] == 0, 30.0, "all to be well", every=0.3)
    kicks = len([row for row in scene.rows() if row[:2] == ("intent", "kick")])
    faults.replace(cluster, other)
    scene.cause()
    # There are several reasons by now: it has an expected address, and it answered as ctl-3.
    scene.said("RAFT_DEAD_MEMBER", 15, subject=dead, words=f"Do not remove {dead[:4]}: it answered ovn-nb/ctl-3")
    scene.said("RAFT_STALE_HINT", 8, subject=address)
    scene.look_on(15)
    assert len([row for row in scene.rows() if row[:2] == ("intent", "kick")]) == kicks, "kicked on the word of a list"
    scene.configure(f'"{address}"', f'"{cluster.address(other)}"')
    wait_until(scene.whole, 60.0, "a whole cluster", every=0.2)
    wait_until(lambda: scene.status()[0] == 0, 30.0, "all to be well", every=0.3)
    assert dead[:4] not in cluster.view(cluster.leader()).servers and old[:4] not in cluster.view(cluster.leader()).servers
