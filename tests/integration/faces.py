"""A small world that knows what is up, and every face of the agent that watches it, brought to one form so that they can be compared."""

import json
import re
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from http_sink import Sink
from tcp_target import Target

from lab.processes import wait_until
from tools.agent import Agent

PEERS = ("a", "b", "maybe")
CONFIGURATION = """
api: {{socket: {folder}/s}}
data: {folder}/data
checks:
  - {{name: a, tcp: {{address: 127.0.0.1:{a}}}, every: {every}, timeout: 190ms, fall: 2, rise: 1}}
  - {{name: b, tcp: {{address: 127.0.0.1:{b}}}, every: {every}, timeout: 190ms, fall: 2, rise: 1, depends_on: [a]}}
  - {{name: maybe, tcp: {{address: 127.0.0.1:{maybe}}}, every: {every}, timeout: 190ms, fall: 2, rise: 1, optional: true}}
reporters:
  - {{name: r, timeout: 2s, socket: {folder}/r.sock}}
gates:
  live: {{all: [r.live]}}
  ready: {{all: [a, b, maybe, r.ready]}}
notify:
  receivers:
    - {{name: ear, timeout: 2s, webhook: {{url: 'http://127.0.0.1:{ear}/'}}}}
  routes:
    - {{receiver: ear, group_wait: 0s, group_interval: 1s}}
"""


@dataclass(frozen=True)
class Faces:
    """What is said of the whole, and of each failing thing."""

    verdict: int
    exit_code: int
    ready: int
    live: int
    gates: frozenset[tuple[str, bool]]
    checks: frozenset[tuple[str, int]]   # those that fail, and how badly, by the status
    metrics: frozenset[tuple[str, int]]  # the same, by the metrics
    standing: frozenset[str]             # those that fail, by the open incidents


@dataclass
class Told:
    """What a receiver knows, each notice once."""

    keys: set[str] = field(default_factory=set)
    kinds: list[tuple[str, int]] = field(default_factory=list)

    def open(self) -> set[int]:
        last = {number: kind for kind, number in self.kinds}
        return {number for number, kind in last.items() if kind != "resolved"}


class World:
    """Leaving it ends the agent and all that it looks at."""

    def __init__(self, folder: Path, seed: int):
        self.folder, self.random = folder, Random(seed)
        self.sink = Sink()
        self.peers = {name: Target() for name in PEERS}
        self.up = dict.fromkeys(PEERS, True)
        self.report: dict | None = {"live": True, "ready": True}
        # The optional one counts when the agent saw it well once: it must have, it may have.
        self.was_seen = self.was_up = False
        self.every = "200ms"
        self.story: list[str] = []
        self.wrong: list[str] = []
        self._ended = threading.Event()
        (folder / "data").mkdir()

    def __enter__(self) -> "World":
        self.sink.__enter__()
        if self.random.random() < 0.5:
            self.flip("maybe")
        self.was_up = self.up["maybe"]
        self.write()
        self.start()
        self._threads = [threading.Thread(target=self._keep_reporting), threading.Thread(target=self._keep_comparing)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self.agent.process.send_signal(signal.SIGCONT)
        self.agent.process.kill()
        self.agent.process.wait()
        for name in PEERS:
            if self.up[name]:
                self.peers[name].down()
        self.sink.__exit__()

    def write(self) -> None:
        ports = {name: peer.port for name, peer in self.peers.items()}
        (self.folder / "w.yaml").write_text(CONFIGURATION.format(folder=self.folder, every=self.every, ear=self.sink.port, **ports),
                                            encoding="utf-8")

    def start(self) -> None:
        self.agent = Agent(self.folder / "w.yaml", self.folder / "s")
        wait_until(lambda: self.agent.get("/api/v1/status")[0] == 200, 30.0, "the agent to answer")

    def flip(self, name: str) -> None:
        (self.peers[name].down if self.up[name] else self.peers[name].up)()
        self.up[name] = not self.up[name]
        self.was_up |= self.up["maybe"]

    # What may happen.

    def turn(self) -> None:
        happens = (self._flip_one, self._flip_one, self._flip_one, self._report_otherwise, self._report_otherwise, self._kill, self._restart,
                   self._freeze, self._reload, self._deafen)
        for _ in range(self.random.randint(1, 3)):
            what = self.random.choice(happens)
            self.story.append(f"{what.__name__[1:]}: {what()}")

    def _flip_one(self) -> str:
        name = self.random.choice(PEERS)
        self.flip(name)
        return f"{name} is {'up' if self.up[name] else 'down'}"

    def _report_otherwise(self) -> str:
        self.report = self.random.choice([None, {"live": True, "ready": True}, {"live": True, "ready": False}, {"live": False, "ready": False}])
        return str(self.report)

    def _kill(self) -> str:
        self.agent.process.kill()
        self.agent.process.wait()
        if self.random.random() < 0.5:  # something happens meanwhile
            self.story.append(self._flip_one())
        self.start()
        return "and started again"

    def _restart(self) -> str:
        assert self.agent.stop() == 0
        self.start()
        return "in order"

    def _freeze(self) -> str:
        self.agent.process.send_signal(signal.SIGSTOP)
        self._ended.wait(self.random.choice((1.0, 4.0)))
        self.agent.process.send_signal(signal.SIGCONT)
        return "and woken"

    def _reload(self) -> str:
        self.every = "250ms" if self.every == "200ms" else "200ms"
        self.write()
        done = self.agent.cli("reload")
        assert done.returncode == 0, done
        return self.every

    def _deafen(self) -> str:
        self.sink.manner = self.random.choice(("500", "ok", "half"))
        return self.sink.manner

    def _keep_reporting(self) -> None:
        while not self._ended.wait(0.3):
            if self.report is not None and self.agent.process.poll() is None:
                try:
                    self.agent.order("PUT", "/api/v1/reporters/r", json.dumps(self.report))
                except OSError:
                    continue  # it ends, begins, or is stopped

    # What is said.

    def _keep_comparing(self) -> None:
        """At any moment one answer agrees with itself."""
        while not self._ended.wait(0.05):
            code, body = self.agent.get("/api/v1/status")
            if code != 200:
                continue
            status = json.loads(body)
            gravest = status["incidents"]["gravest"]
            if gravest == "critical" and status["verdict"] in ("ok", "warning"):
                self.wrong.append(f"verdict {status['verdict']} beside a critical incident: {body}")
            if any(not gate["ready"] for gate in status["gates"]) and status["verdict"] == "ok":
                self.wrong.append(f"ok beside a closed gate: {body}")

    def counts(self) -> bool:
        code, body = self.agent.get("/api/v1/status")
        if code != 200:
            return self.was_seen
        seen = next(check["seen_good"] for check in json.loads(body)["checks"] if check["name"] == "maybe")
        assert self.was_seen <= seen <= self.was_up, f"seen_good is {seen}"
        return seen

    def truth(self, counts: bool) -> Faces:
        failing = {name for name in ("a", "b") if not self.up[name]}
        if not self.up["maybe"] and counts:
            failing.add("maybe")
        report = self.report or {"live": False, "ready": False}
        failing |= {f"r.{what}" for what, good in report.items() if not good}
        live, ready = "r.live" not in failing, not failing - {"r.live"}
        # The failure of what is optional is a warning, and closes the gate all the same.
        codes = frozenset((name, 1 if name == "maybe" else 2) for name in failing)
        worst = max((code for _, code in codes), default=0)
        return Faces(worst, worst, 200 if ready else 503, 200 if live else 503, frozenset({("live", live), ("ready", ready)}), codes, codes,
                     frozenset(failing))

    def faces(self, counts: bool) -> Faces | None:
        """Nothing while it cannot be asked."""
        code, body = self.agent.get("/api/v1/status")
        if code != 200:
            return None
        status = json.loads(body)
        verdict = {"ok": 0, "warning": 1, "critical": 2, "unknown": 3}[status["verdict"]]
        checks = {(check["name"], check["exit_code"]) for check in status["checks"]}
        metrics = {(name, int(code)) for name, code in re.findall(r'wardmote_check_status\{check="([^"]+)"[^}]*\} (\d)\n', self.agent.get("/metrics")[1])}
        failing, measured = (frozenset((name, code) for name, code in found if code and (name != "maybe" or counts or self.up[name]))
                             for found in (checks, metrics))
        standing = {symptom["component"].removeprefix("check:") for incident in self.agent.json("/api/v1/incidents")["incidents"]
                    for symptom in incident["standing"]}
        return Faces(verdict, self.agent.cli("status").returncode, self.agent.get("/readyz")[0], self.agent.get("/livez")[0],
                     frozenset((gate["name"], gate["ready"]) for gate in status["gates"]), failing, measured, frozenset(standing))

    def told(self) -> Told:
        told = Told()
        for notice in list(self.sink.taken):
            if notice["key"] in told.keys:
                continue
            told.keys.add(notice["key"])
            told.kinds += [(item["kind"], item["id"]) for item in notice.get("incidents", [])]
        return told

    def settle(self) -> None:
        """Until all faces say what is true, and go on to; and until the receiver, which hears again, knows the same."""
        self.sink.manner = "ok"
        said = true = None

        def right() -> bool:
            nonlocal said, true
            counts = self.counts()
            said, true = self.faces(counts), self.truth(counts)
            return said == true

        try:
            wait_until(right, 20.0, "the truth on every face", every=0.1)
            until = time.monotonic() + 1.0
            while time.monotonic() < until:
                assert right(), "it did not last"
        except (TimeoutError, AssertionError) as error:
            raise AssertionError(f"{error}\ntrue: {true}\nsaid: {said}\nstory: {self.story}\n{self.agent.output()}") from None
        self.was_seen |= self.up["maybe"]
        # A merged incident ends with the one that it became a part of.
        incidents = self.agent.json("/api/v1/incidents?all=true")["incidents"]
        open_now = {one["id"] for one in incidents if one["phase"] == "open" and one["merged_into"] is None}
        try:
            wait_until(lambda: self.told().open() == open_now, 70.0, "the receiver to know", every=0.2)
        except TimeoutError as error:
            raise AssertionError(f"{error}: {self.told().kinds}, open: {open_now}\nstory: {self.story}\n{self.agent.output()}") from None
        assert not self.wrong, (self.wrong[0], self.story)
