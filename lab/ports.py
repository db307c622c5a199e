"""Ports of the loopback for the daemons of a lab.

They lie below the ports that the kernel gives to outgoing connections: one of those may take a port between the moment in which we see that
it is free and the moment in which a daemon listens on it. Programs that run at once (workers of pytest) take theirs from ranges of their own.
"""

import itertools
import os
import random
import re
import socket

LOWEST, HIGHEST = 10_000, 32_767
WORKERS = 16


def free_port() -> int:
    """A port on which nobody listens, on TCP and on UDP, and which this program did not hand out before."""
    for port in itertools.islice(_ports, HIGHEST):
        if _is_free(port, socket.SOCK_STREAM) and _is_free(port, socket.SOCK_DGRAM):
            return port
    raise OSError(f"no free port between {LOWEST} and {HIGHEST}")


def _own_range() -> range:
    worker = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
    if not worker:
        return range(LOWEST, HIGHEST + 1)
    size = (HIGHEST + 1 - LOWEST) // WORKERS
    first = LOWEST + size * (int(worker[1]) % WORKERS)
    return range(first, first + size)


def _in_turn(ports: range):
    """For ever, from a random one: programs that run at once without being workers seldom meet."""
    first = random.randrange(len(ports))
    return itertools.cycle([*ports[first:], *ports[:first]])


def _is_free(port: int, kind: int) -> bool:
    with socket.socket(socket.AF_INET, kind) as one:
        if kind == socket.SOCK_STREAM:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the daemons do: connections of yesterday do not count
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


_ports = _in_turn(_own_range())
