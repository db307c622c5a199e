"""A version gate in a real etcd, written and read by Metropolis's field numbers alone: nothing of our own code makes or reads a record."""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from lab.etcd import ENVIRONMENT, EtcdCluster
from lab.processes import wait_until
from tools.agent import Agent, programs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "data/metropolis"))
from make_records import data, number, release  # noqa: E402

DONE, WORKING = 1, 2


def status_record(version: tuple, minimum: tuple, state: int = DONE) -> bytes:
    return number(1, state) + data(2, data(1, release(*version))) + data(3, release(*minimum))


def node_record(name: str, version: tuple, boot: bytes = b"") -> bytes:
    """As Metropolis's curator writes it, with fields that the gate does not know."""
    status = data(1, b"203.0.113.7") + data(2, number(1, 1_732_000_000)) + data(4, data(1, release(*version)))
    if boot:
        status += data(5, boot)
    return data(1, b"public key") + data(4, data(2, b"") + data(3, b"")) + data(5, status) + data(10, name.encode())


def fields(record: bytes) -> dict[int, object]:
    """The fields of a message; of a number that comes twice the last."""
    found: dict[int, object] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = record[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(record):
        key = varint()
        if key & 7 == 0:
            found[key >> 3] = varint()
        else:
            assert key & 7 == 2, key
            length = varint()
            found[key >> 3] = record[at:at + length]
            at += length
    return found


def release_in(record: bytes) -> tuple:
    found = fields(record)
    return tuple(found.get(part, 0) for part in (1, 2, 3))


def read_status(record: bytes) -> tuple:
    """state, version, minimum"""
    found = fields(record)
    return found[1], release_in(fields(found[2]).get(1, b"")), release_in(found[3])


class GateKeys:
    def __init__(self, etcd: EtcdCluster, state: str, nodes: str):
        self.etcd, self.state, self.nodes = etcd, state, nodes

    def put(self, key: str, value: bytes) -> None:
        # An empty value is not taken from standard input.
        done = subprocess.run(self.etcd.argv("put", key, *([] if value else [""])), env=ENVIRONMENT, input=value, capture_output=True, timeout=30, check=False)
        assert done.returncode == 0, done

    def get(self, key: str) -> bytes | None:
        found = json.loads(self.etcd.ctl("get", "-w", "json", key)).get("kvs")
        return base64.b64decode(found[0].get("value", "")) if found else None

    def delete(self, *arguments: str) -> None:
        self.etcd.ctl("del", *arguments)

    def put_status(self, version: tuple, minimum: tuple, state: int = DONE) -> None:
        self.put(self.state + "status", status_record(version, minimum, state))

    def status(self) -> tuple | None:
        """state, version, minimum"""
        record = self.get(self.state + "status")
        return None if record is None else read_status(record)

    def node_release(self, name: str) -> tuple | None:
        record = self.get(self.nodes + name)
        if record is None:
            return None
        found = fields(record)
        assert 3 in fields(found[4]), "it has the role"
        return release_in(fields(fields(found[5])[4])[1])


class Waiter:
    """A `wardmote wait-ready` that runs."""

    def __init__(self, folder: Path, *arguments: str):
        self.out = folder / f"wait-{len(list(folder.glob('wait-*')))}.log"
        with self.out.open("wb") as out:
            self.process = subprocess.Popen([str(programs() / "wardmote"), "wait-ready", *arguments], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT)

    def text(self) -> str:
        return self.out.read_text()

    def wait_for(self, text: str, seconds: float = 15.0) -> None:
        try:
            wait_until(lambda: text in self.text(), seconds, text, every=0.05)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it says: {self.text()}") from None

    def ended(self, seconds: float = 15.0) -> int:
        return self.process.wait(seconds)

    def __enter__(self) -> "Waiter":
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


# Writes a line at the beginning and one at the end. It refuses a token that is lower than one it has seen, as a target should.
APPLY = """
import fcntl, json, sys, time
folder, takes = sys.argv[1], float(sys.argv[2])
order = json.loads(sys.stdin.readline())
what = f"{order['node']} {order['release']} {order['token']}"
def note(line):
    with open(folder + "/objects.log", "a+") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        seen = [int(one.split()[3]) for one in log.read().splitlines()]
        if seen and max(seen) > order["token"]:
            sys.exit("an old token")
        log.write(line + " " + what + "\\n")
note("begin")
time.sleep(takes)
note("end")
"""


class GateAgent(Agent):
    def gate(self) -> dict:
        return self.json("/api/v1/version-gates/k8s")

    def leads(self) -> bool:
        leader = self.gate()["leader"]
        return bool(leader) and leader["name"] == self.gate()["node"]


class GateSite:
    """Agents at the gate `k8s` of one etcd; each may be restarted with another release."""

    def __init__(self, folder: Path, etcd: EtcdCluster, takes: float = 0.2, ttl: int = 2, store: str = ""):
        """`store`: more keys of `store.etcd`, where {name} is the agent's."""
        self.folder, self.etcd, self.takes, self.ttl, self.store = folder, etcd, takes, ttl, store
        self.keys = GateKeys(etcd, "/wardmote/prod/gate/k8s/state/", "/wardmote/prod/gate/k8s/nodes/")
        self.agents: dict[str, GateAgent] = {}
        (folder / "apply.py").write_text(APPLY)

    def __enter__(self) -> "GateSite":
        return self

    def __exit__(self, *_) -> None:
        for agent in self.agents.values():
            if agent.process.poll() is None:
                os.kill(agent.process.pid, signal.SIGCONT)
                agent.stop()

    def __getitem__(self, name: str) -> GateAgent:
        return self.agents[name]

    def start(self, name: str, release: str, needs: str = "0.0.0", mode: str = "act", inside: list[str] | None = None) -> GateAgent:
        """`needs`: of which release all nodes must be for what it writes. `inside` begins the command line."""
        folder = self.folder / name
        (folder / "data").mkdir(parents=True, exist_ok=True)
        config = folder / "wardmote.yaml"
        endpoints = ", ".join(f"'{at}'" for at in self.etcd.endpoints)
        config.write_text(f"""node: {{name: {name}}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
store: {{etcd: {{endpoints: [{endpoints}]{self.store.replace("{name}", name)}}}, name: prod, ttl: {self.ttl}s}}
version_gates:
  - name: k8s
    release: {release}
    min_apiserver_release: {needs}
    ttl: {self.ttl}s
    reconcile:
      mode: {mode}
      command: [/usr/bin/python3, {self.folder}/apply.py, {self.folder}, '{self.takes}']
      every: 1s
      wait: {self.ttl * 750}ms
      write_deadline: 100ms
""")
        agent = GateAgent(config, folder / "api.sock", inside)
        self.agents[name] = agent
        agent.wait_serving()
        return agent

    def restart(self, name: str, release: str, needs: str = "0.0.0") -> GateAgent:
        self.agents[name].stop()
        return self.start(name, release, needs)

    def written(self) -> list[tuple[str, str, str, int]]:
        """begin or end, node, release, token: in the order in which it happened."""
        log = self.folder / "objects.log"
        if not log.exists():
            return []
        return [(what, node, of, int(token)) for what, node, of, token in (line.split() for line in log.read_text().splitlines())]

    def statuses(self) -> list[tuple | None]:
        """Every status that ever was, from etcd's history."""
        watch = subprocess.Popen(self.etcd.argv("watch", "--rev=1", "-w", "json", self.keys.state + "status"), env=ENVIRONMENT,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            out, _ = watch.communicate(timeout=1.5)
        except subprocess.TimeoutExpired:
            watch.kill()
            out, _ = watch.communicate()
        found: list[tuple | None] = []
        for line in out.splitlines():
            for event in json.loads(line).get("Events") or []:
                record = base64.b64decode(event["kv"].get("value", ""))
                found.append(read_status(record) if record else None)
        return found
