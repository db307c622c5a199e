"""Incidents of the field that begin at a host, a disk, a name or a client, on real servers; see test_field_incidents.py."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from field_site import A_KICK, A_RESTART, ACTS, TO_JOIN_ANEW, records, rewrite, scenes
from lab import faults
from lab.instance import Lab
from lab.ovn import Member
from lab.ovn_daemons import OvnDaemons
from lab.processes import start, wait_until
from lab.wire import WireError
from tools.agent import ROOT, Agent


@pytest.fixture
def lab():
    with Lab.up(f"hosts-{os.getpid()}", ["nb"], hosts=5, transient=True) as lab:
        yield lab


@pytest.fixture
def make(lab, tmp_path):
    with scenes(lab, tmp_path) as make:
        yield make


def host_check(cluster, number: int, folder: Path | None = None, min_free: int = 0) -> str:
    """What the agent on the member's host looks at; with a folder for a pid file, written as ovn-ctl would have the server do."""
    pid_file = ""
    if folder is not None:
        (folder / f"host-{number}.pid").write_text(f"{cluster.members[number].process.pid}\n", encoding="utf-8")
        pid_file = f", pid_file: {folder}/host-{number}.pid"
    return (f"{{name: host-{number}, ovn_host: {{database: {cluster.file(number)}, log: {cluster.log(number)}{pid_file}, min_free: {min_free}}}, "
            "every: 1s, timeout: 900ms, fall: 1, rise: 1}")


def cut(cluster, number: int) -> None:
    """The file was written anew beside the old one, which stopped in the middle, and took its place. The server does not start."""
    whole, half = cluster.file(number), cluster.file(number).with_suffix(".tmp")
    half.write_bytes(whole.read_bytes()[:500])
    half.replace(whole)
    with pytest.raises(WireError):
        cluster.start(number)


def test_6_a_write_that_was_cut_leaves_no_whole_header(make, lab):
    """kubeovn/kube-ovn 7112: the server does not start; its host says what is wrong with the file."""
    cluster = lab.clusters["nb"]
    number = cluster.followers()[0]
    scene = make(checks=[host_check(cluster, number)])
    with scene.never(A_KICK):
        cluster.kill(number)
        cut(cluster, number)
        scene.cause()
        scene.check_says(f"host-{number}", "damaged", by=5)
        scene.said("RAFT_MEMBER_DOWN", 5, subject=cluster.members[number].name)


@pytest.mark.slow
def test_7_a_candidate_for_ever_that_is_cut_off_or_was_removed(make):
    """kubeovn/kube-ovn 1910: its term rises in both cases; which of the two it is, its list does not say."""
    scene = make()
    cluster = scene.cluster
    one, other = cluster.followers()
    with scene.never(A_KICK, A_RESTART):
        faults.partition(cluster, one)
        scene.cause()
        scene.said("RAFT_TERM_DIVERGENCE", 15, subject=cluster.members[one].name, words="Check the raft port")
        assert "RAFT_ZOMBIE_MEMBER" not in scene.codes() and cluster.leader() != one
        faults.heal(cluster, one)
        wait_until(lambda: scene.status()[0] == 0, 60.0, "all to be well", every=0.3)
        removed = next(number for number in (one, other) if number != cluster.leader())
        faults.kick_while_down(cluster, removed)
        scene.cause()
        scene.said("RAFT_ZOMBIE_MEMBER", 10, subject=cluster.members[removed].name, words="no longer in the member list")
        assert "RAFT_TERM_DIVERGENCE" not in scene.codes()


@pytest.fixture
def both(tmp_path):
    with Lab.up(f"both-{os.getpid()}", ["nb", "sb"], hosts=4, transient=True) as lab:
        yield lab


@pytest.mark.slow
def test_7_clients_that_are_pinned_to_the_first_address(both, tmp_path):
    """kubeovn/kube-ovn 1910: its ovn-northd knows one server only, and that one is cut off. It follows no other leader."""
    cluster, tools = both.clusters["nb"], both.clusters["nb"].tools
    first, south = cluster.leader(), both.clusters["sb"]
    pid_file = tmp_path / "ovn-northd.pid"
    northd = start([str(tools.root / "usr/bin/ovn-northd"), "--no-chdir", "-vconsole:off", f"--log-file={tmp_path}/northd.log", f"--pidfile={pid_file}",
                    f"--unixctl={tmp_path}/northd.ctl", f"--ovnnb-db=unix:{cluster.socket(first)}", f"--ovnsb-db=unix:{south.socket(south.leader())}"],
                   tools.environment(), tmp_path / "northd.out")
    try:
        with scenes(both, tmp_path) as make:
            scene = make(checks=[f"{{name: northd, northd: {{control: {tmp_path}/northd.ctl}}, every: 1s, timeout: 900ms, fall: 2, rise: 1}}"])
            with scene.never(A_KICK, A_RESTART):
                faults.partition(cluster, first)
                scene.cause()
                scene.check_says("northd", "northbound", by=15, state="reported")
                scene.said("RAFT_TERM_DIVERGENCE", 15, subject=cluster.members[first].name)
                faults.heal(cluster, first)
                cluster.wait_healthy()
    finally:
        northd.kill()


@pytest.mark.slow
def test_8_all_reboot_at_once_and_one_database_is_corrupt(make, lab, tmp_path):
    """kubeovn/kube-ovn 3919, 4730: it is joined anew when the others have their quorum again, and not before."""
    cluster = lab.clusters["nb"]
    leader, (number, other) = cluster.leader(), cluster.followers()
    scene = make(ACTS, checks=[host_check(cluster, number, tmp_path)])
    with scene.never(TO_JOIN_ANEW, A_KICK):
        for one in cluster.members:
            cluster.kill(one)
        rows = records(cluster.file(number))
        rewrite(cluster.file(number), [*rows, {"term": 1, "index": 3, "servers": rows[0]["prev_servers"]}])
        with pytest.raises(WireError):
            cluster.start(number)
        scene.cause()
        scene.said("RAFT_NO_QUORUM", 5, words="0 of 3 voters")
        scene.said("RAFT_MEMBER_DOWN", 5, subject=cluster.members[number].name)
        scene.check_says(f"host-{number}", "attempts to truncate log from 5 to 3 entries, but commit index is already 4", by=5)
        cluster.start(other)
        scene.cause()
        scene.said("RAFT_NO_QUORUM", 10, words="1 of 3 voters")
        scene.look_on(5)
        assert not any(row[0] == "intent" for row in scene.rows()), "one of three is no quorum to join"
    cluster.start(leader)
    wait_until(scene.whole, 90.0, "a whole cluster", every=0.2)
    assert cluster.healthy()
    assert [row[1] for row in scene.rows() if row[0] == "intent"] == ["copy_database", "kick", "rejoin"] and scene.starts(number) == 1


@pytest.mark.slow
def test_9_the_disk_is_full_and_then_the_server_does_not_start(make, lab, tmp_path):
    """kubeovn/kube-ovn 1968: told before it is full, when it is, and after. How many days are left needs six hours to be seen."""
    cluster = lab.clusters["nb"]
    leader = cluster.leader()
    name = cluster.members[leader].name
    scene = make(ACTS, checks=[host_check(cluster, leader, tmp_path, min_free=30)])
    with scene.never(A_KICK, TO_JOIN_ANEW):
        (cluster.disk(leader) / "other").write_bytes(b"x" * 6 * 1024 * 1024)
        scene.cause()
        wait_until(lambda: "free" in scene.status()[1], 5.0, "the pressure to be told")
        assert "RAFT_FAILED_LEADER" not in scene.codes() and scene.status()[0] == 1, scene.status()
        faults.fill_disk(cluster, leader)
        scene.cause()
        scene.said("RAFT_FAILED_LEADER", 3, subject=name, words="Free disk space")
        wait_until(lambda: cluster.leader() != leader, 10.0, "another leader")
    faults.free_disk(cluster, leader)
    (cluster.disk(leader) / "other").unlink()
    cluster.kill(leader)
    cut(cluster, leader)
    scene.cause()
    scene.said("RAFT_MEMBER_DOWN", 5, subject=name)
    scene.check_says(f"host-{leader}", "the server has ended", by=5)
    wait_until(scene.whole, 60.0, "a whole cluster", every=0.2)
    assert cluster.healthy() and scene.starts(leader) == 1


def test_6_a_file_that_was_whole_is_cut_where_it_stands(make, lab):
    """kubeovn/kube-ovn 7112: the last valid one is truncated by a write that was broken off."""
    cluster = lab.clusters["nb"]
    number = cluster.followers()[0]
    scene = make(checks=[host_check(cluster, number)])
    cluster.kill(number)
    os.truncate(cluster.file(number), 500)
    scene.cause()
    scene.check_says(f"host-{number}", "damaged", by=5)



@contextmanager
def names(lab: Lab):
    """Each host knows the pods of a StatefulSet by name, from a hosts file of its own: ovn-0.ovn is the first host."""
    network = lab.network
    folders = [Path("/etc/netns") / network.namespace(host) for host in range(1, network.hosts + 1)]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{network.address(host)} ovn-{host - 1}.ovn\n"
                                      for host in range(1, network.hosts + 1)), encoding="utf-8")
    try:
        yield
    finally:
        for folder in folders:
            shutil.rmtree(folder)


def join_by_name(cluster, number: int) -> None:
    cluster.members.setdefault(number, Member(number, number))
    cluster.kill(number)
    cluster.file(number).unlink(missing_ok=True)
    cluster.join(number, [f"tcp:ovn-{other - 1}.ovn:6643" for other in cluster.members if other < number], address=f"tcp:ovn-{number - 1}.ovn:6643")
    cluster.start(number)


@pytest.mark.slow
def test_11_a_pod_with_a_name_joins_for_ever_while_its_leader_adds_it(tmp_path):
    """ovn-org/ovn 235: a StatefulSet, here its names in hosts files. The leader is busy with the one that is slow; another gets in."""
    with Lab.up(f"names-{os.getpid()}", ["nb"], members=1, hosts=5, transient=True) as lab, names(lab):
        cluster = lab.clusters["nb"]
        cluster.kill(1)
        cluster.file(1).unlink()
        cluster.tool("create-cluster", str(cluster.file(1)), cluster.tools.schema(cluster.database.schema), "tcp:ovn-0.ovn:6643")
        cluster.start(1)
        for number in (2, 3):
            join_by_name(cluster, number)
            cluster.wait_member(number)
        cluster.expected = [f"tcp:ovn-{number - 1}.ovn:6643" for number in cluster.members]
        for _ in range(20):
            cluster.write(cluster.leader(), 65536)
        cluster.members |= {number: Member(number, number) for number in (4, 5)}
        for number in (4, 5):
            cluster.disk(number).mkdir(parents=True)
        with scenes(lab, tmp_path) as make:
            scene = make(ACTS.replace(", RAFT_JOINING_STUCK", ""), healthy=False)
            with scene.never(A_KICK, A_RESTART):
                cluster.network.throttle(4, 3)
                join_by_name(cluster, 4)
                wait_until(lambda: "(adding: catchup)" in cluster.view(cluster.leader()).text, 10.0, "the leader to add the slow one")
                join_by_name(cluster, 5)
                scene.cause()
                wait_until(lambda: cluster.view(5).status == "cluster member", 10.0, "the other to be added beside it")
                found = scene.said("RAFT_JOINING_STUCK", 34, subject="ctl-4", severity="critical")
                assert any("tcp:ovn-0.ovn:6643" in one["says"] for one in found["evidence"]), "whom it dials"
                assert any("adding: catchup" in one["says"] for one in found["evidence"]), f"what the leader does: {found}"
                assert {"RAFT_STALE_MEMBER", "RAFT_NO_QUORUM", "RAFT_ADDRESS_MISMATCH"}.isdisjoint(scene.codes())
                cluster.network.heal(4)
                cluster.wait_member(4)
                scene.ends("RAFT_JOINING_STUCK", 90)


@pytest.mark.slow
def test_12_hosts_do_not_follow_a_database_that_was_founded_anew(tmp_path):
    """mulgadc/spinifex 482, kubeovn/kube-ovn 1805: the database is well, the host is named with its cure. test_ovn_daemons.py has the probe."""
    with OvnDaemons(ROOT / "build/lab", tmp_path) as ovn:
        config = tmp_path / "wardmote.yaml"
        every = "every: 1s, timeout: 900ms, fall: 2, rise: 1"
        config.write_text(f"node: {{name: host-1}}\napi: {{socket: {tmp_path}/api.sock}}\nclusters:\n  - name: ovn-sb\n    ovn:\n"
                          f"      database: OVN_Southbound\n      members: [{{name: sb-1, control: {ovn.control('sb')}, ovsdb: 'unix:{tmp_path}/sb.sock'}}]\n"
                          f"    every: 1s\n    timeout: 900ms\nchecks:\n  - {{name: chassis, ovn_controller: {{control: {ovn.pid_file('ovn-controller')}, "
                          f"southbound: 'unix:{tmp_path}/sb.sock'}}, {every}}}\n", encoding="utf-8")
        with Agent(config, tmp_path / "api.sock") as agent:
            agent.wait_healthy()
            for number in range(20):
                ovn.nbctl("--wait=sb", "set", "NB_Global", ".", f"external_ids:lab={number}")
            ovn.kill("ovn-northd")  # nobody writes into the new one, so that it stays younger than what the host knows
            ovn.kill("sb")
            ovn.create("sb")
            ovn.start_database("sb")

            def told() -> str:
                status = agent.cli("status").stdout
                return status if "sb-cluster-state-reset" in status and "HEALTHY" in status else ""

            status = wait_until(told, 8.0, "the host to be named while the database is well", every=0.2)
            explained = agent.cli("explain", "chassis").stdout
            assert "this host does not follow it" in explained and "estart" not in status + explained
            ovn.appctl("ovn-controller", "sb-cluster-state-reset")
            wait_until(lambda: agent.cli("status").returncode == 0, 30.0, "the host to follow", every=0.3)
