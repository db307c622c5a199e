"""The resource agent under a real Pacemaker: every fault with a client that counts its rows, and a change of the agent in a running
cluster."""

import json
import os
import re
import subprocess
import time

import pytest

from lab.failover_faults import ALL, play
from lab.instance import FOLDER
from lab.pacemaker import ADDRESS_FIRST, PROMOTION_FIRST, Pacemaker, Writer
from lab.processes import wait_until
from tools.agent import programs

# Three corosync with a token of one second, and seconds without a row that are counted: two cores have nothing left for other tests.
pytestmark = [pytest.mark.slow, pytest.mark.alone]

PACKAGES = FOLDER / "pacemaker-ovn"
OURS = "/usr/lib/ocf/resource.d/ovn/ovndb-servers"

# Seconds without a row: what the stock agent took here in three rounds, and what ours may take. Detection is Pacemaker's, by the
# interval of `monitor` (10 s) and by the token (1 s).
LONGEST = {"kill-worker": 15, "kill-worker-and-monitor": 15, "power-off": 10, "stop-server": 20, "one-becomes-backup": 2,
           "backup-becomes-writable": 2, "pause": 10, "cut": 10, "switch-over": 6, "stale-first": 40, "stale-second": 40}
# Without fencing: until Pacemaker has seen that there are two. Rows of the one that was promoted last are not lost by it.
LONGEST_SPLIT = {"pause": 15, "cut": 10}


def cluster(name, ours=True, **more):
    return Pacemaker(f"{name}{os.getpid() % 10000}", PACKAGES, programs() / "wardmote" if ours else None, **more)


@pytest.mark.parametrize("fault", ALL)
def test_a_fault_loses_no_row(fault):
    with cluster("f") as lab:
        outcome = play(lab, fault)
        assert outcome.note == "", lab.status()
        assert outcome.lost == 0, outcome
        assert outcome.outage <= LONGEST[fault], outcome
        assert outcome.split <= LONGEST_SPLIT.get(fault, 0), outcome


@pytest.mark.parametrize("order", [ADDRESS_FIRST, PROMOTION_FIRST], ids=["address first", "promotion first"])
def test_both_orders_of_the_guide(order):
    with cluster("g", order=order) as lab:
        first = lab.wait_active()
        writer = Writer(lab, "order")
        time.sleep(1)
        first.power_off()
        time.sleep(6)
        second = lab.wait_active()
        first.boot()
        wait_until(lambda: lab.wait_active() is second and lab.roles()[first.name] == "BB", 40, "the old active node to follow")
        time.sleep(1)
        assert json.loads(writer.end())["lost"] == 0


def test_the_agent_is_changed_in_a_running_cluster_and_back():
    """Node by node, and nothing fails over: no second without a row."""
    with cluster("r", ours=False) as lab:
        active = lab.wait_active()
        writer = Writer(lab, "rolling")
        for agent in (programs() / "wardmote", None):
            for node in lab.nodes:
                if agent is not None:
                    data = agent.read_bytes()
                    enter = ["nsenter", "-t", str(node.init.pid), "-m", "-r", "--", "/bin/sh", "-c",
                             "cat >/usr/bin/wardmote.new && chmod 755 /usr/bin/wardmote.new && mv /usr/bin/wardmote.new /usr/bin/wardmote"]
                    subprocess.run(enter, input=data, check=True)
                lab.install(node, agent)
                time.sleep(3)
            time.sleep(32)  # each node's monitor ran once with it, as an unpromoted one does every 30 s
            assert lab.active() is active, lab.status()
        counted = json.loads(writer.end())
        assert counted["outages"] == [] and counted["lost"] == 0, counted
        failed = lab.status().partition("Failed Resource Actions")[2]
        assert "ovndb_servers" not in failed, failed


def test_the_tools_of_pacemaker_accept_it():
    with cluster("t") as lab:
        active = lab.wait_active()
        listed = active.on("crm_resource", "--list-agents", "ocf:ovn")
        assert "ovndb-servers" in listed.stdout
        shown = active.on("crm_resource", "--show-metadata", "ocf:ovn:ovndb-servers")
        assert '<parameter name="master_ip"' in shown.stdout
        validate = ["crm_resource", "--validate", "--class", "ocf", "--provider", "ovn", "--agent", "ovndb-servers", "--option"]
        assert active.on(*validate, "master_ip=10.79.2.100").returncode == 0
        refused = active.on(*validate, "master_ip=10.79.2.100", "--option", "nb_master_port=abc")
        assert refused.returncode != 0
        # Scores decide who is next, before anything fails: a copy that must not be promoted is not.
        cib = active.on("cibadmin", "-Q").stdout
        first, second = [node for node in lab.nodes if node is not active]
        for better, worse in ((first, second), (second, first)):
            changed = with_scores(cib, {better.name: "8", worse.name: "-1"})
            active.on("/bin/sh", "-c", f"cat >/tmp/cib.xml <<'EOF'\n{changed}\nEOF")
            seen = active.on("crm_simulate", "-x", "/tmp/cib.xml", "-S", "-d", active.name).stdout
            revised = seen.partition("Revised Cluster Status")[2]
            assert f"Promoted: [ {better.name} ]" in revised, seen


def with_scores(cib, scores):
    """The same configuration with other promotion scores."""
    for name, score in scores.items():
        attribute = f'id="status-{name[1:]}-master-ovndb_servers"'
        lines = [re.sub(r'value="[^"]*"', f'value="{score}"', line) if attribute in line else line for line in cib.splitlines()]
        cib = "\n".join(lines)
    return cib


def test_ocf_tester():
    """Debian's own test of resource agents, without a cluster."""
    with cluster("o", nodes=1) as lab:
        node = lab.nodes[0]
        wait_until(lambda: node.named("pacemakerd"), 20, "the node")
        for process in node.named("pacemakerd"):
            process.kill()
        node.on("ip", "addr", "add", f"{lab.address}/32", "dev", "lo")
        done = node.on("ocf-tester", "-n", "ovndb_servers", "-o", f"master_ip={lab.address}", OURS, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "passed all tests" in done.stdout
