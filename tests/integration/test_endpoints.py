"""The http and exec probes against servers and commands that behave in every way, one of them on the real loopback each time."""

import json
import os
import socket
import subprocess
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.agent import programs

WARDMOTE = programs() / "wardmote"
OUTCOMES = {0: "ok", 1: "warn", 2: "fail", 3: "unknown"}


def probe(*arguments: str, **environment: str) -> dict:
    done = subprocess.run([str(WARDMOTE), "probe", *map(str, arguments), "-o", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=20, check=False, env={**os.environ, **environment})
    seen = json.loads(done.stdout)
    assert OUTCOMES[done.returncode] == seen["outcome"], done
    return seen


class HostilePeer:
    """A server on the loopback that does `manners` with every connection after its request."""

    def __init__(self, manners):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=50)
        self.port = self.socket.getsockname()[1]
        self.manners = manners
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "HostilePeer":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(4096)
            self.manners(connection)


def says(*pieces: bytes):
    return lambda connection: [connection.sendall(piece) for piece in pieces]


def endless(head: bytes, piece: bytes):
    def manners(connection):
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(0.001)
    return manners


def drips(text: bytes):
    def manners(connection):
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(0.2)
    return manners


LENGTH = b"Content-Length: 0\r\n\r\n"
# What each says, the outcome, and words of the reason.
MANNERS = {
    "204": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), "ok", ""),
    "304": (says(b"HTTP/1.1 304 Not Modified\r\n\r\n"), "ok", ""),
    "503": (says(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nbad"), "fail", "status 503: bad"),
    "999": (says(b"HTTP/1.1 999 Weird\r\n" + LENGTH), "fail", "status 999"),
    "099": (says(b"HTTP/1.1 099 Weird\r\n" + LENGTH), "fail", "status 99"),
    "redirect nowhere": (says(b"HTTP/1.1 302 Found\r\n" + LENGTH), "ok", ""),
    "redirect loop": (says(b"HTTP/1.1 302 Found\r\nLocation: /readiness\r\nConnection: close\r\n" + LENGTH), "fail",
                      "stopped after 5 redirects"),
    "redirect away": (says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/x\r\n" + LENGTH), "fail", "not followed to"),
    "endless body": (endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"400\r\n" + b"x" * 1024 + b"\r\n"), "ok", ""),
    "endless bad body": (endless(b"HTTP/1.1 500 No\r\n\r\n", b"x" * 1024), "fail", "status 500"),
    "slow header": (drips(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1000), "fail", "bytes of a header"),
    "silent": (lambda _: time.sleep(60), "fail", "timed out"),
    "huge header": (says(b"HTTP/1.1 200 OK\r\nX: " + b"y" * (2 << 20) + b"\r\n\r\n"), "unknown", "65536 bytes"),
    "many headers": (says(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"), "unknown", "100 headers"),
    "flood of 100": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "unknown", "interim"),
    "TLS": (says(b"\x16\x03\x01garbage\r\n\r\n"), "unknown", "no HTTP answer"),
    "SSH": (says(b"SSH-2.0-OpenSSH_9.2\r\n"), "unknown", "no HTTP answer"),
    "HTTP/0.9": (says(b"<html>hello</html>"), "unknown", "no HTTP answer"),
    "empty": (says(), "unknown", "answered nothing"),
    "partial": (says(b"HTTP/1.1 200 OK\r\nContent-Le"), "unknown", "cut short"),
    "two lengths": (says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), "unknown", "two lengths"),
    "length and chunks": (says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), "unknown", "both"),
    "HTTP/1.0": (says(b"HTTP/1.0 200 OK\r\n\r\n"), "ok", ""),
    "LF only": (says(b"HTTP/1.1 200 OK\nContent-Length: 0\n\n"), "ok", ""),
    "no reason": (says(b"HTTP/1.1 200\r\n" + LENGTH), "ok", ""),
}


@pytest.mark.parametrize("name", MANNERS)
def test_http_of_a_hostile_server(name):
    manners, outcome, words = MANNERS[name]
    with HostilePeer(manners) as peer:
        begun = time.monotonic()
        seen = probe("http", f"http://127.0.0.1:{peer.port}/readiness", "--timeout", "1s")
        assert seen["outcome"] == outcome, seen
        assert words in (seen["detail"] or ""), seen
        assert time.monotonic() - begun < 1.5, "one deadline for everything"


def test_http_over_ipv6_and_without_a_proxy():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"all is well")

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6

    with Server(("::1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        try:
            assert probe("http", f"http://[::1]:{port}/", "--body", "well")["outcome"] == "ok"
            assert probe("http", f"http://[::1]:{port}/", "--body", "ill")["outcome"] == "fail"
            assert probe("http", f"http://[::1]:{port}/", HTTP_PROXY="http://127.0.0.1:1")["outcome"] == "ok"
        finally:
            server.shutdown()


def test_http_nobody_and_a_full_queue():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        crowd = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
            crowd.append(client)
        time.sleep(0.1)
        seen = probe("http", f"http://127.0.0.1:{port}/", "--timeout", "500ms")
        assert seen["outcome"] == "fail" and 450_000 < seen["took_us"] < 900_000
        for client in crowd:
            client.close()
    assert probe("http", f"http://127.0.0.1:{port}/")["reason"] == "refused"


def test_exec_codes_output_and_the_deadline(tmp_path):
    def run(script: str, *options: str) -> dict:
        program = tmp_path / "check"
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        return probe("exec", program, *options)

    good = run("echo 'LOAD OK - 0.5|load1=0.5;5;10 users=3c'")
    assert good["outcome"] == "ok"
    assert good["facts"]["measured"] == [{"label": "load1", "value": 0.5, "unit": ""}, {"label": "users", "value": 3.0, "unit": "c"}]
    assert run("echo hot; exit 1")["outcome"] == "warn"
    assert run("echo hotter; exit 2")["detail"] == "exit code 2: hotter"
    assert run("exit 3")["outcome"] == "unknown"
    assert run("exit 3", "--style", "script")["outcome"] == "fail"
    assert run("kill -9 $$")["detail"].startswith("ended by signal 9")
    assert run("head -c 1000000 /dev/zero")["reason"] == "over_limit"
    assert run("printf '\\033[2J\\n'; exit 2")["detail"] == "exit code 2: \\x1b[2J"
    pid_file = tmp_path / "pid"
    hung = run(f"sleep 1000 & echo $! > {pid_file}; wait", "--timeout", "300ms")
    assert hung["reason"] == "hung" and hung["outcome"] == "fail"
    child = int(pid_file.read_text(encoding="utf-8"))
    end = time.monotonic() + 5
    while Path(f"/proc/{child}/stat").exists() and time.monotonic() < end:
        if Path(f"/proc/{child}/stat").read_text(encoding="utf-8").split(") ")[1].startswith("Z"):
            break
        time.sleep(0.01)
    else:
        assert not Path(f"/proc/{child}").exists(), "its children go with it"
    assert probe("exec", tmp_path / "nothing")["outcome"] == "unknown"
