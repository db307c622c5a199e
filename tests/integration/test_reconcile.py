"""Reconcile at a real kube-apiserver, and files on the node: apply, drift, conflicts, pruning, what cannot be changed, who may not, restarts."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from gate_site import GateAgent
from reconcile_site import PATIENCE, SET, Folder, Site, agent_of, config_map, kubeconfig, play

from lab.kubernetes import ApiServer
from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import ROOT, programs


def applies_and_then_writes_nothing(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}),
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "made"}}, config_map("inside", {"x": "1"}, "made"))
    site.wanted.put("b.yaml", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"},
                               "stringData": {"password": "TOPSECRET"}},
                    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "lab:reader"},
                     "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
    diff = site.good("diff", code=1)
    assert "+++ ConfigMap default/a" in diff and "+  x:" in diff and "TOPSECRET" not in diff, diff
    assert site.get("a") is None
    assert "5 objects: 5 created" in site.good("apply")
    assert site.data("inside", "made") == {"x": "1"}
    before = site.version("a")
    assert site.good("apply").strip() == "5 objects"
    assert site.good("diff") == ""
    assert site.version("a") == before
    labels = site.get("a")["metadata"]["labels"]
    assert labels == {SET: site.set}
    _, secret = site.cluster.ask("GET", "/api/v1/namespaces/default/secrets/s")
    assert secret["data"] == {"password": "VE9QU0VDUkVU"}


def repairs_drift_and_names_whom_it_took_a_field_from(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), config_map("b", {"x": "1"}, conflict="fail"))
    site.good("apply")
    site.edit("a", {"x": "edited", "own": "kept"})
    diff = site.good("diff", code=1)
    assert "-  x: edited" in diff, diff
    said = site.good("apply")
    assert "took over .data.x: conflict with \"kubectl-edit\"" in said, said
    assert site.data("a") == {"x": "1", "own": "kept"}, "what is his stays"
    site.edit("b", {"x": "edited"})
    refused = site.run("apply")
    assert refused.returncode == 2 and "ConfigMap default/b failed: .data.x: conflict with \"kubectl-edit\"" in refused.stdout, refused
    assert site.data("b") == {"x": "edited"}


def adopts_only_on_request(site: Site):
    site.cluster.create("/api/v1/namespaces/default/configmaps", config_map("theirs", {"x": "0"}))
    site.wanted.put("a.yaml", config_map("theirs", {"x": "1"}), config_map("other", {"x": "1"}))
    refused = site.run("apply")
    assert refused.returncode == 2 and "it was not created by this set" in refused.stdout, refused
    assert site.data("theirs") == {"x": "0"} and site.data("other") == {"x": "1"}
    site.good("apply", "--adopt")
    assert site.data("theirs") == {"x": "1"}
    site.good("diff")


def takes_over_on_an_order_what_is_clearly_free(site: Site):
    for space in ("default", "kube-system"):
        site.cluster.create(f"/api/v1/namespaces/{space}/configmaps?fieldManager=by-hand", config_map("theirs", {"x": "0"}, space))
    foreign = config_map("foreign", {"x": "0"})
    foreign["metadata"]["labels"] = {SET: "another"}
    site.cluster.create("/api/v1/namespaces/default/configmaps", foreign)
    site.wanted.put("a.yaml", config_map("theirs", {"x": "1"}), config_map("theirs", {"x": "1"}, "kube-system"), config_map("foreign", {"x": "1"}))
    with agent_of(site, "act") as agent:
        wait_until(lambda: agent.gate().get("reconcile"), PATIENCE, "a pass", every=0.1)
        explained = agent.cli("reconcile", "explain", "k8s")
        assert "its fields are of by-hand\n  to take it over: wardmote reconcile adopt GATE ConfigMap default/theirs" in explained.stdout, explained
        assert "it cannot be taken over: it belongs to the set 'another'" in explained.stdout, explained
        for words, why in ((("ConfigMap", "theirs"), "may be any of"), (("ConfigMap", "foreign"), "belongs to the set 'another'"),
                           (("Secret", "theirs"), "waits to be taken over")):
            refused = agent.cli("reconcile", "adopt", "k8s", *words)
            assert refused.returncode != 0 and why in refused.stderr, refused
        assert agent.cli("reconcile", "adopt", "k8s", "ConfigMap", "default/theirs").returncode == 0
        wait_until(lambda: site.data("theirs") == {"x": "1"}, PATIENCE, "it to be taken over", every=0.1)
        assert site.data("theirs", "kube-system") == {"x": "0"} and site.data("foreign") == {"x": "0"}

        def rows() -> list[dict]:
            found = [row for row in agent.json("/api/v1/actions")["actions"] if row["step"] == "adopt"]
            return sorted(found, key=lambda row: row["sequence"])

        wait_until(lambda: len(rows()) == 2, PATIENCE, "both rows", every=0.1)
        assert [row["kind"] for row in rows()] == ["intent", "result"] and {row["subject"] for row in rows()} == {"ConfigMap default/theirs"}
        assert all(row["actor"] for row in rows()), rows()
    for path in ("kube-system/configmaps/theirs", "default/configmaps/foreign"):
        site.cluster.ask("DELETE", f"/api/v1/namespaces/{path}")


def prunes_within_the_brake_what_it_owns(site: Site):
    for name in "abcd":
        site.wanted.put(f"{name}.yaml", config_map(name, {"x": "1"}))
    site.wanted.put("keep.yaml", config_map("keep", {"x": "1"}, prune="no"))
    site.good("apply")
    copied = config_map("copied", {"x": "1"})
    copied["metadata"]["labels"] = {SET: site.set}
    site.cluster.create("/api/v1/namespaces/default/configmaps", copied)
    site.wanted.drop("keep.yaml")
    site.wanted.drop("a.yaml")
    said = site.good("apply")
    assert "ConfigMap default/a pruned" in said and site.get("a") is None, said
    assert site.get("keep") and site.get("copied"), "not ours, or its policy says so"
    site.wanted.drop("b.yaml")
    site.wanted.drop("c.yaml")
    site.wanted.drop("d.yaml")
    refused = site.run("apply")
    assert refused.returncode == 2 and "no manifest is left" in refused.stderr, refused
    assert site.get("b") and site.get("c") and site.get("d")
    site.good("apply", "--prune-limit=100")
    assert not site.get("b") and not site.get("c") and not site.get("d") and site.get("keep") and site.get("copied")


def what_cannot_be_changed_is_recreated_on_request(site: Site):
    def binding(role: str, **annotations: str) -> dict:
        notes = {f"reconcile.wardmote.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
        return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{site.set}:bind", "annotations": notes},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "User", "name": "owner", "apiGroup": "rbac.authorization.k8s.io"}]}

    site.wanted.put("a.yaml", binding("view"))
    site.good("apply")
    site.wanted.put("a.yaml", binding("edit"))
    refused = site.run("apply")
    assert refused.returncode == 2 and "cannot change roleRef" in refused.stdout, refused
    site.wanted.put("a.yaml", binding("edit", on_immutable="recreate"))
    assert "recreated" in site.good("diff", code=1)
    site.good("apply")
    _, found = site.cluster.ask("GET", f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{site.set}:bind")
    assert found["roleRef"]["name"] == "edit"
    # The same of a field that says `field is immutable`.
    handler = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": f"{site.set}-rc"}, "handler": "runc"}
    site.wanted.put("b.yaml", handler)
    site.good("apply")
    site.wanted.put("b.yaml", {**handler, "handler": "runsc"})
    refused = site.run("apply")
    assert refused.returncode == 2 and "field is immutable" in refused.stdout, refused


def who_may_not_is_told_and_prunes_nothing(site: Site):
    """A service account that may do all with ConfigMaps, and nothing with Secrets."""
    site.cluster.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "limited"}})
    site.cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
        "metadata": {"name": "limited"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]})
    site.cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "limited"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "limited"},
        "subjects": [{"kind": "ServiceAccount", "name": "limited", "namespace": "default"}]})
    login = kubeconfig(site.folder / "limited", site.cluster, site.cluster.token_of("default", "limited"))
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), config_map("b", {"x": "1"}))
    assert site.run("apply", login=login).returncode == 0
    site.wanted.put("a.yaml", config_map("a", {"x": "2"}), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "no"}, "data": {}})
    done = site.run("apply", login=login)
    assert done.returncode == 2 and "secrets is forbidden" in done.stderr, done
    assert "nothing is pruned" in done.stderr
    assert site.data("a") == {"x": "2"} and site.get("b"), "the others are applied, and nothing is deleted"
    stranger = site.run("diff", login=kubeconfig(site.folder / "stranger", site.cluster, "no-such-token"))
    assert stranger.returncode == 2 and "HTTP 401" in stranger.stderr and "no-such-token" not in stranger.stderr, stranger


def a_definition_comes_before_its_objects(site: Site):
    site.wanted.put("a.yaml", {"apiVersion": "lab.example.org/v1", "kind": "Thing", "metadata": {"name": "one", "namespace": "default"},
                               "spec": {"size": 3}})
    site.wanted.put("z.yaml", {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.lab.example.org"},
        "spec": {"group": "lab.example.org", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}}]}})
    assert "its kind is defined in this set" in site.good("diff", code=1)
    site.good("apply")
    status, found = site.cluster.ask("GET", "/apis/lab.example.org/v1/namespaces/default/things/one")
    assert status == 200 and found["spec"] == {"size": 3}
    assert site.good("apply").strip() == "2 objects"


def a_kind_that_cannot_be_applied_is_said(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {"name": "x"},
        "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}})
    for verb in ("diff", "apply"):
        done = site.run(verb)
        assert done.returncode == 2 and "the server takes no PATCH of it" in done.stdout, done
    assert site.data("a") == {"x": "1"}


def a_leader_keeps_it_true_through_restarts(site: Site):
    many = 300
    site.wanted.put("a.yaml", *(config_map(f"many-{number}", {"x": "1"}) for number in range(many)))
    with agent_of(site, "observe") as agent:
        wait_until(lambda: agent.gate().get("reconcile"), PATIENCE, "what it would do", every=0.2)
        shown = agent.gate()["reconcile"]
        assert shown["dry"] and shown["differs"] and shown["summary"] == f"{many} objects: {many} created", shown
        assert "diff" not in shown["touched"][0]
        full = agent.json("/api/v1/version-gates/k8s/reconcile")
        assert "+++ ConfigMap default/many-0" in full["touched"][0]["diff"]
        assert site.get("many-0") is None and site.get("many-299") is None

    def present() -> int:
        status, found = site.cluster.ask("GET", f"/api/v1/configmaps?labelSelector={SET}%3D{site.set}")
        return len(found["items"]) if status == 200 else 0

    # It dies somewhere in the middle, and the next one makes it whole.
    agent = agent_of(site, "act")
    try:
        wait_until(lambda: present() > 20, PATIENCE, "the first objects", every=0.02)
    finally:
        agent.process.kill()
        agent.process.wait()
    with agent_of(site, "act") as agent:
        wait_until(lambda: agent.gate()["ready"], PATIENCE, "a whole pass", every=0.2)
        assert present() == many
        versions = {name: site.version(name) for name in ("many-0", "many-299")}
        site.edit("many-7", {"x": "drift"})
        wait_until(lambda: site.data("many-7") == {"x": "1"}, PATIENCE, "the drift to be repaired", every=0.2)
        status, _ = site.cluster.ask("DELETE", "/api/v1/namespaces/default/configmaps/many-8")
        assert status == 200
        wait_until(lambda: site.data("many-8") == {"x": "1"}, PATIENCE, "the object to be there again", every=0.2)
        assert versions == {name: site.version(name) for name in versions}, "nobody wrote what was as it should be"
        # A manifest that nobody can read changes nothing, and is said.
        (site.wanted.path / "bad.yaml").write_text("kind: ConfigMap\nx: yes\n", encoding="utf-8")
        wait_until(lambda: agent.gate()["leader"].get("step") == "failing", PATIENCE, "the complaint", every=0.2)
        assert "bad.yaml:2:4" in agent.gate()["leader"]["why"]
        assert present() == many
        site.wanted.drop("bad.yaml")
        wait_until(lambda: agent.gate()["leader"].get("step") == "resting", PATIENCE, "all good again", every=0.2)


def drift_is_repaired_when_it_is_seen_and_all_is_journaled(site: Site):
    """A full pass is ten minutes away."""
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}), config_map("b", {"x": "1"}),
                    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "drifting", "namespace": "default"}, "stringData": {"p": "TOPSECRET"}})
    with agent_of(site, "act", every="10m") as agent:
        wait_until(lambda: agent.gate()["ready"], PATIENCE, "a whole pass", every=0.1)
        site.edit("a", {"x": "drift"})
        begun = time.monotonic()
        wait_until(lambda: site.data("a") == {"x": "1"}, PATIENCE, "the drift to be repaired")
        assert time.monotonic() - begun < 15, "two seconds between passes, and room"
        assert site.cluster.ask("DELETE", "/api/v1/namespaces/default/configmaps/b")[0] == 200
        wait_until(lambda: site.data("b") == {"x": "1"}, PATIENCE, "the object to be there again")
        wait_until(lambda: agent.gate()["leader"].get("step") == "resting", PATIENCE, "the end of it", every=0.1)
        passes = agent.gate()["reconcile"]["begun"]
        # What somebody adds is no drift.
        site.edit("a", {"x": "1", "own": "kept"})
        time.sleep(4)
        assert agent.gate()["reconcile"]["begun"] == passes
        rows = [row for row in agent.json("/api/v1/actions")["actions"] if row["step"] == "reconcile"]
        assert [row["kind"] for row in sorted(rows, key=lambda row: row["sequence"])] == ["intent", "result"] * 3, rows
        assert "ConfigMap default/a changed" in json.dumps(rows) and "TOPSECRET" not in json.dumps(rows)
        # A pause of the gate holds for what is seen, too.
        assert agent.cli("reconcile", "pause", "k8s").returncode == 0
        wait_until(lambda: agent.gate().get("paused_by"), PATIENCE, "the pause", every=0.1)
        site.edit("a", {"x": "by hand"})
        time.sleep(4)
        assert site.data("a") == {"x": "by hand"}
        # What its last pass has left is still to be asked for.
        assert agent.gate()["leader"] is None and "reconcile" not in agent.gate(), agent.gate()
        explained = agent.cli("reconcile", "explain", "k8s")
        assert explained.returncode == 0 and "3 objects" in explained.stdout, explained
        assert "paused by" in explained.stdout and "no pass is made" in explained.stdout, explained
        assert agent.cli("reconcile", "resume", "k8s").returncode == 0
        wait_until(lambda: site.data("a") == {"x": "1"}, PATIENCE, "the drift to be repaired", every=0.1)
        explained = agent.cli("reconcile", "explain", "k8s")
        assert explained.returncode == 0 and "3 objects" in explained.stdout, explained


# One test, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_reconcile_at_a_real_apiserver(tmp_path):
    stories = (applies_and_then_writes_nothing, repairs_drift_and_names_whom_it_took_a_field_from, adopts_only_on_request,
               takes_over_on_an_order_what_is_clearly_free, prunes_within_the_brake_what_it_owns, what_cannot_be_changed_is_recreated_on_request, who_may_not_is_told_and_prunes_nothing,
               a_definition_comes_before_its_objects, a_kind_that_cannot_be_applied_is_said, drift_is_repaired_when_it_is_seen_and_all_is_journaled,
               a_leader_keeps_it_true_through_restarts)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        play(stories, cluster, tmp_path)


def test_manifests_that_are_wrong_and_a_server_that_is_not_there(tmp_path):
    wanted = Folder(tmp_path / "m")
    wanted.put("a.yaml", config_map("a", {"x": "1"}))
    login = tmp_path / "kubeconfig"
    login.write_text(f"""current-context: c
clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{free_port()}'}}}}]
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
users: [{{name: u, user: {{token: SECRETTOKEN}}}}]
""", encoding="utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([programs() / "wardmoted", "reconcile", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)

    away = run("diff", str(wanted.path), "--set=k8s", f"--kubeconfig={login}", "--timeout=2")
    assert away.returncode == 69 and "refused" in away.stderr and "SECRETTOKEN" not in away.stderr, away
    (wanted.path / "b.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata: {x: on}\n", encoding="utf-8")
    wrong = run("apply", str(wanted.path), "--set=k8s", f"--kubeconfig={login}")
    assert wrong.returncode == 65 and "b.yaml:5:11: 'on' is a truth value" in wrong.stderr, wrong
    assert run("apply", str(wanted.path)).returncode == 64
    assert run("diff", str(tmp_path / "gone"), "--set=k8s").returncode == 65
    (wanted.path / "b.yaml").unlink()
    nobody = run("diff", str(wanted.path), "--set=k8s", f"--kubeconfig={tmp_path}/none")
    assert nobody.returncode == 65 and f"credentials: {tmp_path}/none: missing" in nobody.stderr, nobody


def files_agent(folder: Path, source: Path, target: Path) -> GateAgent:
    config = folder / "w.yaml"
    config.write_text(f"""node: {{name: ctl-1}}
api: {{socket: {folder}/s}}
data: {folder}/data
version_gates:
  - name: k8s
    release: 1.0.0
    ttl: 2s
    reconcile:
      mode: act
      manifests: {source}
      files: {{folder: {target}, mode: '0640', on_change: [/usr/bin/touch, {folder}/reloaded]}}
      every: 1s
      wait: 1500ms
      write_deadline: 100ms
""", encoding="utf-8")
    (folder / "data").mkdir()
    return GateAgent(config, folder / "s")


def test_files_on_the_node_are_kept_as_the_folder_says(tmp_path):
    source, target = tmp_path / "source", tmp_path / "app"
    (source / "sub").mkdir(parents=True)
    target.mkdir()
    (source / "a.conf").write_text("1\n")
    (source / "sub/b.conf").write_text("2\n")
    (target / "theirs").write_text("x")
    with files_agent(tmp_path, source, target) as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: agent.gate()["ready"], 60.0, "the first pass", every=0.2)
        assert (target / "sub/b.conf").read_text() == "2\n" and (target / "a.conf").stat().st_mode & 0o777 == 0o640
        assert (tmp_path / "reloaded").exists()
        (tmp_path / "reloaded").unlink()
        (target / "a.conf").write_text("drift\n")
        wait_until(lambda: (target / "a.conf").read_text() == "1\n", 60.0, "the drift to be repaired", every=0.1)
        wait_until((tmp_path / "reloaded").exists, 60.0, "the program to be told", every=0.1)
        (source / "sub/b.conf").unlink()
        wait_until(lambda: not (target / "sub/b.conf").exists(), 60.0, "the file to be pruned", every=0.1)
        assert (target / "theirs").read_text() == "x"
        wait_until(lambda: json.loads(agent.cli("explain", "gate", "k8s", "-o", "json").stdout)["reconcile"]["objects"] == 1,
                   60.0, "the pass that pruned it to be over", every=0.1)
        checked = subprocess.run(["sha256sum", "-c", tmp_path / "data/reconcile/k8s.sha256"], cwd=target, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked


def test_a_file_becomes_a_folder_and_a_folder_a_file(tmp_path):
    """An outsider's passes failed for ever: what was in the way would have gone last, and only when all else went well."""
    source, target = tmp_path / "source", tmp_path / "app"
    target.mkdir()

    def tree(root: Path) -> dict[str, str]:
        return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}

    def publish(version: str, files: dict[str, str]) -> None:
        # At one moment: no pass sees half of it.
        for name, text in files.items():
            (tmp_path / version / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / version / name).write_text(text)
        (tmp_path / "next").symlink_to(version)
        (tmp_path / "next").replace(source)

    others = {f"f{number}": "1\n" for number in range(1, 6)}
    publish("v1", {**others, "f0": "1\n", "d/deep/x": "1\n"})
    with files_agent(tmp_path, source, target) as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: agent.gate()["ready"] and tree(target) == tree(source), 60.0, "the first pass", every=0.2)
        publish("v2", {**others, "f0/y": "2\n", "d": "2\n"})
        wait_until(lambda: tree(target) == tree(source), 30.0, "both to change places", every=0.1)
        wait_until(lambda: agent.gate()["reconcile"]["good"], 30.0, "a good pass", every=0.1)
        # What is not ours stays, and only what it is in the way of fails.
        (target / "f0/theirs").write_text("x")
        publish("v3", {**others, "f0": "3\n", "f1": "3\n", "d": "2\n"})
        wait_until(lambda: (target / "f1").read_text() == "3\n", 30.0, "the other file", every=0.1)
        wait_until(lambda: "f0/theirs is in its way" in agent.gate()["reconcile"]["summary"], 30.0, "the reason", every=0.1)
        assert (target / "f0/theirs").read_text() == "x" and (target / "f0/y").read_text() == "2\n"
        (target / "f0/theirs").unlink()
        wait_until(lambda: tree(target) == tree(source), 30.0, "the file in its place", every=0.1)
