"""Manifests in a folder, the programs that reconcile them, and a look at what came of it: for tests at a real kube-apiserver."""

import os
import subprocess
from pathlib import Path

import yaml
from fault_proxy import FaultProxy
from gate_site import GateAgent, GateKeys

from lab.etcd import ENVIRONMENT
from lab.kubernetes import ADMIN, ApiServer
from tools.agent import programs

PATIENCE = 120.0
SET = "reconcile.wardmote.io/set"


def config_map(name: str, data: dict, space: str = "default", **annotations: str) -> dict:
    notes = {f"reconcile.wardmote.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    metadata = {"name": name, "namespace": space, **({"annotations": notes} if notes else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


class Folder:
    """Manifests: a file each."""

    def __init__(self, path: Path):
        self.path = path
        path.mkdir(parents=True)

    def put(self, file: str, *objects: dict) -> None:
        # As an editor does it: the folder is never seen half written.
        fresh = self.path / f".{file}"
        fresh.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
        fresh.replace(self.path / file)

    def drop(self, file: str) -> None:
        (self.path / file).unlink()


def kubeconfig(path: Path, cluster: "ApiServer | FaultProxy", token: str = ADMIN) -> Path:
    path.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": cluster.url, "certificate-authority": str(cluster.ca)}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "users": [{"name": "me", "user": {"token": token}}]}), encoding="utf-8")
    return path


class ApiserversEtcd:
    """The apiserver's etcd, for GateKeys."""

    def __init__(self, cluster: ApiServer):
        self.cluster = cluster

    def argv(self, *arguments: str) -> list[str]:
        return [str(self.cluster.packages / "usr/bin/etcdctl"), f"--endpoints={self.cluster.etcd}", *arguments]

    def ctl(self, *arguments: str) -> str:
        return subprocess.run(self.argv(*arguments), env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
                              check=True).stdout


class Site:
    def __init__(self, folder: Path, cluster: ApiServer):
        self.cluster, self.folder = cluster, folder
        self.wanted = Folder(folder / "manifests")
        self.set = folder.name
        self.login = kubeconfig(folder / "kubeconfig", cluster)

    def keys(self) -> GateKeys:
        """Of the gate of agents that share the apiserver's etcd."""
        return GateKeys(ApiserversEtcd(self.cluster), f"/wardmote/{self.set}/gate/k8s/state/", f"/wardmote/{self.set}/gate/k8s/nodes/")

    def written_by(self, user: str) -> list[dict]:
        """What was sent as a write, and not as a question."""
        return [one for one in self.cluster.writes_of(user) if "dryRun" not in one["requestURI"]]

    def manifests_of(self, name: str) -> Path:
        return self.folder / f"manifests-{name}"

    def members(self) -> dict[str, dict]:
        """The data of each ConfigMap of the set, by name."""
        status, found = self.cluster.ask("GET", f"/api/v1/configmaps?labelSelector={SET}%3D{self.set}")
        return {item["metadata"]["name"]: item["data"] for item in found["items"]} if status == 200 else {}

    def run(self, verb: str, *options: str, login: Path | None = None) -> subprocess.CompletedProcess[str]:
        # Through the light program, which hands over to the agent's.
        return subprocess.run([programs() / "wardmote", "reconcile", verb, self.wanted.path, f"--set={self.set}",
                               f"--kubeconfig={login or self.login}", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False, env={"PATH": os.environ["PATH"]})

    def good(self, verb: str, *options: str, code: int = 0) -> str:
        done = self.run(verb, *options)
        assert done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def get(self, name: str, space: str = "default") -> dict | None:
        status, found = self.cluster.ask("GET", f"/api/v1/namespaces/{space}/configmaps/{name}")
        return found if status == 200 else None

    def data(self, name: str, space: str = "default") -> dict | None:
        found = self.get(name, space)
        return found and found["data"]

    def edit(self, name: str, data: dict) -> None:
        """As `kubectl edit` does it: the whole object, by another field manager."""
        found = self.get(name)
        found["data"] = data
        status, answer = self.cluster.ask("PUT", f"/api/v1/namespaces/default/configmaps/{name}?fieldManager=kubectl-edit", found)
        assert status == 200, answer

    def version(self, name: str) -> str:
        return self.get(name)["metadata"]["resourceVersion"]


def agent_of(site: Site, mode: str, name: str = "ctl-1", shared: bool = False, every: str = "1s", server: "FaultProxy | None" = None,
             release: str = "1.0.0", login: Path | None = None) -> GateAgent:
    """An agent with a folder of its own. `shared`: its store is the apiserver's etcd, it has a user and manifests of its own name.
    `server`: through this. `login`: by this kubeconfig."""
    folder = site.folder / name
    (folder / "data").mkdir(parents=True, exist_ok=True)
    config = folder / "w.yaml"
    login = login or kubeconfig(folder / "kubeconfig", server or site.cluster, f"{name}-token" if shared else ADMIN)
    etcd = site.cluster.etcd.removeprefix("http://")
    store = f"store: {{etcd: {{endpoints: ['{etcd}']}}, name: {site.set}, ttl: 2s}}\n" if shared else ""
    config.write_text(f"""node: {{name: {name}}}
api: {{socket: {folder}/s}}
data: {folder}/data
{store}version_gates:
  - name: k8s
    release: {release}
    ttl: 2s
    reconcile:
      mode: {mode}
      manifests: {site.manifests_of(name) if shared else site.wanted.path}
      kubernetes: {{kubeconfig: {login}, set: {site.set}}}
      every: {every}
      wait: 1500ms
      write_deadline: 100ms
""", encoding="utf-8")
    agent = GateAgent(config, folder / "s")
    agent.wait_serving(60.0)
    return agent


def play(stories, cluster, folder: Path) -> None:
    """One after the other, each with a site of its own."""
    for number, story in enumerate(stories):
        # A short name: a socket's path has at most 107 bytes.
        (folder / f"s{number}").mkdir()
        site = Site(folder / f"s{number}", cluster)
        story(site)
        # The next one finds nothing of it.
        for file in list(site.wanted.path.iterdir()):
            file.unlink()
        site.run("apply", "--prune-limit=100")
