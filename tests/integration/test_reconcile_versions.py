"""A version of a kind that is served no more, at a real kube-apiserver: its objects are there in the others."""

import pytest
from reconcile_site import PATIENCE, Site, config_map, play

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT

PRUNE = "reconcile.wardmote.io/prune"


class Kind:
    """`Thing`, of a group of its own; `v1` is how it is stored."""

    def __init__(self, site: Site, prune: str):
        self.site, self.group = site, f"{site.set}.example.org"
        self.prune = prune
        self.serve("v1", "v1beta1")
        for number in range(4):  # so that one object is less than half of all
            site.wanted.put(f"rest{number}.yaml", config_map(f"rest-{number}", {"x": "1"}))

    def serve(self, *versions: str) -> None:
        self.site.wanted.put("kind.yaml", {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{self.group}", "annotations": {PRUNE: self.prune}},
            "spec": {"group": self.group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "versions": [
                {"name": version, "served": True, "storage": version == "v1",
                 "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}} for version in versions]}})

    def want(self, version: str, prune: str | None = None) -> None:
        self.site.wanted.put("thing.yaml", {"apiVersion": f"{self.group}/{version}", "kind": "Thing",
                                            "metadata": {"name": "t", "namespace": "default", "annotations": {PRUNE: prune} if prune else {}},
                                            "spec": {"a": 1}})

    def there(self) -> bool:
        return self.site.cluster.ask("GET", f"/apis/{self.group}/v1/namespaces/default/things/t")[0] == 200

    def wait_unserved(self) -> None:
        def served() -> list[str]:
            return [one["version"] for one in self.site.cluster.ask("GET", f"/apis/{self.group}")[1]["versions"]]
        wait_until(lambda: served() == ["v1"], PATIENCE, "the server to serve it no more", every=0.1)


def deletes_no_kind_with_what_is_kept_in_a_version_that_is_gone(site: Site):
    kind = Kind(site, prune="yes")
    kind.want("v1beta1", prune="no")
    site.good("apply")
    site.wanted.drop("thing.yaml")
    assert "it stays" in site.good("apply")
    kind.serve("v1")
    site.good("apply")
    kind.wait_unserved()
    for _ in range(2):
        assert f"Thing.{kind.group} default/t left: no manifest wants it; its policy" in site.good("apply")
    site.wanted.drop("kind.yaml")
    for _ in range(2):
        said = site.good("apply")
        assert f"Thing.{kind.group} default/t, which stays, is of this kind" in said, said
    assert kind.there()


def finds_what_is_left_over_in_the_version_that_is_served(site: Site):
    kind = Kind(site, prune="no")
    kind.want("v1beta1")
    site.good("apply")
    kind.serve("v1")
    site.good("apply")
    kind.wait_unserved()
    site.wanted.drop("thing.yaml")
    assert f"Thing.{kind.group} default/t pruned" in site.good("apply")
    assert not kind.there()
    assert "v1beta1" not in str(site.get(f"wardmote-set-{site.set}", "kube-system")["data"]), "it is noted as it is served"


def does_not_take_a_version_that_goes_for_an_object_that_is_gone(site: Site):
    """The kind loses the version and the object its manifest at once."""
    kind = Kind(site, prune="no")
    kind.want("v1beta1")
    site.good("apply")
    kind.serve("v1")
    site.wanted.drop("thing.yaml")
    said = site.run("apply").stdout
    assert kind.there() != ("pruned" in said), said
    kind.wait_unserved()
    site.good("apply")
    assert not kind.there()


@pytest.mark.slow
def test_versions_at_a_real_apiserver(tmp_path):
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        play((deletes_no_kind_with_what_is_kept_in_a_version_that_is_gone, finds_what_is_left_over_in_the_version_that_is_served,
              does_not_take_a_version_that_goes_for_an_object_that_is_gone), cluster, tmp_path)
