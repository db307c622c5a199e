"""An agent that watches a real etcd cluster of three: members that die, hang, fill up, are added and are made anew."""

import json
import subprocess
from pathlib import Path

import pytest

from etcd_watched import Watched
from openapi import OpenApi
from lab.etcd import EtcdCluster, Member
from lab.pki import Authority
from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import programs

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"
QUOTA = 16 << 20


@pytest.fixture(scope="module")
def etcd(tmp_path_factory):
    with EtcdCluster(PACKAGES, tmp_path_factory.mktemp("etcd"), 3, options=(f"--quota-backend-bytes={QUOTA}",)) as cluster:
        yield cluster


@pytest.fixture
def watched(tmp_path, etcd):
    with Watched(tmp_path, etcd, f", quota: {QUOTA >> 20}MiB") as watched:
        watched.wait_well()
        yield watched


def named(etcd: EtcdCluster, name: str) -> Member:
    return next(member for member in etcd.members if member.name == name)


def test_a_whole_cluster_and_a_follower_that_is_killed(watched, etcd):
    seen = watched.cluster()
    assert seen["quorum"] == {"voters": 3, "needed": 2, "live": 3}
    listed = json.loads(etcd.ctl("member", "list", "-w", "json"))
    assert {member["facts"]["member_id"] for member in seen["members"]} == {f"{member['ID']:x}" for member in listed["members"]}
    assert "etcd cluster of 3 members  HEALTHY" in watched.agent.cli("status").stdout
    listed = watched.agent.cli("get", "etcd")
    assert listed.returncode == 0 and listed.stdout.startswith("etcd  etcd cluster of 3 members  HEALTHY"), listed
    follower = next(member for member in etcd.members if member.name != watched.leader())
    follower.kill()
    watched.wait("RAFT_MEMBER_DOWN", "RAFT_QUORUM_MARGIN")
    api = OpenApi(json.loads(watched.agent.get("/api/v1/openapi.json")[1]))
    for path, schema in (("/etcd", "EtcdClusters"), ("/etcd/etcd", "EtcdCluster"), ("/findings", "Findings"), ("/status", "Status")):
        api.check_value({"$ref": f"#/components/schemas/{schema}"}, json.loads(watched.agent.get(f"/api/v1{path}")[1]))
    assert "RAFT_NO_QUORUM" not in watched.codes()
    assert watched.finding("RAFT_MEMBER_DOWN")["subjects"][0] == follower.name
    follower.start()
    watched.wait_well()


def test_a_leader_that_is_killed_is_followed_by_another(watched, etcd):
    old = watched.leader()
    named(etcd, old).kill()
    wait_until(lambda: watched.leader() != old, 60.0, "another leader", every=0.2)
    watched.wait("RAFT_MEMBER_DOWN")
    named(etcd, old).start()
    watched.wait_well()


def test_a_member_that_hangs(watched, etcd):
    follower = next(member for member in etcd.members if member.name != watched.leader())
    follower.pause()
    try:
        watched.wait("RAFT_MEMBER_HUNG", "RAFT_QUORUM_MARGIN")
        assert watched.finding("RAFT_MEMBER_HUNG")["subjects"][0] == follower.name
    finally:
        follower.resume()
    watched.wait_well()


def test_two_of_three_that_are_killed_are_no_quorum(watched, etcd):
    for member in etcd.members[1:]:
        member.kill()
    watched.wait("RAFT_NO_QUORUM")
    seen = watched.finding("RAFT_NO_QUORUM")
    assert seen["severity"] == "critical" and "kick" not in seen["advice"]["text"]
    assert watched.agent.get("/readyz")[0] == 503
    for member in etcd.members[1:]:
        member.start()
    watched.wait_well()


def test_a_restart_of_the_agent_in_an_outage_changes_nothing_that_is_said(tmp_path, etcd):
    lost = etcd.members[1:]
    with Watched(tmp_path, etcd, remembers=True) as watched:
        watched.wait_well()
        healthy = watched.agent.cli("status", "etcd")
        assert healthy.returncode == 0 and healthy.stdout.startswith("etcd  etcd cluster of 3 members  HEALTHY"), healthy
        for member in lost:
            member.kill()
        watched.wait("RAFT_NO_QUORUM")
        wait_until(lambda: watched.agent.get("/readyz")[0] == 503, 20.0, "the gate to close")
        before = watched.incidents()
        assert list(before.values()) == ["RAFT_NO_QUORUM of etcd:etcd"]
        watched.agent.stop()
        watched.begin_again()

        def is_seen_again() -> bool:
            assert watched.cluster()["verdict"] == "critical"
            assert watched.agent.get("/readyz")[0] == 503
            assert watched.incidents() == before
            return "RAFT_NO_QUORUM" in watched.codes()

        wait_until(is_seen_again, 60.0, "the outage to be seen again", every=0.1)
        assert is_seen_again()
        shown = watched.agent.cli("status", "etcd")
        assert shown.returncode == 2 and "RAFT_NO_QUORUM" in shown.stdout, shown
        assert watched.agent.cli("status", "etcd", "-o", "name").stdout == "etcd/etcd\n"
        assert "RAFT_NO_QUORUM" in watched.agent.cli("explain", "etcd:etcd").stdout
        unknown = watched.agent.cli("status", "other")
        assert unknown.returncode == 64 and "/api/v1/clusters/other" in unknown.stderr, unknown
        # What ends while the agent is away ends after three clean rounds, not after two minutes.
        watched.agent.stop()
        for member in lost:
            member.start()
        for member in etcd.members:
            wait_until(lambda at=member: etcd.answers(at), 30.0, f"{member.name} to answer", every=0.1)
        watched.begin_again()
        assert watched.cluster()["verdict"] == "critical", "nobody has seen its end"
        wait_until(lambda: watched.incidents() == {} and watched.cluster()["verdict"] == "ok" and watched.agent.get("/readyz")[0] == 200, 20.0,
                   "the end to be believed", every=0.1)


def test_a_question_adds_nothing_to_the_log(watched, etcd):
    """Why the alarms are read from the status: asking for them by their own call is a proposal."""
    def index() -> int:
        return max(member["facts"]["index"] for member in watched.cluster()["members"])
    before = index()
    looks = watched.cluster()["at"]
    wait_until(lambda: watched.cluster()["at"] > looks, 20.0, "more looks", every=0.6)
    assert index() == before
    etcd.ctl("alarm", "list")
    wait_until(lambda: index() > before, 20.0, "that call to have made an entry", every=0.2)


def test_a_learner_and_a_member_that_was_never_started(watched, etcd):
    def add() -> str | None:
        """Refused while members have been connected for less than five seconds."""
        done = etcd.run("member", "add", "late", "--learner", f"--peer-urls=http://127.0.0.1:{free_port()}")
        return done.stdout if done.returncode == 0 else None
    late = wait_until(add, 60.0, "etcd to take a member", every=0.5).split()[1]
    watched.wait("ETCD_LEARNER", "ETCD_UNSTARTED_MEMBER")
    assert watched.finding("ETCD_LEARNER")["severity"] == "info"
    assert late in watched.finding("ETCD_LEARNER")["subjects"]
    assert watched.cluster()["quorum"]["voters"] == 3
    etcd.ctl("member", "remove", late)
    watched.wait_well()


def test_a_full_cluster_and_what_makes_it_well_again(watched, etcd):
    def put(number: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(etcd.argv("put", f"fill/{number}"), input="x" * 500_000, capture_output=True, text=True, check=False, timeout=30)
    for number in range(200):
        if put(number).returncode != 0:
            break
    watched.wait("ETCD_NOSPACE", "ETCD_QUOTA")
    seen = watched.finding("ETCD_NOSPACE")
    assert seen["severity"] == "critical" and watched.cluster()["verdict"] == "critical"
    assert "NOSPACE" in etcd.ctl("alarm", "list")
    checked = probe(etcd.members[0].address)
    assert (checked["outcome"], checked["reason"]) == ("fail", "state") and "NOSPACE" in checked["detail"]
    etcd.ctl("del", "--prefix", "fill/")
    # After it: what a compaction keeps is the state of its revision.
    revision = etcd.ctl("get", "x", "-w", "fields").split('"Revision" : ')[1].split()[0]
    etcd.ctl("compact", revision)
    for member in etcd.members:
        done = etcd.run("defrag", endpoints=[member.address])
        assert done.returncode == 0, done
    watched.wait("ETCD_NOSPACE")  # there is room, and the alarm stands
    etcd.ctl("alarm", "disarm")
    watched.wait_well()


def probe(address: str, *more: str) -> dict:
    done = subprocess.run([programs() / "wardmote", "probe", "etcd", address, "-o", "json", *more], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=20, check=False)
    return json.loads(done.stdout)


def test_one_member_by_itself(etcd):
    assert probe(etcd.members[0].address)["outcome"] == "ok"
    assert probe(f"127.0.0.1:{free_port()}")["reason"] == "refused"
    etcd.members[0].pause()
    try:
        assert probe(etcd.members[0].address)["reason"] == "hung"
    finally:
        etcd.members[0].resume()


@pytest.mark.slow
def test_over_tls_with_certificates_of_both_sides(tmp_path):
    authority = Authority(tmp_path / "pki")
    ours = authority.issue("wardmote")
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3, authority=authority) as etcd:
        tls = f", tls: {{ca: {authority.certificate}, certificate: {ours.certificate}, key: {ours.key}}}"
        with Watched(tmp_path, etcd, tls) as watched:
            watched.wait_well()


@pytest.mark.slow
def test_another_cluster_at_the_address_of_a_member(tmp_path):
    with EtcdCluster(PACKAGES, tmp_path / "one", 3) as etcd, EtcdCluster(PACKAGES, tmp_path / "two", 1) as other:
        etcd.members[2].kill()
        etcd.members[2] = Member("m2", other.members[0].port, [], tmp_path / "none.log")
        with Watched(tmp_path, etcd) as watched:
            watched.wait("RAFT_CLUSTER_ID_MISMATCH")
        etcd.members.pop()
