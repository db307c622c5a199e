"""Events at a real kube-apiserver: rights and tokens that come late, repetitions, events that it has forgotten, a pod's own account."""

import re

import pytest
import yaml

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from test_notify import incidents, run, write_config
from tools.agent import ROOT

NODE = "ctl-1"
SPACE = "wardmote"
ACCOUNT = f"/api/v1/namespaces/{SPACE}/serviceaccounts"


def rights() -> list[dict]:
    """What docs/notifications.md says to apply."""
    text = (ROOT / "docs/notifications.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n(# kubectl apply.*?)```", text, re.S).group(1)
    return list(yaml.safe_load_all(block))


def grant(cluster) -> None:
    places = {"ServiceAccount": ACCOUNT, "Namespace": "/api/v1/namespaces", "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
              "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"}
    for thing in rights():
        status, answer = cluster.ask("POST", places[thing["kind"]], thing)
        assert status == 201 or answer.get("reason") == "AlreadyExists", answer


def configure(folder, target, ways, node=NODE) -> None:
    write_config(folder, target, ways, route="group_wait: 0s, group_interval: 1s, repeat_interval: 1s")
    path = folder / "wardmote.yaml"
    # A loaded machine needs more than two seconds for TLS.
    text = path.read_text(encoding="utf-8").replace("timeout: 2s", "timeout: 15s")
    path.write_text(f"node: {{name: {node}}}\n{text}", encoding="utf-8")


def way(cluster, token) -> str:
    return f"kubernetes: {{server: '{cluster.url}', token_file: {token}, trust: {cluster.ca}}}"


def events(cluster, node, reason="CheckFailed") -> list[dict]:
    """Those that `kubectl describe node` asks for."""
    fields = f"involvedObject.kind%3DNode,involvedObject.name%3D{node},involvedObject.uid%3D{node}"
    status, answer = cluster.ask("GET", f"/api/v1/events?fieldSelector={fields}")
    assert status == 200, answer
    return [event for event in answer["items"] if event["reason"] == reason]


def receivers(agent) -> dict:
    return {one["name"]: one for one in agent.json("/api/v1/receivers")["receivers"]}


def reason(agent, name) -> str:
    """Why the last notice was refused."""
    last = receivers(agent)[name]["last"]
    return last["reason"] if last else ""


def who_may_not_yet_is_tried_again_until_he_may(tmp_path, target, cluster):
    """Also who shows a token that is none, until the file has another."""
    for name in ("early", "wrong"):
        (tmp_path / name).write_text(cluster.token_of(SPACE, "wardmote") if name == "early" else "not-a-token", encoding="utf-8")
    configure(tmp_path, target, {name: way(cluster, tmp_path / name) for name in ("early", "wrong")}, node="late")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        # On a loaded machine an attempt may end before the server has answered.
        wait_until(lambda: reason(agent, "early").startswith("kubernetes: HTTP 403: events is forbidden"), 120.0, "who may not", every=0.2)
        wait_until(lambda: reason(agent, "wrong").startswith("kubernetes: HTTP 401"), 120.0, "who is not known", every=0.2)
        assert not agent.json("/api/v1/receivers")["dead_letters"]
        grant(cluster)
        (tmp_path / "wrong").write_text(cluster.token_of(SPACE, "wardmote") + "\n", encoding="utf-8")
        wait_until(lambda: all(one["delivered"] for one in receivers(agent).values()), 180.0, "both", every=0.5)
        wait_until(lambda: len(events(cluster, "late")) == 2, 120.0, "an event by each", every=0.5)
        shown = agent.output() + "".join(agent.get(path)[1] for path in ("/api/v1/receivers", "/api/v1/status", "/debug/config", "/metrics"))
        assert (tmp_path / "early").read_text(encoding="utf-8") not in shown and "not-a-token" not in shown


def what_stands_is_counted_what_was_forgotten_is_made_anew_and_the_end_is_told(tmp_path, target, cluster):
    (tmp_path / "token").write_text(cluster.token_of(SPACE, "wardmote"), encoding="utf-8")
    configure(tmp_path, target, {"k8s": way(cluster, tmp_path / "token")})
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        first = wait_until(lambda: next((one for one in events(cluster, NODE) if one["count"] >= 2), None), 120.0, "a repetition", every=0.2)
        assert first["type"] == "Warning" and first["metadata"]["namespace"] == "default"
        assert first["source"] == {"component": "wardmote", "host": NODE} and first["reportingComponent"] == "wardmote"
        assert first["firstTimestamp"] <= first["lastTimestamp"] and "check:web" in first["message"]
        # As Kubernetes does by itself after an hour.
        name = first["metadata"]["name"]
        assert cluster.ask("DELETE", f"/api/v1/namespaces/default/events/{name}")[0] == 200
        again = wait_until(lambda: events(cluster, NODE), 120.0, "another", every=0.2)
        assert [one["metadata"]["name"] for one in again] == [name]
        described = cluster.kubectl("describe", "node", NODE)
        assert re.search(r"Warning +CheckFailed .* wardmote +check:web: ", described), described

        # What was told by one life is counted on by the next.
        agent.process.kill()
        agent.process.wait()
    with run(tmp_path) as agent:
        before = events(cluster, NODE)[0]["count"]
        wait_until(lambda: events(cluster, NODE)[0]["count"] > before, 120.0, "a repetition by the next life", every=0.2)
        target.up()
        ended = wait_until(lambda: events(cluster, NODE, "CheckFailedResolved"), 120.0, "the end", every=0.2)
        assert len(ended) == 1 and ended[0]["type"] == "Normal" and ended[0]["count"] == 1
        assert len(events(cluster, NODE)) == 1
        shown = cluster.kubectl("get", "events", "--namespace", "default")
        assert f"node/{NODE}" in shown and "CheckFailedResolved" in shown, shown


def a_pod_needs_no_more_than_its_name(tmp_path, target, cluster):
    """The environment and the files of a pod, in a mount namespace; the server is named by an IPv6 address."""
    (tmp_path / "token").write_text(cluster.token_of(SPACE, "wardmote"), encoding="utf-8")
    configure(tmp_path, target, {"pod": "kubernetes: {}"}, node="pod-node")
    script = ('mount -t tmpfs none /run && d=/run/secrets/kubernetes.io/serviceaccount && mkdir -p $d/..data '
              '&& cp "$1" $d/..data/token && cp "$2" $d/..data/ca.crt && ln -s ..data/token $d/token && ln -s ..data/ca.crt $d/ca.crt '
              '&& shift 2 && exec "$@"')
    inside = ["env", "KUBERNETES_SERVICE_HOST=::1", f"KUBERNETES_SERVICE_PORT={cluster.port}", "unshare", "--mount", "--propagation", "private",
              "sh", "-c", script, "pod", str(tmp_path / "token"), str(cluster.ca)]
    with run(tmp_path, inside) as agent:
        agent.wait_healthy()
        wait_until(lambda: agent.cli("notify", "test", "pod", timeout=60.0).returncode == 0, 120.0, "a test that arrives", every=0.2)
        assert [one["type"] for one in events(cluster, "pod-node", "Test")] == ["Normal"]
        target.down()
        wait_until(lambda: incidents(agent), 120.0, "the incident")
        wait_until(lambda: events(cluster, "pod-node"), 120.0, "its event", every=0.2)


# One test, because each worker would bring up a cluster of its own.
@pytest.mark.slow
def test_kubernetes(tmp_path, target):
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        cluster.create("/api/v1/namespaces", {"metadata": {"name": SPACE}})
        cluster.create(ACCOUNT, {"metadata": {"name": "wardmote"}})
        cluster.create("/api/v1/nodes", {"metadata": {"name": NODE}})
        for number, story in enumerate((who_may_not_yet_is_tried_again_until_he_may,
                                        what_stands_is_counted_what_was_forgotten_is_made_anew_and_the_end_is_told,
                                        a_pod_needs_no_more_than_its_name)):
            # A short name: a socket's path has at most 107 bytes.
            folder = tmp_path / str(number)
            folder.mkdir()
            story(folder, target, cluster)
            target.down()
            target.up()
