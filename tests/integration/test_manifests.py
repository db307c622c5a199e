"""The manifests for Kubernetes: they say the same in each form, their configuration is good, and a real kube-apiserver takes them."""

import copy
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from lab import chart
from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT, programs

MANIFESTS = ROOT / "packaging/kubernetes"
NETWORKS = ("kube-ovn", "calico")
CRD = ROOT / "tests/data/kubernetes/podmonitors.crd.yaml"
ACCOUNT = "system:serviceaccount:wardmote:wardmote"
# How calico-node is installed, as far as the patches touch it: its name, its probes, a mount and a volume.
CALICO_NODE = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: calico-node, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: calico-node}}
  template:
    metadata: {labels: {k8s-app: calico-node}}
    spec:
      hostNetwork: true
      initContainers:
        - {name: install-cni, image: calico-cni}
      containers:
        - name: calico-node
          image: calico-node
          livenessProbe: {exec: {command: [/bin/calico-node, -felix-live, -bird-live]}, periodSeconds: 10, timeoutSeconds: 10}
          readinessProbe: {exec: {command: [/bin/calico-node, -felix-ready, -bird-ready]}, periodSeconds: 10, timeoutSeconds: 10}
          volumeMounts: [{name: var-run-calico, mountPath: /var/run/calico}]
      volumes: [{name: var-run-calico, hostPath: {path: /var/run/calico}}]
"""


def read(path: Path) -> list[dict]:
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def key(thing: dict) -> tuple[str, str, str]:
    return thing["kind"], thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


def by_key(things: list[dict]) -> dict:
    found = {key(one): one for one in things}
    assert len(found) == len(things)
    return found


def test_what_both_networks_have_in_common_is_the_same():
    for name in ("kustomization.yaml", "namespace.yaml", "account.yaml", "service.yaml", "budget.yaml", "budget-v1beta1.yaml"):
        assert (MANIFESTS / "kube-ovn" / name).read_bytes() == (MANIFESTS / "calico" / name).read_bytes(), name
    for network in NETWORKS:
        assert (MANIFESTS / network / "wardmote.yaml").read_bytes() == (MANIFESTS / f"chart/files/{network}.yaml").read_bytes()
        [budget], [older] = read(MANIFESTS / network / "budget.yaml"), read(MANIFESTS / network / "budget-v1beta1.yaml")
        assert (budget.pop("apiVersion"), older.pop("apiVersion")) == ("policy/v1", "policy/v1beta1") and budget == older


@pytest.mark.parametrize("network", NETWORKS)
def test_the_configuration_is_good(network):
    """As in the pod: it has the address of the apiserver, a name and an address."""
    environment = {**os.environ, "KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443", "WARDMOTE_NODE_NAME": "ctl-1",
                   "WARDMOTE_API_LISTEN": "192.0.2.1:9470"}
    done = subprocess.run([programs() / "wardmoted", "config", "show", "--effective", MANIFESTS / network / "wardmote.yaml"],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = yaml.safe_load(done.stdout)
    assert shown["api"]["listen"] == "tcp:192.0.2.1:9470" and shown["api"]["anonymous"] == "viewer"


def test_the_pod_monitor_keeps_to_the_schema_of_the_operator():
    [crd] = read(CRD)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    validator = jsonschema.Draft7Validator(closed(schema))
    [monitor] = read(MANIFESTS / "monitoring/podmonitor.yaml")
    validator.validate(monitor)
    wrong = copy.deepcopy(monitor)
    wrong["spec"]["podMetricsEndpoints"][0]["intervall"] = "15s"
    assert not validator.is_valid(wrong)
    [daemons] = read(MANIFESTS / "kube-ovn/daemonset.yaml")
    pod = daemons["spec"]["template"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert monitor["spec"]["podMetricsEndpoints"][0]["port"] in [port["name"] for port in pod["spec"]["containers"][0]["ports"]]


def closed(schema):
    """No key that it does not name: the apiserver would drop it."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(value) for name, value in schema.items()}
    if isinstance(inner.get("properties"), dict) and inner.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_the_chart_makes_the_same_objects(network):
    plain = by_key([one for name in ("namespace", "account", "daemonset", "service", "budget") for one in read(MANIFESTS / network / f"{name}.yaml")]
                   + read(MANIFESTS / "monitoring/podmonitor.yaml") + read(MANIFESTS / "node-conditions/account.yaml"))
    pod = plain["DaemonSet", "wardmote", "wardmote"]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] += ":0.1.0"    # as the kustomization says
    values = {"network": network, "namespace": {"create": True}, "podMonitor": {"enabled": True}, "nodeConditions": True}
    made = by_key(chart.render(MANIFESTS / "chart", values, ["policy/v1"]))
    config = made.pop(("ConfigMap", "wardmote", "wardmote"))
    assert config["data"] == {"wardmote.yaml": (MANIFESTS / network / "wardmote.yaml").read_text(encoding="utf-8")}
    assert made == plain
    older = by_key(chart.render(MANIFESTS / "chart", {"network": network}, []))
    assert older["PodDisruptionBudget", "wardmote", "wardmote"] == read(MANIFESTS / network / "budget-v1beta1.yaml")[0]
    asked_for = {("Namespace", "", "wardmote"), ("PodMonitor", "wardmote", "wardmote"),
                 *((kind, "", "wardmote-node-conditions") for kind in ("ClusterRole", "ClusterRoleBinding"))}
    assert older.keys() == plain.keys() - asked_for | {("ConfigMap", "wardmote", "wardmote")}


@pytest.mark.slow
def test_the_chart_takes_what_is_given_and_refuses_what_it_does_not_know():
    things = chart.render(MANIFESTS / "chart", {"config": "checks: []\n", "image": {"tag": "7"}, "nodeSelector": {"role": "x"},
                                                "podMonitor": {"enabled": True, "labels": {"release": "p"}}}, [], namespace="elsewhere")
    made = by_key(things)
    assert made["ConfigMap", "elsewhere", "wardmote"]["data"]["wardmote.yaml"] == "checks: []\n"
    pod = made["DaemonSet", "elsewhere", "wardmote"]["spec"]["template"]["spec"]
    assert (pod["containers"][0]["image"], pod["nodeSelector"]) == ("localhost/wardmote:7", {"role": "x"})
    assert made["PodMonitor", "elsewhere", "wardmote"]["metadata"]["labels"] == {"app.kubernetes.io/name": "wardmote", "release": "p"}
    assert made["RoleBinding", "default", "wardmote-events"]["subjects"][0]["namespace"] == "elsewhere"
    with pytest.raises(ValueError, match='network "cilium": kube-ovn or calico'):
        chart.render(MANIFESTS / "chart", {"network": "cilium"}, [])


def applied_server_side(cluster, folder, things: list[dict]) -> None:
    """Twice: what is applied again must be the same to the server."""
    file = folder / "things.yaml"
    file.write_text(yaml.safe_dump_all(things), encoding="utf-8")
    for _ in range(2):
        said = cluster.kubectl("apply", "--server-side", "-f", str(file))
        assert said.count("serverside-applied") == len(things), said


def without_empty_defaults(schema):
    """kube-apiserver 1.20 reads a default of "" as null, and refuses it."""
    if isinstance(schema, list):
        return [without_empty_defaults(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_empty_defaults(value) for name, value in schema.items() if (name, value) != ("default", "")}


def built(cluster, network: str) -> list[dict]:
    """By Kustomize; with the budget that this old apiserver knows."""
    things = by_key(list(yaml.safe_load_all(cluster.kubectl("kustomize", str(MANIFESTS / network)))))
    assert things["ConfigMap", "wardmote", "wardmote"]["data"] == {"wardmote.yaml": (MANIFESTS / network / "wardmote.yaml").read_text(encoding="utf-8")}
    pod = things["DaemonSet", "wardmote", "wardmote"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "localhost/wardmote:0.1.0"
    [older] = read(MANIFESTS / network / "budget-v1beta1.yaml")
    assert things.pop(key(older))["apiVersion"] == "policy/v1"
    return [*things.values(), older]


def may(cluster, verb: str, what: str, space: str) -> bool:
    what, _, part = what.partition("/")
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
              "spec": {"user": ACCOUNT, "resourceAttributes": {"verb": verb, "resource": what, "subresource": part, "namespace": space}}}
    status, answer = cluster.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    assert status == 201, answer
    return answer["status"]["allowed"]


# One test, because each worker would bring up a cluster of its own.
def established(cluster: ApiServer) -> bool:
    _, kind = cluster.ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podmonitors.monitoring.coreos.com")
    return any(one["type"] == "Established" and one["status"] == "True" for one in kind.get("status", {}).get("conditions") or ())


@pytest.mark.slow
def test_a_real_apiserver_takes_every_object(tmp_path):
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        for network in NETWORKS:
            applied_server_side(cluster, tmp_path, built(cluster, network))
            applied_server_side(cluster, tmp_path, chart.render(MANIFESTS / "chart", {"network": network, "namespace": {"create": True}}, []))
        [crd] = read(CRD)
        cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", without_empty_defaults(crd))
        # Not by `kubectl wait`: that of 1.20 fails on an object without conditions, which a new one is.
        wait_until(lambda: established(cluster), 120.0, "the kind to be established", every=0.2)
        applied_server_side(cluster, tmp_path, read(MANIFESTS / "monitoring/podmonitor.yaml"))

        assert [may(cluster, verb, "events", "default") for verb in ("create", "get", "patch")] == [True] * 3
        assert not any(may(cluster, verb, what, space) for verb in ("list", "delete", "update", "get", "create") for what in ("pods", "secrets", "nodes")
                       for space in ("default", "wardmote", "kube-system"))
        assert not any(may(cluster, verb, "events", "default") for verb in ("list", "watch", "delete")) and not may(cluster, "create", "events", "wardmote")

        applied_server_side(cluster, tmp_path, read(MANIFESTS / "node-conditions/account.yaml"))
        assert may(cluster, "get", "nodes", "") and may(cluster, "patch", "nodes/status", "")
        assert not any(may(cluster, verb, "nodes", "") for verb in ("list", "patch", "update", "delete"))

        for patch in ("exec-probes.yaml", "http-probes.yaml"):
            the_probes_of_calico_node_are_replaced(cluster, tmp_path, patch)


def the_probes_of_calico_node_are_replaced(cluster, folder, patch: str) -> None:
    (folder / "calico-node.yaml").write_text(CALICO_NODE, encoding="utf-8")
    cluster.kubectl("apply", "-f", str(folder / "calico-node.yaml"))
    cluster.kubectl("-n", "kube-system", "patch", "daemonset", "calico-node", "--patch",
                    (MANIFESTS / "calico-node" / patch).read_text(encoding="utf-8"))
    status, found = cluster.ask("GET", "/apis/apps/v1/namespaces/kube-system/daemonsets/calico-node")
    assert status == 200
    pod = found["spec"]["template"]["spec"]
    [node] = pod["containers"]
    if patch == "exec-probes.yaml":
        assert node["readinessProbe"]["exec"]["command"] == ["/wardmote/wardmote", "calico-health", "-bird-ready", "-felix-ready"]
        assert node["livenessProbe"]["timeoutSeconds"] == 10
        assert [one["name"] for one in pod["initContainers"]] == ["wardmote", "install-cni"]
        assert {one["name"] for one in node["volumeMounts"]} == {"wardmote", "var-run-calico"}
    else:
        assert node["readinessProbe"]["httpGet"]["path"] == "/readyz" and "exec" not in node["readinessProbe"]
        assert node["livenessProbe"]["exec"]["command"][0] == "/bin/calico-node"
    cluster.kubectl("-n", "kube-system", "delete", "daemonset", "calico-node")
