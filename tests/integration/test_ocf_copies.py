"""Which copy the OCF agent lets become the active one, what it keeps before one is replaced, and whose processes it ends:
what an attack on the agent found."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lab import wire
from lab.network import run
from lab.processes import wait_until
from ocf_site import GENERIC, NOT_RUNNING, PROMOTED, SUCCESS, agent_fixture, cluster_fixture, site_fixture

agent, site, cluster = agent_fixture, site_fixture, cluster_fixture


def lag(cluster, node, rows):
    """The active node writes what the node does not receive and the other backup does; then the active node is gone."""
    first = cluster.nodes[0]
    other = next(one for one in cluster.nodes[1:] if one is not node)
    for port in ("6641", "6642"):
        run(*cluster.network.inside(node.number, "iptables", "-w", "-A", "INPUT", "-p", "tcp", "--sport", port, "-j", "DROP"))
    for name in rows:
        first.write(name)
    wait_until(lambda: set(rows) <= other.rows(), 3, "the rows on the other backup")
    first.power_off()
    cluster.network.heal(node.number)
    assert node.follows() and not set(rows) & node.rows(), "it still passes for a good backup"


def kept(node):
    """The text of all copies of the northbound database that were kept."""
    return "".join(path.read_text(encoding="utf-8") for path in (node.folder / "db").glob("ovnnb_db.db.before-sync.*"))


def connects(cluster, node, port=6641):
    """Whether the node reaches somebody at the address of the active one."""
    code = f"import socket; socket.create_connection(('{cluster.address}', {port}), timeout=2)"
    argv = cluster.network.inside(node.number, "/usr/bin/python3", "-c", code)
    return subprocess.run(argv, stderr=subprocess.DEVNULL, check=False).returncode == 0


def test_of_two_backups_the_one_that_has_more_goes_first(cluster):
    first, second, third = cluster.nodes
    rows = [f"row{number}" for number in range(20)]
    lag(cluster, third, rows)
    assert int(second.score()) == int(third.score()), "nobody has compared them yet"
    result = cluster.promote(third, away=(first,))
    assert result.code == GENERIC and "n2 seems to have more" in result.reason
    assert int(second.score()) > int(third.score())
    assert cluster.promote(second, away=(first,)).code == SUCCESS
    cluster.wait_follow(third)
    wait_until(lambda: set(rows) <= third.rows(), 3, "all rows on the backup")


def test_who_is_asked_again_is_promoted_and_the_better_copy_is_kept(cluster):
    """Signs may be wrong, and the better one may be forbidden to Pacemaker."""
    first, second, third = cluster.nodes
    lag(cluster, third, ["only on two"])
    assert cluster.promote(third, away=(first,)).code == GENERIC
    assert third.agent("stop").code == SUCCESS and third.agent("start").code == SUCCESS
    assert cluster.promote(third, away=(first,)).code == SUCCESS
    cluster.wait_follow(second)
    assert "only on two" in kept(second)


def test_a_copy_that_is_the_same_is_not_kept(cluster):
    """Each promotion would cost the size of the database."""
    first, second, third = cluster.nodes
    first.write("row")
    for node in (second, third):
        wait_until(lambda node=node: "row" in node.rows(), 3, "the row on both backups")
    first.power_off()
    assert cluster.promote(second, away=(first,)).code == SUCCESS
    cluster.wait_follow(third)
    assert kept(third) == ""


def test_a_copy_that_missed_a_promotion_is_kept_before_it_follows(cluster):
    first, second, third = cluster.nodes
    first.write("seen by three")
    wait_until(lambda: "seen by three" in third.rows(), 3, "the row on a backup")
    assert third.agent("stop").code == SUCCESS
    assert cluster.demote(first).code == SUCCESS
    assert cluster.promote(second, before="n1", away=(third,)).code == SUCCESS
    assert third.agent("start", OCF_RESKEY_CRM_meta_notify_promoted_uname="n2").code == SUCCESS
    cluster.wait_follow(third)
    assert "seen by three" in kept(third)


def test_a_switch_over_is_not_refused_for_what_the_old_active_node_has(cluster):
    first, second, _ = cluster.nodes
    first.write("row")
    assert cluster.demote(first).code == SUCCESS
    assert cluster.promote(second, before="n1").code == SUCCESS


def test_nobody_copies_from_a_backup_that_has_the_address(cluster):
    """ovsdb-server connects again by itself, and asks nobody: in nine seconds the last good copy was empty."""
    first, second, third = cluster.nodes
    first.write("row")
    wait_until(lambda: "row" in third.rows(), 3, "the row on a backup")
    second.agent("stop")
    shutil.rmtree(second.folder / "db")
    (second.folder / "db").mkdir()
    assert second.agent("start").code == SUCCESS
    assert connects(cluster, third)
    first.power_off()
    cluster.give_address(2)
    assert not connects(cluster, third) and not connects(cluster, third, 6642)
    second.agent("monitor")
    assert not connects(cluster, third) and third.rows() == {"row"}


def test_only_who_follows_or_is_active_listens(cluster):
    """A backup listens, so that the shell script can take over from this agent: it adds no listener when it promotes."""
    first, second, third = cluster.nodes
    own = f"punix:{second.path('run/ovnnb_db.sock')}"
    network = {"db:OVN_Northbound,NB_Global,connections", f"ptcp:6641:{cluster.address}"}

    def remotes(node):
        return set(node.command("nb", "ovsdb-server/list-remotes").split())

    assert remotes(second) == {own, *network}
    second.notify("pre", "promote", promote="n1", promoted="n1", unpromoted="n2 n3")
    assert remotes(second) == {own}
    for remote in network:
        second.command("nb", "ovsdb-server/add-remote", remote)
    assert second.agent("start").code == SUCCESS and second.isolated()
    assert remotes(second) == {own}
    for remote in network:
        first.command("nb", "ovsdb-server/remove-remote", remote)
    # The server replies first, and closes the port in the next turn of its loop.
    wait_until(lambda: not connects(cluster, third), 5, "nobody to listen")
    first.agent("monitor")
    wait_until(lambda: connects(cluster, third), 5, "the active node to listen again")


@pytest.mark.parametrize("hung", [False, True])
def test_stop_ends_a_server_whose_pid_file_is_gone(cluster, hung):
    """`stop` with success is Pacemaker's licence to promote another one."""
    first = cluster.nodes[0]
    servers = first.server("nb"), first.server("sb")
    if hung:
        first.signal("nb", signal.SIGSTOP)
    for path in Path(first.path("run")).iterdir():
        path.unlink()
    assert first.agent("monitor").code != NOT_RUNNING
    assert first.agent("stop").code == SUCCESS
    assert not any(server.alive() for server in servers)
    assert first.agent("monitor").code == NOT_RUNNING


@pytest.mark.parametrize("action", ["stop", "start"])
def test_a_pid_file_that_names_another_ovsdb_server_ends_nobody(cluster, action):
    """It may be Open vSwitch's own."""
    first, second, _ = cluster.nodes
    theirs = second.server("nb"), second.server("sb")
    assert first.agent("stop").code == SUCCESS
    for short, server in zip(("nb", "sb"), theirs):
        Path(first.path(f"run/ovn{short}_db.pid")).write_text(f"{server.pid}\n", encoding="utf-8")
    assert first.agent("monitor").code == NOT_RUNNING
    assert first.agent(action).code == SUCCESS
    assert all(server.alive() for server in theirs)
    assert first.agent("monitor").code == (SUCCESS if action == "start" else NOT_RUNNING)


def test_an_epoch_that_a_client_removed_is_written_again(cluster):
    """Without it no copy may be promoted any more."""
    first, second, _ = cluster.nodes
    wire.transact(first.path("run/ovnnb_db.sock"), "OVN_Northbound",
                  {"op": "update", "table": "NB_Global", "where": [], "row": {"external_ids": ["map", []]}})
    first.agent("monitor")
    wait_until(lambda: second.agent("monitor").code == SUCCESS and second.follows(), 3, "the backup")
    first.power_off()
    assert cluster.promote(second, away=(first,)).code == SUCCESS


def test_a_promotion_that_the_cluster_did_not_hear_of_is_told_again(site):
    first = site.nodes[0]
    site.start(*site.nodes)
    (site.cluster / "gone").touch()
    assert site.promote(first).code == SUCCESS
    (site.cluster / "gone").unlink()
    told = first.agent("monitor")
    assert told.code == PROMOTED, told
    assert (site.cluster / "property-OVN_REPL_EPOCH").read_text(encoding="utf-8").strip() == "1 n1"
    assert (site.cluster / "property-OVN_REPL_INFO").read_text(encoding="utf-8").strip() == "n1"


def test_after_the_cluster_lost_its_record_a_newer_copy_does_not_follow_an_older_one(cluster):
    first, second, third = cluster.nodes
    for node in (second, third):
        node.agent("stop")
    for _ in range(3):
        assert cluster.demote(first).code == SUCCESS
        assert cluster.promote(first, before="", away=(second, third)).code == SUCCESS
    first.write("new")
    first.power_off()
    for path in cluster.cluster.glob("*-*"):
        path.unlink()
    assert second.agent("start").code == SUCCESS
    assert cluster.promote(second, away=(first, third)).code == SUCCESS
    result = first.agent("start", OCF_RESKEY_CRM_meta_notify_promoted_uname="n2")
    assert result.code == SUCCESS and "older" in result.reason
    assert first.isolated() and first.rows() == {"new"}


def test_what_validation_missed(site):
    first = site.nodes[0]
    result = first.agent("validate-all", OCF_RESKEY_nb_master_port="6642")
    assert result.code == 6 and "both" in result.reason
    assert first.agent("validate-all", OCF_RESKEY_ovn_ctl="/tmp").code == 5
