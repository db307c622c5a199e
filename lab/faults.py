"""The table of faults: what `./dev lab break` and the integration tests can do to a cluster."""

from collections.abc import Callable
from dataclasses import dataclass

from lab.ovn import Cluster


@dataclass(frozen=True)
class Fault:
    name: str
    does: Callable[[Cluster, int, float], object]
    help: str
    value: str = ""        # what its number means, where it takes one
    default: float = 0.0
    mends: bool = False    # whether `mend` undoes it in place; else the cluster is built anew


def _lose(cluster: Cluster, number: int, percent: float) -> None:
    cluster.lose(number, percent)


def _join_nowhere(cluster: Cluster, _number: int, _value: float) -> int:
    return cluster.add(remotes=[f"tcp:{cluster.network.subnet}.99:{cluster.database.raft_port}"])


FAULTS = {fault.name: fault for fault in [
    Fault("kill", lambda c, n, _: c.kill(n), "kill -9 the server", mends=True),
    Fault("pause", lambda c, n, _: c.pause(n), "stop the process: it accepts connections and answers nothing", mends=True),
    Fault("partition", lambda c, n, _: c.partition(n), "drop its raft packets both ways", mends=True),
    Fault("block-inbound", lambda c, n, _: c.block_inbound(n), "others cannot reach its raft port; it reaches others",
          mends=True),
    Fault("loss", _lose, "drop arriving packets at random", "percent", 5, mends=True),
    Fault("delay", lambda c, n, ms: c.delay(n, ms), "delay its raft connections by a relay", "milliseconds", 200, mends=True),
    Fault("disk-full", lambda c, n, _: c.fill_disk(n), "fill its disk and write until the server fails", mends=True),
    Fault("wipe", lambda c, n, _: c.wipe_and_rejoin(n), "lose the database, rejoin at the same address: leaves a ghost"),
    Fault("replace", lambda c, n, _: c.replace(n, c.network.hosts), "lose the host; a new server joins from another address"),
    Fault("kick", lambda c, n, _: c.kick(n), "remove it from the cluster; the server keeps running"),
    Fault("kick-down", lambda c, n, _: c.kick_while_down(n), "remove it while it is down, then start it on its old database"),
    Fault("rebootstrap", lambda c, n, _: c.rebootstrap(n), "lose the database and found another cluster at the same address"),
    Fault("standalone", lambda c, n, _: c.standalone(n), "run a standalone database in its place"),
    Fault("relay", lambda c, n, _: c.relay(n), "run a relay in its place"),
    Fault("join-nowhere", _join_nowhere, "one more member, joining through an address where nobody is"),
    Fault("add", lambda c, _, __: c.add(), "one more member"),
    Fault("add-slowly", lambda c, _, __: c.add_slowly(), "one more member on a line so slow that it is always being added"),
    Fault("timer", lambda c, _, ms: c.set_election_timer(int(ms)), "change the election timer, at most doubling it",
          "milliseconds", 2000),
]}
