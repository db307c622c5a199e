"""What can go wrong with a cluster, and the table of it for `./dev lab break` and the integration tests.

A fault is done to the servers when its function returns; what they make of it takes its time.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab import wire
from lab.network import run
from lab.ovn import Cluster
from lab.processes import start, wait_until
from lab.wire import WireError

RELAY_PORT_OFFSET = 10000


# The network.

def partition(cluster: Cluster, number: int) -> None:
    """No raft packet passes, either way; the local sockets still answer."""
    cluster.network.drop(cluster.members[number].host, cluster.database.raft_port, outbound=True)


def cut_from_leader(cluster: Cluster, number: int) -> None:
    """Nothing passes between the member and the leader; the followers hear both."""
    cluster.network.cut(cluster.members[number].host, cluster.members[cluster.leader()].host)


def cut_off(cluster: Cluster, number: int) -> None:
    """Nothing passes between the member's host and all others, whatever the port."""
    for other in cluster.others(number):
        cluster.network.cut(cluster.members[number].host, cluster.members[other].host)


def block_inbound(cluster: Cluster, number: int) -> None:
    """A firewall in front of the member's raft port: others cannot reach it, it reaches others."""
    cluster.network.drop(cluster.members[number].host, cluster.database.raft_port, outbound=False)


def lose(cluster: Cluster, number: int, percent: float) -> None:
    cluster.network.lose(cluster.members[number].host, percent)


def delay(cluster: Cluster, number: int, milliseconds: float) -> None:
    """Connections to the member's raft port pass a relay that delays them."""
    member, port = cluster.members[number], cluster.database.raft_port
    own, relayed = cluster.network.address(member.host), port + RELAY_PORT_OFFSET
    _end_delayer(cluster, number)
    relay = [sys.executable, str(Path(__file__).with_name("relay.py")), "--delay-ms", str(milliseconds),
             "--listen", f"{own}:{relayed}", "--to", f"{own}:{port}"]
    member.delayer = start(cluster.network.inside(member.host, *relay), cluster.tools.environment(), cluster.log(number))
    listening = cluster.network.inside(member.host, "ss", "-Htln", f"( sport = :{relayed} )")
    wait_until(lambda: run(*listening), 10.0, "the relay to listen")
    cluster.network.redirect(member.host, port, relayed)


def break_connections(cluster: Cluster, number: int, seconds: float) -> None:
    """Every five seconds the connections to the member's raft port are reset; those that it opened itself stand."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        # An idle raft connection is probed every two seconds, and only a packet can be answered with a reset.
        cluster.network.reset(cluster.members[number].host, cluster.database.raft_port, seconds=2.5)
        time.sleep(2.5)


def heal(cluster: Cluster, number: int) -> None:
    """Removes every fault of the network around the member, and whoever troubles its server."""
    cluster.network.heal(cluster.members[number].host)
    _end_delayer(cluster, number)
    _end_nuisance(cluster, number)


def _end_delayer(cluster: Cluster, number: int) -> None:
    member = cluster.members[number]
    if member.delayer is not None:
        member.delayer.kill()
        member.delayer = None


# The process and its sockets.

def depose(cluster: Cluster, times: float) -> None:
    """The leader is killed and started again, so many times, whoever leads."""
    for _ in range(int(times)):
        leader = cluster.leader()
        term = cluster.view(leader).term
        cluster.kill(leader)
        wait_until(lambda: any(view.role == "leader" and view.term > term for view in cluster.views().values()), 15.0, "a new leader")
        cluster.start(leader)
        cluster.wait_healthy()


def babble(cluster: Cluster, number: int) -> None:
    """Something else listens at the member's sockets and speaks neither protocol; its server runs on, and others hear it."""
    paths = [cluster.control(number), cluster.socket(number)]
    for path in paths:
        Path(path).rename(path + ".moved")
    _trouble(cluster, number, "babble", *paths)
    wait_until(lambda: all(Path(path).exists() for path in paths), 10.0, "somebody at the member's sockets")


def stutter(cluster: Cluster, number: int, milliseconds: float) -> None:
    """The server stands still for so long again and again, as one that waits for a slow disk."""
    _trouble(cluster, number, "stutter", str(cluster.members[number].process.pid), str(milliseconds))


def stranger(cluster: Cluster, number: int) -> None:
    """Somebody who is no member keeps a connection to the raft port open, from another host."""
    host = cluster.network.address(cluster.members[number].host)
    _trouble(cluster, number, "stranger", host, str(cluster.database.raft_port), host=cluster.network.hosts)


def _trouble(cluster: Cluster, number: int, *arguments: str, host: int | None = None) -> None:
    _end_nuisance(cluster, number)
    member = cluster.members[number]
    program = [sys.executable, str(Path(__file__).with_name("nuisance.py")), *arguments]
    member.nuisance = start(cluster.network.inside(host or member.host, *program), cluster.tools.environment(), cluster.log(number))


def _end_nuisance(cluster: Cluster, number: int) -> None:
    member = cluster.members[number]
    if member.nuisance is not None:
        member.nuisance.kill()
        member.nuisance = None


# The database and the disk.

def wipe_and_rejoin(cluster: Cluster, number: int, seen: Callable[[], None] = lambda: None) -> None:
    """The member loses its database and joins again at its address: its former id becomes a ghost. `seen` ends when it may."""
    _rejoin(cluster, number, seen=seen)


def replace(cluster: Cluster, number: int) -> None:
    """The member's host is lost; a new server takes its place behind the same sockets, at another address."""
    _rejoin(cluster, number, host=cluster.network.hosts)


def _rejoin(cluster: Cluster, number: int, host: int | None = None, seen: Callable[[], None] = lambda: None) -> None:
    _lose_database(cluster, number)
    seen()
    remotes = [cluster.address(other) for other in cluster.others(number)]
    cluster.members[number].host = host or cluster.members[number].host
    cluster.join(number, remotes)
    cluster.start(number)
    cluster.wait_member(number)


def rebootstrap(cluster: Cluster, number: int) -> None:
    """The member loses its database and founds a cluster of its own at its address."""
    _lose_database(cluster, number)
    cluster.found(number)
    cluster.start(number)


def _lose_database(cluster: Cluster, number: int) -> None:
    cluster.kill(number)
    cluster.file(number).unlink()


def detach(cluster: Cluster, number: int) -> None:
    """The server goes on without its database, whose file stays where it is."""
    wire.control(cluster.control(number), "ovsdb-server/remove-db", cluster.database.name)


def standalone(cluster: Cluster, number: int) -> None:
    """A server with a standalone database takes the member's place."""
    cluster.kill(number)
    file = str(cluster.file(number).with_suffix(".standalone"))
    cluster.tool("create", file, cluster.tools.schema(cluster.database.schema))
    cluster.launch(number, file)


def relay(cluster: Cluster, number: int) -> None:
    """A relay of the other members takes the member's place."""
    cluster.kill(number)
    hosts = [cluster.network.address(cluster.members[other].host) for other in cluster.others(number)]
    remotes = ",".join(f"{cluster.scheme}:{host}:{cluster.database.ovsdb_port}" for host in hosts)
    cluster.launch(number, f"relay:{cluster.database.name}:{remotes}")


def fill_disk(cluster: Cluster, number: int) -> None:
    """Takes all free space of the member's disk, then writes until its server fails for want of room."""
    with open(cluster.disk(number) / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"\0" * 65536):
                pass
        except OSError:
            pass  # full

    def failed() -> bool:
        try:
            cluster.write(number, 4096)
        except WireError:
            pass
        return cluster.view(number).status == "failed"

    wait_until(failed, 10.0, "the server to fail for want of disk")


def free_disk(cluster: Cluster, number: int) -> None:
    (cluster.disk(number) / "filler").unlink(missing_ok=True)


# Membership.

def kick(cluster: Cluster, number: int) -> None:
    """Removes the member from the cluster; its server keeps running if it runs."""
    target = order_kick(cluster, number)

    def gone() -> bool:
        return all(target not in view.servers for other, view in cluster.views().items() if other != number)

    wait_until(gone, 10.0, f"{target} to leave the members' lists")


def kick_while_down(cluster: Cluster, number: int) -> None:
    """The member is removed while it is down, and comes back on its old database."""
    cluster.kill(number)
    kick(cluster, number)
    cluster.start(number)


def kick_slowly(cluster: Cluster, number: int, seconds: float) -> None:
    """Another follower stands still meanwhile, so that the removal waits for it."""
    other = next(one for one in cluster.followers() if one != number)
    cluster.pause(other)
    try:
        order_kick(cluster, number)
        time.sleep(seconds)
    finally:
        cluster.resume(other)


def order_kick(cluster: Cluster, number: int) -> str:
    """Tells the leader; returns the id that goes."""
    leader, address = cluster.leader(), cluster.address(number)
    listed = cluster.view(leader).servers
    target = next((server for server, line in listed.items() if line.startswith(f"{address})")), None)
    if target is None:
        raise WireError(f"the leader lists no server at {address}")
    wire.control(cluster.control(leader), "cluster/kick", cluster.database.name, target)
    return target


def join_nowhere(cluster: Cluster) -> None:
    """One more member, which joins through an address where nobody is."""
    cluster.add([f"{cluster.scheme}:{cluster.network.subnet}.99:{cluster.database.raft_port}"])


def add_slowly(cluster: Cluster) -> None:
    """One more member, on a line so slow that the leader stays busy adding it."""
    leader = cluster.leader()
    for _ in range(20):
        cluster.write(leader, 65536)
    cluster.network.throttle(1 + max(member.host for member in cluster.members.values()), 20)
    cluster.add()
    wait_until(lambda: "(adding: catchup)" in cluster.view(leader).text, 10.0, "the leader to begin to add the member")


def set_election_timer(cluster: Cluster, milliseconds: float) -> None:
    """The servers allow at most a doubling in one step."""
    wire.control(cluster.control(cluster.leader()), "cluster/change-election-timer", cluster.database.name, f"{milliseconds:.0f}")
    line = f"Election timer: {milliseconds:.0f}\n"
    wait_until(lambda: all(line in view.text for view in cluster.views().values()), 10.0, "all to change their timers")


def mend(cluster: Cluster) -> bool:
    """Makes the cluster healthy. What cannot be undone in place is built anew, empty; then it returns true."""
    for number in cluster.members:
        heal(cluster, number)
        cluster.resume(number)
        free_disk(cluster, number)
    if not cluster.past_mending:
        for number in cluster.members:
            view = cluster.views().get(number)
            if view is None or view.status == "failed":
                cluster.kill(number)
                cluster.start(number)
        try:
            cluster.wait_healthy(15.0)
            return False
        except TimeoutError:
            pass
    founders = len(cluster.expected)
    for number in cluster.members:
        cluster.kill(number)
        for file in cluster.disk(number).iterdir():
            file.unlink()
    cluster.members.clear()
    cluster.create(founders)
    cluster.past_mending = False
    cluster.wait_healthy()
    return True


@dataclass(frozen=True)
class Fault:
    name: str
    does: Callable[[Cluster, int, float], object]
    help: str
    value: str = ""        # what its number means, where it takes one
    default: float = 0.0
    mends: bool = False    # whether `mend` undoes it in place; else the cluster is built anew


FAULTS = {fault.name: fault for fault in [
    Fault("kill", lambda c, n, _: c.kill(n), "kill -9 the server", mends=True),
    Fault("pause", lambda c, n, _: c.pause(n), "stop the process: it accepts connections and answers nothing", mends=True),
    Fault("resume", lambda c, n, _: c.resume(n), "let a paused process go on", mends=True),
    Fault("partition", lambda c, n, _: partition(c, n), "drop its raft packets both ways", mends=True),
    Fault("cut-from-leader", lambda c, n, _: cut_from_leader(c, n), "drop all packets between it and the leader", mends=True),
    Fault("cut-off", lambda c, n, _: cut_off(c, n), "drop all packets between its host and the others", mends=True),
    Fault("detach", lambda c, n, _: detach(c, n), "take the database from the running server (ovsdb-server/remove-db)"),
    Fault("block-inbound", lambda c, n, _: block_inbound(c, n), "others cannot reach its raft port; it reaches others", mends=True),
    Fault("loss", lose, "drop arriving packets at random", "percent", 5, mends=True),
    Fault("reset", break_connections, "reset the connections to its raft port again and again", "seconds", 75, mends=True),
    Fault("stranger", lambda c, n, _: stranger(c, n), "somebody who is no member keeps a raft connection open", mends=True),
    Fault("stutter", stutter, "stop and continue the process all the time, as a slow disk does", "milliseconds", 250, mends=True),
    Fault("depose", lambda c, _, times: depose(c, times), "kill the leader and start it again, so many times", "times", 4),
    Fault("babble", lambda c, n, _: babble(c, n), "something that speaks no OVSDB listens at its sockets; the server runs on"),
    Fault("delay", delay, "delay its raft connections by a relay", "milliseconds", 200, mends=True),
    Fault("heal", lambda c, n, _: heal(c, n), "remove every fault of its network", mends=True),
    Fault("disk-full", lambda c, n, _: fill_disk(c, n), "fill its disk and write until the server fails", mends=True),
    Fault("wipe", lambda c, n, _: wipe_and_rejoin(c, n), "lose the database, rejoin at the same address: leaves a ghost"),
    Fault("replace", lambda c, n, _: replace(c, n), "lose the host; a new server joins from another address"),
    Fault("rebootstrap", lambda c, n, _: rebootstrap(c, n), "lose the database, found another cluster at the same address"),
    Fault("standalone", lambda c, n, _: standalone(c, n), "run a standalone database in its place"),
    Fault("relay", lambda c, n, _: relay(c, n), "run a relay in its place"),
    Fault("kick", lambda c, n, _: kick(c, n), "remove it from the cluster; the server keeps running"),
    Fault("kick-down", lambda c, n, _: kick_while_down(c, n), "remove it while it is down, then start it on its old database"),
    Fault("kick-slowly", kick_slowly, "remove it while another follower is paused", "seconds", 3),
    Fault("add", lambda c, _, __: c.add(), "one more member"),
    Fault("add-slowly", lambda c, _, __: add_slowly(c), "one more member on a line so slow that it is always being added"),
    Fault("join-nowhere", lambda c, _, __: join_nowhere(c), "one more member, joining through an address where nobody is"),
    Fault("timer", lambda c, _, ms: set_election_timer(c, ms), "change the election timer, at most doubling it", "milliseconds", 2000),
]}
