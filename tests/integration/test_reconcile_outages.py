"""Leaders at a real kube-apiserver that is away, whose objects, kinds, rights and certificates change under them, and leaders that end in the
middle of a pass."""

import os
import re
import shutil
import time
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from gate_site import DONE, WORKING, GateAgent, Waiter, read_status
from reconcile_site import PATIENCE, Folder, Site, agent_of, config_map, kubeconfig, play
from upgrade_truth import OBJECTS, Change, Recorder

from lab.kubernetes import ApiServer
from lab.pki import Authority
from lab.processes import holds, wait_until
from tools.agent import ROOT

AGENTS = ("ctl-1", "ctl-2", "ctl-3")
TTL = 2
EXPIRY = 0.5  # etcd looks for expired leases twice a second
ROOM = 0.7    # of ours: a look at the API, a loaded machine


def until(condition, what: str, seconds: float = PATIENCE, every: float = 0.05):
    return wait_until(condition, seconds, what, every=every)


def step(agent: GateAgent) -> str:
    return (agent.gate()["leader"] or {}).get("step", "")


def why(agent: GateAgent) -> str:
    return (agent.gate()["leader"] or {}).get("why", "")


def some_passes(agent: GateAgent, passes: int = 3) -> None:
    """From now on, and whole ones."""
    for _ in range(passes):
        before = agent.gate()["reconcile"]["begun"]
        until(lambda known=before: agent.gate()["reconcile"]["begun"] != known, "another pass")


def leader_of(agents: dict[str, GateAgent]) -> tuple[GateAgent, GateAgent]:
    """And the other one, of two."""
    first = until(lambda: next((name for name, agent in agents.items() if agent.leads()), None), "a leader", every=0.0)
    return agents[first], next(agent for name, agent in agents.items() if name != first)


def leads_after(agent: GateAgent, begun: float) -> float:
    until(agent.leads, "the next one to lead", every=0.01)
    return time.monotonic() - begun


def end_all(agents) -> None:
    for agent in agents:
        if agent.process.poll() is None:
            agent.stop()


def nobody_serves_before_the_first_whole_pass(site: Site):
    """A new cluster whose apiserver is away for twenty seconds."""
    keys = site.keys()
    Folder(site.manifests_of("ctl-1")).put("a.yaml", config_map("a", {"x": "1"}))
    site.cluster.kill_server()
    with agent_of(site, "act", "ctl-1", shared=True) as agent, \
            Waiter(site.folder, "k8s", f"--etcd={site.cluster.etcd.removeprefix('http://')}", f"--store={site.set}", "--release=1.0.0",
                   "--node=late") as waiter:
        waiter.wait_for("nothing was reconciled yet")
        until(lambda: step(agent) == "failing", "the complaint")
        before = len(agent.output().splitlines())
        holds(lambda: keys.status() is None and waiter.process.poll() is None and agent.leads(), 20.0, "nobody is let in, and the lead stays", every=0.5)
        said = agent.output().splitlines()[before:]
        assert len(said) <= 4, said
        site.cluster.start_server()
        until(lambda: keys.status() == (DONE, (1, 0, 0), (0, 0, 0)), "the first whole pass", every=0.0)
        done = time.monotonic()
        assert waiter.ended() == 0, waiter.text()
        assert time.monotonic() - done < ROOM
        assert site.data("a") == {"x": "1"}


def an_upgrade_that_fits_all_changes_each_object_once(site: Site):
    many = 60
    folders = {name: Folder(site.manifests_of(name)) for name in AGENTS}
    statuses = f"/wardmote/{site.set}/gate/k8s/state/status"

    def start(name: str, release: str) -> GateAgent:
        folders[name].put("a.yaml", *(config_map(f"o-{number}", {"x": release}) for number in range(many)))
        return agent_of(site, "act", name, shared=True, release=release)

    keys = site.keys()
    agents: dict[str, GateAgent] = {}
    with Recorder(site.cluster, site.folder, site.set) as recorder:
        try:
            for name in AGENTS:
                agents[name] = start(name, "1.0.0")
            until(lambda: all(agent.gate()["ready"] for agent in agents.values()), "1.0.0 everywhere")
            agents["ctl-1"].stop()
            until(lambda: any(agents[name].leads() for name in AGENTS[1:]), "another one to lead")
            others = [agents[name] for name in AGENTS[1:]]
            agents["ctl-1"] = start("ctl-1", "2.0.0")
            until(lambda: keys.node_release("ctl-1") == (2, 0, 0), "the new one to be registered", every=0.0)
            begun = time.monotonic()
            until(lambda: not any(agent.leads() for agent in others), "the old leader to step down", every=0.01)
            assert time.monotonic() - begun < 1 + ROOM
            served = [True]

            def look() -> bool:
                served.append(all(agent.gate()["ready"] for agent in others))
                return keys.status() == (DONE, (2, 0, 0), (0, 0, 0))

            until(look, "2.0.0 to be written")
            assert all(served), "who is not upgraded yet serves all the while"
            versions = {name: site.version(name) for name in (f"o-{number}" for number in range(many))}
            for name in AGENTS[1:]:
                agents[name].stop()
                agents[name] = start(name, "2.0.0")
            until(lambda: all(agent.gate()["ready"] for agent in agents.values()), "2.0.0 everywhere")
            leader = until(lambda: next((agent for agent in agents.values() if agent.leads()), None), "a leader")
            some_passes(leader)
            assert versions == {name: site.version(name) for name in versions}
        finally:
            end_all(agents.values())
        found: list[Change] = until(lambda: recorder.changes(), "what happened")
    seen = [read_status(change.value) for change in found if change.key == statuses and change.value]
    old, new = (1, 0, 0), (2, 0, 0)
    assert [one for at, one in enumerate(seen) if at == 0 or one != seen[at - 1]] == [(DONE, old, (0, 0, 0)), (WORKING, old, (0, 0, 0)),
                                                                                     (DONE, new, (0, 0, 0))], seen
    for number in range(many):
        values = [change.value for change in found if change.key == f"{OBJECTS.decode()}o-{number}"]
        assert len(values) == 2 and b"1.0.0" in values[0] and b"2.0.0" in values[1], (number, len(values))


def a_leader_that_ends_in_its_pass_stops_first_and_hands_over_at_once(site: Site):
    """SIGTERM. It begins no write once it has left the election; what was under way comes before the other one begins."""
    many = 300
    for name in AGENTS[:2]:
        Folder(site.manifests_of(name)).put("a.yaml", *(config_map(f"h-{number}", {"x": f"of-{name}"}) for number in range(many)))
    agents: dict[str, GateAgent] = {}
    with Recorder(site.cluster, site.folder, site.set) as recorder:
        try:
            agents["ctl-1"] = agent_of(site, "act", "ctl-1", shared=True)
            agents["ctl-2"] = agent_of(site, "act", "ctl-2", shared=True)
            until(lambda: len(site.members()) > 20, "the first objects", every=0.0)
            leader, other = leader_of(agents)
            ended, goes_on = leader.gate()["node"], other.gate()["node"]
            leader.process.terminate()
            took = leads_after(other, time.monotonic())
            assert took < TTL / 2, "no lease was waited for"
            assert len(site.members()) < many, "it was in the middle"
            assert leader.process.wait(10) == 0
            until(lambda: other.gate()["ready"], "a whole pass")
        finally:
            end_all(agents.values())
        assert list(site.members().values()) == [{"x": f"of-{goes_on}"}] * many
        changes = recorder.changes()
    stood = f"/wardmote/{site.set}/gate/k8s/state/leader/"
    place = [change.key for change in changes if change.key.startswith(stood) and change.value == ended.encode()][-1]
    left = next(change.revision for change in changes if change.key == place and change.value is None)

    def written(name: str) -> list[int]:
        data = f"of-{name}".encode()
        return [change.revision for change in changes if change.key.startswith(OBJECTS.decode()) and data in (change.value or b"")]

    assert max(written(ended)) < min(written(goes_on))
    assert sum(revision > left for revision in written(ended)) <= 8, "so many are under way at a time"


def a_leader_that_is_killed_while_it_prunes_is_gone_on_with(site: Site):
    many, fewer = 300, 180
    folders = {name: Folder(site.manifests_of(name)) for name in AGENTS[:2]}

    def want(count: int) -> None:
        for folder in folders.values():
            folder.put("a.yaml", *(config_map(f"p-{number}", {"x": "1"}) for number in range(count)))

    want(many)
    agents: dict[str, GateAgent] = {}
    try:
        for name in AGENTS[:2]:
            agents[name] = agent_of(site, "act", name, shared=True)
        until(lambda: len(site.members()) == many and agents["ctl-1"].gate()["ready"], "all objects")
        leader, other = leader_of(agents)
        stay = {f"p-{number}": site.version(f"p-{number}") for number in range(0, fewer, 10)}
        want(fewer)
        until(lambda: len(site.members()) < many, "the first one to be pruned", every=0.0)
        leader.process.kill()
        begun = time.monotonic()
        leader.process.wait()
        assert len(site.members()) > fewer, "it was in the middle"
        assert leads_after(other, begun) < TTL + EXPIRY + ROOM
        until(lambda: len(site.members()) == fewer, "the next one to go on")
        some_passes(other)
        assert set(site.members()) == {f"p-{number}" for number in range(fewer)}
        assert stay == {name: site.version(name) for name in stay}, "what stays was not touched"
    finally:
        end_all(agents.values())


def what_others_add_costs_no_write(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}))
    with agent_of(site, "act") as agent:
        until(lambda: agent.gate()["ready"], "a whole pass")
        found = site.get("a")
        found["metadata"]["labels"]["theirs"] = "kept"
        found["metadata"]["annotations"] = {**found["metadata"].get("annotations", {}), "theirs": "kept"}
        found["data"]["own"] = "kept"
        assert site.cluster.ask("PUT", "/api/v1/namespaces/default/configmaps/a?fieldManager=kubectl-edit", found)[0] == 200
        version, written = site.version("a"), len(site.written_by("admin"))
        some_passes(agent)
        assert site.version("a") == version and len(site.written_by("admin")) == written
        assert step(agent) == "resting"


def who_fights_for_a_field_is_named_and_not_answered_without_a_pause(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), config_map("b", {"x": "1"}, conflict="fail"))
    path = "/api/v1/namespaces/default/configmaps/a"
    with agent_of(site, "act", every="10m") as agent:
        until(lambda: agent.gate()["ready"], "a whole pass")
        before, lasts, edits = len(site.written_by("admin")), 8.0, 0

        def fight() -> bool:
            nonlocal edits
            found = site.get("a")
            if found["data"]["x"] == "1":
                found["data"]["x"] = "theirs"
                edits += site.cluster.ask("PUT", f"{path}?fieldManager=rival", found)[0] == 200
            return time.monotonic() > end

        end = time.monotonic() + lasts
        until(fight, "the rival to tire")
        answers = sum(one["verb"] == "patch" for one in site.written_by("admin")[before:])
        # Two seconds at least between two passes, and each asks twice: with force when it was refused without.
        assert edits > 1 and answers <= 2 * (lasts / 2 + 1), (edits, answers)
        until(lambda: site.data("a") == {"x": "1"}, "the last word")
        rows = [row["detail"] for row in agent.json("/api/v1/actions")["actions"] if row["kind"] == "result"]
        assert any("ConfigMap default/a changed" in row for row in rows), rows
        assert 'took over .data.x: conflict with \\"rival\\"' in agent.output()
        [counted] = re.findall(r'^wardmote_reconcile_conflicts_total\{gate="k8s"\} (\d+)$', agent.get("/metrics")[1], re.M)
        assert 1 <= int(counted) <= answers, (counted, answers)
        # Where the policy is to fail, the other one has it, and all say so.
        site.edit("b", {"x": "theirs"})
        until(lambda: step(agent) == "failing", "the complaint")
        assert 'ConfigMap default/b failed: .data.x: conflict with "kubectl-edit"' in agent.cli("reconcile", "explain", "k8s").stdout
        version = site.version("b")
        some_passes(agent)
        assert site.version("b") == version and site.data("b") == {"x": "theirs"}


def what_is_forbidden_keeps_the_status_from_being_done(site: Site):
    """An account that may do all with ConfigMaps, and nothing with Secrets until it is let."""
    roles, space = "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/namespaces/default"
    account = f"{site.set}-limited"
    maps = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}
    secrets = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}

    def may(*rules: dict) -> None:
        _, found = site.cluster.ask("GET", f"{roles}/{account}")
        found["rules"] = list(rules)
        assert site.cluster.ask("PUT", f"{roles}/{account}", found)[0] == 200

    site.cluster.create(f"{space}/serviceaccounts", {"metadata": {"name": account}})
    site.cluster.create(roles, {"metadata": {"name": account}, "rules": [maps]})
    site.cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": account}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": account},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}]})
    login = kubeconfig(site.folder / "limited", site.cluster, site.cluster.token_of("default", account))
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}},
                    config_map("z", {"x": "1"}))
    with agent_of(site, "act", login=login) as agent:
        until(lambda: step(agent) == "failing" and site.data("z") == {"x": "1"}, "the others to be there")
        assert "secrets is forbidden" in why(agent), why(agent)
        holds(lambda: agent.gate()["status"] is None and not agent.gate()["ready"], 3.0, "nothing is recorded")
        may(maps, secrets)
        until(lambda: agent.gate()["ready"], "a whole pass")
    # An upgrade, of which a part is forbidden.
    may(maps)
    site.wanted.put("a.yaml", config_map("a", {"x": "2"}), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"},
                                                          "type": "x"})
    with agent_of(site, "act", login=login, release="2.0.0") as agent:
        until(lambda: step(agent) == "failing" and site.data("a") == {"x": "2"}, "the others to be changed")
        status = agent.gate()["status"]
        assert (status["state"], status["version"]) == ("working", "1.0.0"), status
        assert agent.gate()["ready"], "who fits what was there may start"
        assert site.get("z"), "and nothing is pruned"


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Things:
    """Objects of a kind that is defined by hand, in a group of its own, beside the ConfigMaps a, b and c."""

    def __init__(self, site: Site, group: str):
        self.site, self.group = site, f"{site.set}-{group}.example.org"
        self.object = {"apiVersion": f"{self.group}/v1", "kind": "Thing", "metadata": {"name": "one", "namespace": "default"}, "spec": {"size": 3}}
        self.api, self.definition = f"/apis/{self.group}/v1", f"{DEFINITIONS}/things.{self.group}"
        self.path = f"{self.api}/namespaces/default/things/one"
        site.cluster.create(DEFINITIONS, {
            "metadata": {"name": f"things.{self.group}"},
            "spec": {"group": self.group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
        until(lambda: self.status(self.api) == 200, "the kind")
        for name in "abc":
            site.wanted.put(f"{name}.yaml", config_map(name, {"x": "1"}))
        site.wanted.put("t.yaml", self.object)

    def status(self, path: str) -> int:
        try:
            return self.site.cluster.ask("GET", path)[0]
        except ValueError:
            return 503  # of a group that somebody else serves the answer is no JSON then


def a_group_that_does_not_answer_prunes_nothing(site: Site):
    things = Things(site, "away")
    service = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{things.group}"
    with agent_of(site, "act") as agent:
        until(lambda: agent.gate()["ready"], "a whole pass")
        # From now on somebody who does not answer serves that group.
        _, found = site.cluster.ask("GET", service)
        found["metadata"]["labels"] = {}
        found["spec"] |= {"service": {"namespace": "default", "name": "nobody"}, "insecureSkipTLSVerify": True}
        assert site.cluster.ask("PUT", service, found)[0] == 200
        until(lambda: things.status(things.api) == 503, "it not to answer")
        site.wanted.drop("t.yaml")
        site.wanted.drop("b.yaml")
        site.wanted.put("a.yaml", config_map("a", {"x": "2"}))
        until(lambda: step(agent) == "failing" and site.data("a") == {"x": "2"}, "the others to be changed")
        assert f"{things.group}/v1: HTTP 503" in why(agent), why(agent)
        some_passes(agent, 2)
        assert site.data("b") == {"x": "1"}, "nothing is pruned"
        # And back.
        assert site.cluster.ask("DELETE", service)[0] == 200
        until(lambda: site.get("b") is None and things.status(things.path) == 404, "what is left over to be pruned")
        until(lambda: step(agent) == "resting", "all to be good again")


def a_kind_that_is_gone_prunes_nothing(site: Site):
    """Its manifest is still there."""
    things = Things(site, "gone")
    with agent_of(site, "act") as agent:
        until(lambda: agent.gate()["ready"], "a whole pass")
        assert things.status(things.path) == 200
        assert site.cluster.ask("DELETE", things.definition)[0] == 200
        # This server says 503 of a group without kinds, and not 404.
        until(lambda: things.status(things.definition) == 404 and things.status(things.api) != 200, "the kind to be gone")
        site.wanted.drop("b.yaml")
        site.wanted.put("a.yaml", config_map("a", {"x": "2"}))
        until(lambda: step(agent) == "failing" and site.data("a") == {"x": "2"}, "the others to be changed")
        until(lambda: f"the server has no Thing of {things.group}/v1" in agent.cli("reconcile", "explain", "k8s").stdout, "the reason")
        some_passes(agent, 2)
        assert site.data("b") == {"x": "1"}, "nothing is pruned"


def what_is_being_deleted_is_said_and_left(site: Site):
    site.wanted.put("a.yaml", config_map("held", {"x": "1"}), config_map("b", {"x": "1"}))
    site.good("apply")
    found = site.get("held")
    found["metadata"]["finalizers"] = ["example.org/held"]
    path = "/api/v1/namespaces/default/configmaps/held"
    assert site.cluster.ask("PUT", path, found)[0] == 200
    assert site.cluster.ask("DELETE", path)[0] == 200
    since = site.get("held")["metadata"]["deletionTimestamp"]
    site.wanted.put("a.yaml", config_map("held", {"x": "2"}), config_map("b", {"x": "2"}))
    with agent_of(site, "act") as agent:
        until(lambda: step(agent) == "failing" and site.data("b") == {"x": "2"}, "the other to be changed")
        explained = agent.cli("reconcile", "explain", "k8s").stdout
        assert f"ConfigMap default/held failed: somebody deletes it, since {since}, and a finalizer holds it" in explained, explained
        some_passes(agent)
        tried = [one for one in site.written_by("admin") if one["userAgent"].startswith("wardmote") and "/configmaps/held?" in one["requestURI"]]
        assert len(tried) == 1, "but for the first time"
        found = site.get("held")
        found["metadata"]["finalizers"] = []
        assert site.cluster.ask("PUT", path, found)[0] == 200
        until(lambda: site.data("held") == {"x": "2"}, "it to be made anew")
        until(lambda: agent.gate()["ready"], "a whole pass")


def what_the_server_has_no_field_for_is_not_tried_hot(site: Site):
    """It answers 500, which elsewhere is worth another try."""
    unknown = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unknown", "namespace": "default"}, "dota": {"x": "1"}}
    site.wanted.put("a.yaml", unknown, config_map("b", {"x": "1"}))

    def tried() -> list[datetime]:
        return [datetime.fromisoformat(one["requestReceivedTimestamp"]) for one in site.written_by("admin") if "/configmaps/unknown?" in one["requestURI"]]

    with agent_of(site, "act") as agent:
        until(lambda: step(agent) == "failing" and site.data("b") == {"x": "1"}, "the other to be made")

        def last_pause() -> float:
            moments = tried()[-2:]
            return (moments[-1] - moments[0]).total_seconds() if moments else 0.0

        until(lambda: last_pause() > 1.0, "it to be tried ever more slowly")
        assert 1 < len(tried()) < 15, tried()
        assert ".dota: field not declared in schema" in agent.cli("reconcile", "explain", "k8s").stdout
        assert not agent.gate()["ready"]
        site.wanted.put("a.yaml", config_map("unknown", {"x": "1"}), config_map("b", {"x": "1"}))
        until(lambda: agent.gate()["ready"], "a whole pass")


def credentials_that_change_are_read_again(site: Site):
    """A token that is taken no more, and then a server with a certificate of another authority."""
    accounts, name = "/api/v1/namespaces/default/serviceaccounts", f"{site.set}-rotating"
    token, ca, login = site.folder / "token", site.folder / "ca.pem", site.folder / "rotating"

    def put(path: Path, text: str) -> None:
        fresh = path.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, path)

    def issue() -> str:
        site.cluster.create(accounts, {"metadata": {"name": name}})
        return site.cluster.token_of("default", name)

    site.cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
    put(token, issue())
    shutil.copy(site.cluster.ca, ca)
    login.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": site.cluster.url, "certificate-authority": "ca.pem"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "users": [{"name": "me", "user": {"tokenFile": "token"}}]}), encoding="utf-8")
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}))
    with agent_of(site, "act", login=login) as agent:
        until(lambda: agent.gate()["ready"], "a whole pass")
        assert site.cluster.ask("DELETE", f"{accounts}/{name}")[0] == 200
        later = issue()
        until(lambda: step(agent) == "failing", "the old token to be taken no more")
        assert "HTTP 401" in why(agent), why(agent)
        put(token, later)
        site.wanted.put("a.yaml", config_map("a", {"x": "2"}))
        until(lambda: site.data("a") == {"x": "2"} and step(agent) == "resting", "a pass with the new one")
        site.cluster.kill_server()
        site.cluster.papers = Authority(site.folder / "pki", "another").issue("kube-apiserver", names="IP:127.0.0.1")
        site.cluster.start_server()
        until(lambda: step(agent) == "failing" and "certificate" in why(agent), "the certificate to be refused")
        put(ca, site.cluster.ca.read_text(encoding="utf-8"))
        site.wanted.put("a.yaml", config_map("a", {"x": "3"}))
        until(lambda: site.data("a") == {"x": "3"} and step(agent) == "resting", "a pass that believes it")
    site.login = kubeconfig(site.folder / "kubeconfig", site.cluster)


# One test each, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_leaders_come_go_and_end_at_a_real_apiserver(tmp_path):
    stories = (nobody_serves_before_the_first_whole_pass, an_upgrade_that_fits_all_changes_each_object_once,
               a_leader_that_ends_in_its_pass_stops_first_and_hands_over_at_once, a_leader_that_is_killed_while_it_prunes_is_gone_on_with)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", AGENTS) as cluster:
        play(stories, cluster, tmp_path)


@pytest.mark.slow
def test_what_changes_under_a_leader_at_a_real_apiserver(tmp_path):
    stories = (what_others_add_costs_no_write, who_fights_for_a_field_is_named_and_not_answered_without_a_pause,
               what_is_forbidden_keeps_the_status_from_being_done, a_group_that_does_not_answer_prunes_nothing,
               a_kind_that_is_gone_prunes_nothing, what_is_being_deleted_is_said_and_left, what_the_server_has_no_field_for_is_not_tried_hot,
               credentials_that_change_are_read_again)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", AGENTS) as cluster:
        play(stories, cluster, tmp_path)
