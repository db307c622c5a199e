"""Reconcile at a real kube-apiserver when things go wrong in the middle: a leader that sleeps through the end of its lease, a server that
dies, does not answer, or refuses."""

import os
import random
import signal
import time
from datetime import UTC, datetime

import pytest
from fault_proxy import FaultProxy, Refusal, Silence
from gate_site import GateAgent
from reconcile_site import PATIENCE, Folder, Site, agent_of, config_map, kubeconfig, play

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT

AGENTS = ("ctl-1", "ctl-2")


def until(condition, what: str, every: float = 0.02):
    return wait_until(condition, PATIENCE, what, every=every)


def a_leader_that_was_stopped_writes_nothing_when_it_goes_on(site: Site):
    """Each agent wants other data. Whoever leads is stopped somewhere in its pass and goes on when the other has written everything."""
    many, rounds = 200, 3
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


def a_server_that_dies_in_the_middle_is_gone_on_with(site: Site):
    many = 300
    site.wanted.put("a.yaml", *(config_map(f"m-{number}", {"x": "1"}) for number in range(many)))
    with agent_of(site, "act") as agent:
        until(lambda: len(site.members()) > 20, "the first objects", every=0.0)
        site.cluster.kill_server()
        until(lambda: (agent.gate()["leader"] or {}).get("step") == "failing", "the complaint", every=0.1)
        assert agent.get("/livez")[0] == 200 and not agent.gate()["ready"]
        site.cluster.start_server()
        until(lambda: agent.gate()["ready"], "a whole pass", every=0.1)
        assert len(site.members()) == many
        before = len(site.cluster.writes_of("admin"))
        until(lambda: agent.gate()["reconcile"]["writes"] == 0, "a pass that writes nothing", every=0.1)
        settled = len(site.cluster.writes_of("admin"))
        assert settled - before <= many


def answers_that_never_come_are_found_out(site: Site):
    """Whether the server did what was asked or not: a pass by hand says the truth, and the next one makes it whole."""
    with FaultProxy(site.cluster, site.folder) as proxy:
        login = kubeconfig(site.folder / "proxied", proxy)
        for number, done in enumerate((True, False)):
            name = f"a-{number}"
            site.wanted.put(f"{name}.yaml", config_map(name, {"x": "1"}), config_map(f"{name}-z", {"x": "1"}))
            silent = Silence(done)
            proxy.manner = lambda method, path, name=name, silent=silent: silent if method == "PATCH" and f"/{name}?" in path else None
            begun = time.monotonic()
            said = site.run("apply", login=login)
            # One request has 20 s.
            assert 15 < time.monotonic() - begun < 60
            if done:
                assert said.returncode == 0 and "it was read again, and is as it should be" in said.stdout, said
            else:
                assert said.returncode == 2 and f"ConfigMap default/{name} failed: it was not applied" in said.stdout, said
            assert site.data(f"{name}-z") == {"x": "1"}, "the others are applied"
            assert sum(1 for method, path in proxy.asked if method == "PATCH" and f"/{name}?" in path) == 1, "a write is not repeated blindly"
            proxy.manner = lambda method, path: None
            assert site.run("apply", login=login).returncode == 0
        # A server that says nothing at all.
        proxy.manner = lambda method, path: Silence(False)
        said = site.run("diff", "--timeout=3", login=login)
        assert said.returncode == 69 and "timed out" in said.stderr, said


def refusals_are_waited_for_or_told(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), config_map("b", {"x": "1"}))
    with FaultProxy(site.cluster, site.folder) as proxy:
        login = kubeconfig(site.folder / "proxied", proxy)
        refusals: list[Refusal] = []

        def next_refusal(method: str, path: str):
            return refusals.pop(0) if refusals and method == "PATCH" and "/a?" in path else None

        proxy.manner = next_refusal
        refusals += [Refusal(429, "TooManyRequests", {"Retry-After": "1"})] * 2
        begun = time.monotonic()
        assert site.run("apply", login=login).returncode == 0
        assert time.monotonic() - begun >= 2 and site.data("a") == {"x": "1"}
        site.wanted.put("a.yaml", config_map("a", {"x": "2"}), config_map("b", {"x": "2"}))
        refusals += [Refusal(500, "InternalError")]
        said = site.run("apply", login=login)
        assert said.returncode == 2 and "ConfigMap default/a failed: it was not applied: HTTP 500 InternalError\n  the server: the proxy says 500" in said.stdout, said
        assert site.data("a") == {"x": "1"} and site.data("b") == {"x": "2"}
        assert site.run("apply", login=login).returncode == 0
        # What reads is asked again; a list that expired is begun anew.
        lists = [Refusal(500), Refusal(503), Refusal(410, "Expired")]
        proxy.manner = lambda method, path: lists.pop(0) if lists and method == "GET" and "labelSelector" in path else None
        assert site.run("apply", login=login).returncode == 0 and not lists
        # One that does not end is told, and is no reason to delete anything.
        site.wanted.put("a.yaml", config_map("a", {"x": "2"}))
        proxy.manner = lambda method, path: Refusal(410, "Expired") if method == "GET" and "labelSelector" in path else None
        said = site.run("apply", login=login)
        assert said.returncode == 2 and "HTTP 410" in said.stderr and site.get("b"), said


def a_folder_that_was_emptied_or_broken_changes_nothing(site: Site):
    for name in "abcd":
        site.wanted.put(f"{name}.yaml", config_map(name, {"x": "1"}))
    with agent_of(site, "act") as agent:
        until(lambda: agent.gate()["ready"], "a whole pass", every=0.1)
        before = len(site.cluster.writes_of("admin"))
        for name in "abcd":
            site.wanted.drop(f"{name}.yaml")
        until(lambda: "no manifest is left" in agent.gate()["leader"].get("why", ""), "the brake", every=0.1)
        assert agent.gate()["reconcile"]["prune_refused"]
        # One of many is broken: none is written.
        for name in "abcd":
            site.wanted.put(f"{name}.yaml", config_map(name, {"x": "2"}))
        site.wanted.put("c.yaml", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "TOPSECRET!"}})
        until(lambda: "c.yaml:1:1: data: 'p' is no base64" in agent.gate()["leader"].get("why", ""), "the complaint", every=0.1)
        time.sleep(2.5)
        # Somewhere between, c was gone for a moment, or not: whatever was seen was whole.
        assert "TOPSECRET" not in agent.output() + agent.get("/api/v1/version-gates/k8s/reconcile")[1] + agent.get("/api/v1/version-gates")[1]
        members = site.members()
        assert members.get("c") == {"x": "1"} and set(members) == set("abcd"), members
        site.wanted.put("c.yaml", config_map("c", {"x": "2"}))
        until(lambda: all(data == {"x": "2"} for data in site.members().values()), "all good again", every=0.1)
        assert not [event for event in site.cluster.writes_of("admin")[before:] if event["verb"] == "delete"]


def secrets_are_in_no_output(site: Site):
    hidden = ("TOPSECRET", "VE9QU0VDUkVU", "OTHERSECRET", "T1RIRVJTRUNSRVQ=", "5551234")

    def secret(password: str, kind: str = "Opaque") -> dict:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "type": kind,
                "stringData": {"password": password, "pin": "5551234"}}

    outputs = []

    def keep(*runs) -> None:
        outputs.extend(done.stdout + done.stderr for done in runs)

    site.wanted.put("s.yaml", secret("TOPSECRET"))
    keep(site.run("diff"), site.run("status"), site.run("apply"))
    site.wanted.put("s.yaml", secret("OTHERSECRET"))
    keep(site.run("diff"), site.run("status"), site.run("apply", "--dry-run"), site.run("apply"))
    assert "password: '*** (before)'" in outputs[3] or "*** (before)" in outputs[3], outputs[3]
    _, found = site.cluster.ask("GET", "/api/v1/namespaces/default/secrets/s")
    assert found["data"]["password"] == "T1RIRVJTRUNSRVQ="
    # Errors of the server: a type that cannot be changed, and one whose data it reads.
    site.wanted.put("s.yaml", secret("TOPSECRET", "other"))
    refused = site.run("apply")
    assert refused.returncode == 2, refused
    keep(refused)
    site.wanted.put("s.yaml", {**secret("x", "kubernetes.io/dockerconfigjson"), "metadata": {"name": "t", "namespace": "default"},
                               "stringData": {".dockerconfigjson": "TOPSECRET"}})
    keep(site.run("apply", "--prune-limit=0"))
    # What nobody can read, by hand and in an agent.
    (site.wanted.path / "s.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {pin: 05551234999999999999999}\n")
    wrong = site.run("apply")
    assert wrong.returncode == 65 and "s.yaml:4:19: this" in wrong.stderr, wrong
    keep(wrong)
    with agent_of(site, "act") as agent:
        until(lambda: (agent.gate()["leader"] or {}).get("step") == "failing", "the complaint", every=0.1)
        site.wanted.put("s.yaml", secret("TOPSECRET"))
        until(lambda: agent.gate()["ready"], "a whole pass", every=0.1)
        site.wanted.put("s.yaml", secret("OTHERSECRET"))
        until(lambda: site.cluster.ask("GET", "/api/v1/namespaces/default/secrets/s")[1]["data"]["password"] == "T1RIRVJTRUNSRVQ=", "the change")
        for path in ("/api/v1/version-gates", "/api/v1/version-gates/k8s/reconcile", "/api/v1/actions", "/metrics", "/api/v1/debug/bundle"):
            outputs.append(agent.get(path)[1])
        outputs.append(agent.output())
    for number, output in enumerate(outputs):
        assert not [word for word in hidden if word in output], (number, output)
    for file in (site.folder / "ctl-1/data").rglob("*"):
        if file.is_file():
            assert not [word for word in hidden if word.encode() in file.read_bytes()], file


def values_are_for_operators(site: Site):
    """A server quotes what it refuses. Who may see diffs may see that; logs, the journal and viewers may not."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "values", "namespace": "default"},
               "spec": {"clusterIP": "QUOTED1", "ports": [{"port": 80, "protocol": "TCP"}]}}
    number = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "values", "namespace": "default"}, "data": {"pin": 81234567}}
    unknown = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unknown", "namespace": "default"}, "dota": {"pin": "QUOTED2"}}
    site.wanted.put("a.yaml", service, number, unknown)
    said = site.run("apply")
    assert said.returncode == 2 and "81234567" not in said.stdout + said.stderr, said
    assert ".data.pin: expected string" in said.stdout and ".dota: field not declared in schema" in said.stdout, said
    assert "Service default/values failed: HTTP 422 Invalid: spec.clusterIP" in said.stdout and "  the server: " in said.stdout, said
    with agent_of(site, "act") as agent:
        until(lambda: (agent.gate()["leader"] or {}).get("step") == "failing", "the complaint", every=0.1)
        until(lambda: "QUOTED1" in agent.get("/api/v1/version-gates/k8s/reconcile")[1], "the words, for operators", every=0.1)
        assert "the server: " in agent.cli("reconcile", "explain", "k8s").stdout
        others = [agent.get(path)[1] for path in ("/api/v1/version-gates", "/api/v1/actions", "/metrics", "/api/v1/incidents")] + [agent.output()]
    assert "spec.clusterIP" in others[0], others[0]
    for file in (site.folder / "ctl-1/data").rglob("*"):
        if file.is_file():
            others.append(file.read_bytes().decode("latin-1"))
    for number_of, output in enumerate(others):
        assert not [word for word in ("QUOTED", "81234567") if word in output], (number_of, output)


def what_is_left_alone_stays_when_its_manifest_goes(site: Site):
    for name in ("kept", "also", "b", "c", "d", "e"):
        site.wanted.put(f"{name}.yaml", config_map(name, {"x": "1"}))
    site.good("apply")
    site.wanted.put("kept.yaml", config_map("kept", {"x": "2"}, apply="ignore"))
    site.wanted.put("also.yaml", config_map("also", {"x": "2"}, apply="if-not-present"))
    site.good("apply")
    # Nothing was written to them, so that nothing of it shows on them.
    assert "reconcile.wardmote.io/apply" not in site.get("kept")["metadata"]["annotations"]
    # A file that a full disk has left empty deletes nothing either.
    (site.wanted.path / "b.yaml").write_text("")
    said = site.run("apply")
    assert said.returncode == 65 and "b.yaml:1:1: the file is empty" in said.stderr, said
    for file in ("kept", "also", "b"):
        site.wanted.drop(f"{file}.yaml")
    for verb in ("diff", "apply", "apply"):
        said = site.run(verb)
        assert "ConfigMap default/kept left: no manifest wants it" in said.stdout and "default/also left" in said.stdout, said
    assert {name: data["x"] for name, data in site.members().items()} == {"kept": "1", "also": "1", "c": "1", "d": "1", "e": "1"}


# One test, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_reconcile_in_hardship(tmp_path):
    stories = (a_leader_that_was_stopped_writes_nothing_when_it_goes_on, a_server_that_dies_in_the_middle_is_gone_on_with,
               answers_that_never_come_are_found_out, refusals_are_waited_for_or_told, a_folder_that_was_emptied_or_broken_changes_nothing,
               secrets_are_in_no_output, values_are_for_operators, what_is_left_alone_stays_when_its_manifest_goes)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", AGENTS) as cluster:
        play(stories, cluster, tmp_path)
