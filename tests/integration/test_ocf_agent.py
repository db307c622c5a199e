"""The OCF resource agent by hand: real ovsdb-servers on three hosts, and the calls that Pacemaker makes."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from lab.instance import FOLDER
from lab.network import run
from lab.packages import unpack
from lab.pki import Authority
from lab.processes import wait_until
from ocf_site import (CONFIGURED, DEGRADED, DEGRADED_PROMOTED, FAILED_PROMOTED, GENERIC, INSTALLED, NOT_RUNNING, PROMOTED, SUCCESS,
                      agent_fixture, cluster_fixture, site_fixture)

agent, site, cluster = agent_fixture, site_fixture, cluster_fixture


def fill(folder):
    """Leaves no room on the file system of the folder."""
    file = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        with pytest.raises(OSError):
            while True:
                os.write(file, b"x" * 4096)
    finally:
        os.close(file)


def use_up_page(active, backup):
    """A full disk still takes what fits into the last page of a file: leaves no room there either."""
    page, overhead = 4096, 0
    for number in range(20):
        before = backup.database("nb").stat().st_size
        left = page - before % page
        if overhead and left < 150:
            return
        name = f"row{number}".ljust(max(left - overhead - 20, 1), "x") if overhead else f"row{number}"
        active.write(name)
        wait_until(lambda: backup.database("nb").stat().st_size > before, 3, "the row on the backup's disk")
        overhead = overhead or backup.database("nb").stat().st_size - before - len(name)
    raise AssertionError("the page does not become full")


def test_a_life(site):
    first, second, third = site.nodes
    assert first.agent("monitor").code == NOT_RUNNING
    assert first.agent("demote").code == SUCCESS, "what does not run is not writable"
    assert first.agent("stop").code == SUCCESS
    site.start(*site.nodes)
    assert all(node.isolated() for node in site.nodes)
    assert [node.agent("monitor").code for node in site.nodes] == [SUCCESS] * 3
    assert first.agent("start").code == SUCCESS
    assert site.promote(first).code == SUCCESS
    assert first.agent("monitor").code == PROMOTED
    assert first.agent("promote").code == SUCCESS
    site.wait_follow(second, third)
    first.write("one")
    wait_until(lambda: "one" in second.rows() & third.rows(), 3, "the row on both backups")
    assert int(first.score()) >= 10 and int(second.score()) <= 9

    assert first.agent("start").code == SUCCESS, "a start ends unpromoted"
    assert first.isolated() and first.agent("monitor").code == SUCCESS
    assert site.promote(second, before="n1").code == SUCCESS
    site.wait_follow(first, third)
    assert second.rows() == {"one"}
    for node in site.nodes:
        assert node.agent("stop").code == SUCCESS
        assert node.agent("stop").code == SUCCESS
        assert node.agent("monitor").code == NOT_RUNNING
        assert node.score() == ""


def test_a_node_that_dies_is_followed_by_a_backup_and_comes_back_as_one(cluster):
    first, second, third = cluster.nodes
    first.write("before")
    wait_until(lambda: "before" in second.rows() & third.rows(), 3, "the row on both backups")
    first.power_off()
    assert cluster.promote(second, away=(first,)).code == SUCCESS
    second.write("after")
    assert first.agent("start", OCF_RESKEY_CRM_meta_notify_promoted_uname="n2").code == SUCCESS
    cluster.wait_follow(first, third)
    wait_until(lambda: first.rows() == {"before", "after"}, 3, "both rows on the old active node")
    assert list((first.folder / "db").glob("ovnnb_db.db.before-sync.*")), "the copy that may have had rows of its own was kept"


@pytest.mark.parametrize("short", ["nb", "sb"])
def test_both_databases_have_one_role(cluster, short):
    """One of two became a backup by hand: it is made writable again in place, while stock restarts both."""
    first = cluster.nodes[0]
    servers = first.server("nb"), first.server("sb")
    first.command(short, "ovsdb-server/set-active-ovsdb-server", "tcp:192.0.2.254:1")
    first.command(short, "ovsdb-server/connect-active-ovsdb-server")
    assert not first.active()
    assert first.agent("monitor").code == PROMOTED
    assert first.active()
    assert (first.server("nb"), first.server("sb")) == servers


def test_a_backup_that_becomes_writable_is_taken_back_at_once(cluster):
    first, second, _ = cluster.nodes
    second.command("nb", "ovsdb-server/disconnect-active-ovsdb-server")
    second.command("sb", "ovsdb-server/disconnect-active-ovsdb-server")
    second.write("nowhere else")
    result = second.agent("monitor")
    assert result.code == DEGRADED and "another node is the active one" in result.reason
    assert second.isolated() and first.active()
    assert second.score() == "-1", "it is no candidate before it has followed the active node again"
    second.agent("monitor")
    cluster.wait_follow(second)
    assert second.agent("monitor").code == SUCCESS
    assert second.rows() == first.rows()
    kept = "".join(path.read_text(encoding="utf-8") for path in (second.folder / "db").glob("ovnnb_db.db.before-sync.*"))
    assert "nowhere else" in kept


@pytest.mark.parametrize("short", ["nb", "sb"])
def test_a_stopped_server_is_known_at_once_and_ended_at_once(cluster, short):
    """With the stock agent 73 seconds pass."""
    first = cluster.nodes[0]
    begun = time.monotonic()
    first.signal(short, signal.SIGSTOP)
    result = first.agent("monitor", OCF_RESKEY_CRM_meta_role="Master")
    assert result.code == FAILED_PROMOTED and "is stopped" in result.reason
    assert cluster.demote(first).code == SUCCESS
    assert first.agent("stop").code == SUCCESS
    assert time.monotonic() - begun < 5
    assert first.agent("monitor").code == NOT_RUNNING


def test_a_killed_server_fails_the_active_node_and_starts_again_without_loss(cluster):
    first, second, _ = cluster.nodes
    first.write("kept")
    for pid in run("ip", "netns", "pids", cluster.network.namespace(1)).split():
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        if b"ovnnb_db" in command:
            os.kill(int(pid), signal.SIGKILL)
    wait_until(lambda: first.role("nb") == "", 3, "the end of the northbound database")
    result = first.agent("monitor", OCF_RESKEY_CRM_meta_role="Master")
    assert result.code == FAILED_PROMOTED and "northbound" in result.reason
    assert cluster.demote(first).code == SUCCESS
    assert first.agent("stop").code == SUCCESS
    assert first.agent("start").code == SUCCESS
    assert cluster.promote(first).code == SUCCESS
    assert "kept" in first.rows()
    cluster.wait_follow(second)


def test_a_copy_that_missed_a_promotion_is_not_promoted(cluster):
    """The stock agent promotes it, and overwrites every other copy with it."""
    first, second, third = cluster.nodes
    third.agent("stop")
    first.power_off()
    assert cluster.promote(second, away=(first, third)).code == SUCCESS
    second.write("new")
    second.power_off()
    assert third.agent("start").code == SUCCESS
    assert third.score() == "-1"
    result = cluster.promote(third, away=(first, second))
    assert result.code == GENERIC and "another copy was promoted after this one" in result.reason
    assert "stale_policy" in result.reason and third.isolated()
    third.agent("monitor")
    assert third.score() == "-1", "Pacemaker is not invited again"
    assert second.agent("start").code == SUCCESS
    assert cluster.promote(second, away=(first,)).code == SUCCESS
    cluster.wait_follow(third)
    assert third.rows() == {"new"}


def test_an_operator_may_promote_a_stale_copy(cluster):
    first, second, third = cluster.nodes
    third.agent("stop")
    first.power_off()
    assert cluster.promote(second, away=(first, third)).code == SUCCESS
    second.power_off()
    third.parameters["stale_policy"] = "promote"
    assert third.agent("start").code == SUCCESS
    assert int(third.score()) > 0
    assert cluster.promote(third, away=(first, second)).code == SUCCESS


def test_an_empty_copy_is_not_promoted(cluster):
    first, second, third = cluster.nodes
    first.write("row")
    third.agent("stop")
    shutil.rmtree(third.folder / "db")
    (third.folder / "db").mkdir()
    first.power_off()
    assert third.agent("start").code == SUCCESS
    result = cluster.promote(third, away=(first, second))
    assert result.code == GENERIC and "not promoted" in result.reason
    assert cluster.promote(second, away=(first,)).code == SUCCESS
    cluster.wait_follow(third)
    assert third.rows() == {"row"}


def test_a_backup_does_not_follow_an_empty_active_server(cluster):
    """Its rows would be gone in three milliseconds."""
    first, second, third = cluster.nodes
    first.write("row")
    for node in (second, third):
        wait_until(lambda node=node: "row" in node.rows(), 3, "the row on a backup")
    cluster.take_address(1)  # Pacemaker does this before it stops what the address stands with
    first.agent("stop")
    shutil.rmtree(first.folder / "db")
    (first.folder / "db").mkdir()
    assert first.agent("start").code == SUCCESS
    for short in ("nb", "sb"):
        first.command(short, "ovsdb-server/disconnect-active-ovsdb-server")
    for node in (second, third):
        node.notify("pre", "promote", promote="n1")
    cluster.give_address(1)
    for node in (second, third):
        assert node.notify("post", "promote", promote="n1").code == SUCCESS
        assert node.isolated() and node.rows() == {"row"}


def test_a_backup_does_not_follow_itself(cluster):
    """ovsdb-server becomes writable when it is its own source, as when the address comes before the promotion."""
    _, second, _ = cluster.nodes
    cluster.give_address(2)
    second.notify("post", "promote", promote="n1")
    assert second.isolated()


def test_the_address_may_come_before_the_promotion(cluster):
    first, second, third = cluster.nodes
    assert cluster.demote(first).code == SUCCESS
    assert cluster.promote(second, before="n1", address_first=True).code == SUCCESS
    cluster.wait_follow(first, third)
    assert second.active()


def test_an_active_server_that_cannot_write_is_not_promoted(site):
    """ovsdb-server says that it is active, and that its storage is ok, on a full disk."""
    first, second, _ = site.nodes
    run("mount", "-t", "tmpfs", "-o", "size=24m", "wm-ha", str(second.folder / "db"))
    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    site.wait_follow(second)
    use_up_page(first, second)
    rows = second.rows()
    fill(second.folder / "db")
    first.power_off()
    result = site.promote(second, away=(first,))
    assert result.code == GENERIC and "I/O error" in result.reason
    assert not second.active() and second.rows() == rows


def test_an_active_server_whose_disk_is_full_is_shown_and_can_be_failed(site):
    first = site.nodes[0]
    run("mount", "-t", "tmpfs", "-o", "size=24m", "wm-ha", str(first.folder / "db"))
    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    assert first.agent("monitor", OCF_CHECK_LEVEL="10").code == PROMOTED
    site.wait_follow(site.nodes[1])
    use_up_page(first, first)
    fill(first.folder / "db")
    result = first.agent("monitor")
    assert result.code == DEGRADED_PROMOTED and "bytes are free" in result.reason
    result = first.agent("monitor", OCF_CHECK_LEVEL="10")
    assert result.code == FAILED_PROMOTED and "I/O error" in result.reason


def test_a_backup_without_room_for_the_copy_keeps_its_own(site):
    """A backup whose disk becomes full while it copies ends empty and writable."""
    first, second, _ = site.nodes
    run("mount", "-t", "tmpfs", "-o", "size=4m", "wm-ha", str(second.folder / "db"))
    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    assert second.isolated()
    result = second.agent("monitor")
    assert result.code == DEGRADED and "not enough room" in result.reason


def test_a_server_without_its_control_socket_is_no_stopped_one(cluster):
    """The stock agent says that it is not running, and then tries without a pause to start it."""
    _, second, _ = cluster.nodes
    Path(second.path("run/ovnnb_db.ctl")).rename(second.path("run/elsewhere.ctl"))
    result = second.agent("monitor")
    assert result.code == GENERIC and "northbound" in result.reason
    old = second.server("nb")
    assert second.agent("start", OCF_RESKEY_CRM_meta_notify_promoted_uname="n1").code == SUCCESS
    assert not old.alive() and second.agent("monitor").code == SUCCESS
    cluster.wait_follow(second)
    Path(second.path("run/ovnsb_db.ctl")).rename(second.path("run/elsewhere.ctl"))
    assert second.agent("stop").code == SUCCESS
    assert second.agent("monitor").code == NOT_RUNNING


def test_without_a_cluster_the_databases_live_on(cluster):
    first = cluster.nodes[0]
    (cluster.cluster / "gone").touch()
    assert first.agent("monitor").code == PROMOTED
    assert first.agent("promote").code == SUCCESS
    assert first.active()


def test_a_running_wardmoted_is_told(cluster, tmp_path):
    first, second, _ = cluster.nodes
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "report.sock"))
        told.settimeout(5)

        def report(node, action):
            node.agent(action, WARDMOTE_REPORT_SOCKET=str(tmp_path / "report.sock"))
            return json.loads(told.recv(4096))

        assert report(first, "monitor") == {"live": True, "ready": True, "detail": "active, epoch 1"}
        assert report(second, "monitor") == {"live": True, "ready": True, "detail": "backup"}
        for short in ("nb", "sb"):
            second.command(short, "ovsdb-server/disconnect-active-ovsdb-server")
        said = report(second, "monitor")
        assert said["live"] and not said["ready"] and "another node is the active one" in said["detail"]
        assert report(second, "stop") == {"live": False, "ready": False, "detail": "stopped"}


def test_the_pid_file_of_another_process_kills_nobody(site):
    first = site.nodes[0]
    site.start(first)
    victim = subprocess.Popen(["sleep", "60"])
    try:
        assert first.agent("stop").code == SUCCESS
        for short in ("nb", "sb"):
            Path(first.path(f"run/ovn{short}_db.pid")).write_text(f"{victim.pid}\n", encoding="utf-8")
        assert first.agent("monitor").code == NOT_RUNNING
        assert first.agent("start").code == SUCCESS
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_the_metadata_is_valid(agent):
    unpack(FOLDER / "resource-agents", ["resource-agents"])
    dtd = next((FOLDER / "resource-agents").rglob("ra-api-1.dtd"))
    text = subprocess.run([agent, "meta-data"], capture_output=True, check=True).stdout
    done = subprocess.run(["xmllint", "--noout", "--nonet", "--dtdvalid", str(dtd), "-"], input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wrong_parameters_are_refused_with_a_reason(site):
    first = site.nodes[0]
    assert first.agent("validate-all").code == SUCCESS
    result = first.agent("validate-all", OCF_RESKEY_nb_master_port="abc")
    assert result.code == CONFIGURED and "nb_master_port" in result.reason
    assert first.agent("validate-all", OCF_RESKEY_ovn_ctl="/nope").code == INSTALLED
    assert first.agent("bogus").code == 3
    assert first.agent("monitor", OCF_RESKEY_ovn_ctl="/nope").code == NOT_RUNNING


def listens(site, node, port=6641):
    """Whether somebody on another host can connect to the node's own address."""
    code = f"import socket; socket.create_connection(('{site.network.address(node.number)}', {port}), timeout=1)"
    other = 1 if node.number != 1 else 2
    return subprocess.run(site.network.inside(other, "/usr/bin/python3", "-c", code), stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.slow
def test_behind_a_load_balancer_the_active_node_alone_listens(site):
    first, second, third = site.nodes
    for node in site.nodes:
        node.parameters["listen_on_master_ip_only"] = "no"
    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    site.wait_follow(second, third)
    first.write("row")
    third.agent("stop")
    assert third.agent("start", OCF_RESKEY_CRM_meta_notify_promoted_uname="n1").code == SUCCESS
    site.wait_follow(third)
    assert listens(site, first) and not listens(site, third)
    assert site.demote(first).code == SUCCESS
    assert site.promote(third, before="n1").code == SUCCESS
    assert listens(site, third) and third.rows() == {"row"}


@pytest.mark.slow
def test_northd_runs_on_the_active_node_and_nowhere_else(site):
    first, second, _ = site.nodes
    for node in site.nodes:
        node.parameters["manage_northd"] = "yes"

    def northd(node):
        pid = Path(node.path("run/ovn-northd.pid"))
        return pid.exists() and Path(f"/proc/{pid.read_text(encoding='utf-8').strip()}").exists()

    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    assert [northd(node) for node in site.nodes] == [True, False, False]
    assert first.agent("monitor").code == PROMOTED
    os.kill(int(Path(first.path("run/ovn-northd.pid")).read_text(encoding="utf-8")), signal.SIGKILL)
    result = first.agent("monitor")
    assert result.code == FAILED_PROMOTED and "ovn-northd" in result.reason
    assert site.demote(first).code == SUCCESS
    assert site.promote(second, before="n1").code == SUCCESS
    assert [northd(node) for node in site.nodes] == [False, True, False]
    for node in site.nodes:
        assert node.agent("stop").code == SUCCESS
    assert not any(northd(node) for node in site.nodes)


@pytest.mark.slow
def test_over_tls(site, tmp_path):
    first, second, third = site.nodes
    papers = Authority(tmp_path).issue("ovn")
    for node in site.nodes:
        for short in ("nb", "sb"):
            node.parameters |= {f"{short}_master_protocol": "ssl", f"ovn_{short}_db_privkey": str(papers.key),
                                f"ovn_{short}_db_cert": str(papers.certificate), f"ovn_{short}_db_cacert": str(papers.ca)}
    assert first.agent("validate-all").code == SUCCESS
    assert first.agent("validate-all", OCF_RESKEY_ovn_nb_db_cert="/no/such").code == INSTALLED
    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    wanted = (f"ssl:{site.address}:6641", f"ssl:{site.address}:6642")
    for node in (second, third):
        wait_until(lambda node=node: node.roles() == wanted, 10, f"{node.name} to follow: {node.roles()}")
    first.write("row")
    first.power_off()
    assert site.promote(second, away=(first,)).code == SUCCESS
    wait_until(lambda: third.roles() == wanted, 10, "the other backup to follow")
    assert second.rows() == third.rows() == {"row"}
    assert first.agent("start", OCF_RESKEY_CRM_meta_notify_promoted_uname="n2").code == SUCCESS
    wait_until(lambda: first.roles() == wanted, 10, "the old active node to follow")
