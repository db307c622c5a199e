"""FRR's bgpd on a host of the lab: the same sessions as a BIRD's, another daemon and another socket."""

import json
import socket
import time
from pathlib import Path

from lab.bird import AS, Bird, BirdError
from lab.processes import start, wait_until

# bgpd gives its socket to a group that a machine without FRR does not have: it gets accounts files of its own.
ACCOUNTS = {"passwd": "frr:x:9791:9791::/nonexistent:/usr/sbin/nologin\n", "group": "frr:x:9791:\nfrrvty:x:9792:frr\n"}


class Frr(Bird):
    """It runs without zebra, so it holds sessions and routes and changes nothing in the kernel."""

    @property
    def name(self) -> str:
        return f"frr-{self.host}"

    @property
    def control(self) -> str:
        return f"{self.sockets}/{self.name}/bgpd.vty"

    def start(self, *, recover: bool = False) -> None:
        """`recover` means nothing here."""
        Path(self.control).parent.mkdir(exist_ok=True)
        Path(self.control).unlink(missing_ok=True)
        self._write_config()
        binds = []
        for name, more in ACCOUNTS.items():
            own = self.folder / f"{self.name}.{name}"
            own.write_text(Path("/etc", name).read_text(encoding="utf-8") + more, encoding="utf-8")
            binds.append(f"mount --bind '{own}' /etc/{name}")
        argv = [self.tools.daemon("frr"), "-Z", "-S", "-n", "-P", "0", "-f", str(self._config), "-i",
                str(self.folder / f"{self.name}.pid"), "--vty_socket", str(Path(self.control).parent), "--log", "stdout"]
        # The namespace of `ip netns exec` has mounts of its own.
        inside = ["sh", "-c", " && ".join([*binds, 'exec "$@"']), "sh", *argv]
        self.process = start(self.network.inside(self.host, *inside), self.tools.environment("frr"), self.log)
        wait_until(self._answers, 10.0, f"{self.name} to answer")

    def reconfigure(self) -> None:
        self.stop()
        self.start()

    def ask(self, command: str, timeout: float = 2.0) -> list[str]:
        """The lines of a reply; it ends with three zero bytes and a status."""
        end = time.monotonic() + timeout
        text = b""
        try:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(timeout)
                sock.connect(self.control)
                sock.sendall(command.encode() + b"\0")
                while len(text) < 4 or text[-4:-1] != b"\0\0\0":
                    sock.settimeout(max(0.001, end - time.monotonic()))
                    piece = sock.recv(1 << 16)
                    if not piece:
                        raise OSError("closed without an answer")
                    text += piece
        except OSError as error:
            raise BirdError(f"{self.control}: {command}: {error}") from error
        return text[:-4].decode(errors="replace").splitlines()

    def sessions(self) -> dict[str, str]:
        """The state of each session by the address of its peer."""
        try:
            summary = json.loads("\n".join(self.ask("show bgp summary json", timeout=0.5)))
        except (BirdError, ValueError):
            return {}
        return {address: peer["state"] for family in summary.values() for address, peer in family.get("peers", {}).items()}

    def protocol(self, peer) -> str:
        return self.network.address(peer.host)

    def config_line(self) -> str:
        return super().config_line().replace("bird:", "frr:")

    def _write_config(self) -> None:
        lines = [f"router bgp {AS}", f" bgp router-id {self.address}", " no bgp ebgp-requires-policy",
                 " no bgp network import-check"]
        for peer in self.peers:
            address = self.network.address(peer.host)
            lines += [f" neighbor {address} remote-as {peer.remote_as}", f" neighbor {address} timers connect 1"]
            lines += [f" neighbor {address} password {peer.password}"] if peer.password else []
            lines += [f" neighbor {address} passive"] if peer.passive else []
            lines += [f" neighbor {address} shutdown"] if peer.disabled else []
        lines += [" address-family ipv4 unicast", f"  network 10.200.{self.host}.0/24"]
        self._config.write_text("\n".join(lines) + "\n", encoding="utf-8")


def daemon(version: str) -> type[Bird]:
    """Of `1.6`, `2` and `frr`."""
    return Frr if version == "frr" else Bird
