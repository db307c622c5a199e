"""Drift that only shows in who owns a field, at a real kube-apiserver; and what looks like drift, and is the server's own words."""

import pytest
from reconcile_site import PATIENCE, Site, agent_of, config_map, play

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT

PRUNE = "reconcile.wardmote.io/prune"


def written(site: Site) -> list[dict]:
    """What was sent as a write, and not as a question."""
    return [one for one in site.cluster.writes_of("admin") if "dryRun" not in one["requestURI"]]


def sees_what_others_add_where_a_field_is_one_whole(site: Site):
    """Live contains the manifest, and yet means another thing: the server says by who owns the field that somebody has changed it."""
    policies = f"/apis/networking.k8s.io/v1/namespaces/{site.set}/networkpolicies/p"
    roles = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{site.set}/roles/r"
    budgets = f"/apis/policy/v1beta1/namespaces/{site.set}/poddisruptionbudgets/b"
    head = {"namespace": site.set}
    site.wanted.put(
        "a.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": site.set, "annotations": {PRUNE: "yes"}}},
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p", **head},
         "spec": {"podSelector": {"matchLabels": {"app": "db"}}, "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "web"}}}]}]}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r", **head},
         "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]},
        {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", **head},
         "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}})
    site.good("apply")
    first = {path: site.cluster.ask("GET", path)[1] for path in (policies, roles, budgets)}

    def edit(path: str, change) -> None:
        _, found = site.cluster.ask("GET", path)
        change(found)
        status, answer = site.cluster.ask("PUT", f"{path}?fieldManager=kubectl-edit", found)
        assert status == 200, answer

    def widen_peer(policy: dict) -> None:
        policy["spec"]["ingress"][0]["from"][0]["namespaceSelector"] = {}

    for path, change, shown in ((policies, widen_peer, "namespaceSelector"),
                                (roles, lambda role: role["rules"][0].update(resourceNames=["one"]), "resourceNames"),
                                (budgets, lambda budget: budget["spec"]["selector"]["matchLabels"].update(more="x"), "more")):
        edit(path, change)
        assert shown in site.good("diff", code=1), path
        assert site.run("status").returncode == 1, path
        site.good("apply")
        key = "rules" if path == roles else "spec"
        assert site.cluster.ask("GET", path)[1][key] == first[path][key], path
        assert site.good("diff") == "", path
    with agent_of(site, "act", every="1h") as agent:
        wait_until(lambda: agent.gate()["ready"], PATIENCE, "the first pass", every=0.1)
        edit(policies, widen_peer)
        wait_until(lambda: site.cluster.ask("GET", policies)[1]["spec"] == first[policies]["spec"], PATIENCE, "the watch to see it", every=0.1)


def writes_nothing_where_the_server_has_other_words(site: Site):
    site.wanted.put("a.yaml", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "lab:empty"}, "rules": []},
                    {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"cpu": "1000m"}}})
    site.good("apply")
    before = len(written(site))
    for _ in range(2):
        assert site.good("apply").strip() == "2 objects"
    assert site.good("diff") == ""
    assert before > 0 and len(written(site)) == before


def keeps_what_ends_a_line_in_yaml(site: Site):
    """An apply is read as YAML by the server, to which these are ends of lines within quotes, too."""
    data = {"next-line": "x\u0085y", "line": "x \u2028 y", "paragraph": "x  \u2029"}
    site.wanted.put("a.yaml", config_map("ends", data))
    site.good("apply")
    assert site.data("ends") == data
    assert site.good("diff") == ""


def says_items_in_another_order(site: Site):
    """An apply to this server does not put the items of a list in order."""
    path = "/apis/apps/v1/namespaces/default/deployments/d"
    names = ["first", "second"]
    site.wanted.put("a.yaml", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "d"}}, "template": {
            "metadata": {"labels": {"app": "d"}},
            "spec": {"initContainers": [{"name": name, "image": "i"} for name in names], "containers": [{"name": "main", "image": "i"}]}}}})
    site.good("apply")
    assert site.good("apply").strip() == "1 objects"
    _, found = site.cluster.ask("GET", path)
    found["spec"]["template"]["spec"]["initContainers"].reverse()
    status, answer = site.cluster.ask("PUT", f"{path}?fieldManager=kubectl-edit", found)
    assert status == 200, answer
    for verb in ("apply", "diff", "status"):
        said = site.run(verb)
        assert ".spec.template.spec.initContainers: its items are in another order" in said.stdout, (verb, said)


def definition(kind: str) -> dict:
    """Of a kind of objects, which may be pruned."""
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{kind.lower()}s.hold.example.org", "annotations": {PRUNE: "yes"}},
            "spec": {"group": "hold.example.org", "scope": "Namespaced", "names": {"plural": f"{kind.lower()}s", "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}


def thing(kind: str, name: str, **notes: str) -> dict:
    made = config_map(name, {}, **notes)
    return {"apiVersion": "hold.example.org/v1", "kind": kind, "metadata": made["metadata"]}


def deletes_nothing_because_others_say_that_it_may_go(site: Site):
    """Whoever may annotate a namespace may not delete what is in it."""
    site.wanted.put("space.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": site.set}})
    for number in range(3):
        site.wanted.put(f"{number}.yaml", config_map(f"says-{number}", {"x": "1"}))
    site.good("apply")
    site.cluster.kubectl("annotate", "namespace", site.set, f"{PRUNE}=yes")
    site.good("apply")
    site.wanted.drop("space.yaml")
    assert f"Namespace {site.set} left: no manifest wants it; its policy" in site.good("apply")
    assert "deletionTimestamp" not in site.cluster.ask("GET", f"/api/v1/namespaces/{site.set}")[1]["metadata"]


def deletes_nothing_together_with_what_holds_it(site: Site):
    """An outsider lost a namespace with what somebody else had in it, and what the same pass had made there, and the pass was good."""
    policies = {"plain": {}, "kept": {"prune": "no"}, "once": {"apply": "if-not-present"}, "theirs": {"apply": "ignore"}}
    kinds = {"Plain": {}, "Theirs": {"apply": "ignore"}}
    spaces = {policy: f"{site.set}-{policy}" for policy in policies}
    things = "/apis/hold.example.org/v1/namespaces/default"

    def alive(path: str) -> bool:
        try:
            status, found = site.cluster.ask("GET", path)
        except ValueError:  # a kind that is not served: the answer is no JSON
            return False
        return status == 200 and "deletionTimestamp" not in found["metadata"]

    def stands(policy: str) -> bool:
        return alive(f"/api/v1/namespaces/{spaces[policy]}")

    def wants_inside(*more: dict) -> None:
        site.wanted.put("inside.yaml", *(config_map("in", {"x": "1"}, spaces[policy], **notes) for policy, notes in policies.items()),
                        *(thing(kind, "t", **notes) for kind, notes in kinds.items()), *more)

    site.wanted.put("fill.yaml", *(config_map(f"fill-{number}", {"x": "1"}) for number in range(12)))
    site.wanted.put("hold.yaml", *(definition(kind) for kind in (*kinds, "Empty")), *(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, "annotations": {PRUNE: "yes"}}}
        for space in (*spaces.values(), f"{site.set}-empty")))
    site.good("apply")
    wait_until(lambda: alive(f"{things}/theirss"), PATIENCE, "the kind to be served", every=0.1)
    site.cluster.create(f"/api/v1/namespaces/{spaces['theirs']}/configmaps", config_map("in", {"own": "1"}, spaces["theirs"]))
    site.cluster.create(f"{things}/theirss", thing("Theirs", "t"))
    wants_inside()
    site.good("apply")

    # One more is made in a namespace whose manifest is gone.
    site.wanted.drop("hold.yaml")
    wants_inside(config_map("late", {"x": "1"}, spaces["plain"]))
    for verb, code in (("diff", 1), ("apply", 0), ("apply", 0)):
        said = site.good(verb, code=code)
        for space in spaces.values():
            assert f"Namespace {space} left: no manifest wants it; manifests still name ConfigMap {space}/" in said, said
        for kind in kinds:
            assert f"manifests still name {kind}.hold.example.org default/t, which is of this kind" in said, said
    assert all(stands(policy) for policy in policies)
    assert all(alive(f"{things}/{kind.lower()}s/t") for kind in kinds)
    assert not alive(f"/api/v1/namespaces/{site.set}-empty"), "nothing is in it, and it asked to go"
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert not alive(f"{crds}/emptys.hold.example.org")

    # What a policy keeps keeps what it is in.
    site.wanted.drop("inside.yaml")
    said = site.good("apply", "--prune-limit=100")
    assert f"ConfigMap {spaces['kept']}/in, which stays, is in it" in said, said
    assert {policy: stands(policy) for policy in policies} == {"plain": False, "kept": True, "once": True, "theirs": False}
    assert {kind: alive(f"{crds}/{kind.lower()}s.hold.example.org") for kind in kinds} == {"Plain": False, "Theirs": False}


@pytest.mark.slow
def test_ownership_at_a_real_apiserver(tmp_path):
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        play((sees_what_others_add_where_a_field_is_one_whole, writes_nothing_where_the_server_has_other_words, says_items_in_another_order,
              keeps_what_ends_a_line_in_yaml, deletes_nothing_because_others_say_that_it_may_go,
              deletes_nothing_together_with_what_holds_it), cluster, tmp_path)
