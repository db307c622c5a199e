"""Agents that share one etcd, each with a port of its own to watch, and one receiver that all of them know."""

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path

from http_sink import Sink
from lab.etcd import EtcdCluster
from lab.processes import wait_until
from tcp_target import Target
from tools.agent import Agent

TTL = 2  # seconds: the least that is taken


def wait_beaten(etcd: EtcdCluster, store: str = "test") -> None:
    """All know that the number is another one by which they tell a copy that has higher revisions: each reads it once in `ttl`."""
    def beat() -> int:
        return int(etcd.ctl("get", "--print-value-only", f"/wardmote/{store}/last/beat") or 0)
    for _ in range(3):
        before = beat()
        wait_until(lambda known=before: beat() > known, 10.0, "the next beat")


class SharedAgent(Agent):
    """An agent that shares a store, by its name."""

    def __init__(self, name: str, config: Path, api_socket: Path, struck: list[str] | None = None):
        """`struck`: who was killed or stopped, of all; it grows here."""
        super().__init__(config, api_socket)
        self.name, self.struck = name, [] if struck is None else struck

    def leads(self) -> bool:
        status, body = self.get("/api/v1/election")
        return status == 200 and json.loads(body)["leads"]

    def queue(self) -> list[str]:
        return [one["name"] for one in self.json("/api/v1/election")["candidates"]]

    def open_incidents(self) -> list[tuple[int, str]]:
        return [(one["id"], one["root"]) for one in self.json("/api/v1/incidents")["incidents"] if one["phase"] == "open"]

    def kill(self) -> None:
        """kill -9."""
        self.struck.append(self.name)
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        self.struck.append(self.name)
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)


class Site:
    """Agents `ctl-1`, `ctl-2`, … in the order in which they stand in the queue."""

    def __init__(self, folder: Path, etcd: EtcdCluster, targets: list, store: str = "", ttl: int = TTL, crowd: tuple[int, int] = (0, 0)):
        """`store`: more keys of `store.etcd`, where {name} is the agent's. `crowd`: how many more checks each agent has of its own target, and
        of one that is always there."""
        self.folder, self.etcd, self.targets, self.store, self.ttl, self.crowd = folder, etcd, targets, store, ttl, crowd
        self.sink = Sink()
        self.struck: list[str] = []
        self.agents: dict[str, SharedAgent] = {}
        self.steady = Target()
        self.more: dict[str, str] = {}  # keys of an agent's configuration, by its name
        self.depending = ""  # the agent that has one more check, which depends on its first

    def __enter__(self) -> "Site":
        for number in range(1, len(self.targets) + 1):
            self.start(f"ctl-{number}")
            self.wait_queued(f"ctl-{number}")
        return self

    def __exit__(self, *_) -> None:
        for agent in self.agents.values():
            if agent.process.poll() is None:
                agent.resume()
                agent.stop()
        self.steady.down()
        self.sink.__exit__()

    def __getitem__(self, name: str) -> SharedAgent:
        return self.agents[name]

    def target(self, name: str):
        return self.targets[int(name[-1]) - 1]

    def start(self, name: str) -> SharedAgent:
        (self.folder / name / "data").mkdir(parents=True, exist_ok=True)
        self.agents[name] = SharedAgent(name, self.configure(name), self.folder / name / "api.sock", self.struck)
        self.agents[name].wait_serving()
        return self.agents[name]

    def configure(self, name: str) -> Path:
        folder = self.folder / name
        config = folder / "wardmote.yaml"
        endpoints = ", ".join(f"'{at}'" for at in self.etcd.endpoints)
        config.write_text(f"""node: {{name: {name}, labels: {{rack: r{name[-1]}}}}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
store: {{etcd: {{endpoints: [{endpoints}]{self.store.replace("{name}", name)}}}, name: test, ttl: {self.ttl}s}}
checks:
  - {{name: svc, tcp: {{address: '127.0.0.1:{self.target(name).port}'}}, every: 300ms, timeout: 250ms, fall: 2, rise: 2}}
{self.depending_check(name)}{self.checks_of_crowd(name)}notify:
  receivers: [{{name: hook, webhook: {{url: 'http://127.0.0.1:{self.sink.port}/'}}}}]
  routes: [{{receiver: hook, group_wait: {"5s" if any(self.crowd) else "100ms"}, group_interval: 1s}}]
{self.more.get(name, "")}""", encoding="utf-8")
        return config

    def depending_check(self, name: str) -> str:
        check = f"{{name: above, tcp: {{address: '127.0.0.1:{self.target(name).port}'}}, every: 300ms, timeout: 250ms, fall: 2, rise: 2, depends_on: [svc]}}"
        return f"  - {check}\n" if name == self.depending else ""

    def checks_of_crowd(self, name: str) -> str:
        ports = [("one", self.target(name).port)] * self.crowd[0] + [("other", self.steady.port)] * self.crowd[1]
        return "".join(f"  - {{name: {kind}-{i}, tcp: {{address: '127.0.0.1:{port}'}}, every: 1s, timeout: 900ms, fall: 2, rise: 2}}\n"
                       for i, (kind, port) in enumerate(ports))

    def wait_queued(self, name: str) -> None:
        wait_until(lambda: name in self[name].queue(), 10.0, f"{name} to stand in the queue")

    def leader(self) -> SharedAgent:
        return wait_until(lambda: next((one for one in self.agents.values() if one.process.poll() is None and one.leads()), None), 15.0, "a leader")

    def wait_led_by(self, name: str, seconds: float = 10.0) -> float:
        """How long it took."""
        begun = time.monotonic()
        wait_until(self[name].leads, seconds, f"{name} to lead", every=0.005)
        return time.monotonic() - begun

    def told(self) -> list[tuple[int, str]]:
        """What the receiver was told of which incident, in order, as one that knows a notice again by its key. An agent that is struck
        before it has written that a notice was taken leaves it to the next, which sends it once more. Each group has one of its own, and
        there are several groups only in a crowd."""
        taken = list(self.sink.taken)
        distinct = {notice["key"]: notice for notice in reversed(taken)}
        times = Counter(notice["key"] for notice in taken)
        again = len(times) and max(times.values()) - 1 if any(self.crowd) else len(taken) - len(distinct)
        assert again <= len(self.struck), f"{again} notices came again, and struck were {self.struck}: {times}"
        firsts = sorted(distinct.values(), key=self.sink.taken.index)
        return [(one["id"], one["kind"]) for notice in firsts for one in notice["incidents"]]
