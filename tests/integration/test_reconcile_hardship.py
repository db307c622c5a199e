"""Reconcile at a real kube-apiserver when things go wrong in the middle: a leader that sleeps through the end of its lease, a server that
dies, does not answer, or refuses."""

import os
import random
import signal
import time
from datetime import UTC, datetime

import pytest
from gate_site import GateAgent
from reconcile_site import PATIENCE, Folder, Site, agent_of, config_map

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT

AGENTS = ("ctl-1", "ctl-2")


def until(condition, what: str, every: float = 0.02):
    return wait_until(condition, PATIENCE, what, every=every)


def a_leader_that_was_stopped_writes_nothing_when_it_goes_on(site: Site):
    """Each agent wants other data. Whoever leads is stopped somewhere in its pass and goes on when the other has written everything."""
    many, rounds = 200, int(os.environ.get("WARDMOTE_ROUNDS", "3"))
    folders = {name: Folder(site.manifests_of(name)) for name in AGENTS}
    dice = random.Random(site.set)

    def want(turn: int) -> None:
        for name, folder in folders.items():
            # Half of the objects are new, so both kinds of writes are under way: those that compare a version and those that cannot.
            names = [f"old-{number}" for number in range(many // 2)] + [f"new-{turn}-{number}" for number in range(many // 2)]
            folder.put("a.yaml", *(config_map(each, {"x": f"{name} {turn}"}, prune="no") for each in names))

    def all_of(name: str, turn: int) -> bool:
        members = site.members()
        return len(members) >= many and all(members[each] == {"x": f"{name} {turn}"} for each in members if each.startswith(("old-", f"new-{turn}-")))

    want(0)
    agents: dict[str, GateAgent] = {}
    try:
        for name in AGENTS:
            agents[name] = agent_of(site, "act", name, shared=True)
        leader = until(lambda: next((name for name in AGENTS if agents[name].leads()), None), "a leader")
        until(lambda: all_of(leader, 0), "the first pass")
        for turn in range(1, rounds + 1):
            other = next(name for name in AGENTS if name != leader)
            want(turn)
            some = dice.randrange(1, many)
            until(lambda: sum(1 for data in site.members().values() if data == {"x": f"{leader} {turn}"}) >= some, "some objects", every=0.0)
            os.kill(agents[leader].process.pid, signal.SIGSTOP)
            until(lambda: all_of(other, turn), "the other to write everything")
            went_on = datetime.now(UTC)
            os.kill(agents[leader].process.pid, signal.SIGCONT)
            until(lambda: agents[leader].get("/livez")[0] == 200 and not agents[leader].leads(), "the one that was stopped to see it")
            time.sleep(1.0)
            late = [event for event in site.cluster.writes_of(leader) if datetime.fromisoformat(event["requestReceivedTimestamp"]) > went_on]
            done = [event for event in late if event["responseStatus"]["code"] < 300]
            assert not done, [(event["verb"], event["requestURI"], event["requestReceivedTimestamp"], went_on) for event in done]
            assert all_of(other, turn)
            leader = other
    finally:
        for agent in agents.values():
            os.kill(agent.process.pid, signal.SIGCONT)
            agent.stop()


# One test, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_reconcile_in_hardship(tmp_path):
    stories = (a_leader_that_was_stopped_writes_nothing_when_it_goes_on,)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", AGENTS) as cluster:
        for number, story in enumerate(stories):
            folder = tmp_path / f"h{number}"
            folder.mkdir()
            story(Site(folder, cluster))
