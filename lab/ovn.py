"""One raft cluster of ovsdb-servers, each member on a host of its own."""

import signal
from dataclasses import asdict, dataclass
from pathlib import Path

from lab import wire
from lab.network import Network, run
from lab.packages import Tools
from lab.pki import Authority, Papers
from lab.processes import Process, start, wait_until
from lab.wire import RaftView, WireError


@dataclass(frozen=True)
class Database:
    short: str
    name: str
    schema: str
    raft_port: int
    ovsdb_port: int


DATABASES = {
    "nb": Database("nb", "OVN_Northbound", "ovn-nb.ovsschema", 6643, 6641),
    "sb": Database("sb", "OVN_Southbound", "ovn-sb.ovsschema", 6644, 6642),
}
# Enough for the lab's rows, small enough to fill at once; the memory is only used when written.
DISK = "8m"


@dataclass
class Member:
    number: int
    host: int
    process: Process | None = None
    delayer: Process | None = None
    nuisance: Process | None = None

    @property
    def name(self) -> str:
        return f"ctl-{self.number}"


class Cluster:
    """Members are numbered from 1; their sockets stay the same whatever happens to the server behind them.

    What is done to a server is done when a call returns; what the cluster makes of it takes its time.
    """

    def __init__(self, database: Database, network: Network, tools: Tools, folder: Path, sockets: Path, tls: bool = False):
        self.database, self.network, self.tools = database, network, tools
        self.authority = Authority(folder / "pki") if tls else None  # then raft and OVSDB go over ssl:
        self._folder, self._sockets = folder, sockets
        self.members: dict[int, Member] = {}
        self.expected: list[str] = []
        self.past_mending = False  # something was done that cannot be undone in place

    # Where things are.

    def control(self, number: int) -> str:
        return f"{self._sockets}/{self.database.short}-{number}.ctl"

    def socket(self, number: int) -> str:
        return f"{self._sockets}/{self.database.short}-{number}.sock"

    def address(self, number: int) -> str:
        """The raft address at which the member is meant to be."""
        return f"{self.scheme}:{self.network.address(self.members[number].host)}:{self.database.raft_port}"

    def ovsdb(self, number: int) -> str:
        """Where the member serves its database to other hosts."""
        return f"{self.scheme}:{self.network.address(self.members[number].host)}:{self.database.ovsdb_port}"

    @property
    def scheme(self) -> str:
        return "ssl" if self.authority else "tcp"

    def papers(self, number: int) -> Papers:
        """The certificate of the member's server; the same at every call."""
        name = f"{self.database.short}-{number}"
        made = Papers(self.authority.certificate, self.authority.folder / f"{name}-cert.pem", self.authority.folder / f"{name}-key.pem")
        return made if made.certificate.exists() else self.authority.issue(name)

    def disk(self, number: int) -> Path:
        return self._folder / "disk" / f"{self.database.short}-{number}"

    def file(self, number: int) -> Path:
        return self.disk(number) / f"{self.database.short}.db"

    def log(self, number: int) -> Path:
        return self._folder / f"{self.database.short}-{number}.log"

    # What is true.

    def view(self, number: int, timeout: float = 1.0) -> RaftView:
        return wire.raft_view(self.control(number), self.database.name, timeout)

    def row(self, number: int) -> dict | None:
        return wire.server_row(self.socket(number), self.database.name)

    def views(self) -> dict[int, RaftView]:
        """Of the members that answer."""
        found = {}
        for number in self.members:
            try:
                found[number] = self.view(number, timeout=0.3)
            except WireError:
                continue
        return found

    def leader(self) -> int:
        """The leader in the highest term of the cluster that most members are in; waits for one."""

        def leads() -> int | None:
            views = self.views()
            identities = [view.cluster_id for view in views.values()]
            terms = [(identities.count(view.cluster_id), view.term, number) for number, view in views.items()
                     if view.role == "leader" and view.status == "cluster member"]
            return max(terms)[2] if terms else None

        return wait_until(leads, 15.0, f"a leader of {self.database.short}")

    def followers(self) -> list[int]:
        leader = self.leader()
        return [number for number in self.members if number != leader]

    def others(self, number: int) -> list[int]:
        return [other for other in self.members if other != number]

    def cluster_id(self) -> str:
        """As those who answer say."""
        return next(iter(wait_until(self.views, 15.0, f"an answer of {self.database.short}").values())).cluster_id

    def healthy(self) -> bool:
        """Every member is connected, in one term, with one leader, and all list all."""
        views = self.views()
        if len(views) != len(self.members) or len({(view.term, view.cluster_id) for view in views.values()}) != 1:
            return False
        leads = [view for view in views.values() if view.role == "leader"]
        whole = all(view.status == "cluster member" and view.leader != "unknown" and len(view.servers) == len(self.members)
                    for view in views.values())
        return len(leads) == 1 and whole

    def wait_healthy(self, seconds: float = 30.0) -> None:
        wait_until(self.healthy, seconds, f"a healthy {self.database.short} cluster", every=0.05)

    # Servers.

    def create(self, members: int) -> None:
        for number in range(1, members + 1):
            self.members[number] = Member(number, host=number)
        self.expected = [self.address(number) for number in self.members]
        self.found(1)
        self.start(1)
        for number in range(2, members + 1):
            self.join(number, [self.address(1)])
            self.start(number)

    def add(self, remotes: list[str] | None = None) -> int:
        """Starts one more member on the next host; with `remotes` it tries to join through those."""
        number = max(self.members) + 1
        remotes = remotes or [self.address(other) for other in self.members]
        self.members[number] = Member(number, 1 + max(member.host for member in self.members.values()))
        self.join(number, remotes)
        self.start(number)
        return number

    def add_at(self, address: str) -> int:
        """Starts one more member on the next host, which joins with this address; whose it is."""
        number = max(self.members) + 1
        remotes = [self.address(other) for other in self.members if self.address(other) != address]
        self.members[number] = Member(number, 1 + max(member.host for member in self.members.values()))
        self.join(number, remotes, address)
        self.start(number)
        self.wait_member(number)
        return number

    def found(self, number: int) -> None:
        """Gives the member the database of a new cluster."""
        self._make_disk(number)
        self.tool("create-cluster", str(self.file(number)), self.tools.schema(self.database.schema), self.address(number))

    def join(self, number: int, remotes: list[str], address: str | None = None) -> None:
        """Gives the member a database that joins the cluster when it starts; `address`: not with its own."""
        self._make_disk(number)
        # Without --cid a server joins whatever cluster answers at the remote.
        self.tool(f"--cid={self.cluster_id()}", "join-cluster", str(self.file(number)), self.database.name,
                  address or self.address(number), *remotes)

    def start(self, number: int) -> None:
        self.launch(number, str(self.file(number)))

    def start_out_of_sight(self, number: int, sockets: Path) -> None:
        """Its sockets are in another folder than the one where everybody looks for them."""
        usual, self._sockets = self._sockets, sockets
        try:
            self.start(number)
        finally:
            self._sockets = usual

    def launch(self, number: int, database: str) -> None:
        """Starts a server on this database, a file or a relay's source, behind the member's sockets."""
        member = self.members[number]
        for path in (self.control(number), self.socket(number)):
            Path(path).unlink(missing_ok=True)
        port = f"p{self.scheme}:{self.database.ovsdb_port}:{self.network.address(member.host)}"
        argv = [self.tools.server, "--no-chdir", "-vconsole:off", f"--log-file={self.log(number)}",
                f"--unixctl={self.control(number)}", f"--remote=punix:{self.socket(number)}", f"--remote={port}"]
        if self.authority:
            papers = self.papers(number)
            argv += [f"--private-key={papers.key}", f"--certificate={papers.certificate}", f"--ca-cert={papers.ca}"]
        argv.append(database)
        member.process = start(self.network.inside(member.host, *argv), self.tools.environment(), self.log(number))

        def answers() -> bool:
            try:
                return bool(wire.control(self.control(number), "version", timeout=0.5))
            except WireError:
                if not member.process.alive():
                    raise WireError(f"ovsdb-server of {member.name} ended at once; see {self.log(number)}") from None
                return False

        wait_until(answers, 10.0, f"{member.name} to answer")

    def wait_member(self, number: int) -> None:
        def joined() -> bool:
            try:
                return self.view(number).status == "cluster member"
            except WireError:
                return False

        wait_until(joined, 15.0, f"{self.members[number].name} to join")

    def kill(self, number: int) -> None:
        """kill -9."""
        process = self.members[number].process
        if process is not None:
            process.kill()

    def pause(self, number: int) -> None:
        self.members[number].process.send(signal.SIGSTOP)

    def resume(self, number: int) -> None:
        self.members[number].process.send(signal.SIGCONT)

    def write(self, number: int, size: int) -> None:
        """Commits one row with about `size` bytes."""
        table = {"nb": "NB_Global", "sb": "SB_Global"}[self.database.short]
        wire.transact(self.socket(number), self.database.name, {"op": "delete", "table": table, "where": []},
                      {"op": "insert", "table": table, "row": {"options": ["map", [["lab", "x" * size]]]}}, timeout=1.0)

    def tool(self, *arguments: str) -> str:
        """ovsdb-tool."""
        return run(self.tools.tool, *arguments, environment=self.tools.environment())

    # Kept between two commands, and told to the agent.

    def to_state(self) -> dict:
        return {"expected": self.expected, "past_mending": self.past_mending,
                "members": [asdict(member) for member in self.members.values()]}

    def from_state(self, state: dict) -> None:
        self.expected = state.get("expected", [])
        self.past_mending = state.get("past_mending", False)
        for row in state.get("members", []):
            processes = [Process(**row[key]) if row.get(key) else None for key in ("process", "delayer", "nuisance")]
            self.members[row["number"]] = Member(row["number"], row["host"], *processes)

    def config_lines(self) -> list[str]:
        """This cluster in the agent's configuration."""
        lines = [f"  - name: ovn-{self.database.short}", "    ovn:", f"      database: {self.database.name}", "      members:"]
        for number, member in self.members.items():
            lines.append(f'        - {{name: {member.name}, control: "{self.control(number)}", ovsdb: "unix:{self.socket(number)}"}}')
        addresses = ", ".join(f'"{address}"' for address in self.expected)
        return [*lines, f"      expect: [{addresses}]", "    every: 1s", "    timeout: 900ms"]

    def _make_disk(self, number: int) -> None:
        disk = self.disk(number)
        if not disk.is_mount():
            disk.mkdir(parents=True, exist_ok=True)
            run("mount", "-t", "tmpfs", "-o", f"size={DISK}", "wardmote-lab", str(disk))
