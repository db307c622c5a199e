"""The version gate over real etcd: `wardmote wait-ready` alone, as an init container has it."""

import os
import signal
from pathlib import Path

import pytest
from gate_site import WORKING, GateKeys, Waiter, fields, node_record

from lab.etcd import EtcdCluster
from lab.pki import Authority

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"


@pytest.fixture
def keys(etcd):
    return GateKeys(etcd, "/wardmote/default/gate/k8s/state/", "/wardmote/default/gate/k8s/nodes/")


def direct(etcd, *arguments, release="1.2.0", node="ctl-1", gate="k8s"):
    return (gate, *(f"--etcd={at}" for at in etcd.endpoints), f"--release={release}", f"--node={node}", *arguments)


def test_it_registers_waits_and_passes(etcd, keys, tmp_path):
    with Waiter(tmp_path, *direct(etcd)) as waiter:
        waiter.wait_for("k8s: waiting: nothing was reconciled yet; until a node of the highest registered release reconciles")
        assert keys.node_release("ctl-1") == (1, 2, 0)
        keys.put_status((1, 3, 0), (1, 3, 0))
        waiter.wait_for("needs nodes of release 1.3.0 or newer; this one is 1.2.0; until this node is upgraded to 1.3.0 or newer")
        keys.put_status((1, 3, 0), (1, 2, 0), WORKING)
        assert waiter.ended() == 0, waiter.text()
        assert waiter.text().splitlines()[-1] == "k8s: ready: release 1.2.0 on a state of 1.3.0, which needs 1.2.0 or newer"
    assert keys.node_release("ctl-1") == (1, 2, 0), "the registration is kept"


@pytest.mark.parametrize("record", [b"\xff\xff", b"", b"\x08\x07\x12\x00\x1a\x00", b"\x08\x01\x1a\x00", b"\x08\x01\x12\x00"])
def test_a_status_that_cannot_be_read_is_no_yes(etcd, keys, tmp_path, record):
    """Garbage, an empty record, a state that nobody knows, no version, no minimum."""
    keys.put(keys.state + "status", record)
    with Waiter(tmp_path, *direct(etcd, "--timeout=2s")) as waiter:
        assert waiter.ended() == 2
        assert "waiting: the status cannot be read: " in waiter.text()


def test_following_it_ends_when_the_node_no_longer_fits(etcd, keys, tmp_path):
    keys.put_status((1, 0, 0), (1, 0, 0))
    with Waiter(tmp_path, *direct(etcd, "--follow")) as waiter:
        waiter.wait_for("k8s: ready")
        # Its registration is removed, and it writes it again: that is no reason to end.
        keys.delete(keys.nodes + "ctl-1")
        waiter.wait_for("not registered")
        keys.put_status((1, 1, 0), (1, 1, 0))
        keys.put_status((2, 0, 0), (2, 0, 0))
        assert waiter.ended() == 2
        assert "needs nodes of release 2.0.0" in waiter.text().splitlines()[-1]


def test_a_store_that_hangs_or_dies_is_waited_for(etcd, keys, tmp_path):
    keys.put_status((1, 0, 0), (1, 0, 0))
    etcd.members[0].pause()
    with Waiter(tmp_path, *direct(etcd, "--timeout=3s")) as waiter:
        assert waiter.ended() == 3, "nothing is known"
        assert "not registered" in waiter.text()
    with Waiter(tmp_path, *direct(etcd, "--follow")) as waiter:
        waiter.wait_for("not registered")
        etcd.members[0].resume()
        waiter.wait_for("k8s: ready", 20.0)
        etcd.members[0].kill()
        waiter.wait_for("k8s: ready: release 1.2.0 on a state of 1.0.0, which needs 1.0.0 or newer (", 30.0)
        etcd.members[0].start()
        keys.etcd.run("endpoint", "health")
        keys.put_status((3, 0, 0), (3, 0, 0))
        assert waiter.ended(30.0) == 2


def test_a_compaction_hides_nothing(etcd, keys, tmp_path):
    with Waiter(tmp_path, *direct(etcd, "--follow")) as waiter:
        waiter.wait_for("nothing was reconciled yet")
        os.kill(waiter.process.pid, signal.SIGSTOP)
        for minor in range(20):
            keys.put_status((1, minor, 0), (9, 0, 0))
        keys.delete(keys.nodes, "--prefix")
        keys.put_status((1, 0, 0), (1, 0, 0))
        keys.etcd.ctl("compact", str(keys.etcd.ctl("endpoint", "status", "-w", "fields").split('"Revision" : ')[1].split("\n")[0]))
        os.kill(waiter.process.pid, signal.SIGCONT)
        waiter.wait_for("k8s: ready")
        assert keys.node_release("ctl-1") == (1, 2, 0), "it registered anew"


def test_two_nodes_of_one_name(etcd, keys, tmp_path):
    """The later one has the name; the earlier one is no longer ready, and does not fight for it."""
    keys.put_status((1, 2, 0), (1, 2, 0))
    with Waiter(tmp_path, *direct(etcd, "--follow")) as first:
        first.wait_for("k8s: ready")
        with Waiter(tmp_path, *direct(etcd, "--follow", release="1.3.0")) as second:
            second.wait_for("k8s: ready")
            first.wait_for("two processes have this name")
            assert first.ended(20.0) == 2
            assert second.process.poll() is None
    assert keys.node_release("ctl-1") == (1, 3, 0)


def test_metropolis_records_are_read_and_nothing_of_them_is_touched(etcd, tmp_path):
    keys = GateKeys(etcd, "curator//kubernetes/reconciler/", "curator//nodes/")
    ours = node_record("metropolis-1", (0, 1, 0), bytes(range(16)))
    keys.put(keys.nodes + "metropolis-1", node_record("metropolis-1", (0, 0, 9)))
    keys.put_status((0, 1, 0), (0, 1, 0))
    where = (f"--state-prefix={keys.state}", f"--nodes-prefix={keys.nodes}", "--no-register", "--follow")
    with Waiter(tmp_path, *direct(etcd, *where, release="0.1.0", node="metropolis-1", gate="metropolis")) as waiter:
        waiter.wait_for("not registered with its release 0.1.0; the registration of metropolis-1 says release 0.0.9")
        keys.put(keys.nodes + "metropolis-1", ours)
        waiter.wait_for("metropolis: ready")
        keys.put(keys.nodes + "metropolis-1", ours)
        waiter.wait_for("metropolis: ready")
    assert keys.get(keys.nodes + "metropolis-1") == ours


def test_a_registration_keeps_what_the_curator_has_in_it(etcd, tmp_path):
    keys = GateKeys(etcd, "curator//kubernetes/reconciler/", "curator//nodes/")
    before = node_record("metropolis-1", (0, 1, 0))
    keys.put(keys.nodes + "metropolis-1", before)
    keys.put_status((0, 2, 0), (0, 2, 0))
    where = (f"--state-prefix={keys.state}", f"--nodes-prefix={keys.nodes}")
    with Waiter(tmp_path, *direct(etcd, *where, release="0.2.0", node="metropolis-1", gate="metropolis")) as waiter:
        assert waiter.ended() == 0, waiter.text()
    now, was = fields(keys.get(keys.nodes + "metropolis-1")), fields(before)
    assert (now[1], fields(now[4]), now[10]) == (was[1], fields(was[4]), was[10])
    assert keys.node_release("metropolis-1") == (0, 2, 0)
    status_now, status_was = fields(now[5]), fields(was[5])
    assert (status_now[1], status_now[2]) == (status_was[1], status_was[2])


def test_etcd_with_certificates_and_one_that_nobody_believes(tmp_path):
    authority = Authority(tmp_path / "pki")
    with EtcdCluster(PACKAGES, tmp_path / "etcd", authority=authority) as etcd:
        keys = GateKeys(etcd, "/wardmote/default/gate/k8s/state/", "/wardmote/default/gate/k8s/nodes/")
        keys.put_status((1, 0, 0), (1, 0, 0))
        papers = authority.issue("ctl-1")
        shown = (f"--ca={papers.ca}", f"--cert={papers.certificate}", f"--key={papers.key}")
        with Waiter(tmp_path, *direct(etcd, *shown)) as waiter:
            assert waiter.ended() == 0, waiter.text()
        stranger = Authority(tmp_path / "other").issue("ctl-1")
        with Waiter(tmp_path, *direct(etcd, f"--ca={stranger.ca}", f"--cert={stranger.certificate}", f"--key={stranger.key}",
                                      "--timeout=3s")) as waiter:
            assert waiter.ended() == 3
            assert "certificate" in waiter.text(), waiter.text()
