"""./dev bench reconcile: 10,000 objects at a real kube-apiserver: a pass that finds nothing to do, and 1,000 changed objects against
`kubectl apply --server-side` of the same.

The agent and kubectl take turns on objects of their own, with the same server. kubectl is given the changed manifests alone; the agent has to
find them among all. Appends to docs/evidence/bench.jsonl.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.kubernetes import ADMIN, ApiServer
from lab.processes import wait_until
from tools.agent import ROOT, Agent
from tools.evidence import append, commit

OBJECTS, CHANGED, FILES, ROUNDS = 10_000, 1_000, 100, 3


def manifests(folder: Path, who: str, turn: int, files: range) -> None:
    """Each file has its share of the objects; those of `files` say what they are to be in this turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        of_one = OBJECTS // FILES
        documents = [f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {who}-{number}, namespace: default}}\n"
                     f"data: {{turn: 'turn {turn}', text: 'some words of {number}'}}\n"
                     for number in range(file * of_one, (file + 1) * of_one)]
        fresh = folder / f".{file}"
        fresh.write_text("---\n".join(documents), encoding="utf-8")
        fresh.replace(folder / f"{file}.yaml")


def main() -> int:
    with tempfile.TemporaryDirectory() as name, ApiServer(ROOT / "build/lab/kubernetes", Path(name) / "kube", ("agent",)) as cluster:
        folder = Path(name)
        (folder / "kubeconfig").write_text(json.dumps({
            "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": cluster.url, "certificate-authority": str(cluster.ca)}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {"token": "agent-token"}}]}),
            encoding="utf-8")
        (folder / "data").mkdir()
        (folder / "w.yaml").write_text(f"""node: {{name: ctl-1}}
api: {{socket: {folder}/s}}
data: {folder}/data
version_gates:
- name: k8s
  release: 1.0.0
  reconcile: {{mode: act, manifests: {folder}/ours, kubernetes: {{kubeconfig: {folder}/kubeconfig}}, every: 1s}}
""", encoding="utf-8")
        manifests(folder / "ours", "ours", 0, range(FILES))
        changed = range(CHANGED * FILES // OBJECTS)
        with Agent(folder / "w.yaml", folder / "s") as agent:
            def last(writes: int) -> dict | None:
                """The last pass, if it wrote so much."""
                status, body = agent.get("/api/v1/version-gates/k8s", 10.0)
                done = json.loads(body).get("reconcile") if status == 200 else None
                return done if done and done["good"] and done["writes"] >= writes else None

            first = wait_until(lambda: last(OBJECTS), 1200.0, "the first pass", every=0.5)
            idle = [_next_pass(agent) for _ in range(2 + 5)][2:]
            written = len(cluster.writes_of("agent"))
            rounds = []
            for turn in range(1, ROUNDS + 1):
                manifests(folder / "ours", "ours", turn, changed)
                ours = wait_until(lambda: last(CHANGED), 120.0, "the changed objects", every=0.05)
                wait_until(lambda: last(0)["writes"] == 0, 60.0, "the end of it", every=0.05)
                rounds.append({"ours_s": ours["took_ms"] / 1e3, "kubectl_s": _kubectl(cluster, folder, turn, changed)})
            assert len(cluster.writes_of("agent")) - written == ROUNDS * CHANGED, "nothing else was written"
    median = {key: statistics.median(row[key] for row in rounds) for key in ("ours_s", "kubectl_s")}
    pause = statistics.median(row["took_ms"] for row in idle)
    print(f"first pass, {OBJECTS} objects created: {first['took_ms'] / 1e3:.1f} s")
    print(f"a pass with nothing to do: {pause:.0f} ms, {idle[0]['requests']} requests, {max(row['writes'] for row in idle)} writes")
    print(f"{CHANGED} changed: {median['ours_s']:.2f} s, kubectl {median['kubectl_s']:.2f} s")
    append("bench", [{"bench": "reconcile", "commit": commit(), "command": "./dev bench reconcile", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], "objects": OBJECTS, "changed": CHANGED,
                      "first_s": first["took_ms"] / 1e3, "idle_ms": [row["took_ms"] for row in idle],
                      "idle_writes": max(row["writes"] for row in idle), "rounds": rounds}])
    return 0


def _next_pass(agent: Agent) -> dict:
    before = agent.json("/api/v1/version-gates/k8s")["reconcile"]["begun"]

    def another() -> dict | None:
        done = json.loads(agent.get("/api/v1/version-gates/k8s", 10.0)[1])["reconcile"]
        return done if done["begun"] != before else None

    return wait_until(another, 60.0, "another pass", every=0.05)


def _kubectl(cluster: ApiServer, folder: Path, turn: int, changed: range) -> float:
    """How long it takes for the same objects under other names, which are there already."""
    argv = [str(cluster.packages / "usr/bin/kubectl"), "--kubeconfig=/dev/null", f"--server={cluster.url}", f"--token={ADMIN}",
            f"--certificate-authority={cluster.ca}", "apply", "--server-side", "-f", str(folder / "theirs")]
    if turn == 1:
        manifests(folder / "theirs", "theirs", 0, changed)
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True, env={"HOME": str(folder)})
    manifests(folder / "theirs", "theirs", turn, changed)
    begun = time.monotonic()
    subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True, env={"HOME": str(folder)})
    return time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
