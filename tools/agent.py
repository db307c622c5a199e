"""Runs the built agent, and asks it over its unix socket."""

import http.client
import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

from lab.processes import wait_until

ROOT = Path(__file__).resolve().parent.parent


def programs() -> Path:
    """Where wardmoted and wardmote were built."""
    return Path(os.environ.get("WARDMOTE_BIN", ROOT / "build/release/bin"))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Agent:
    """A running wardmoted, ended by its process id."""

    def __init__(self, config: Path, api_socket: Path, inside: list[str] | None = None):
        """`inside` begins the command line: `ip netns exec …`."""
        self.config, self.api_socket = config, api_socket
        # To a file, not a pipe: a full pipe would stop the agent.
        self._output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*(inside or []), programs() / "wardmoted", "--config", config], stdin=subprocess.DEVNULL,
                                        stdout=self._output, stderr=self._output)

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> int:
        """SIGTERM; the agent has ten seconds to drain. Returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"wardmoted did not end after SIGTERM:\n{self.output()}") from None

    def output(self) -> str:
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def get(self, path: str, timeout: float = 2.0) -> tuple[int, str]:
        """Status and body; (0, reason) while the agent cannot be reached."""
        connection = _UnixConnection(self.api_socket, timeout)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode(errors="replace")
        except OSError as error:
            return 0, str(error)
        finally:
            connection.close()

    def order(self, method: str, path: str, body: str, timeout: float = 2.0) -> tuple[int, str]:
        """Status and body of the answer to JSON."""
        connection = _UnixConnection(self.api_socket, timeout)
        try:
            connection.request(method, path, body=body, headers={"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode(errors="replace")
        finally:
            connection.close()

    def json(self, path: str):
        status, body = self.get(path)
        if status != 200:
            raise RuntimeError(f"GET {path}: {status} {body}\n{self.output()}")
        return json.loads(body)

    def cli(self, *arguments: str, timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
        """wardmote, asking this agent."""
        return subprocess.run([programs() / "wardmote", *arguments, "--socket", str(self.api_socket)], timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def wait_serving(self, seconds: float = 10.0) -> None:
        def serving() -> bool:
            if self.process.poll() is not None:
                raise RuntimeError(f"wardmoted ended at once with {self.process.returncode}:\n{self.output()}")
            return self.get("/livez")[0] == 200

        wait_until(serving, seconds, "the agent to serve")

    def wait_healthy(self, seconds: float = 60.0) -> None:
        """All watched is good: `wardmote status` ends with 0 and /readyz with 200."""
        self.wait_serving()
        try:
            wait_until(lambda: self.cli("status").returncode == 0 and self.get("/readyz")[0] == 200, seconds,
                       "the agent to find all well", every=0.2)
        except TimeoutError as error:
            status, ready = self.cli("status"), self.get("/readyz?verbose")
            raise TimeoutError(f"{error}\n{status.stdout}{status.stderr}\n/readyz: {ready}\n{self.output()}") from None

    def look_on(self, looks: int = 3) -> None:
        """Until each member has been looked at so often from now on."""
        def counted() -> dict[str, int]:
            return {one["name"]: one["looks"] for one in self.json("/api/v1/members")["members"]}
        wanted = {name: count + looks for name, count in counted().items()}
        wait_until(lambda: all(count >= wanted[name] for name, count in counted().items()), 60.0, "the members to be looked at")

    def wait_lost(self, member: str) -> None:
        """Until the member has been seen down, and the others have been looked at since: what comes to its place now came after its end."""
        def refused() -> bool:
            return any(one["name"] == member and one["reason"] for one in self.json("/api/v1/members")["members"])
        wait_until(refused, 30.0, f"{member} to be seen down")
        self.look_on(2)
