"""An agent that reads the metrics of real etcd members: disks that are slow, proposals that wait and fail, and metrics that nobody serves."""

import base64
import contextlib
import http.client
import json
import tempfile
import threading
from pathlib import Path

import pytest

from etcd_watched import Watched
from openapi import OpenApi
from lab.etcd import EtcdCluster, Member
from lab.pki import Authority
from lab.ports import free_port
from lab.processes import holds, wait_until
from lab.slow_disk import SlowDisk

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"
MEMORY = Path("/dev/shm")


def at_client_address(member: Member) -> str:
    return f"http://{member.address}/metrics"


@pytest.fixture
def in_memory():
    """A folder whose disk is fast, whatever else this machine writes."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@contextlib.contextmanager
def writers(member: Member, count: int):
    """So many clients that write all the time, through the gateway of this member. An answer that is an error is no end of it."""
    done = threading.Event()
    body = json.dumps({key: base64.b64encode(value).decode() for key, value in (("key", b"k"), ("value", b"v"))})

    def write() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", member.port, timeout=10)
        while not done.wait(0.01):
            try:
                connection.request("POST", "/v3/kv/put", body)
                connection.getresponse().read()
            except OSError:
                connection.close()
    threads = [threading.Thread(target=write) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def seen(watched: Watched, member: str) -> dict:
    """What is known of the metrics of this member."""
    members = (watched.cluster() or {"members": []})["members"]
    return next((one["metrics"] for one in members if one["member"] == member), None) or {}


def own(watched: Watched) -> set[str]:
    """What is found of etcd, and not that one voter is no cluster."""
    return {code for code in watched.codes() if code.startswith("ETCD_")}


def test_the_metrics_of_a_cluster_that_is_well(tmp_path, in_memory):
    with EtcdCluster(PACKAGES, in_memory / "etcd", 3) as etcd, Watched(tmp_path, etcd, metrics=at_client_address) as watched:
        watched.wait_well()
        with writers(etcd.members[0], 4):
            for member in etcd.members:
                wait_until(lambda name=member.name: seen(watched, name).get("wal_fsync_p99_us") is not None, 60.0, "a percentile", every=0.5)
        assert watched.codes() == set()
        for member in etcd.members:
            known = seen(watched, member.name)
            assert known["reason"] is None and known["wal_fsync_p99_us"] > 0 and known["proposals_pending"] is not None, known
        text = watched.agent.get("/metrics")[1]
        for member in etcd.members:
            assert f'wardmote_etcd_member_metrics_up{{cluster="etcd",member="{member.name}"}} 1\n' in text
            assert f'wardmote_etcd_member_wal_fsync_p99_seconds{{cluster="etcd",member="{member.name}"}} 0.' in text
        assert "FSYNC P99" in watched.agent.cli("status", "etcd").stdout
        api = OpenApi(json.loads(watched.agent.get("/api/v1/openapi.json")[1]))
        api.check_value({"$ref": "#/components/schemas/EtcdCluster"}, watched.cluster())


def test_what_has_no_metrics_is_unknown_and_its_member_is_well(tmp_path):
    nobody = free_port()
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd:
        for url, reason in ((f"http://127.0.0.1:{nobody}/metrics", "refused"), (f"http://{etcd.members[0].address}/none", "rejected"),
                            (f"http://{etcd.members[0].address}/version", "protocol")):
            with Watched(tmp_path, etcd, metrics=lambda _, url=url: url) as watched:
                watched.agent.wait_serving()
                wait_until(lambda: seen(watched, "m0").get("reason") == reason, 20.0, reason, every=0.2)
                [member] = watched.cluster()["members"]
                assert member["outcome"] == "ok" and member["facts"]["leader"] == member["facts"]["member_id"], member
                assert member["metrics"]["wal_fsync_p99_us"] is None and url in member["metrics"]["detail"], member
                assert f"unknown: {reason}" in watched.agent.cli("status", "etcd").stdout
                api = OpenApi(json.loads(watched.agent.get("/api/v1/openapi.json")[1]))
                api.check_value({"$ref": "#/components/schemas/EtcdCluster"}, watched.cluster())


@pytest.mark.slow
def test_metrics_that_stay_unread_are_said_once_and_not_called_well(tmp_path):
    nobody = f"http://127.0.0.1:{free_port()}/metrics"
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3) as etcd, \
            Watched(tmp_path, etcd, metrics=lambda member: nobody if member.name == "m2" else at_client_address(member)) as watched:
        watched.wait("ETCD_METRICS_UNREAD", seconds=100)
        assert watched.codes() == {"ETCD_METRICS_UNREAD"}
        assert watched.finding("ETCD_METRICS_UNREAD")["subjects"][0] == "m2"
        assert nobody in watched.finding("ETCD_METRICS_UNREAD")["evidence"][0]["says"]
        cluster = watched.cluster()
        assert cluster["verdict"] == "warning" and cluster["quorum"]["live"] == 3
        assert [member["outcome"] for member in cluster["members"]] == ["ok"] * 3
        holds(lambda: watched.codes() == {"ETCD_METRICS_UNREAD"}, 5.0, "one finding")


@pytest.mark.slow
def test_a_disk_that_is_slow_and_the_proposals_that_wait_for_it(tmp_path, in_memory):
    with EtcdCluster(PACKAGES, in_memory / "etcd", 1, fast=False) as etcd, \
            Watched(tmp_path, etcd, metrics=at_client_address) as watched, writers(etcd.members[0], 2):
        wait_until(lambda: seen(watched, "m0").get("wal_fsync_p99_us") is not None, 60.0, "a percentile", every=0.5)
        assert own(watched) == set()
        with SlowDisk(etcd.members[0].process, 150, tmp_path / "strace.log"), writers(etcd.members[0], 150):
            watched.wait("ETCD_SLOW_DISK", "ETCD_PROPOSAL_LAG", seconds=180)
            assert own(watched) == {"ETCD_SLOW_DISK", "ETCD_PROPOSAL_LAG"}
            slow = watched.finding("ETCD_SLOW_DISK")
            assert slow["severity"] == "warning" and slow["subjects"][0] == "m0", slow
            # The kernel held each up for 150 ms, which is in etcd's bucket from 128 to 256 ms.
            assert 128_000 < seen(watched, "m0")["wal_fsync_p99_us"] <= 256_000
            assert "etcd_disk_wal_fsync_duration_seconds" in str(slow["evidence"]), slow
            assert watched.cluster()["members"][0]["outcome"] == "ok"
            shown = watched.agent.cli("status", "etcd")
            assert shown.returncode == 1 and "ETCD_SLOW_DISK" in shown.stdout, shown
        wait_until(lambda: own(watched) == set(), 120.0, "the disk to be well again", every=0.5)


@pytest.mark.slow
def test_proposals_that_fail_while_the_majority_hangs(tmp_path):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3) as etcd, Watched(tmp_path, etcd, metrics=at_client_address) as watched:
        watched.wait_well()
        for member in etcd.members[1:]:
            member.pause()
        with writers(etcd.members[0], 10):
            watched.wait("RAFT_NO_QUORUM", "ETCD_PROPOSALS_FAIL", seconds=180)
        assert watched.finding("ETCD_PROPOSALS_FAIL")["subjects"][0] == "m0"
        assert watched.cluster()["verdict"] == "critical"


@pytest.mark.slow
def test_metrics_over_tls_with_certificates_of_both_sides(tmp_path):
    authority = Authority(tmp_path / "pki")
    ours = authority.issue("wardmote")
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1, authority=authority) as etcd:
        tls = f", tls: {{ca: {authority.certificate}, certificate: {ours.certificate}, key: {ours.key}}}"
        with Watched(tmp_path, etcd, tls, metrics=lambda member: f"https://{member.address}/metrics") as watched:
            watched.agent.wait_serving()
            wait_until(lambda: seen(watched, "m0").get("proposals_pending") is not None, 20.0, "the metrics", every=0.2)
            assert seen(watched, "m0")["reason"] is None
