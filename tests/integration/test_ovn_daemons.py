"""The probes of OVN's other half on real daemons: ovn-northd, ovn-controller, ovs-vswitchd, and the host of a database."""

import os
import json
import re
import subprocess
from pathlib import Path

import pytest

from lab.ovn_daemons import OvnDaemons
from lab.processes import wait_until
from tools.agent import programs

ROOT = Path(__file__).resolve().parents[2]
OUTCOMES = {0: "ok", 1: "warn", 2: "fail", 3: "unknown"}


def probe(*arguments) -> dict:
    done = subprocess.run([programs() / "wardmote", "probe", *map(str, arguments), "--timeout", "3s", "-o", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=30, check=False)
    seen = json.loads(done.stdout)
    assert OUTCOMES[done.returncode] == seen["outcome"], done
    return seen


def until(outcome: str, reason: str | None, *arguments) -> dict:
    """The first look that shows this."""
    def look() -> dict | None:
        seen = probe(*arguments)
        return seen if (seen["outcome"], seen["reason"]) == (outcome, reason) else None
    try:
        return wait_until(look, 60.0, f"{arguments} to be {outcome}", every=0.3)
    except TimeoutError as late:
        raise AssertionError(probe(*arguments)) from late


@pytest.fixture(scope="module")
def ovn(tmp_path_factory):
    with OvnDaemons(ROOT / "build/lab", tmp_path_factory.mktemp("ovn")) as daemons:
        yield daemons


def test_northd_is_active_paused_hung_and_gone(ovn):
    northd = ("northd", ovn.pid_file("ovn-northd"))
    assert until("ok", None, *northd)["detail"] == "active"
    assert until("ok", None, *northd, "--active")["detail"] == "active"
    assert until("ok", None, "northd", ovn.control("ovn-northd"))["detail"] == "active", "by its socket"
    ovn.appctl("ovn-northd", "pause")
    assert "paused" in until("warn", "state", *northd)["detail"]
    ovn.appctl("ovn-northd", "resume")
    until("ok", None, *northd)
    ovn.pause("ovn-northd")
    until("fail", "hung", *northd)
    ovn.resume("ovn-northd")
    until("ok", None, *northd)
    ovn.kill("ovn-northd")
    until("fail", "missing", *northd)
    ovn.start("ovn-northd")
    until("ok", None, *northd)


def test_northd_without_its_northbound_database(ovn):
    northd = ("northd", ovn.pid_file("ovn-northd"))
    until("ok", None, *northd)
    ovn.kill("nb")
    assert "northbound" in until("fail", "state", *northd)["detail"]
    ovn.start_database("nb")
    until("ok", None, *northd)


def test_a_controller_that_does_not_follow_a_healthy_database(ovn):
    """Incident 12: the southbound database is made anew, and the host refuses its data as stale."""
    controller = ("ovn_controller", ovn.pid_file("ovn-controller"), "--southbound", f"unix:{ovn.folder}/sb.sock")
    until("ok", None, *controller)
    for number in range(12):
        ovn.nbctl("--wait=sb", "set", "NB_Global", ".", f"external_ids:lab={number}")
    # Nobody may write into the new one, so that it stays younger than what the host knows.
    ovn.kill("ovn-northd")
    ovn.kill("sb")
    lost = until("fail", "state", *controller)
    assert "sb-cluster-state-reset" not in lost["detail"], "the database is down: nothing to be reset"
    ovn.create("sb")
    ovn.start_database("sb")
    wait_until(lambda: "stale data" in (ovn.folder / "ovn-controller.log").read_text(encoding="utf-8"), 60.0, "the host to refuse it")
    wedged = wait_until(lambda: next((seen for seen in [probe(*controller)] if "does not follow" in (seen["detail"] or "")), None), 60.0,
                        "the probe to say so", every=0.3)
    assert wedged["outcome"] == "fail" and "sb-cluster-state-reset" in wedged["detail"]
    assert probe("ovn", ovn.control("sb"), "--database", "OVN_Southbound")["outcome"] == "ok", "the database is well"
    ovn.appctl("ovn-controller", "sb-cluster-state-reset")
    until("ok", None, *controller)
    ovn.start("ovn-northd")


def test_a_paused_controller_and_one_that_is_gone(ovn):
    controller = ("ovn_controller", ovn.pid_file("ovn-controller"))
    until("ok", None, *controller)
    ovn.appctl("ovn-controller", "debug/pause")
    assert "paused" in until("fail", "state", *controller)["detail"]
    ovn.appctl("ovn-controller", "debug/resume")
    until("ok", None, *controller)
    ovn.kill("ovn-controller")
    until("fail", "missing", *controller)
    ovn.start("ovn-controller")
    until("ok", None, *controller)


def test_vswitchd_stops_fails_to_open_a_port_and_ends(ovn):
    vswitchd = ("vswitchd", ovn.pid_file("ovs-vswitchd"), "--ovsdb", f"unix:{ovn.folder}/db.sock")
    seen = until("ok", None, *vswitchd)
    assert seen["facts"]["processes"][0]["name"] == "ovs-vswitchd"
    ovn.vsctl("add-br", "lab0", "--", "set", "bridge", "lab0", "datapath_type=dummy")
    ovn.vsctl("--no-wait", "add-port", "lab0", "nobody0")  # there is no such device
    assert "nobody0" in until("warn", "state", *vswitchd)["detail"]
    ovn.vsctl("--no-wait", "del-port", "lab0", "nobody0")
    until("ok", None, *vswitchd)
    ovn.pause("ovs-vswitchd")
    assert "stopped" in until("fail", "state", *vswitchd)["detail"]
    ovn.resume("ovs-vswitchd")
    until("ok", None, *vswitchd)
    ovn.kill("ovs-vswitchd")
    until("fail", "missing", *vswitchd)
    ovn.start("ovs-vswitchd")
    until("ok", None, *vswitchd)


@pytest.fixture
def small_disk(tmp_path):
    """A database on a file system that is nearly full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "wardmote-lab", disk], check=True)
    try:
        (disk / "x").write_bytes(b"x" * 900_000)
        (disk / "nb.db").write_text("OVSDB JSON 2 3828b0e1ab6c26c0b08dec37b380f52a9c7ddc55\n{}\n", encoding="utf-8")
        yield disk / "nb.db"
    finally:
        subprocess.run(["umount", disk], check=True)


def test_the_host_of_a_database(ovn, tmp_path, small_disk):
    host = ("ovn_host", ovn.database("sb"), "--log", ovn.folder / "sb.log", "--pid-file", ovn.pid_file("sb"), "--min-free", "0")
    least = ovn.database("sb").stat().st_size
    seen = until("ok", None, *host)
    assert least <= seen["facts"]["size_bytes"] <= ovn.database("sb").stat().st_size, "the daemons go on writing"
    server = re.search(r"Server ID: \S+ \(([0-9a-f-]+)\)", ovn.appctl("sb", "cluster/status", "OVN_Southbound"))[1]
    assert until("ok", None, *host, "--server-id", server)["outcome"] == "ok", "behind the snapshot in the first record"
    other = until("fail", "state", *host, "--server-id", "11111111-2222-3333-4444-555555555555")
    assert server in other["detail"]
    cut = tmp_path / "cut.db"
    cut.write_bytes(ovn.database("sb").read_bytes()[:500])
    assert "damaged" in until("fail", "state", "ovn_host", cut, "--min-free", "0")["detail"]
    until("fail", "missing", "ovn_host", tmp_path / "none.db")
    (tmp_path / "empty.db").touch()
    os.mkfifo(tmp_path / "pipe.db")
    for nothing in ("empty.db", "pipe.db", "."):
        assert "damaged" in until("fail", "state", "ovn_host", tmp_path / nothing, "--min-free", "0")["detail"]
    until("ok", None, "ovn_host", ovn.database("nb"), "--min-free", "0")
    assert "free" in probe("ovn_host", small_disk, "--min-free", "50")["detail"]
    ovn.kill("sb")
    assert "has ended" in until("fail", "state", *host)["detail"]
    ovn.start_database("sb")
    until("ok", None, *host)

