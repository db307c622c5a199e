"""Agents on a real etcd cluster of three whose members restart, die, hang, fill up, and want a password or a certificate."""

import subprocess
import time
from pathlib import Path

import pytest

from agents_site import Site
from tcp_target import Target
from lab.etcd import EtcdCluster
from lab.pki import Authority
from lab.processes import wait_until

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"
TTL = 6


@pytest.fixture
def targets():
    targets = [Target() for _ in range(2)]
    yield targets
    for target in targets:
        target.down()


def kinds(site: Site) -> list[str]:
    return [kind for _, kind in site.told()]


def leads_all_the_while(site: Site, name: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert site[name].leads()
        time.sleep(0.1)


@pytest.mark.slow
def test_members_restart_one_by_one_and_the_leader_stays(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3) as etcd, Site(tmp_path, etcd, targets, ttl=TTL) as site:
        site.wait_led_by("ctl-1")
        for member in etcd.members:
            member.kill()
            leads_all_the_while(site, "ctl-1", 1.0)
            member.start()
            wait_until(lambda at=member: etcd.answers(at), 20.0, "the member to be back", every=0.1)
            leads_all_the_while(site, "ctl-1", 1.0)
        targets[1].down()
        wait_until(lambda: kinds(site) == ["opened"], 10.0, "the message")
        assert site["ctl-2"].queue() == ["ctl-1", "ctl-2"]


def test_a_member_that_hangs_is_left_for_the_next(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3) as etcd, Site(tmp_path, etcd, targets, ttl=TTL) as site:
        site.wait_led_by("ctl-1")
        etcd.members[0].pause()  # both are connected to it
        leads_all_the_while(site, "ctl-1", TTL)
        targets[1].down()
        wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")
        wait_until(lambda: len(site["ctl-2"].open_incidents()) == 1, 15.0, "the follower to show it")


@pytest.mark.slow
def test_a_member_that_is_cut_off_from_the_majority_makes_its_agents_stop(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 3) as etcd, Site(tmp_path, etcd, targets, ttl=TTL) as site:
        site.wait_led_by("ctl-1")
        etcd.members[1].pause()
        etcd.members[2].pause()
        wait_until(lambda: not site["ctl-1"].leads(), TTL, "the leader to stop", every=0.05)
        targets[1].down()
        time.sleep(TTL)
        assert not site["ctl-1"].leads() and not site["ctl-2"].leads() and kinds(site) == []
        etcd.members[1].resume()
        etcd.members[2].resume()
        site.leader()
        wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")


@pytest.mark.slow
def test_a_full_etcd_keeps_the_leader_and_the_message_comes_all_the_same(tmp_path, targets):
    quota = 8 << 20
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1, options=(f"--quota-backend-bytes={quota}",)) as etcd, \
            Site(tmp_path, etcd, targets, ttl=TTL) as site:
        site.wait_led_by("ctl-1")
        for number in range(100):
            filled = subprocess.run(etcd.argv("put", f"fill/{number}"), input="x" * 500_000, capture_output=True, text=True, check=False, timeout=20)
            if filled.returncode != 0:
                break
        assert "NOSPACE" in etcd.ctl("alarm", "list")
        targets[0].down()
        wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message, which comes before writing it down")
        leads_all_the_while(site, "ctl-1", TTL)
        assert "degraded" in site["ctl-1"].get("/api/v1/status")[1]
        revision = etcd.ctl("get", "x", "-w", "fields").split('"Revision" : ')[1].split()[0]
        etcd.ctl("del", "--prefix", "fill/")
        etcd.ctl("compact", str(int(revision)))
        etcd.ctl("defrag")
        etcd.ctl("alarm", "disarm")
        wait_until(lambda: len(site["ctl-2"].open_incidents()) == 1, 90.0, "the incident to be written down")
        assert kinds(site) == ["opened"]


def test_an_agent_ends_also_when_etcd_has_just_gone(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd, Site(tmp_path, etcd, targets[:2], ttl=TTL) as site:
        leader = site.leader()
        etcd.members[0].kill()
        for agent in site.agents.values():
            agent.process.terminate()
        for agent in site.agents.values():
            assert agent.process.wait(timeout=10) == 0, f"{agent.name}, and {leader.name} led"


def give_rights(etcd: EtcdCluster, node: str, password: bool = True) -> None:
    """As docs/coordination.md says."""
    etcd.ctl("role", "add", node)
    etcd.ctl("role", "grant-permission", node, "read", "--prefix", "/wardmote/test/")
    for common in ("leader", "incident", "last", "notify", "plan", "pause", "acts"):
        etcd.ctl("role", "grant-permission", node, "readwrite", "--prefix", f"/wardmote/test/{common}/")
    etcd.ctl("role", "grant-permission", node, "readwrite", "--prefix", f"/wardmote/test/agents/{node}/")
    etcd.ctl("user", "add", *([f"{node}:secret-of-{node}"] if password else [node, "--no-password"]))
    etcd.ctl("user", "grant-role", node, node)


def test_authentication_that_is_enabled_under_running_agents(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd:
        for node in ("ctl-1", "ctl-2"):
            give_rights(etcd, node)
            (tmp_path / f"{node}.password").write_text(f"secret-of-{node}\n", encoding="utf-8")
        etcd.ctl("user", "add", "root:r")
        etcd.ctl("user", "grant-role", "root", "root")
        with Site(tmp_path, etcd, targets[:2], ttl=TTL, store=f", user: {{name}}, password_file: {tmp_path}/{{name}}.password") as site:
            site.wait_led_by("ctl-1")
            etcd.ctl("auth", "enable")
            targets[1].down()
            wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")
            site["ctl-1"].kill()
            site.wait_led_by("ctl-2")
            targets[1].up()
            wait_until(lambda: kinds(site) == ["opened", "resolved"], 15.0, "the end")


@pytest.mark.slow
def test_with_a_password_each_node_writes_its_own_records_only(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1, options=("--auth-token-ttl=3",)) as etcd:
        for node in ("ctl-1", "ctl-2"):
            give_rights(etcd, node)
            (tmp_path / f"{node}.password").write_text(f"secret-of-{node}\n", encoding="utf-8")
        etcd.ctl("user", "add", "root:r")
        etcd.ctl("user", "grant-role", "root", "root")
        etcd.ctl("auth", "enable")
        with Site(tmp_path, etcd, targets, ttl=TTL, store=f", user: {{name}}, password_file: {tmp_path}/{{name}}.password") as site:
            site.wait_led_by("ctl-1")
            targets[1].down()
            wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")
            time.sleep(5)  # no token lives so long unless it is used
            targets[1].up()
            wait_until(lambda: kinds(site) == ["opened", "resolved"], 15.0, "the end")
            forged = etcd.run("--user", "ctl-2:secret-of-ctl-2", "put", "/wardmote/test/agents/ctl-1/symptoms", "{}")
            assert forged.returncode != 0 and "permission denied" in forged.stderr
            assert etcd.run("--user", "ctl-2:secret-of-ctl-2", "get", "--prefix", "/wardmote/test/agents/").returncode == 0


def with_passwords(etcd: EtcdCluster, folder: Path, nodes: tuple[str, ...] = ("ctl-1", "ctl-2")) -> str:
    """What the agents' `store.etcd` needs for the etcd that asks for passwords from now on."""
    for node in nodes:
        give_rights(etcd, node)
        (folder / f"{node}.password").write_text(f"secret-of-{node}\n", encoding="utf-8")
    etcd.ctl("user", "add", "root:r")
    etcd.ctl("user", "grant-role", "root", "root")
    etcd.ctl("auth", "enable")
    etcd.user = "root:r"
    return f", user: {{name}}, password_file: {folder}/{{name}}.password"


def change_password(etcd: EtcdCluster, node: str) -> None:
    asked = etcd.run("user", "passwd", node, "--interactive=false", said="another\n")
    assert asked.returncode == 0, asked.stderr


def complaint(agent) -> str:
    return agent.json("/api/v1/status")["self"]["complaint"] or ""


def test_a_password_that_is_changed_in_etcd_and_in_its_file_needs_no_restart(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd:
        with Site(tmp_path, etcd, targets[:2], ttl=TTL, store=with_passwords(etcd, tmp_path)) as site:
            site.wait_led_by("ctl-1")
            for node in ("ctl-1", "ctl-2"):
                change_password(etcd, node)
                (tmp_path / f"{node}.password").write_text("another\n", encoding="utf-8")
            targets[1].down()
            wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")


def test_agents_whom_etcd_lets_in_no_more_say_that_nobody_is_told(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd:
        with Site(tmp_path, etcd, targets[:2], ttl=TTL, store=with_passwords(etcd, tmp_path)) as site:
            site.wait_led_by("ctl-1")
            agents = [site["ctl-1"], site["ctl-2"]]
            wait_until(lambda: not any(complaint(one) for one in agents), 10.0, "both to be well")
            for one in agents:
                change_password(etcd, one.name)
            targets[1].down()
            for one in agents:
                wait_until(lambda of=one: "no agent is known to lead" in (of.json("/api/v1/incidents")["stale"] or ""), 40.0, f"{one.name} to say so")
                wait_until(lambda of=one: "authentication failed" in complaint(of), 20.0, f"{one.name} to say why")
                assert not any(row["leads"] for row in one.json("/api/v1/agents")["agents"])
                assert "no agent is known to lead" in one.json("/api/v1/plans")["frozen"]
            for one in agents:
                (tmp_path / f"{one.name}.password").write_text("another\n", encoding="utf-8")
            wait_until(lambda: kinds(site) == ["opened"], 20.0, "the message")
            for one in agents:
                wait_until(lambda of=one: not complaint(of) and not of.json("/api/v1/incidents")["stale"], 20.0, f"{one.name} to be well")


def test_an_agent_that_may_write_no_more_says_that_it_is_not_heard(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd:
        with Site(tmp_path, etcd, targets[:2], ttl=TTL, store=with_passwords(etcd, tmp_path)) as site:
            site.wait_led_by("ctl-1")
            etcd.ctl("role", "revoke-permission", "ctl-2", "--prefix", "/wardmote/test/agents/ctl-2/")
            targets[1].down()
            two = site["ctl-2"]
            for says in (lambda: complaint(two), lambda: two.json("/api/v1/incidents")["stale"] or ""):
                wait_until(lambda said=says: "the other agents do not hear what this one sees: put: etcd: etcdserver: permission denied" in said(), 20.0,
                           "it to say so")
            etcd.ctl("role", "grant-permission", "ctl-2", "readwrite", "--prefix", "/wardmote/test/agents/ctl-2/")
            wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")
            wait_until(lambda: not complaint(two) and not two.json("/api/v1/incidents")["stale"], 15.0, "it to be well")


def test_a_leader_that_may_write_no_more_lets_another_lead(tmp_path, targets):
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1) as etcd:
        with Site(tmp_path, etcd, targets[:2], ttl=TTL, store=with_passwords(etcd, tmp_path)) as site:
            site.wait_led_by("ctl-1")
            etcd.ctl("user", "revoke-role", "ctl-1", "ctl-1")
            site.wait_led_by("ctl-2", 15.0)
            targets[1].down()
            wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")
            etcd.ctl("user", "grant-role", "ctl-1", "ctl-1")
            wait_until(lambda: site["ctl-1"].queue() == ["ctl-2", "ctl-1"], 15.0, "the other to stand behind")


def test_with_certificates_the_name_in_it_is_the_user(tmp_path, targets):
    authority = Authority(tmp_path / "pki")
    papers = {node: authority.issue(node) for node in ("ctl-1", "ctl-2")}
    with EtcdCluster(PACKAGES, tmp_path / "etcd", 1, authority=authority) as etcd:
        for node in papers:
            give_rights(etcd, node, password=False)
        etcd.ctl("user", "add", "root", "--no-password")
        etcd.ctl("user", "grant-role", "root", "root")
        etcd.ctl("auth", "enable")
        folder = papers["ctl-1"].certificate.parent
        suffixes = [str(getattr(papers["ctl-1"], what)).replace("ctl-1", "{name}") for what in ("certificate", "key")]
        tls = f", tls: {{ca: {authority.certificate}, certificate: {suffixes[0]}, key: {suffixes[1]}}}"
        assert all(name.startswith(str(folder)) for name in suffixes)
        with Site(tmp_path, etcd, targets, ttl=TTL, store=tls) as site:
            site.wait_led_by("ctl-1")
            targets[1].down()
            wait_until(lambda: kinds(site) == ["opened"], 15.0, "the message")
            forged = etcd.as_holder(papers["ctl-2"]).run("put", "/wardmote/test/agents/ctl-1/symptoms", "{}")
            assert forged.returncode != 0 and "permission denied" in forged.stderr
