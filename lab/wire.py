"""The two ways to ask an ovsdb-server, small: unixctl and OVSDB, both bare JSON-RPC over unix sockets.

Written apart from the product's codecs on purpose: the lab says what is true without them.
"""

import json
import re
import socket
import time
from dataclasses import dataclass, field


class WireError(Exception):
    """No answer, or an answer that is an error."""


def call(path: str, method: str, params: list, timeout: float = 2.0):
    """One request, one reply, one deadline for both."""
    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX) as sock:
        try:
            sock.settimeout(timeout)
            sock.connect(path)
            sock.sendall(json.dumps({"method": method, "params": params, "id": 1}).encode())
            reply = _receive(sock, deadline)
        except (OSError, ValueError) as error:
            raise WireError(f"{path}: {method}: {error}") from error
    if reply.get("error") is not None:
        raise WireError(f"{path}: {method}: {reply['error']}")
    return reply.get("result")


def _receive(sock: socket.socket, deadline: float) -> dict:
    decoder = json.JSONDecoder()
    text = b""
    while True:
        sock.settimeout(max(0.001, deadline - time.monotonic()))
        piece = sock.recv(1 << 16)
        if not piece:
            raise OSError("closed without an answer")
        text += piece
        try:
            message, _ = decoder.raw_decode(text.decode(errors="replace"))
        except json.JSONDecodeError:
            continue
        if message.get("id") == 1:
            return message


def control(path: str, command: str, *arguments: str, timeout: float = 2.0) -> str:
    """A unixctl command, as ovn-appctl sends it."""
    return call(path, command, list(arguments), timeout)


def transact(path: str, database: str, *operations: dict, timeout: float = 2.0) -> list[dict]:
    results = call(path, "transact", [database, *operations], timeout)
    for result in results:
        if result and "error" in result:
            raise WireError(f"{path}: {result['error']}: {result.get('details', '')}")
    return results


def server_row(path: str, database: str, timeout: float = 2.0) -> dict | None:
    """What the server says of the database itself; None when it does not carry it."""
    select = {"op": "select", "table": "Database", "where": [["name", "==", database]],
              "columns": ["model", "leader", "connected", "cid", "sid", "index"]}
    rows = transact(path, "_Server", select, timeout=timeout)[0]["rows"]
    return rows[0] if rows else None


@dataclass
class RaftView:
    """The lines of cluster/status that the lab needs."""

    text: str
    cluster_id: str = ""
    server_id: str = ""
    address: str = ""
    status: str = ""
    role: str = ""
    term: int = 0
    leader: str = ""
    servers: dict[str, str] = field(default_factory=dict)  # four digits -> the rest of the line; the whole line for a second with the same


def raft_view(path: str, database: str, timeout: float = 2.0) -> RaftView:
    text = control(path, "cluster/status", database, timeout=timeout)
    view = RaftView(text)

    def value(key: str) -> str:
        found = re.search(rf"^{key}: (.*)$", text, re.MULTILINE)
        return found.group(1) if found else ""

    def uuid(key: str) -> str:
        found = re.search(r"\(([0-9a-f-]{36})\)", value(key))
        return found.group(1) if found else ""

    view.cluster_id, view.server_id = uuid("Cluster ID"), uuid("Server ID")
    view.address, view.status = value("Address"), value("Status")
    view.role, view.term, view.leader = value("Role"), int(value("Term") or 0), value("Leader")
    for line in re.finditer(r"^ +\S+ \(([0-9a-f]{4}) at (.*)$", text, re.MULTILINE):
        view.servers[line.group(0) if line.group(1) in view.servers else line.group(1)] = line.group(2)
    return view
