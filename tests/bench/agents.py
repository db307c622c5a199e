"""./dev bench agents: agents on a real etcd: how long nobody leads after a kill and after an orderly end, what it costs an agent to share a
store, and what it costs the leader when a thousand others write their presence once a second.

Appends to docs/evidence/bench.jsonl.
"""

import os
import platform
import statistics
import sys
import tempfile
import threading
import time
from concurrent import futures
from pathlib import Path

import grpc

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from agents_site import SharedAgent  # noqa: E402
from lab.etcd import EtcdCluster  # noqa: E402
from lab.processes import wait_until  # noqa: E402
from tools.evidence import append, commit  # noqa: E402
from tools.measure import ROOT  # noqa: E402

TTL, ROUNDS, CROWD, SECONDS = 6, 6, 1000, 20
TICK = os.sysconf("SC_CLK_TCK")


class Measured(SharedAgent):
    def __init__(self, folder: Path, name: str, etcd: EtcdCluster | None):
        self.folder = folder / name
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        lines = [f"node: {{name: {name}}}", f"api: {{socket: {self.folder}/api.sock}}", f"data: {self.folder}/data",
                 "checks: [{name: self, tcp: {address: '127.0.0.1:9'}, every: 10s}]"]
        if etcd:
            endpoints = ", ".join(f"'{at}'" for at in etcd.endpoints)
            lines.append(f"store: {{etcd: {{endpoints: [{endpoints}]}}, ttl: {TTL}s}}")
        config = self.folder / "wardmote.yaml"
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        super().__init__(name, config, self.folder / "api.sock")
        self.wait_serving()


def rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def succession(folder: Path, etcd: EtcdCluster, orderly: bool) -> list[float]:
    """Seconds from the signal until the next agent leads."""
    took = []
    agents = [Measured(folder, f"a{i}-{orderly}", etcd) for i in range(2)]
    wait_until(lambda: any(agent.leads() for agent in agents), 20.0, "a leader")
    for i in range(ROUNDS):
        leader, other = sorted(agents, key=lambda agent: not agent.leads())
        wait_until(lambda at=other: len(at.queue()) == 2, 20.0, "both in the queue")
        time.sleep(0.3 * i)  # at another moment between two renewals
        begun = time.monotonic()
        if orderly:
            leader.process.terminate()
        else:
            leader.process.kill()
        wait_until(other.leads, 20.0, "the next to lead", every=0.001)
        took.append(round(time.monotonic() - begun, 3))
        leader.process.wait()
        agents = [other, Measured(folder, leader.name, etcd)]
    for agent in agents:
        agent.kill()
    return took


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def put_request(key: bytes, value: bytes) -> bytes:
    """etcdserverpb.PutRequest{key = 1, value = 2}."""
    return b"\x0a" + varint(len(key)) + key + b"\x12" + varint(len(value)) + value


def crowd(etcd: EtcdCluster, stop: threading.Event) -> list[float]:
    """A thousand nodes that put their presence once a second, each by a request of its own. How many there were each second."""
    requests = [put_request(f"/wardmote/default/agents/n{i}/presence".encode(), b"4e6f7468") for i in range(CROWD)]
    rates = []
    with grpc.insecure_channel(etcd.endpoints[0]) as channel:
        put = channel.unary_unary("/etcdserverpb.KV/Put")
        while not stop.is_set():
            begun = time.monotonic()
            for answer in [put.future(request, timeout=10) for request in requests]:
                answer.result()
            time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))
            rates.append(CROWD / (time.monotonic() - begun))
    return rates


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name, \
            EtcdCluster(ROOT / "build/lab/etcd", Path(name) / "etcd", 3, fast=False) as etcd:
        folder = Path(name)
        killed, ended = succession(folder, etcd, False), succession(folder, etcd, True)
        alone, shared = Measured(folder, "alone", None), Measured(folder, "shared", etcd)
        wait_until(shared.leads, 20.0, "it to lead")
        time.sleep(10)
        row = {"ttl_s": TTL, "after_kill_s": killed, "after_end_s": ended, "rss_alone_mb": rss_mb(alone.process.pid),
               "rss_shared_mb": rss_mb(shared.process.pid)}
        alone.kill()
        stop = threading.Event()
        with futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(crowd, etcd, stop)
            time.sleep(5)
            pids = [member.process.pid for member in etcd.members]
            before, of_etcd = cpu_s(shared.process.pid), [cpu_s(pid) for pid in pids]
            time.sleep(SECONDS)
            row["crowd"] = CROWD
            row["crowd_leader_cpu"] = round((cpu_s(shared.process.pid) - before) / SECONDS, 3)
            row["crowd_leader_rss_mb"] = rss_mb(shared.process.pid)
            row["crowd_etcd_cpu"] = round(sum(cpu_s(pid) - was for pid, was in zip(pids, of_etcd)) / SECONDS, 3)
            row["leads"] = shared.leads()
            stop.set()
            row["crowd_puts_per_s"] = round(statistics.median(running.result()))
        shared.kill()
    print(row, flush=True)
    append("bench", [{"bench": "agents", "commit": commit(), "command": "./dev bench agents", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], **row}])
    return 0


if __name__ == "__main__":
    sys.exit(main())
