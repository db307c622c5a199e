"""What really happened during an upgrade, from etcd's history and the apiserver's audit log: nothing that an agent says of itself counts,
but for whether it serves."""

import base64
import json
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gate_site import DONE, GateAgent, read_status

from lab.etcd import ENVIRONMENT
from lab.kubernetes import ApiServer

UNCLEAR = "unclear"
OBJECTS = b"/registry/configmaps/default/"


@dataclass(frozen=True)
class Change:
    """Of a key of etcd; `value` is None when it was removed."""

    revision: int
    key: str
    value: bytes | None


@dataclass(frozen=True)
class Served:
    """What an agent said of whether its node may serve."""

    asked: float
    answered: float
    node: str
    release: str
    ready: bool


@dataclass(frozen=True)
class Write:
    """An object that the apiserver changed for an agent: from when to when it did so."""

    begun: float
    done: float
    node: str
    name: str
    schema: str | None  # None: removed; UNCLEAR: whoever asked was gone before the answer, and nobody knows
    revision: int | None  # the audit log does not tell it of what was removed


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def schema_in(value: bytes) -> str:
    """Of a stored object, whose data are plain bytes in it."""
    found = set(re.findall(rb"of-schema-(\d)", value))
    assert len(found) == 1, value
    return found.pop().decode()


class Recorder:
    """Follows all changes in the apiserver's etcd, and asks each agent again and again whether it serves."""

    def __init__(self, cluster: ApiServer, folder: Path, store: str):
        self.cluster, self.folder, self.store = cluster, folder, store
        self.served: list[Served] = []
        self._agents: dict[str, tuple[GateAgent, str]] = {}
        self._forgiven: list[tuple[str, float, float]] = []
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Recorder":
        self._out = (self.folder / "changes.json").open("w+", encoding="utf-8")
        self._watch = subprocess.Popen([str(self.cluster.packages / "usr/bin/etcdctl"), f"--endpoints={self.cluster.etcd}", "watch", "-w", "json",
                                        "--prefix", "/"], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=self._out)
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._watch.kill()
        self._watch.wait()
        self._out.close()

    def ask(self, node: str, agent: GateAgent, release: str) -> None:
        """From now on, as long as this agent is the one of the node."""
        self._agents[node] = (agent, release)
        thread = threading.Thread(target=self._keep_asking, args=(node, agent, release))
        self._threads.append(thread)
        thread.start()

    def _keep_asking(self, node: str, agent: GateAgent, release: str) -> None:
        while not self._ended.wait(0.02) and self._agents[node][0] is agent and agent.process.poll() is None:
            asked = time.time()
            status, body = agent.get("/api/v1/version-gates/k8s")
            if status == 200:  # else it begins, ends, or is stopped
                self.served.append(Served(asked, time.time(), node, release, json.loads(body)["ready"]))

    def forgive(self, node: str, since: float, until: float) -> None:
        self._forgiven.append((node, since, until))

    def answers(self) -> list[Served]:
        return [one for one in self.served
                if not any(one.node == node and one.answered >= since and one.asked <= until for node, since, until in self._forgiven)]

    def changes(self) -> list[Change]:
        found = []
        for line in (self.folder / "changes.json").read_text(encoding="utf-8").splitlines():
            for event in json.loads(line).get("Events") or []:
                key = base64.b64decode(event["kv"]["key"])
                value = None if event.get("type") else base64.b64decode(event["kv"].get("value", ""))
                found.append(Change(event["kv"]["mod_revision"], key.decode(), value))
        return found

    def writes(self, nodes: list[str]) -> list[Write]:
        """That changed something, in the order in which they were done."""
        found = []
        for node in nodes:
            for event in self.cluster.writes_of(node):
                about = event["objectRef"]
                code = event["responseStatus"]["code"]
                if about["resource"] != "configmaps" or about.get("namespace") != "default" or 300 <= code < 500:
                    continue
                schema = revision = None
                if code >= 500:
                    schema = UNCLEAR
                elif event["verb"] != "delete":
                    answer = event["responseObject"]
                    schema, revision = schema_in(json.dumps(answer["data"]).encode()), int(answer["metadata"]["resourceVersion"])
                found.append(Write(_moment(event["requestReceivedTimestamp"]), _moment(event["stageTimestamp"]), node, about["name"], schema,
                                   revision))
        return sorted(found, key=lambda write: write.done)


def judge(recorder: Recorder, nodes: list[str]) -> dict[str, int]:
    """Raises AssertionError at the first thing that is not as it should be; returns how much was looked at."""
    changes = recorder.changes()
    objects = [change for change in changes if change.key.startswith(OBJECTS.decode()) and not change.key.endswith("/kube-root-ca.crt")]
    _no_write_without_its_status(recorder, changes)
    writes = recorder.writes(nodes)
    _all_changes_are_the_agents(objects, writes)
    _leaders_write_one_after_the_other(recorder, changes, writes)
    return {"changes": len(objects), "writes": len(writes), "served": _nobody_serves_on_what_does_not_fit(recorder, writes)}


def _no_write_without_its_status(recorder: Recorder, changes: list[Change]) -> None:
    """Each object that is changed fits the gate's status of that revision, and the status is closed to those who cannot read it."""
    status_key = f"/wardmote/{recorder.store}/gate/k8s/state/status"
    status = None
    for change in changes:
        if change.key == status_key:
            status = read_status(change.value) if change.value else None
        elif change.key.startswith(OBJECTS.decode()) and change.value is not None and b"of-schema-" in change.value:
            schema = int(schema_in(change.value))
            if status is None:
                continue  # the first pass: nobody serves until it is done
            state, version, minimum = status
            # While a leader works, the status promises no more than the older of both releases.
            fits = version[0] == schema if state == DONE else version[0] <= schema
            assert fits and minimum[0] >= (2 if schema == 2 else 0), f"{change.key} got schema {schema} at {change.revision}, under {status}"


def _all_changes_are_the_agents(objects: list[Change], writes: list[Write]) -> None:
    known = {(write.name, write.revision) for write in writes}
    unclear = {write.name for write in writes if write.schema == UNCLEAR}
    for change in objects:
        if change.value is not None:
            name = change.key.rsplit("/", 1)[1]
            assert (name, change.revision) in known or name in unclear, f"{name} was changed at {change.revision} by nobody who is known"


def _leaders_write_one_after_the_other(recorder: Recorder, changes: list[Change], writes: list[Write]) -> None:
    """The token of a write is the revision at which its writer had last stood in the election."""
    stood: dict[str, list[int]] = {}
    prefix = f"/wardmote/{recorder.store}/gate/k8s/state/leader/"
    for change in changes:
        if change.key.startswith(prefix) and change.value is not None:
            stood.setdefault(change.value.decode(), []).append(change.revision)
    seen = {change.revision for change in changes}
    highest = 0
    for write in sorted((one for one in writes if one.revision in seen), key=lambda one: one.revision or 0):
        token = max(at for at in stood[write.node] if at < (write.revision or 0))
        assert token >= highest, f"{write.node} wrote {write.name} at {write.revision} with token {token}, after somebody with {highest}"
        highest = token


def _nobody_serves_on_what_does_not_fit(recorder: Recorder, writes: list[Write]) -> int:
    """A node of release 1 cannot read schema 2. Of each answer only what certainly held while it was given counts."""
    names = {write.name for write in writes}
    looked = 0
    for answer in recorder.answers():
        if answer.release != "1.0.0" or not answer.ready:
            continue
        looked += 1
        for name in names:
            mine = [write for write in writes if write.name == name]
            before = [write for write in mine if write.done < answer.asked]
            under_way = [write for write in mine if write.done >= answer.asked and write.begun <= answer.answered]
            if before and not under_way:
                last = max(before, key=lambda write: write.done)
                assert last.schema != "2", f"{answer.node} of 1.0.0 said at {answer.answered} that it serves, on {last}"
    return looked
