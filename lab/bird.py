"""BIRD daemons, 1.6 and 2, each on a host of its own, with sessions between them under the names that Calico gives."""

import signal
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.network import Network
from lab.packages import Routers
from lab.processes import Process, start, wait_until

AS = 64512


class BirdError(Exception):
    """No answer from a BIRD, or one that is no answer."""


@dataclass
class Peer:
    """One end of a session, as the configuration has it."""

    host: int
    remote_as: int = AS
    password: str = ""
    passive: bool = False
    disabled: bool = False
    type: str = "Mesh"


@dataclass
class Bird:
    """One daemon. Its name, socket and configuration stay the same whatever happens to the process."""

    version: str  # 1.6 or 2
    host: int
    network: Network
    tools: Routers
    folder: Path
    sockets: Path
    peers: list[Peer] = field(default_factory=list)
    process: Process | None = None

    @property
    def name(self) -> str:
        return f"bird-{self.host}"

    @property
    def address(self) -> str:
        return self.network.address(self.host)

    @property
    def control(self) -> str:
        return f"{self.sockets}/{self.name}.ctl"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def protocol(self, peer: Peer) -> str:
        return f"{peer.type}_{self.network.address(peer.host).replace('.', '_')}"

    # What is done to it.

    def start(self, *, recover: bool = False) -> None:
        """With `recover` it begins with a graceful restart."""
        Path(self.control).unlink(missing_ok=True)
        self._write_config()
        argv = [self.tools.daemon(self.version), "-f", "-c", str(self._config), "-s", self.control, "-P",
                str(self.folder / f"{self.name}.pid"), *(["-R"] if recover else [])]
        self.process = start(self.network.inside(self.host, *argv), self.tools.environment(self.version), self.log)
        wait_until(self._answers, 10.0, f"{self.name} to answer")

    def kill(self) -> None:
        """kill -9: its socket file stays."""
        self.process.kill()

    def stop(self) -> None:
        """SIGTERM: it tells its peers, and takes its socket file along."""
        self.process.send(signal.SIGTERM)
        wait_until(lambda: not self.process.alive(), 10.0, f"the end of {self.name}")

    def pause(self) -> None:
        self.process.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send(signal.SIGCONT)

    def reconfigure(self) -> None:
        """After `peers` were changed."""
        self._write_config()
        self.ask("configure")

    # What is true.

    def ask(self, command: str, timeout: float = 2.0) -> list[str]:
        """The lines of a reply. Written apart from the product's codec on purpose."""
        end = time.monotonic() + timeout
        try:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(timeout)
                sock.connect(self.control)
                _reply(sock, end)
                sock.sendall(command.encode() + b"\n")
                return _reply(sock, end)
        except OSError as error:
            raise BirdError(f"{self.control}: {command}: {error}") from error

    def sessions(self) -> dict[str, str]:
        """The info column of each session by the name of its protocol; empty when it does not answer."""
        try:
            lines = self.ask("show protocols", timeout=0.5)
        except BirdError:
            return {}
        rows = [line[5:].split() if line.startswith("1002-") else line.split() for line in lines]
        return {row[0]: " ".join(row[5:]) for row in rows if len(row) > 4 and row[1] == "BGP"}

    def established(self) -> bool:
        sessions = self.sessions()
        wanted = [self.protocol(peer) for peer in self.peers if not peer.disabled]
        return all(sessions.get(name, "").startswith("Established") for name in wanted)

    def wait_established(self, seconds: float = 30.0) -> None:
        wait_until(self.established, seconds, f"the sessions of {self.name}", every=0.1)

    # Kept between two commands, and told to the agent.

    def to_state(self) -> dict:
        return {"version": self.version, "host": self.host, "peers": [vars(peer) for peer in self.peers],
                "process": vars(self.process) if self.process else None}

    @classmethod
    def from_state(cls, state: dict, network: Network, tools: Routers, folder: Path, sockets: Path) -> "Bird":
        process = Process(**state["process"]) if state["process"] else None
        return cls(state["version"], state["host"], network, tools, folder, sockets,
                   [Peer(**peer) for peer in state["peers"]], process)

    def config_line(self) -> str:
        """This daemon among the checks of the agent."""
        expect = ", ".join(f'"{self.network.address(peer.host)}"' for peer in self.peers)
        return (f'  - {{name: {self.name}, bird: {{socket: "{self.control}", expect: [{expect}]}}, '
                "every: 1s, timeout: 900ms, fall: 3}")

    @property
    def _config(self) -> Path:
        return self.folder / f"{self.name}.conf"

    def _write_config(self) -> None:
        families = "ipv4 { import all; export all; };" if self.version == "2" else "import all; export all;"
        lines = [
            f"router id {self.address};",
            "protocol device { scan time 2; }",
            f"protocol static lab {{ {'ipv4; ' if self.version == '2' else ''}route 10.200.{self.host}.0/24 blackhole; }}",
            # Each host waits a different time: two that always call each other at once refuse each other again and again.
            f"template bgp lab_peer {{ local as {AS}; {families} graceful restart; connect delay time {self.host}; "
            f"connect retry time {2 * self.host}; error wait time {self.host}, {2 * self.host}; }}",
        ]
        for peer in self.peers:
            options = [f"neighbor {self.network.address(peer.host)} as {peer.remote_as};", f"source address {self.address};"]
            options += [f'password "{peer.password}";'] if peer.password else []
            options += ["passive on;"] if peer.passive else []
            options += ["disabled yes;"] if peer.disabled else []
            lines.append(f"protocol bgp {self.protocol(peer)} from lab_peer {{ {' '.join(options)} }}")
        self._config.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _answers(self) -> bool:
        if not self.process.alive():
            raise BirdError(f"{self.name} ended at once; see {self.log}")
        try:
            return bool(self.ask("show status", timeout=0.5))
        except BirdError:
            return False


def _reply(sock: socket.socket, end: float) -> list[str]:
    """Up to the line that begins with four digits and a blank."""
    text = b""
    while True:
        lines = text.decode(errors="replace").split("\n")
        if len(lines) > 1 and lines[-1] == "" and lines[-2][:4].isdigit() and lines[-2][4:5] == " ":
            return lines[:-1]
        sock.settimeout(max(0.001, end - time.monotonic()))
        piece = sock.recv(1 << 16)
        if not piece:
            raise OSError("closed without an answer")
        text += piece
