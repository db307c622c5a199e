"""A server that no entry names is alive, and cut off from the others; somebody else than its cluster's members sees that."""

import os
import shlex
import socket
import threading
from pathlib import Path

import pytest

from lab import wire
from lab.instance import Lab
from lab.packages import Tools
from lab.processes import holds, wait_until
from plans_site import GHOSTS, Site

pytestmark = pytest.mark.slow
AFTER = 15  # seconds of silence after which a server that nobody sees is removed; 10 s is the least


@pytest.fixture(name="lab")
def lab_fixture():
    with Lab.up(f"witness-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


class Relay:
    """A port that leads to the socket of one server, and to another's later, as a balancer or a name does."""

    def __init__(self, path: str):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.path)
            except OSError:
                return
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    @staticmethod
    def _pump(one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def configure(site: Site, clusters: str = "", checks: str = "") -> None:
    text = site.config.read_text(encoding="utf-8")
    text = text.replace("    ovn:\n", f"    ovn:\n      gone_after: {AFTER}s\n", 1).replace("clusters:\n", "clusters:\n" + clusters, 1)
    site.config.write_text(text + checks, encoding="utf-8")
    site.agent.wait_serving()
    done = site.agent.cli("reload")
    assert done.returncode == 0, done


def program(folder: Path, tools: Tools, *argv: str) -> Path:
    """Runs this in the environment of the lab's tools, as ssh to another host would."""
    path = folder / f"run-{Path(argv[0]).name}"
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in tools.environment().items())
    path.write_text(f'#!/bin/sh\n{exports}exec {shlex.join(argv)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def cut_off(lab: Lab, host: int) -> None:
    for other in (1, 2, 3):
        lab.clusters["nb"].network.cut(host, other)


def test_who_answered_a_check_whose_name_leads_elsewhere_now_is_left_alone(lab, tmp_path):
    cluster = lab.clusters["nb"]
    site = Site(lab, tmp_path, GHOSTS)
    fourth = cluster.add()
    cluster.wait_member(fourth)
    relay = Relay(str(cluster.socket(fourth)))
    configure(site, checks=f"checks:\n  - {{name: vip, every: 1s, timeout: 900ms, ovn: {{ovsdb: 'tcp:127.0.0.1:{relay.port}'}}}}\n")
    try:
        wait_until(lambda: "lives" in site.agent.cli("status").stdout, 20, "the check to see it alive")
        relay.path = str(cluster.socket(1))
        cut_off(lab, cluster.members[fourth].host)
        holds(lambda: not site.plans(), AFTER + 12, "nobody removes it")
        told = site.agent.cli("status").stdout
        assert "Do not remove" in told and "check vip" in told, told
    finally:
        site.end()


@pytest.mark.parametrize("way", ["control", "ovsdb", "control command", "ovsdb command"])
def test_a_process_that_answers_for_one_database_is_alive_in_the_other(lab, tmp_path, way):
    cluster = lab.clusters["nb"]
    site = Site(lab, tmp_path, GHOSTS)
    fourth = cluster.add()
    cluster.wait_member(fourth)
    # The same process has a database of another cluster, and only that one is in an entry.
    south = tmp_path / "south.db"
    cluster.tool("create-cluster", str(south), cluster.tools.schema("ovn-sb.ovsschema"), f"unix:{tmp_path}/south.raft")
    wire.control(cluster.control(fourth), "ovsdb-server/add-db", str(south))
    tools = cluster.tools
    ways = {"control": f"control: {cluster.control(fourth)}", "ovsdb": f"ovsdb: 'unix:{cluster.socket(fourth)}'",
            "control command": f"control: {{command: [{program(tmp_path, tools, tools.appctl, '-t', cluster.control(fourth))}]}}",
            "ovsdb command": f"ovsdb: {{command: [{program(tmp_path, tools, tools.client, 'query', f'unix:{cluster.socket(fourth)}')}]}}"}
    alone = (f"  - {{name: alone, ovn: {{database: OVN_Southbound, members: [{{name: ctl-4, {ways[way]}}}]}}, "
             "every: 1s, timeout: 900ms}\n")
    configure(site, clusters=alone)
    try:
        wait_until(lambda: "lives" in site.agent.cli("status").stdout, 20, "it to be seen alive")
        cut_off(lab, cluster.members[fourth].host)
        holds(lambda: not site.plans(), AFTER + 12, "nobody removes it")
        told = site.agent.cli("status").stdout
        assert "Never remove the live member" in told and "is listed, not expected" not in told, told
    finally:
        site.end()


def test_a_database_that_is_not_one_of_raft_is_no_server_of_a_cluster(tmp_path):
    with Lab.up(f"witness-{os.getpid()}", ["nb", "sb"], hosts=3, transient=True) as lab:
        south, north = lab.clusters["sb"], tmp_path / "north.db"
        south.tool("create", str(north), south.tools.schema("ovn-nb.ovsschema"))
        wire.control(south.control(1), "ovsdb-server/add-db", str(north))
        site = Site(lab, tmp_path, GHOSTS)
        try:
            site.agent.wait_healthy()
            site.wipe_and_rejoin(lab.clusters["nb"].followers()[0])
            wait_until(lambda: site.state() == "done", 60, "the former server to be removed")
        finally:
            site.end()
