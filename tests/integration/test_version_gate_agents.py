"""Agents at a version gate on real etcd: upgrades, downgrades, who blocks, and a leader that dies or is stopped."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from agents_site import wait_beaten
from gate_site import DONE, WORKING, GateSite, Waiter

from lab.etcd import EtcdCluster
from lab.processes import holds, wait_until

PACKAGES = Path(__file__).resolve().parents[2] / "build/lab/etcd"


@pytest.fixture
def site(tmp_path):
    with EtcdCluster(PACKAGES, tmp_path / "etcd") as etcd, GateSite(tmp_path, etcd) as site:
        yield site


def until(condition, seconds: float, what: str):
    return wait_until(condition, seconds, what, every=0.1)


def passes(site) -> list[tuple[str, str]]:
    return [(node, release) for what, node, release, _ in site.written() if what == "end"]


def test_a_rolling_upgrade_and_back(site, tmp_path):
    """1.0.0 to 2.0.0, whose objects need nodes of 2.0.0, and back again. No old write comes after a new one, and at no time does a node
    serve on what does not fit it."""
    names = ["ctl-1", "ctl-2", "ctl-3"]
    for name in names:
        site.start(name, "1.0.0")
    until(lambda: all(site[name].gate()["ready"] for name in names), 20.0, "1.0.0 everywhere")
    for name in names:
        agent = site.restart(name, "2.0.0", needs="2.0.0")
        if name != "ctl-3":
            until(lambda one=agent: (one.gate()["leader"] or {}).get("step") == "blocked", 20.0, f"{name} is up, and the leader blocked")
            assert not any(release == "2.0.0" for _, release in passes(site))
            assert site["ctl-3"].gate()["ready"], "the old one serves for as long"
    until(lambda: site.keys.status() == (DONE, (2, 0, 0), (2, 0, 0)), 20.0, "2.0.0 everywhere")
    until(lambda: all(site[name].gate()["ready"] for name in names), 5.0, "all to serve on it")
    first = [release for _, release in passes(site)].index("2.0.0")
    assert set(release for _, release in passes(site)[first:]) == {"2.0.0"}
    # Somebody who missed the upgrade.
    with Waiter(tmp_path, "k8s", *(f"--etcd={at}" for at in site.etcd.endpoints), "--store=prod", "--release=1.0.0", "--node=late",
                "--timeout=2s") as late:
        assert late.ended() == 2
        assert "needs nodes of release 2.0.0" in late.text()
    site.keys.delete(site.keys.nodes + "late")
    ends = len(passes(site))
    for name in names:
        site.restart(name, "1.0.0")
    until(lambda: site.keys.status() == (DONE, (1, 0, 0), (0, 0, 0)), 30.0, "1.0.0 again")
    until(lambda: all(site[name].gate()["ready"] for name in names), 5.0, "all to serve on it")
    after = [release for _, release in passes(site)[ends:]]
    assert after == sorted(after, reverse=True), "no new write after an old one"
    seen = site.statuses()
    assert (WORKING, (1, 0, 0), (2, 0, 0)) in seen, "while both exist, only what fits both may start"
    assert seen[0] == (DONE, (1, 0, 0), (0, 0, 0)) and seen[-1] == (DONE, (1, 0, 0), (0, 0, 0))
    tokens = [token for *_, token in site.written()]
    assert tokens == sorted(tokens)


def test_explain_names_who_blocks_and_what_would_end_it(site):
    site.start("old", "1.0.0", mode="observe")
    new = site.start("new", "2.0.0", needs="2.0.0")
    until(lambda: (new.gate()["leader"] or {}).get("step") == "blocked", 20.0, "the leader to say that it is blocked")
    for agent in (new, site["old"]):
        # What the leader says and who is registered reach an agent by two watches.
        until(lambda one=agent: (one.gate()["leader"] or {}).get("blocked_by") == ["old"] and len(one.gate()["nodes"]) == 2, 20.0, "both know")
        said = agent.cli("explain", "gate", "k8s")
        assert said.returncode == 2, said
        assert "waits for old (1.0.0), which must be 2.0.0 or newer" in said.stdout
        assert "blocks the leader" in said.stdout
    assert site["old"].gate()["mode"] == "observe" and site["old"].gate()["in_the_way"].startswith("waits to be replaced by the newer new")
    assert new.cli("explain", "gate", "k8s", "-o", "json").stdout.startswith("{")
    waiting = new.cli("wait-ready", "k8s", "--timeout=1s")
    assert waiting.returncode == 2 and "upgrade old, or remove its registration" in waiting.stdout
    site["old"].stop()
    site.keys.delete(site.keys.nodes + "old")
    assert new.cli("wait-ready", "k8s", "--timeout=20s", timeout=30.0).returncode == 0
    said = new.cli("explain", "gate", "k8s")
    assert said.returncode == 0 and "may serve" in said.stdout
    missing = new.cli("wait-ready", "other", "--timeout=1s")
    assert missing.returncode not in (0, 2) and "no version gate 'other'" in missing.stderr, missing


def test_a_leader_that_is_killed_is_succeeded_and_one_that_is_stopped_is_fenced(site):
    site.takes = 0.5
    one = site.start("ctl-1", "1.0.0")
    until(lambda: one.gate()["ready"], 15.0, "the first pass")
    two = site.start("ctl-2", "1.0.0")
    until(lambda: two.gate()["ready"], 10.0, "the second node")
    begun = time.monotonic()
    one.process.kill()
    one.process.wait()
    until(lambda: ("ctl-2", "1.0.0") in passes(site), 10.0, "the next one to write")
    assert time.monotonic() - begun < 2 + 0.5 + 1.5 + 0.5 + 2.0, "the lease, etcd's tick, the wait, the pass, and room"
    site.start("ctl-1", "1.0.0")
    until(lambda: site["ctl-1"].gate()["ready"], 10.0, "the first one again")
    os.kill(two.process.pid, signal.SIGSTOP)
    until(lambda: passes(site)[-1][0] == "ctl-1", 15.0, "ctl-1 to write")
    os.kill(two.process.pid, signal.SIGCONT)
    time.sleep(3.0)
    tokens = [token for *_, token in site.written()]
    assert tokens == sorted(tokens) and not two.leads()


def test_while_etcd_is_away_nobody_writes_and_the_api_says_so(site):
    one = site.start("ctl-1", "1.0.0")
    until(lambda: one.gate()["ready"], 15.0, "the first pass")
    site.etcd.members[0].pause()
    time.sleep(2.5)
    before = len(site.written())
    time.sleep(3.0)
    assert len(site.written()) == before, "its lease is over"
    until(lambda: one.gate().get("complaint"), 15.0, "a complaint")
    until(lambda: one.gate()["age_ms"] > 10_000, 20.0, "what it knows to be old")
    late = one.cli("wait-ready", "k8s", "--timeout", "2s")
    assert late.returncode == 3 and "waiting: the store does not answer; this node was ready when it did" in late.stdout, late
    said = one.cli("explain", "gate", "k8s").stdout
    assert "could serve when the store last answered" in said and "leader when the store last answered" in said, said
    site.etcd.members[0].resume()
    until(lambda: len(site.written()) > before, 20.0, "it writes again")
    assert one.gate()["ready"]


def test_an_agent_alone_keeps_its_gate_in_its_data_folder(tmp_path):
    with EtcdCluster(PACKAGES, tmp_path / "etcd") as etcd:
        site = GateSite(tmp_path, etcd)
        config = tmp_path / "alone" / "wardmote.yaml"
        agent = site.start("alone", "1.0.0")
        agent.stop()
        config.write_text("\n".join(line for line in config.read_text().splitlines() if not line.startswith("store:")) + "\n")
        (tmp_path / "objects.log").unlink(missing_ok=True)
        again = type(agent)(config, tmp_path / "alone/api.sock")
        try:
            again.wait_serving()
            assert again.cli("wait-ready", "k8s", "--timeout=15s", timeout=20.0).returncode == 0
            assert json.loads(again.cli("explain", "gate", "k8s", "-o", "json").stdout)["status"]["state"] == "done"
        finally:
            again.stop()


def test_a_pause_of_everything_stops_the_leader_and_is_journaled(site):
    one, two = site.start("ctl-1", "1.0.0"), site.start("ctl-2", "1.0.0")
    until(lambda: one.gate()["ready"] and two.gate()["ready"], 20.0, "both")
    ordered = until(lambda: next((agent for agent in (one, two) if agent.cli("pause").returncode == 0), None), 10.0, "an agent that takes orders")
    until(lambda: not one.gate()["leader"], 5.0, "nobody to lead")
    time.sleep(0.5)
    before = len(site.written())
    time.sleep(3.0)
    assert len(site.written()) == before
    assert "paused by" in one.gate()["complaint"] and "paused by" in two.gate()["complaint"]
    assert one.gate()["ready"], "who serves goes on"
    assert any(row["kind"] == "paused" for row in ordered.json("/api/v1/actions")["actions"])
    assert ordered.cli("resume").returncode == 0
    until(lambda: len(site.written()) > before, 15.0, "it writes again")


def test_operators_preserve_finalize_and_forget_and_it_is_in_the_journal(site):
    one = site.start("ctl-1", "1.0.0")
    until(lambda: one.gate()["ready"], 15.0, "the first pass")
    said = one.cli("gate", "preserve", "k8s", "1.0.0")
    assert said.returncode == 0, said
    two = site.start("ctl-2", "2.0.0", needs="2.0.0")
    until(lambda: two.gate()["ready"], 15.0, "the newer one to serve on what fits it")
    before = len(site.written())
    until(lambda: len(site.written()) > before + 3, 15.0, "passes of the older one")
    assert {release for _, release in passes(site)} == {"1.0.0"}
    assert two.gate()["preserved"]["release"] == "1.0.0" and "preserved: release 1.0.0" in two.cli("explain", "gate", "k8s").stdout
    assert two.cli("gate", "finalize", "k8s").returncode == 0
    until(lambda: (two.gate()["leader"] or {}).get("step") == "blocked", 20.0, "the newer one to wait for the older")
    refused = two.cli("gate", "force-forget", "k8s", "ctl-2")
    assert refused.returncode != 0 and "is this node, which lives" in refused.stderr, refused
    one.stop()
    assert two.cli("gate", "force-forget", "k8s", "ctl-1").returncode == 0
    until(lambda: site.keys.status() == (DONE, (2, 0, 0), (2, 0, 0)), 20.0, "the newer one to write")
    late = two.cli("gate", "preserve", "k8s", "1.0.0")
    assert late.returncode != 0 and "too late" in late.stderr, late
    rows = {(row["kind"], row["step"]) for row in two.json("/api/v1/actions")["actions"]}
    assert {("intent", "finalize"), ("result", "finalize"), ("intent", "force-forget"), ("result", "force-forget")} <= rows, rows


@pytest.mark.parametrize("later", [False, True], ids=["lower-revisions", "higher-revisions"])
def test_a_status_of_an_older_copy_lets_nobody_in(site, tmp_path, later):
    """The objects are as 2.0.0 wrote them. The copy says that they are as 1.0.0 did."""
    site.start("old", "1.0.0")
    late = site.start("late", "1.0.0", mode="observe")
    until(lambda: late.gate()["ready"], 20.0, "1.0.0 everywhere")
    site.etcd.ctl("snapshot", "save", str(tmp_path / "snapshot"))
    site["old"].stop()
    late.stop()
    new = site.start("new", "2.0.0", needs="2.0.0")
    for name in ("old", "late"):
        site.keys.delete(site.keys.nodes + name)
    until(lambda: site.keys.status() == (DONE, (2, 0, 0), (2, 0, 0)), 20.0, "2.0.0 to write")
    late = site.start("late", "1.0.0", mode="observe")
    until(lambda: late.gate()["verdict"] == "node_too_old", 20.0, "the old one to be kept out")
    if later:
        wait_beaten(site.etcd, "prod")
    site.etcd.restore(tmp_path / "snapshot", later)
    until(lambda: late.gate()["status"]["version"] == "1.0.0", 30.0, "the copy's status to be in view")
    until(lambda: new.gate()["ready"], 10.0, "who fits the objects to serve on")
    holds(lambda: not late.gate()["ready"], 2.0, "the old one to be kept out")
    assert "before the store was set back" in late.gate()["why"] and late.gate()["before_set_back"]["version"] == "2.0.0"
    said = new.cli("reconcile", "resume", "k8s")
    assert said.returncode != 0 and "'wardmote resume' ends that" in said.stderr, said
    late.stop()
    for name in ("old", "late"):
        site.keys.delete(site.keys.nodes + name)
    until(lambda: new.cli("resume").returncode == 0, 20.0, "the one that is left to lead, and to take the order")
    until(lambda: site.keys.status() == (DONE, (2, 0, 0), (2, 0, 0)), 30.0, "2.0.0 to write again")
    until(lambda: "before_set_back" not in new.gate(), 10.0, "the new history to count")
