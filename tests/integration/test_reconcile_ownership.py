"""Drift that only shows in who owns a field, at a real kube-apiserver; and what looks like drift, and is the server's own words."""

import pytest
from reconcile_site import PATIENCE, Site, agent_of, play

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


@pytest.mark.slow
def test_ownership_at_a_real_apiserver(tmp_path):
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        play((sees_what_others_add_where_a_field_is_one_whole, writes_nothing_where_the_server_has_other_words, says_items_in_another_order),
             cluster, tmp_path)
