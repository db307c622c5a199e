"""Conditions of a Node in a real kube-apiserver: they follow the checks, leave the kubelet's alone, and have one writer."""

import os
import subprocess
from pathlib import Path

import pytest
from reconcile_site import kubeconfig

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT, Agent

READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "as the kubelet says",
         "lastHeartbeatTime": "2026-11-25T10:00:00Z", "lastTransitionTime": "2026-11-25T10:00:00Z"}


def until(condition, what: str):
    return wait_until(condition, 60.0, what, every=0.1)


class Daemon:
    """What the agent watches on the node."""

    def __init__(self, folder: Path):
        self.pid_file = folder / "daemon.pid"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(["sleep", "600"])
        self.pid_file.write_text(f"{self.process.pid}\n", encoding="utf-8")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def conditions(cluster: ApiServer) -> dict[str, dict]:
    status, found = cluster.ask("GET", "/api/v1/nodes/n1")
    assert status == 200, found
    return {one["type"]: one for one in found["status"]["conditions"]}


def status(cluster: ApiServer) -> str:
    return conditions(cluster).get("ServiceUnhealthy", {}).get("status", "none")


def agent_of(folder: Path, cluster: ApiServer, daemon: Daemon, node: str = "n1") -> Agent:
    folder.mkdir(exist_ok=True)
    config = folder / "w.yaml"
    config.write_text(f"""node: {{name: {node}}}
api: {{socket: {folder}/s}}
checks:
  - {{name: daemon, process: {{program: {daemon.pid_file}}}, every: 200ms, timeout: 150ms, fall: 2, rise: 1}}
node_conditions: {{kubeconfig: {kubeconfig(folder / "kubeconfig", cluster)}, heartbeat: 10s}}
""", encoding="utf-8")
    return Agent(config, folder / "s")


@pytest.mark.slow
def test_conditions_at_an_apiserver(tmp_path):
    daemon = Daemon(tmp_path)
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube") as cluster:
        cluster.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": [READY]}})
        try:
            follow(tmp_path / "a", cluster, daemon)
            one_writes(tmp_path, cluster, daemon)
        finally:
            daemon.end()


def follow(folder: Path, cluster: ApiServer, daemon: Daemon) -> None:
    with agent_of(folder, cluster, daemon) as agent:
        until(lambda: status(cluster) == "False", "the first condition")
        good = conditions(cluster)["ServiceUnhealthy"]
        assert good["reason"] == "ServicesHealthy" and good["message"] == "1 check is good"
        daemon.end()
        until(lambda: status(cluster) == "True", "the failure to be shown")
        bad = conditions(cluster)["ServiceUnhealthy"]
        assert bad["reason"] == "ServiceFails" and bad["message"].startswith("daemon: ")
        # Kubernetes keeps what it was given: the same as kubectl describe shows.
        until(lambda: conditions(cluster)["ServiceUnhealthy"]["lastHeartbeatTime"] > bad["lastHeartbeatTime"], "a heartbeat")
        assert conditions(cluster)["ServiceUnhealthy"]["lastTransitionTime"] == bad["lastTransitionTime"]
        agent.process.kill()
        agent.process.wait()
    with agent_of(folder, cluster, daemon) as agent:
        # A killed agent's condition goes on as it was.
        until(lambda: conditions(cluster)["ServiceUnhealthy"]["lastHeartbeatTime"] > bad["lastHeartbeatTime"] and status(cluster) == "True",
              "the next agent to say the same")
        daemon.start()
        until(lambda: status(cluster) == "False", "the end of the failure to be shown")
        agent.process.terminate()
        agent.process.wait()
    assert status(cluster) == "Unknown" and conditions(cluster)["ServiceUnhealthy"]["reason"] == "AgentEnded"
    assert conditions(cluster)["Ready"] == READY, "the kubelet's own"


def one_writes(folder: Path, cluster: ApiServer, daemon: Daemon) -> None:
    agents = [agent_of(folder / name, cluster, daemon) for name in ("b", "c")]
    try:
        until(lambda: any("node_condition_contested" in agent.output() for agent in agents), "one of them to yield")
        yielded = [agent for agent in agents if "node_condition_contested" in agent.output()]
        assert len(yielded) == 1
        others = [agent for agent in agents if agent not in yielded]
        others[0].process.send_signal(19)    # SIGSTOP
        silent = conditions(cluster)["ServiceUnhealthy"]["lastHeartbeatTime"]
        until(lambda: conditions(cluster)["ServiceUnhealthy"]["lastHeartbeatTime"] > silent, "the other to take over")
        others[0].process.send_signal(18)
    finally:
        for agent in agents:
            os.kill(agent.process.pid, 18)
            agent.__exit__(None, None, None)
