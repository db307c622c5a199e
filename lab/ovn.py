"""One raft cluster of ovsdb-servers, each member on a host of its own, and what can go wrong with it."""

import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lab import wire
from lab.network import Network, run
from lab.packages import Tools
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
RELAY_PORT_OFFSET = 10000
# Enough for the lab's rows, small enough to fill at once; the memory is only used when written.
DISK = "8m"


@dataclass
class Member:
    number: int
    host: int
    process: Process | None = None
    delayer: Process | None = None

    @property
    def name(self) -> str:
        return f"ctl-{self.number}"


class Cluster:
    """Members are numbered from 1; their sockets stay the same whatever happens to the server behind them."""

    def __init__(self, database: Database, network: Network, tools: Tools, folder: Path, sockets: Path):
        self.database, self.network, self.tools = database, network, tools
        self._folder, self._sockets = folder, sockets
        self.members: dict[int, Member] = {}
        self.expected: list[str] = []
        self.past_mending = False

    # What is there.

    def control(self, number: int) -> str:
        return f"{self._sockets}/{self.database.short}-{number}.ctl"

    def socket(self, number: int) -> str:
        return f"{self._sockets}/{self.database.short}-{number}.sock"

    def address(self, number: int) -> str:
        """The raft address at which the member is meant to be."""
        return f"tcp:{self.network.address(self.members[number].host)}:{self.database.raft_port}"

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
        """The leader in the highest term; waits for one."""
        return wait_until(self._leader_now, 15.0, f"a leader of {self.database.short}")

    def followers(self) -> list[int]:
        leader = self.leader()
        return [number for number in self.members if number != leader]

    def wait_healthy(self, seconds: float = 30.0) -> None:
        """Every member is connected, in one term, with one leader, and all list all."""
        wait_until(self.healthy, seconds, f"a healthy {self.database.short} cluster", every=0.05)

    def healthy(self) -> bool:
        views = self.views()
        if len(views) != len(self.members) or len({(view.term, view.cluster_id) for view in views.values()}) != 1:
            return False
        leads = [view for view in views.values() if view.role == "leader"]
        whole = all(view.status == "cluster member" and view.leader != "unknown" and len(view.servers) == len(self.members)
                    for view in views.values())
        return len(leads) == 1 and whole

    # Up.

    def create(self, members: int) -> None:
        for number in range(1, members + 1):
            self.members[number] = Member(number, host=number)
        self.expected = [self.address(number) for number in self.members]
        self._create_database(1)
        self.start(1)
        for number in range(2, members + 1):
            self._join_database(number, [1], self._cluster_id(1))
            self.start(number)

    def add(self, host: int | None = None, remotes: list[str] | None = None) -> int:
        """Starts one more member; with `remotes` it tries to join through those."""
        number = max(self.members) + 1
        known = list(self.members)
        self.members[number] = Member(number, host or number)
        identity = self._cluster_id_of_any()
        self._join_database(number, known, identity, remotes)
        self.start(number)
        return number

    def start(self, number: int) -> None:
        self._launch(number, str(self._file(number)))

    # Broken, and mended. Each returns when it is done to the servers; what they make of it takes its time.

    def kill(self, number: int) -> None:
        process = self.members[number].process
        if process is not None:
            process.kill()

    def pause(self, number: int) -> None:
        self.members[number].process.send(signal.SIGSTOP)

    def resume(self, number: int) -> None:
        self.members[number].process.send(signal.SIGCONT)

    def partition(self, number: int) -> None:
        """No raft packet passes, either way; the local sockets still answer."""
        self.network.drop(self.members[number].host, self.database.raft_port, outbound=True)

    def block_inbound(self, number: int) -> None:
        """A firewall in front of the member's raft port: others cannot reach it, it reaches others."""
        self.network.drop(self.members[number].host, self.database.raft_port, outbound=False)

    def lose(self, number: int, percent: float) -> None:
        self.network.lose(self.members[number].host, percent)

    def delay(self, number: int, milliseconds: float) -> None:
        """Connections to the member's raft port pass a relay that delays them."""
        host, port = self.members[number].host, self.database.raft_port
        listen = f"{self.network.address(host)}:{port + RELAY_PORT_OFFSET}"
        relay = [sys.executable, str(Path(__file__).with_name("relay.py")), "--delay-ms", str(milliseconds),
                 "--listen", listen, "--to", f"{self.network.address(host)}:{port}"]
        self._end_delayer(number)
        self.members[number].delayer = start(self.network.inside(host, *relay), self.tools.environment(), self._log(number))
        listening = self.network.inside(host, "ss", "-Htln", f"( sport = :{port + RELAY_PORT_OFFSET} )")
        wait_until(lambda: run(*listening), 10.0, "the relay to listen")
        self.network.redirect(host, port, port + RELAY_PORT_OFFSET)

    def heal(self, number: int) -> None:
        """Removes every fault of the network around the member."""
        self.network.heal(self.members[number].host)
        self._end_delayer(number)

    def wipe_and_rejoin(self, number: int) -> str:
        """The member loses its database and joins again at its address. Returns the id that became a ghost."""
        ghost = self.view(number).server_id
        identity = self._cluster_id(number)
        self.kill(number)
        self._file(number).unlink()
        self._join_database(number, [other for other in self.members if other != number], identity)
        self.start(number)
        self._wait_member(number)
        return ghost

    def replace(self, number: int, host: int) -> str:
        """The member's host is lost; a new server takes its place behind the same sockets, at another address."""
        dead = self.view(number).server_id
        identity = self._cluster_id(number)
        self.kill(number)
        self._file(number).unlink()
        self.members[number].host = host
        self._join_database(number, [other for other in self.members if other != number], identity)
        self.start(number)
        self._wait_member(number)
        return dead

    def add_slowly(self) -> int:
        """A new member whose line is so slow that the leader stays busy adding it."""
        leader = self.leader()
        for _ in range(20):
            self.write(leader, 65536)
        host = max(member.host for member in self.members.values()) + 1
        self.network.throttle(host, 20)
        number = self.add(host)
        wait_until(lambda: "(adding: catchup)" in self.view(leader).text, 10.0, "the leader to begin to add the member")
        return number

    def start_kick(self, number: int) -> str:
        """Orders the member's removal at the leader; returns the id that goes."""
        leader = self.leader()
        target = self._listed_id(leader, number)
        wire.control(self.control(leader), "cluster/kick", self.database.name, target)
        return target

    def kick(self, number: int) -> None:
        """Removes the member from the cluster; its server keeps running if it runs."""
        target = self.start_kick(number)

        def gone() -> bool:
            return all(target not in view.servers for other, view in self.views().items() if other != number)

        wait_until(gone, 10.0, f"{target} to leave the members' lists")

    def kick_slowly(self, number: int, seconds: float) -> None:
        """Another follower stands still meanwhile, so that the removal waits for it."""
        other = next(one for one in self.followers() if one != number)
        self.pause(other)
        try:
            self.start_kick(number)
            time.sleep(seconds)
        finally:
            self.resume(other)

    def kick_while_down(self, number: int) -> None:
        """The member is removed while it is down, and comes back on its old database."""
        self.kill(number)
        self.kick(number)
        self.start(number)

    def rebootstrap(self, number: int) -> None:
        """The member loses its database and founds a cluster of its own at its address."""
        self.kill(number)
        self._file(number).unlink()
        self._create_database(number)
        self.start(number)

    def standalone(self, number: int) -> None:
        """A server with a standalone database takes the member's place."""
        self.kill(number)
        file = self._file(number).with_suffix(".standalone")
        run_tool(self.tools, "create", str(file), self.tools.schema(self.database.schema))
        self._launch(number, str(file))

    def relay(self, number: int) -> None:
        """A relay of the other members takes the member's place."""
        self.kill(number)
        remotes = ",".join(f"tcp:{self.network.address(member.host)}:{self.database.ovsdb_port}"
                           for member in self.members.values() if member.number != number)
        self._launch(number, f"relay:{self.database.name}:{remotes}")

    def fill_disk(self, number: int) -> None:
        """Takes all free space of the member's disk, then writes until its server fails for want of room."""
        with open(self._disk(number) / "filler", "wb") as filler:
            try:
                while filler.write(b"\0" * 65536):
                    filler.flush()
            except OSError:
                pass

        def failed() -> bool:
            try:
                self.write(number, 4096)
            except WireError:
                pass
            return self.view(number).status == "failed"

        wait_until(failed, 10.0, "the server to fail for want of disk")

    def free_disk(self, number: int) -> None:
        """Also restarts the server if it is not running well."""
        (self._disk(number) / "filler").unlink(missing_ok=True)
        try:
            well = self.view(number).status != "failed"
        except WireError:
            well = False
        if not well:
            self.kill(number)
            self.start(number)

    def mend(self) -> bool:
        """Makes the cluster healthy. What cannot be undone in place is built anew, empty; then it returns true."""
        if not self.past_mending:
            for number, member in self.members.items():
                self.heal(number)
                self.resume(number)
                self.free_disk(number)
            try:
                self.wait_healthy(15.0)
                return False
            except TimeoutError:
                pass
        founders = len(self.expected)
        for number in list(self.members):
            self.heal(number)
            self.kill(number)
            for file in self._disk(number).iterdir():
                file.unlink()
        self.members.clear()
        self.create(founders)
        self.past_mending = False
        self.wait_healthy()
        return True

    def set_election_timer(self, milliseconds: int) -> None:
        """The servers allow at most a doubling in one step."""
        wire.control(self.control(self.leader()), "cluster/change-election-timer", self.database.name, str(milliseconds))
        line = f"Election timer: {milliseconds}\n"
        wait_until(lambda: all(line in view.text for view in self.views().values()), 10.0, "all to change their timers")

    def write(self, number: int, size: int) -> None:
        """Commits one row with about `size` bytes."""
        table = {"nb": "NB_Global", "sb": "SB_Global"}[self.database.short]
        wire.transact(self.socket(number), self.database.name, {"op": "delete", "table": table, "where": []},
                      {"op": "insert", "table": table, "row": {"options": ["map", [["lab", "x" * size]]]}}, timeout=1.0)

    # Kept between two commands.

    def to_state(self) -> dict:
        return {"expected": self.expected, "past_mending": self.past_mending,
                "members": [asdict(member) for member in self.members.values()]}

    def from_state(self, state: dict) -> None:
        self.expected = state.get("expected", [])
        self.past_mending = state.get("past_mending", False)
        for row in state.get("members", []):
            process, delayer = (Process(**row[key]) if row[key] else None for key in ("process", "delayer"))
            self.members[row["number"]] = Member(row["number"], row["host"], process, delayer)

    def config_lines(self, members: list[int] | None = None) -> list[str]:
        """This cluster in the agent's configuration."""
        lines = [f"  - name: ovn-{self.database.short}", "    ovn:", f"      database: {self.database.name}", "      members:"]
        for number in members or self.members:
            lines.append(f'        - {{name: {self.members[number].name}, control: "{self.control(number)}", '
                         f'ovsdb: "unix:{self.socket(number)}"}}')
        addresses = ", ".join(f'"{address}"' for address in self.expected)
        return [*lines, f"      expect: [{addresses}]", "    every: 1s", "    timeout: 900ms"]

    # The machinery.

    def _end_delayer(self, number: int) -> None:
        delayer = self.members[number].delayer
        if delayer is not None:
            delayer.kill()
            self.members[number].delayer = None

    def _leader_now(self) -> int | None:
        leads = [(view.term, number) for number, view in self.views().items()
                 if view.role == "leader" and view.status == "cluster member"]
        return max(leads)[1] if leads else None

    def _listed_id(self, viewer: int, number: int) -> str:
        address = self.address(number)
        for server, line in self.view(viewer).servers.items():
            if line.startswith(f"{address})"):
                return server
        raise WireError(f"{viewer} lists no server at {address}")

    def _wait_member(self, number: int) -> None:
        def joined() -> bool:
            try:
                return self.view(number).status == "cluster member"
            except WireError:
                return False

        wait_until(joined, 15.0, f"{self.members[number].name} to join")

    def _cluster_id(self, number: int) -> str:
        return run_tool(self.tools, "db-cid", str(self._file(number))).strip()

    def _cluster_id_of_any(self) -> str:
        return next(iter(self.views().values())).cluster_id

    def _create_database(self, number: int) -> None:
        self._make_disk(number)
        run_tool(self.tools, "create-cluster", str(self._file(number)), self.tools.schema(self.database.schema),
                 self.address(number))

    def _join_database(self, number: int, known: list[int], identity: str, remotes: list[str] | None = None) -> None:
        # Without --cid a server joins whatever cluster answers at the remote.
        self._make_disk(number)
        run_tool(self.tools, f"--cid={identity}", "join-cluster", str(self._file(number)), self.database.name,
                 self.address(number), *(remotes or [self.address(other) for other in known]))

    def _make_disk(self, number: int) -> None:
        disk = self._disk(number)
        if not disk.is_mount():
            disk.mkdir(parents=True, exist_ok=True)
            run("mount", "-t", "tmpfs", "-o", f"size={DISK}", "wardmote-lab", str(disk))

    def _launch(self, number: int, database: str) -> None:
        member = self.members[number]
        for path in (self.control(number), self.socket(number)):
            Path(path).unlink(missing_ok=True)
        port = f"ptcp:{self.database.ovsdb_port}:{self.network.address(member.host)}"
        argv = [self.tools.server, "--no-chdir", "-vconsole:off", f"--log-file={self._log(number)}",
                f"--unixctl={self.control(number)}", f"--remote=punix:{self.socket(number)}", f"--remote={port}", database]
        member.process = start(self.network.inside(member.host, *argv), self.tools.environment(), self._log(number))

        def answers() -> bool:
            try:
                return bool(wire.control(self.control(number), "version", timeout=0.5))
            except WireError:
                if not member.process.alive():
                    raise WireError(f"ovsdb-server of {member.name} ended at once; see {self._log(number)}") from None
                return False

        wait_until(answers, 10.0, f"{member.name} to answer")

    def _disk(self, number: int) -> Path:
        return self._folder / "disk" / f"{self.database.short}-{number}"

    def _file(self, number: int) -> Path:
        return self._disk(number) / f"{self.database.short}.db"

    def _log(self, number: int) -> Path:
        return self._folder / f"{self.database.short}-{number}.log"


def run_tool(tools: Tools, *arguments: str) -> str:
    return run(tools.tool, *arguments, environment=tools.environment())
