"""The image: what an OCI reader makes of it, and its programs in its own root, with the sockets of real servers, as the manifests say."""

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import time

import pytest
from fake_kubelet import FakeKubelet, unpack_layer

from lab.packages import fetch, unpack
from lab.processes import start, wait_until
from tools import image
from tools.agent import ROOT, programs

# The image is made once, by one worker.
pytestmark = pytest.mark.xdist_group("image")
MANIFESTS = ROOT / "packaging/kubernetes"
PATIENCE = 120.0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return image.make(programs(), tmp_path_factory.mktemp("image"))


def blob(made, descriptor: dict) -> bytes:
    content = (made.layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
    assert len(content) == descriptor["size"] and hashlib.sha256(content).hexdigest() == descriptor["digest"].removeprefix("sha256:")
    return content


def test_the_layout_is_whole_and_small(made):
    """By the OCI image specification: every blob has the digest and the size by which it is named."""
    assert json.loads((made.layout / "oci-layout").read_text(encoding="utf-8")) == {"imageLayoutVersion": "1.0.0"}
    [named] = json.loads((made.layout / "index.json").read_text(encoding="utf-8"))["manifests"]
    assert named["annotations"]["io.containerd.image.name"] == "localhost/wardmote:0.1.0"
    manifest = json.loads(blob(made, named))
    config = json.loads(blob(made, manifest["config"]))
    [layer] = manifest["layers"]
    blob(made, layer)
    assert config["config"]["User"] == "65532:65532" and config["config"]["Entrypoint"] == ["/usr/bin/wardmoted"]
    assert made.size <= 60 << 20
    with tarfile.open(made.archive) as archive:
        assert {"index.json", "oci-layout", f"blobs/sha256/{named['digest'].removeprefix('sha256:')}"} <= set(archive.getnames())


def test_it_has_folders_certificates_and_licences_and_no_shell(made):
    with tarfile.open(made.layer) as layer:
        members = {one.name: one for one in layer.getmembers()}
        bundle = layer.extractfile("etc/ssl/certs/ca-certificates.crt").read().decode()
    assert {"etc/wardmote", "var/lib/wardmote", "run/wardmote", "tmp", "usr/share/zoneinfo/Europe/Berlin", "usr/share/doc/libssl3/copyright",
            "usr/share/doc/wardmote/LICENSE"} <= members.keys()
    assert members["var/lib/wardmote"].uid == 65532 and members["tmp"].mode == 0o1777
    assert bundle.count("BEGIN CERTIFICATE") > 100
    assert not {name for name in members if re.search(r"bin/(sh|bash|dash|busybox)$", name)}
    assert not {name for name, one in members.items() if one.mode & 0o6000 or (one.mode & 0o002 and one.isreg())}


@pytest.mark.slow
def test_another_reader_unpacks_it(made, tmp_path):
    """umoci of Debian."""
    tools = ROOT / "build/lab/umoci"
    unpack(tools, ["umoci"])
    shutil.copytree(made.layout, tmp_path / "oci")
    subprocess.run([tools / "usr/bin/umoci", "unpack", "--image", f"{tmp_path}/oci:0.1.0", tmp_path / "bundle"], check=True, capture_output=True)
    config = json.loads((tmp_path / "bundle/config.json").read_text(encoding="utf-8"))
    assert config["process"]["args"] == ["/usr/bin/wardmoted", "--config", "/etc/wardmote/wardmote.yaml"]
    assert config["process"]["user"]["uid"] == 65532
    assert (tmp_path / "bundle/rootfs/usr/bin/wardmote").is_file()


@pytest.mark.slow
def test_the_same_programs_make_the_same_image(made, tmp_path):
    assert image.make(programs(), tmp_path).archive.read_bytes() == made.archive.read_bytes()


def test_its_init_container_copies_a_program_that_runs_elsewhere(made, tmp_path):
    """As packaging/kubernetes/calico-node/exec-probes.yaml does; the other pod has nothing of ours."""
    unpack_layer(made.layer, tmp_path / "root")
    (tmp_path / "root/wardmote").mkdir()
    subprocess.run(["chroot", tmp_path / "root", "/usr/bin/cp", "/usr/bin/wardmote", "/wardmote/wardmote"], check=True)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "wardmote").mkdir(parents=True)
    shutil.copy(tmp_path / "root/wardmote/wardmote", elsewhere / "wardmote")
    done = subprocess.run(["chroot", elsewhere, "/wardmote/wardmote", "calico-health", "-bird-ready"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "bird" in done.stdout.lower(), done


@pytest.fixture
def databases(tmp_path):
    """Two databases of OVN, clusters of one, as Kube-OVN's pod has them: their sockets are in the node's /run/ovn, 0750 of another user."""
    tools = fetch(ROOT / "build/lab/packages")
    host = tmp_path / "host"
    (host / "run/ovn").mkdir(parents=True)
    servers = {}
    for short, schema, port in (("nb", "ovn-nb.ovsschema", 46643), ("sb", "ovn-sb.ovsschema", 46644)):
        file = tmp_path / f"{short}.db"
        subprocess.run([tools.tool, "create-cluster", file, tools.schema(schema), f"unix:{tmp_path}/{short}.raft"], env=tools.environment(),
                       check=True)
        sockets = [host / f"run/ovn/ovn{short}_db.{kind}" for kind in ("ctl", "sock")]
        servers[short] = start([tools.server, "--no-chdir", "-vconsole:off", f"--log-file={tmp_path}/{short}.log", f"--unixctl={sockets[0]}",
                                f"--remote=punix:{sockets[1]}", str(file)], tools.environment(), tmp_path / f"{short}.out")
        for socket in sockets:
            wait_until(socket.is_socket, PATIENCE, str(socket))
            shutil.chown(socket, "nobody", "nogroup")
            assert socket.stat().st_mode & 0o777 == 0o750
    yield host, servers
    for server in servers.values():
        server.kill()


def config_maps(network: str) -> dict:
    return {"wardmote": {"wardmote.yaml": (MANIFESTS / network / "wardmote.yaml").read_text(encoding="utf-8")}}


def status(pod) -> dict:
    assert pod.process.poll() is None, pod.said()
    done = pod.execute("/usr/bin/wardmote", "status", "-o", "json")
    return {"exit": done.returncode} | (json.loads(done.stdout) if done.stdout.startswith("{") else {})


def named(pod) -> bool:
    told = pod.execute("/usr/bin/wardmote", "status", "ovn-sb").stdout
    return "RAFT_MEMBER_DOWN" in told or "RAFT_NO_QUORUM" in told


def test_the_pod_for_kube_ovn_tells_the_truth_about_real_servers(made, databases, tmp_path):
    host, servers = databases
    pod = FakeKubelet(made.layer, MANIFESTS / "kube-ovn/daemonset.yaml", config_maps("kube-ovn"), tmp_path / "pod", host)
    began = time.monotonic()
    with pod.running():
        wait_until(lambda: status(pod)["exit"] == 0, PATIENCE, f"all well: {pod.said()}", every=0.2)
        assert pod.execute("/usr/bin/wardmote", "livez", "--host", "127.0.0.1:9470").returncode == 0    # as the kubelet asks
        assert pod.execute("/usr/bin/wardmote", "readyz").returncode == 0
        shown = status(pod)
        assert shown["node"] == "ctl-1" and {one["cluster"] for one in shown["clusters"]} == {"ovn-nb", "ovn-sb"}, shown
        assert (host / "var/lib/wardmote/wardmote.db").exists()
        servers["sb"].kill()
        # The first look after the end may find a connection that is being reset, which says nothing yet.
        wait_until(lambda: named(pod) and status(pod)["exit"] == 2, PATIENCE, "a fault that is named", every=0.2)
        assert pod.execute("/usr/bin/wardmote", "readyz").returncode == 2
        assert pod.execute("/usr/bin/wardmote", "livez").returncode == 0
    print(f"from the start of the pod to the end of the fault's story: {time.monotonic() - began:.1f} s")


@pytest.mark.slow
def test_without_its_capability_the_pod_says_what_it_may_not_open(made, databases, tmp_path):
    host, _ = databases
    pod = FakeKubelet(made.layer, MANIFESTS / "kube-ovn/daemonset.yaml", config_maps("kube-ovn"), tmp_path / "pod", host)
    pod.container["securityContext"]["capabilities"]["add"] = []
    with pod.running():
        wait_until(lambda: "denied" in json.dumps(status(pod)), PATIENCE, "denied", every=0.2)
        assert status(pod)["exit"] != 0
