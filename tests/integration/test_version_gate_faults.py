"""A version gate whose etcd loses its leader, is full, refuses rights, or is cut in two."""

import json
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest
from gate_site import DONE, GateAgent, GateSite

from lab.etcd import ENVIRONMENT, EtcdCluster, Member
from lab.network import Network
from lab.processes import holds, wait_until

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"
TTL = 6


def until(condition, seconds: float, what: str, every: float = 0.1):
    return wait_until(condition, seconds, what, every=every)


def led_by(agent: GateAgent) -> int:
    return (agent.gate()["leader"] or {}).get("token", 0)


def make_first_lead(etcd: EtcdCluster) -> Member:
    """The member to which agents go first is the leader of etcd from now on."""
    def status(member: Member) -> dict:
        said = etcd.run("endpoint", "status", "-w", "json", endpoints=[member.address])
        return json.loads(said.stdout)[0]["Status"] if said.returncode == 0 else {"leader": 0, "header": {"member_id": 1}}

    def leads(member: Member) -> bool:
        return status(member)["leader"] == status(member)["header"]["member_id"]

    first = etcd.members[0]

    def done() -> bool:
        now = next((member for member in etcd.members if leads(member)), None)
        if now is not None and now is not first:
            etcd.run("move-leader", f"{status(first)['header']['member_id']:x}", endpoints=[now.address])
        return now is first
    until(done, 20.0, "the first member to lead")
    return first


def one_after_the_other(site: GateSite) -> None:
    """Nobody writes beside somebody else, nor with an older token."""
    seen = site.written()
    tokens = [token for *_, token in seen]
    assert tokens == sorted(tokens)
    for before, (what, *who) in zip(seen, seen[1:], strict=False):
        assert what == "begin" or before == ("begin", *who), (before, what, who)


@pytest.mark.slow
def test_a_leader_of_etcd_that_is_killed_costs_neither_a_lead_nor_a_claim(tmp_path):
    """Once while a leader of the gate works, and then in the middle of each election and claim of an upgrade."""
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3) as etcd, GateSite(tmp_path, etcd, ttl=TTL) as site:
        for name in ("ctl-1", "ctl-2"):
            agent = site.start(name, "1.0.0")
            until(lambda one=agent: one.gate()["ready"], 30.0, f"{name} to be ready")
        token = led_by(site["ctl-1"])
        hit = make_first_lead(etcd)
        hit.kill()
        holds(lambda: led_by(site["ctl-1"]) == token and site["ctl-1"].leads(), TTL + 2.0, "the lead stays")
        hit.start()
        until(lambda: etcd.answers(hit), 20.0, "the member to be back")
        # The old leader's key is revoked at once, so the elections and claims are those of a moment later.
        for name in ("ctl-1", "ctl-2"):
            site[name].stop()
            hit = make_first_lead(etcd)
            agent = site.start(name, "2.0.0", needs="2.0.0")
            until(lambda one=agent: one.gate()["leader"] or one.gate()["nodes"], 20.0, "it to have begun", every=0.0)
            hit.kill()
            until(lambda one=agent: one.gate()["leader"], 30.0, "a leader")
            hit.start()
            until(lambda at=hit: etcd.answers(at), 20.0, "the member to be back")
        until(lambda: site.keys.status() == (DONE, (2, 0, 0), (2, 0, 0)), 60.0, "2.0.0 to be written")
        until(lambda: all(site[name].gate()["ready"] for name in ("ctl-1", "ctl-2")), 10.0, "2.0.0 everywhere")
        token = led_by(site["ctl-1"])
        hit = make_first_lead(etcd)
        hit.kill()
        holds(lambda: led_by(site["ctl-2"]) == token, TTL + 2.0, "the lead stays")
        one_after_the_other(site)


@pytest.mark.slow
def test_a_full_etcd_keeps_the_leader_and_lets_nobody_new_in(tmp_path):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1, options=(f"--quota-backend-bytes={8 << 20}",)) as etcd, \
            GateSite(tmp_path, etcd) as site:
        one = site.start("ctl-1", "1.0.0")
        until(lambda: one.gate()["ready"], 20.0, "the first pass")
        token = led_by(one)
        for number in range(100):
            filled = subprocess.run(etcd.argv("put", f"fill/{number}"), env=ENVIRONMENT, input="x" * 500_000, capture_output=True, text=True,
                                    check=False, timeout=20)
            if filled.returncode != 0:
                break
        assert "NOSPACE" in etcd.ctl("alarm", "list")
        late = site.start("ctl-2", "2.0.0", needs="2.0.0")
        before = len(site.written())
        until(lambda: "space" in (late.gate().get("complaint") or ""), 20.0, "the new one to say why it is not registered")
        holds(lambda: one.leads() and led_by(one) == token and one.gate()["ready"] and not late.gate()["ready"], 8.0, "all goes on as it was")
        assert len(site.written()) > before + 4, "passes go on"
        revision = etcd.ctl("get", "x", "-w", "fields").split('"Revision" : ')[1].split()[0]
        etcd.ctl("del", "--prefix", "fill/")
        etcd.ctl("compact", str(int(revision)))
        etcd.ctl("defrag")
        etcd.ctl("alarm", "disarm")
        until(lambda: late.leads(), 30.0, "the new one to lead")
        one.stop()
        assert late.cli("gate", "force-forget", "k8s", "ctl-1").returncode == 0
        until(lambda: site.keys.status() == (DONE, (2, 0, 0), (2, 0, 0)), 30.0, "2.0.0 to be written")
        until(lambda: late.gate()["ready"] and not late.gate().get("complaint"), 10.0, "all to be well")
        one_after_the_other(site)


def denied(etcd: EtcdCluster) -> int:
    """How many calls etcd has answered so, as it counts them itself."""
    with urllib.request.urlopen(f"http://{etcd.endpoints[0]}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines
               if line.startswith("grpc_server_handled_total{") and 'grpc_code="PermissionDenied"' in line)


@pytest.mark.slow
def test_who_may_not_write_the_status_says_so_and_does_not_ask_without_a_pause(tmp_path):
    """Tokens of etcd last three seconds; and of two nodes only one has the rights that docs/version-gate.md asks for."""
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1, options=("--auth-token-ttl=3",)) as etcd:
        for node in ("ctl-1", "ctl-2"):
            etcd.ctl("role", "add", node)
            etcd.ctl("role", "grant-permission", node, "read", "--prefix", "/wardmote/prod/")
            for common in ("leader", "incident", "last", "notify", "plan", "pause", "acts", f"agents/{node}", f"gate/k8s/nodes/{node}"):
                etcd.ctl("role", "grant-permission", node, "readwrite", "--prefix", f"/wardmote/prod/{common}")
            etcd.ctl("user", "add", f"{node}:secret-of-{node}")
            etcd.ctl("user", "grant-role", node, node)
            (tmp_path / f"{node}.password").write_text(f"secret-of-{node}\n", encoding="utf-8")
        etcd.ctl("role", "grant-permission", "ctl-1", "readwrite", "--prefix", "/wardmote/prod/gate/k8s/state/")
        etcd.ctl("user", "add", "root:r")
        etcd.ctl("user", "grant-role", "root", "root")
        etcd.ctl("auth", "enable")
        with GateSite(tmp_path, etcd, store=f", user: {{name}}, password_file: {tmp_path}/{{name}}.password") as site:
            one = site.start("ctl-1", "1.0.0")
            until(lambda: one.gate()["ready"], 20.0, "the first pass")
            before = len(site.written())
            # No token lives so long unless it is used, and each is renewed.
            until(lambda: len(site.written()) > before + 12, 30.0, "passes")
            two = site.start("ctl-2", "2.0.0", needs="2.0.0")
            until(lambda: "permission" in (two.gate().get("complaint") or ""), 20.0, "the complaint")
            until(lambda: not one.leads(), 10.0, "the older one to step down")
            refused, written = denied(etcd), len(site.written())
            holds(lambda: two.process.poll() is None and len(site.written()) == written, 6.0, "nobody writes")
            asked = denied(etcd) - refused
            assert 0 < asked < 30, asked
            one.stop()
            for words in (("role", "grant-permission", "ctl-2", "readwrite", "--prefix", "/wardmote/prod/gate/k8s/"),
                          ("del", "/wardmote/prod/gate/k8s/nodes/ctl-1")):
                done = etcd.run("--user", "root:r", *words)
                assert done.returncode == 0, done
            until(lambda: two.gate()["ready"] and not two.gate().get("complaint"), 30.0, "it to write, with no restart")
            one_after_the_other(site)


class CutCluster(EtcdCluster):
    """Three members on hosts of their own, whose network can be cut. etcdctl runs on the third."""

    def __init__(self, folder: Path, network: Network):
        super().__init__(PACKAGES, folder, 3)
        self.network = network
        # Each listens at, and is known by, the address of its host.
        ports = [{one.rpartition(":")[2] for one in member.argv if one.startswith("http://127.0.0.1:")} for member in self.members]
        for host, member in enumerate(self.members, 1):
            for other, mine in enumerate(ports, 1):
                for port in mine:
                    member.argv = [one.replace(f"127.0.0.1:{port}", f"{network.address(other)}:{port}") for one in member.argv]
            member.argv = network.inside(host, *member.argv)

    @property
    def endpoints(self) -> list[str]:
        return [f"{self.network.address(host)}:{member.port}" for host, member in enumerate(self.members, 1)]

    def argv(self, *arguments: str, endpoints: list[str] | None = None) -> list[str]:
        known = {member.address: at for member, at in zip(self.members, self.endpoints, strict=True)}
        return self.network.inside(3, *super().argv(*arguments, endpoints=[known.get(at, at) for at in endpoints or self.endpoints]))


@pytest.mark.slow
def test_a_leader_that_is_cut_off_with_its_member_stops_and_the_other_side_goes_on(tmp_path):
    network = Network(f"gate-{os.getpid()}", "10.213.7", 3)
    network.up()
    try:
        with CutCluster(tmp_path / "etcd", network) as etcd, GateSite(tmp_path, etcd, ttl=TTL) as site:
            one = site.start("ctl-1", "1.0.0", inside=network.inside(1))
            until(lambda: one.gate()["ready"], 30.0, "the first pass")
            two = site.start("ctl-2", "1.0.0", inside=network.inside(2))
            until(lambda: two.gate()["ready"], 30.0, "the second node")
            for other in (2, 3):
                network.cut(1, other)
            until(lambda: site.written()[-1][1] == "ctl-2", 2 * TTL, "the other side to lead, and to write")
            holds(lambda: site.written()[-1][1] == "ctl-2", 3.0, "and nobody else to")
            # What it says of the leader is what it heard last, and that is old.
            assert one.gate().get("complaint") or one.gate()["age_ms"] > 4000, one.gate()
            network.heal(1)
            until(lambda: one.gate().get("complaint") is None, 20.0, "it to hear from its store again")
            before = len(site.written())
            until(lambda: len(site.written()) > before + 6, 30.0, "passes")
            assert {node for _, node, _, _ in site.written()[before:]} == {"ctl-2"}
            assert two.leads() and not one.leads()
            one_after_the_other(site)
    finally:
        network.down()
