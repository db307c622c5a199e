"""Operators of Kube-OVN and of Calico follow docs/kubernetes.md: from the image on the node to the first true verdict of a fault. The pods
of the manifests run here by a fake kubelet; what a real kube-apiserver says to the manifests, tests/integration/test_manifests.py shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_kubelet import FakeKubelet
from reader import ROOT, Clock, Page, until

from lab.instance import Lab
from tools import image
from tools.agent import programs

MANIFESTS = ROOT / "packaging/kubernetes"
PAGE = "docs/kubernetes.md"
# Of Felix, what the agent asks: both of its health pages, good. A fake, because Felix is not in Debian.
FAKE_FELIX = """
import http.server
class Good(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204); self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("localhost", 9099), Good).serve_forever()
"""


@pytest.fixture(scope="module")
def layer(tmp_path_factory):
    return image.make(programs(), tmp_path_factory.mktemp("image")).layer


def applied(network: str, layer: Path, folder: Path, host: Path, lab: Lab, node: int) -> FakeKubelet:
    """What `kubectl apply -k` brings to a node: the file of the configuration, and the pod."""
    config = {"wardmote": {"wardmote.yaml": (MANIFESTS / network / "wardmote.yaml").read_text(encoding="utf-8")}}
    place = (lab.clusters["nb"].network if lab.clusters else lab.birds[0].network)
    return FakeKubelet(layer, MANIFESTS / network / "daemonset.yaml", config, folder, host, (place.namespace(node), place.address(node)))


def wardmote(pod: FakeKubelet, page: Page, *words: str) -> str:
    page.says("kubectl -n wardmote exec daemonset/wardmote -- wardmote " + " ".join(words))
    assert pod.process.poll() is None, pod.said()
    done = pod.execute("/usr/bin/wardmote", *words)
    return f"{done.stdout}{done.stderr}\nends with {done.returncode}"


def shared_sockets(lab: Lab, host: Path, node: int) -> None:
    """The node's /run/ovn, which its ovn-central pod has made."""
    (host / "run/ovn").mkdir(parents=True)
    for short, cluster in lab.clusters.items():
        os.link(os.path.realpath(cluster.control(node)), host / f"run/ovn/ovn{short}_db.ctl")
        os.link(os.path.realpath(cluster.socket(node)), host / f"run/ovn/ovn{short}_db.sock")


def test_kube_ovn(layer):
    page = Page(PAGE)
    with Lab.up(f"kube-{os.getpid()}", ["nb", "sb"], members=3, transient=True) as lab:
        leader = lab.clusters["nb"].leader()
        follower = next(number for number in lab.clusters["nb"].members if number != leader)
        hosts = {node: lab.folder / f"host-{node}" for node in (leader, follower)}
        for node, host in hosts.items():
            shared_sockets(lab, host, node)
        page.says("ctr -n k8s.io images import wardmote-0.1.0-amd64.oci.tar")
        page.says("kubectl apply -k packaging/kubernetes/kube-ovn")
        clock = Clock()
        pods = {node: applied("kube-ovn", layer, lab.folder / f"pod-{node}", host, lab, node) for node, host in hosts.items()}
        with pods[leader].running(), pods[follower].running():
            for pod in pods.values():
                until(lambda pod=pod: "ends with 0" in wardmote(pod, page, "status"), lambda pod=pod: wardmote(pod, page, "status"))
            clock.stop("Kube-OVN: from the image to the state of both databases")
            lab.clusters["nb"].kill(follower)
            until(lambda: "RAFT_MEMBER_DOWN" in wardmote(pods[follower], page, "status"), lambda: wardmote(pods[follower], page, "status"))
            clock.stop("Kube-OVN: from the image to the verdict of a fault")
            # The other node sees it too, though it asks its own server only.
            until(lambda: "RAFT_" in wardmote(pods[leader], page, "status"), lambda: wardmote(pods[leader], page, "status"))
            print(wardmote(pods[leader], page, "status"))
            assert "denied" not in wardmote(pods[leader], page, "doctor")


def test_calico(layer):
    page = Page(PAGE)
    with Lab.up(f"calico-{os.getpid()}", [], members=2, transient=True, birds=["2", "2"]) as lab:
        host = lab.folder / "host-1"
        (host / "run/calico").mkdir(parents=True)
        (host / "var/lib/calico").mkdir(parents=True)
        (host / "var/lib/calico/nodename").write_text("node-1\n", encoding="utf-8")
        os.link(os.path.realpath(lab.birds[0].control), host / "run/calico/bird.ctl")
        page.says("kubectl apply -k packaging/kubernetes/calico")
        network = lab.birds[0].network
        felix = subprocess.Popen(network.inside(1, sys.executable, "-c", FAKE_FELIX), stdin=subprocess.DEVNULL)
        try:
            clock = Clock()
            pod = applied("calico", layer, lab.folder / "pod-1", host, lab, 1)
            with pod.running():
                until(lambda: "ends with 0" in wardmote(pod, page, "status"), lambda: wardmote(pod, page, "status"))
                assert ready(pod, network.address(1)) == 0
                clock.stop("Calico: from the image to the state of the node")
                lab.birds[0].pause()
                until(lambda: re.search(r"(?m)^bird +bird +reported ", wardmote(pod, page, "status")), lambda: wardmote(pod, page, "status"))
                until(lambda: ready(pod, network.address(1)) == 2, lambda: wardmote(pod, page, "status"))
                clock.stop("Calico: from the image to the verdict of a fault")
                lab.birds[0].resume()
        finally:
            felix.kill()
            felix.wait()


def ready(pod: FakeKubelet, address: str) -> int:
    """As http-probes.yaml lets the kubelet ask."""
    return pod.execute("/usr/bin/wardmote", "readyz", "--host", f"{address}:9470").returncode
