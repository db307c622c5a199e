"""The southbound database, the address and the schema of a pair on real ovsdb-servers and a real etcd: what goes wrong there alone."""

import json
import os
from pathlib import Path

import pytest

from lab import wire
from lab.instance import FOLDER, ROOT
from lab.network import run
from lab.packages import fetch
from lab.processes import holds, wait_until
from lab.standalone import DATABASES, StandaloneSite

pytestmark = pytest.mark.slow
TTL = 6


@pytest.fixture(name="site")
def site_fixture():
    with StandaloneSite(f"{os.getpid() % 100000}", fetch(FOLDER / "x"), ROOT / "build/lab/etcd") as site:
        yield site


def begin(site, per_node=None):
    for node in site.nodes:
        node.start_agent(**(per_node or {}).get(node.name, {}))
    active = site.wait_active(60)
    site.wait_follow(active, *site.others(active))
    return active


def write(node, names):
    wire.transact(node.path("sb.sock"), "OVN_Southbound",
                  *({"op": "insert", "table": "Address_Set", "row": {"name": name}} for name in names))


def rows(node):
    told = wire.transact(node.path("sb.sock"), "OVN_Southbound", {"op": "select", "table": "Address_Set", "where": [], "columns": ["name"]})
    return {row["name"] for row in told[0]["rows"]}


def cut_southbound(site, node, active, verb="-A"):
    """What the active node's southbound server sends does not reach the node, which is not told so."""
    run(*site.network.inside(node.number, "iptables", "-w", verb, "INPUT", "-p", "tcp", "--sport", "6642", "-s",
                             site.network.address(active.number), "-j", "DROP"))


def test_a_switchover_waits_for_the_southbound_rows_too(site):
    active = begin(site)
    heir = site.others(active)[0]
    cut_southbound(site, heir, active)
    names = {f"r{number}" for number in range(10)}
    write(active, names)
    assert active.order("switchover", to=heir.name) == 202
    wait_until(lambda: "taken back" in (active.pair()["order"] or ""), 30, "it to be taken back")
    again = site.wait_active(30)
    assert again is active and rows(active) == names
    cut_southbound(site, heir, active, "-D")
    wait_until(lambda: rows(heir) == names, 30, "the heir to have them")
    site.wait_follow(active, *site.others(active))
    assert active.order("switchover", to=heir.name) == 202
    wait_until(heir.serves, 30, f"{heir.name} to be active", every=0.05)
    assert rows(heir) == names


def test_of_two_backups_the_one_with_more_southbound_rows_is_promoted(site):
    active = begin(site, {"n1": {"priority": "5"}, "n2": {"priority": "3"}})
    behind, whole = site.others(active)
    cut_southbound(site, behind, active)
    names = {f"r{number}" for number in range(10)}
    write(active, names)
    wait_until(lambda: rows(whole) == names, 10, "one of them to have the rows")
    active.kill_agent()
    for database in DATABASES:
        active.server(database).kill()
    wait_until(whole.serves, 40, f"{whole.name} to be active", every=0.05)
    assert rows(whole) == names


def test_who_cannot_have_the_address_gives_up_again(site):
    n2 = site.nodes[1]
    active = begin(site, {"n1": {"priority": "9"}, "n2": {"interface": "eth9"}})
    assert active is not n2 and active.order("switchover", to="n2") == 202
    wait_until(lambda: active.pair()["epoch"] > 1, 30, "n2 to be promoted")
    other = site.wait_active(40)
    assert other is not n2


def test_who_cannot_let_go_of_the_address_is_no_candidate(site):
    active = begin(site)
    heir = site.others(active)[0]
    # As keepalived leaves it: the agents have it with another prefix.
    run("ip", "-n", site.network.namespace(heir.number), "addr", "add", f"{site.address}/32", "dev", "eth0")
    wait_until(lambda: any(one["name"] == heir.name and one["unfit"] for one in active.pair()["members"]), 20, "it to be unfit")
    assert active.order("switchover", to=heir.name) == 202
    wait_until(lambda: "Cannot assign" in (active.pair()["order"] or ""), 20, "the order to be refused with the reason")
    assert active.serves()


def test_a_backup_with_another_schema_is_not_tried_again_and_again(site):
    n1, n2, n3 = site.nodes
    schema = json.loads(Path(site.tools.schema("ovn-nb.ovsschema")).read_text(encoding="utf-8"))
    schema["version"] = "6.0.0"
    schema.pop("cksum", None)
    for table in ("BFD", "Static_MAC_Binding", "Chassis_Template_Var"):
        schema["tables"].pop(table, None)
    for table in schema["tables"].values():
        table["columns"] = {name: column for name, column in table["columns"].items() if "BFD" not in json.dumps(column)}
    old = site.folder / "old.ovsschema"
    old.write_text(json.dumps(schema), encoding="utf-8")
    n2.server("nb").kill()
    for name in ("nb.db", ".nb.db.~lock~"):
        Path(n2.path(name)).unlink(missing_ok=True)
    run(str(site.tools.tool), "create", n2.path("nb.db"), str(old), environment=site.tools.environment())
    n2.start_server("nb")
    for node in site.nodes:
        node.start_agent()
    active = site.wait_active(60)
    assert active is not n2
    wait_until(lambda: any("schemas" in (one["unfit"] or "") for one in active.pair()["members"]), 40, "n2 to say why it does not follow")

    def read_only():
        return "state: active" not in wire.control(n2.path("nb.ctl"), "ovsdb-server/sync-status")
    # It is tried again after 2, 4 and 8 seconds, and for a second each time.
    wait_until(lambda: n2.agent.output().count("both databases are read-only") >= 4, 60, "it to be tried some times")
    wait_until(read_only, 10, "it to be read-only")
    holds(read_only, 5, "it stays read-only")
