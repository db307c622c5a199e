"""Three agents are upgraded and downgraded one after the other, on a real etcd and a real kube-apiserver, with a change of schema between:
release 2 writes what release 1 cannot read. The judge is upgrade_truth.py."""

import json
import os
import signal
import time
from contextlib import contextmanager

import pytest
import yaml
from gate_site import DONE, GateAgent, GateKeys
from reconcile_site import ApiserversEtcd, Site, config_map, kubeconfig, play
from upgrade_truth import Recorder, judge

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT

NODES = ["ctl-1", "ctl-2", "ctl-3"]
OLD, NEW = "1.0.0", "2.0.0"
PATIENCE = 120.0
MANY = 200


def until(condition, what: str):
    return wait_until(condition, PATIENCE, what, every=0.1)


class Upgrade:
    """The agents of a site, each with manifests of its own release."""

    def __init__(self, site: Site, recorder: Recorder):
        self.site, self.recorder = site, recorder
        self.agents: dict[str, GateAgent] = {}
        self.keys = GateKeys(ApiserversEtcd(site.cluster), f"/wardmote/{site.set}/gate/k8s/state/", f"/wardmote/{site.set}/gate/k8s/nodes/")

    def start(self, name: str, release: str) -> GateAgent:
        folder = self.site.folder / name
        (folder / "data").mkdir(parents=True, exist_ok=True)
        manifests = folder / f"manifests-{release}"
        manifests.mkdir(exist_ok=True)
        data = {"text": f"of-schema-{release[0]}"}
        # One is of this release alone, and pruned by the other.
        objects = [config_map(f"{self.site.set}-{number}", data) for number in range(MANY)] + [config_map(f"{self.site.set}-only-{release[0]}", data)]
        (manifests / "all.yaml").write_text(yaml.safe_dump_all(objects), encoding="utf-8")
        login = kubeconfig(folder / "kubeconfig", self.site.cluster, f"{name}-token")
        (folder / "w.yaml").write_text(f"""node: {{name: {name}}}
api: {{socket: {folder}/s}}
data: {folder}/data
store: {{etcd: {{endpoints: ['{self.site.cluster.etcd.removeprefix("http://")}']}}, name: {self.site.set}, ttl: 2s}}
version_gates:
  - name: k8s
    release: {release}
    min_apiserver_release: {"0.0.0" if release == OLD else release}
    ttl: 2s
    reconcile:
      mode: act
      manifests: {manifests}
      kubernetes: {{kubeconfig: {login}, set: {self.site.set}}}
      every: 1s
      wait: 1500ms
      write_deadline: 100ms
""", encoding="utf-8")
        agent = self.agents[name] = GateAgent(folder / "w.yaml", folder / "s")
        agent.wait_serving(60.0)
        self.recorder.ask(name, agent, release)
        return agent

    def restart(self, name: str, release: str) -> GateAgent:
        self.agents[name].stop()
        return self.start(name, release)

    def wait_done(self, release: str, nodes: list[str]) -> None:
        wanted = tuple(int(part) for part in release.split("."))
        until(lambda: (self.keys.status() or ())[:2] == (DONE, wanted), f"{release} to be written")
        until(lambda: all(self.agents[name].gate()["ready"] for name in nodes), f"all to serve on {release}")
        data = {"text": f"of-schema-{release[0]}"}
        assert list(self.site.members().values()) == [data] * (MANY + 1)

    def writer(self) -> str:
        """Who wrote last, as the apiserver knows it."""
        return max(self.recorder.writes(NODES), key=lambda write: write.done).node

    def leader(self, among: list[str]) -> str | None:
        return next((name for name in among if self.agents[name].leads()), None)


@contextmanager
def upgrade_of(site: Site):
    with Recorder(site.cluster, site.folder, site.set) as recorder:
        upgrade = Upgrade(site, recorder)
        try:
            yield upgrade
        finally:
            for agent in upgrade.agents.values():
                if agent.process.poll() is None:
                    os.kill(agent.process.pid, signal.SIGCONT)
                    agent.stop()
    looked = judge(recorder, NODES)
    # The judge had something to judge.
    assert looked["changes"] > 2 * MANY and looked["writes"] > 2 * MANY and looked["served"] > 5, looked


def one_after_the_other_and_back(site: Site):
    with upgrade_of(site) as upgrade:
        for name in NODES:
            upgrade.start(name, OLD)
        upgrade.wait_done(OLD, NODES)
        for release in (NEW, OLD):
            for name in NODES:
                upgrade.restart(name, release)
            upgrade.wait_done(release, NODES)


def leaders_are_killed_and_stopped_in_every_pass(site: Site):
    """Each pass that changes the schema is broken off in its middle: its agent is killed, or stopped and goes on after another has led."""
    with upgrade_of(site) as upgrade:
        for name in NODES:
            upgrade.start(name, OLD)
        upgrade.wait_done(OLD, NODES)
        broken_off = 0
        for release, blow in ((NEW, signal.SIGKILL), (OLD, signal.SIGSTOP), (NEW, signal.SIGSTOP), (OLD, signal.SIGKILL)):
            wanted = {"text": f"of-schema-{release[0]}"}
            for name in NODES:
                upgrade.restart(name, release)
            wait_until(lambda: site.data(f"{site.set}-0") == wanted, PATIENCE, "the first object", every=0.0)
            hurt = upgrade.writer()
            upgrade.agents[hurt].process.send_signal(blow)
            broken_off += list(site.members().values()).count(wanted) < MANY
            upgrade.wait_done(release, [name for name in NODES if name != hurt])
            if blow == signal.SIGSTOP:
                upgrade.agents[hurt].process.send_signal(signal.SIGCONT)
            else:
                upgrade.agents[hurt].process.wait()
                upgrade.start(hurt, release)
            upgrade.wait_done(release, NODES)
        assert broken_off > 0, "none was in its middle"


def who_was_forgotten_and_lives_neither_writes_nor_serves(site: Site):
    """The operator takes ctl-3 for gone, but it only hangs, and goes on when the others are of another schema."""
    with upgrade_of(site) as upgrade:
        for name in NODES:
            upgrade.start(name, OLD)
        upgrade.wait_done(OLD, NODES)
        late, others = upgrade.agents["ctl-3"], NODES[:2]
        late.process.send_signal(signal.SIGSTOP)
        for name in others:
            upgrade.restart(name, NEW)
        blocked = until(lambda: upgrade.leader(others), "a leader")
        until(lambda: (upgrade.agents[blocked].gate()["leader"] or {}).get("blocked_by") == ["ctl-3"], "ctl-3 to block it")
        assert upgrade.keys.status()[:2] == (DONE, (1, 0, 0))
        until(lambda: any(upgrade.agents[name].cli("gate", "force-forget", "k8s", "ctl-3").returncode == 0 for name in others), "the order")
        upgrade.wait_done(NEW, others)
        late.process.send_signal(signal.SIGCONT)
        woken = time.time()
        wait_until(lambda: not json.loads(late.get("/api/v1/version-gates/k8s")[1] or "{}").get("ready", True), 2.0, "ctl-3 to serve no more")
        # In that moment it says what it knew: nobody can know in his sleep that he was forgotten.
        upgrade.recorder.forgive("ctl-3", woken, time.time())
        until(lambda: "2.0.0" in late.cli("explain", "gate", "k8s").stdout, "ctl-3 to know of the new one")
        upgrade.restart("ctl-3", NEW)
        upgrade.wait_done(NEW, NODES)


# One test, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_rolling_upgrades(tmp_path):
    stories = (one_after_the_other_and_back, leaders_are_killed_and_stopped_in_every_pass, who_was_forgotten_and_lives_neither_writes_nor_serves)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", tuple(NODES), audit="RequestResponse") as cluster:
        play(stories, cluster, tmp_path)
