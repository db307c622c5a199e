"""Nodes with OVN databases in active/backup mode and a wardmoted each, on hosts of their own; an etcd on a fourth host and a client on a
fifth."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab import wire
from lab.etcd import ENVIRONMENT
from lab.network import Network, run
from lab.packages import Tools, unpack
from lab.peers import ETCD_PACKAGES
from lab.pki import Authority, Papers
from lab.processes import Process, start, wait_until
from tools.agent import Agent

DATABASES = {"nb": ("OVN_Northbound", "ovn-nb.ovsschema", 6641), "sb": ("OVN_Southbound", "ovn-sb.ovsschema", 6642)}
NOBODY = "192.0.2.254"
NAME = "ovn"


class StandaloneNode:
    def __init__(self, number: int, site: "StandaloneSite"):
        self.number, self.site = number, site
        self.agent: Agent | None = None

    @property
    def name(self) -> str:
        return f"n{self.number}"

    @property
    def folder(self) -> Path:
        return self.site.folder / self.name

    def path(self, name: str) -> str:
        return str(self.folder / name)

    # The servers, as a unit file would start them: as backups of nobody.

    def start_server(self, short: str) -> None:
        database, _, port = DATABASES[short]
        tools = self.site.tools
        with contextlib.suppress(OSError):
            os.unlink(self.path(f"{short}.ctl"))
        argv = [str(tools.root / "usr/sbin/ovsdb-server"), "-vconsole:warn", f"--pidfile={self.path(f'{short}.pid')}",
                f"--remote=punix:{self.path(f'{short}.sock')}", f"--unixctl={self.path(f'{short}.ctl')}",
                *self.site.remotes(self, port), f"--sync-from=tcp:{NOBODY}:{port}", self.path(f"{short}.db")]
        start(self.site.network.inside(self.number, *argv), tools.environment(), self.folder / f"{short}.log")
        wait_until(lambda: self.role(short), 20, f"{self.name}: {database} to answer")

    def create(self) -> None:
        self.folder.mkdir()
        for short in DATABASES:
            self.create_database(short)
            self.start_server(short)

    def create_database(self, short: str) -> None:
        tools = self.site.tools
        schema = str(tools.root / "usr/share/ovn" / DATABASES[short][1])
        run(str(tools.root / "usr/bin/ovsdb-tool"), "create", self.path(f"{short}.db"), schema, environment=tools.environment())

    def server(self, short: str) -> Process:
        return Process.of(int(Path(self.path(f"{short}.pid")).read_text(encoding="utf-8")))

    def role(self, short: str) -> str:
        """`active`, or the source of a backup; empty: no answer."""
        try:
            text = wire.control(self.path(f"{short}.ctl"), "ovsdb-server/sync-status", timeout=1.0)
        except (wire.WireError, OSError):
            return ""
        lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        return "active" if lines["state"] == "active" else lines.get("replicating", "~" + lines.get("connecting", ""))

    def roles(self) -> tuple[str, str]:
        return self.role("nb"), self.role("sb")

    def follows(self, other: "StandaloneNode") -> bool:
        at = self.site.network.address(other.number)
        return self.roles() == (f"{self.site.scheme}:{at}:6641", f"{self.site.scheme}:{at}:6642")

    def has_address(self) -> bool:
        return f" {self.site.address}/" in run("ip", "-n", self.site.network.namespace(self.number), "-o", "addr", "show", "dev", "eth0")

    def serves(self) -> bool:
        """It is writable, and has the address."""
        return self.has_address() and self.roles() == ("active", "active")

    def rows(self) -> set[str]:
        select = {"op": "select", "table": "Address_Set", "where": [], "columns": ["name"]}
        return {row["name"] for row in wire.transact(self.path("nb.sock"), "OVN_Northbound", select)[0]["rows"]}

    # The agent.

    def start_agent(self, **keys: str) -> None:
        (self.folder / "data").mkdir(exist_ok=True)
        config = self.folder / "wardmote.yaml"
        own = self.site.network.address(self.number)

        def database(short: str) -> str:
            port = DATABASES[short][2]
            return (f"{{source: '{self.site.scheme}:{own}:{port}', control: {self.path(f'{short}.ctl')}, socket: {self.path(f'{short}.sock')}, "
                    f"pid: {self.path(f'{short}.pid')}, file: {self.path(f'{short}.db')}}}")

        papers = self.site.papers(self)
        if papers:
            keys = {"tls": f"{{ca: {papers.ca}, certificate: {papers.certificate}, key: {papers.key}}}", **keys}
        more = "".join(f"    {key}: {value}\n" for key, value in {"mode": "act", "interface": "eth0", **keys}.items())
        config.write_text(f"""node: {{name: {self.name}}}
api: {{socket: {self.path("api.sock")}}}
data: {self.path("data")}
store: {{etcd: {{endpoints: ['{self.site.etcd_address}']}}, name: ha}}
failover:
  - name: {NAME}
    members: [{", ".join(node.name for node in self.site.nodes)}]
    nb: {database("nb")}
    sb: {database("sb")}
    address: {self.site.address}/{self.site.prefix}
{more}""", encoding="utf-8")
        self.agent = Agent(config, Path(self.path("api.sock")), self.site.network.inside(self.number))
        self.agent.wait_serving()

    def pair(self) -> dict:
        return self.agent.json(f"/api/v1/failover/{NAME}")

    def heirs(self) -> set[str]:
        """Who follows the active node, as this node has heard."""
        return {one["name"] for one in self.pair()["members"] if one["nb"] == one["sb"] == "following"}

    def order(self, word: str, **body) -> int:
        return self.agent.order("POST", f"/api/v1/failover/{NAME}/{word}", json.dumps(body))[0]

    def kill_agent(self) -> None:
        self.agent.process.kill()
        self.agent.process.wait()

    def processes(self) -> list[Process]:
        pids = run("ip", "netns", "pids", self.site.network.namespace(self.number)).split()
        return [Process.of(int(pid)) for pid in pids]

    def stop_all(self) -> None:
        for process in self.processes():
            process.send(signal.SIGSTOP)

    def resume_all(self) -> None:
        for process in self.processes():
            process.send(signal.SIGCONT)


class Writer:
    """Writes a row through the address every 50 ms, from the client's host."""

    def __init__(self, site: "StandaloneSite", tag: str):
        self.stop_file = site.folder / f"stop-{tag}"
        script = str(Path(__file__).with_name("row_writer.py"))
        self.process = subprocess.Popen(site.network.inside(5, sys.executable, script, site.address, "6641", tag, str(self.stop_file)),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def end(self) -> dict:
        self.stop_file.touch()
        out, _ = self.process.communicate(timeout=120)
        return json.loads(out)


class StandaloneSite:
    def __init__(self, key: str, tools: Tools, etcd: Path, nodes: int = 3, six: bool = False, ssl: bool = False):
        """`six`: the address that moves is of IPv6. `ssl`: the nodes copy from each other by TLS, with certificates of both sides."""
        self.tools, self.etcd, self.ssl = tools, etcd, ssl
        self.folder = Path(tempfile.mkdtemp(prefix="wm-sa-"))
        self._authority = Authority(self.folder / "tls") if ssl else None
        self._papers: dict[str, Papers] = {}
        self.network = Network(f"sa-{key}", "10.79.2", 5)
        self.address, self.prefix = ("fd79::100", 64) if six else ("10.79.2.100", 24)
        self.etcd_address = f"{self.network.address(4)}:2379"
        self.nodes = [StandaloneNode(number, self) for number in range(1, nodes + 1)]

    def __enter__(self) -> "StandaloneSite":
        try:
            unpack(self.etcd, ETCD_PACKAGES)
            self.network.up()
            run("ip", "-n", self.network.namespace(5), "addr", "add", "fd79::5/64", "dev", "eth0", "nodad")
            self.start_etcd()
            for node in self.nodes:
                node.create()
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def scheme(self) -> str:
        return "ssl" if self.ssl else "tcp"

    def papers(self, node: StandaloneNode) -> Papers | None:
        if not self.ssl:
            return None
        if node.name not in self._papers:
            self._papers[node.name] = self._authority.issue(node.name)
        return self._papers[node.name]

    def remotes(self, node: StandaloneNode, port: int) -> list[str]:
        papers = self.papers(node)
        if not papers:
            return [f"--remote=ptcp:{port}:[::]"]
        return [f"--remote=pssl:{port}:0.0.0.0", f"--private-key={papers.key}", f"--certificate={papers.certificate}", f"--ca-cert={papers.ca}"]

    def start_etcd(self) -> None:
        own, peer = f"http://{self.etcd_address}", "http://127.0.0.1:2380"
        argv = [str(self.etcd / "usr/bin/etcd"), "--name", "m", "--data-dir", str(self.folder / "etcd"), "--listen-client-urls", own,
                "--advertise-client-urls", own, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
                f"m={peer}", "--logger=zap", "--log-outputs=stderr", "--log-level=warn"]
        self.etcd_process = start(self.network.inside(4, *argv), ENVIRONMENT, self.folder / "etcd.log")

    def put(self, key: str, value: str) -> None:
        """Into etcd, past the agents; below the name of their store."""
        etcdctl = self.network.inside(4, str(self.etcd / "usr/bin/etcdctl"), f"--endpoints={self.etcd_address}", "put", f"/wardmote/ha/{key}", value)
        run(*etcdctl, environment=ENVIRONMENT)

    def __exit__(self, *_) -> None:
        for node in self.nodes:
            if node.agent and node.agent.process.poll() is None:
                node.agent.process.send_signal(signal.SIGCONT)
                node.kill_agent()
        self.network.down()
        shutil.rmtree(self.folder, ignore_errors=True)

    def active(self) -> StandaloneNode | None:
        return next((node for node in self.nodes if node.serves()), None)

    def wait_active(self, seconds: float = 30.0, other_than: StandaloneNode | None = None) -> StandaloneNode:
        def found():
            node = self.active()
            return node if node is not other_than else None

        def story() -> str:
            places = "; ".join(f"{node.name} {node.roles()}{' address' if node.has_address() else ''}" for node in self.nodes)
            return places + "".join(f"\n{node.name}: {node.agent.cli('failover', 'explain', NAME).stdout}" for node in self.nodes) + json.dumps([node.pair() for node in self.nodes[:1]])

        try:
            return wait_until(found, seconds, "a node to be active", every=0.05)
        except TimeoutError:
            raise TimeoutError(f"nobody is active: {story()}") from None

    def wait_follow(self, active: StandaloneNode, *nodes: StandaloneNode, seconds: float = 30.0) -> None:
        """And until the active node has heard of it: it hands over to nobody else."""
        for node in nodes:
            wait_until(lambda node=node: node.follows(active), seconds, f"{node.name} to follow {active.name}", every=0.05)
            wait_until(lambda node=node: node.name in active.heirs(), seconds, f"{active.name} to hear that {node.name} follows", every=0.05)

    def others(self, *nodes: StandaloneNode) -> list[StandaloneNode]:
        return [node for node in self.nodes if node not in nodes]


class SplitWatch:
    """Looks all the time whether two nodes have the address; `stop()` returns when that was."""

    def __init__(self, site: StandaloneSite):
        import threading
        self.site, self.found, self._end = site, [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._end.is_set():
            holders = [node for node in self.site.nodes if node.has_address()]
            # One after the other was asked, and the address may have moved meanwhile: the first must have it still.
            if len(holders) > 1 and holders[0].has_address():
                self.found.append((time.monotonic(), [node.name for node in holders]))
            time.sleep(0.05)

    def stop(self) -> list:
        self._end.set()
        self._thread.join()
        return self.found
