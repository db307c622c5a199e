"""Fencing that the kube-apiserver checks: at a real one that has no admission policies the fallback, and with a fake of them before it (fake_policies)
two agents that lead one after the other."""

import http.client
import json
import ssl

import pytest
from fake_policies import FakePolicies
from reconcile_site import PATIENCE, Folder, Site, agent_of, config_map, play

from lab.kubernetes import ADMIN, ApiServer
from lab.processes import wait_until
from tools.agent import ROOT

AGENTS = ("ctl-1", "ctl-2")


def until(condition, what: str, every: float = 0.1):
    return wait_until(condition, PATIENCE, what, every=every)


def a_server_without_policies_is_written_to_and_it_is_said(site: Site):
    site.wanted.put("a.yaml", config_map("a", {"x": "1"}))
    with agent_of(site, "observe", "ctl-3") as agent:
        until(lambda: agent.gate().get("reconcile"), "a look")
        assert agent.gate()["reconcile"]["fence"]["by"] == "wait"
    with agent_of(site, "act") as agent:
        until(lambda: agent.gate()["ready"], "a whole pass")
        assert agent.gate()["reconcile"]["fence"]["by"] == "wait" and "token" not in agent.gate()["reconcile"]["fence"]
        explained = agent.cli("explain", "gate", "k8s")
        assert "fence: the server has no admission policies: a new leader waits" in explained.stdout, explained
    assert site.data("a") == {"x": "1"}
    assert site.get(f"wardmote-fence-{site.set}", "kube-system") is None


def send_as(proxy: FakePolicies, user: str, token: int, method: str, path: str, body: dict | None) -> int:
    """As the agent does, with a token of our choice."""
    connection = http.client.HTTPSConnection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]), timeout=30,
                                             context=ssl.create_default_context(cafile=str(proxy.ca)))
    try:
        connection.request(method, path, body=json.dumps(body) if body else None, headers={
            "Authorization": f"Bearer {ADMIN}", "Content-Type": "application/apply-patch+yaml" if method == "PATCH" else "application/json",
            "Impersonate-User": user, "Impersonate-Extra-fence": str(token)})
        return connection.getresponse().status
    finally:
        connection.close()


def what_an_earlier_leader_sends_late_is_refused(site: Site):
    user, fence = f"wardmote:{site.set}", f"wardmote-fence-{site.set}"
    folders = {name: Folder(site.manifests_of(name)) for name in AGENTS}
    for name, folder in folders.items():
        folder.put("a.yaml", *(config_map(each, {"x": name}) for each in "abcd"))
    # The right to write is the user's, and not that of the agents' account.
    site.cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": user}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]})
    with FakePolicies(site.cluster, site.folder) as proxy:
        first = agent_of(site, "act", "ctl-1", shared=True, server=proxy)
        try:
            until(lambda: first.gate()["ready"], "the first leader")
            old = first.gate()["leader"]["token"]
            assert first.gate()["reconcile"]["fence"] == {"by": "policy", "token": old,
                                                          "says": f"the server refuses writes of leaders before token {old}"}
            assert site.data(fence, "kube-system") == {"token": str(old)}
            assert {kept["kind"] for kept in proxy.kept.values()} == {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
            explained = first.cli("explain", "gate", "k8s")
            assert f"fence: the server refuses writes of leaders before token {old}" in explained.stdout, explained
            # Policies, token or binding that somebody takes away come back.
            for lost in list(proxy.kept):
                del proxy.kept[lost]
                until(lambda lost=lost: lost in proxy.kept, "the fence to be put up again")
            assert site.cluster.ask("DELETE", f"/api/v1/namespaces/kube-system/configmaps/{fence}")[0] == 200
            until(lambda: site.data(fence, "kube-system") == {"token": str(old)}, "the token to be there again")
        finally:
            first.stop()
        with agent_of(site, "act", "ctl-2", shared=True, server=proxy) as second:
            until(lambda: second.leads() and second.gate()["ready"] and site.data("d") == {"x": "ctl-2"}, "the second leader")
            new = second.gate()["leader"]["token"]
            assert new > old and site.data(fence, "kube-system") == {"token": str(new)}
            # What the first one sent, and what arrives now.
            proxy.refused.clear()
            for number, name in enumerate("abcd" * 5):
                path = f"/api/v1/namespaces/default/configmaps/{name}"
                deletes = number % 2 == 1
                patch = f"{path}?fieldManager=wardmote%2F{site.set}&force=true"
                status = send_as(proxy, user, old, "DELETE" if deletes else "PATCH", path if deletes else patch,
                                 None if deletes else config_map(name, {"x": "late"}))
                assert status == 422, (number, status)
            assert len([sent for _, _, sent in proxy.refused if sent == old]) == 20
            assert all(site.data(name) == {"x": "ctl-2"} for name in "abcd")
            # A later leader that nobody here knows: this one writes nothing more.
            found = site.get(fence, "kube-system")
            found["data"] = {"token": str(new + 1000)}
            assert site.cluster.ask("PUT", f"/api/v1/namespaces/kube-system/configmaps/{fence}", found)[0] == 200
            folders["ctl-2"].put("a.yaml", *(config_map(each, {"x": "too late"}) for each in "abcd"))
            until(lambda: (second.gate()["leader"] or {}).get("step") == "failing", "the complaint")
            assert f"it stands at token {new + 1000}, and this leader has {new}" in second.gate()["leader"]["why"]
            assert second.gate()["reconcile"]["fence"]["by"] == "unknown"
            assert all(site.data(name) == {"x": "ctl-2"} for name in "abcd")


# One test, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_fence_at_an_apiserver(tmp_path):
    stories = (a_server_without_policies_is_written_to_and_it_is_said, what_an_earlier_leader_sends_late_is_refused)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", AGENTS) as cluster:
        play(stories, cluster, tmp_path)
