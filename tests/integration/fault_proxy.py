"""A proxy before a real kube-apiserver, which passes requests on, refuses some, or never answers."""

import http.client
import http.server
import json
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.kubernetes import ApiServer
from lab.pki import Authority


@dataclass
class Refusal:
    """Instead of asking the server."""

    status: int
    reason: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class Silence:
    """No answer ever comes."""

    def __init__(self, done: bool):
        self.done = done  # the server was asked before


Manner = Refusal | Silence | None


class FaultProxy:
    """`manner` says of each request by its method and path what becomes of it; null: it is passed on. It is called from many threads."""

    def __init__(self, cluster: ApiServer, folder: Path):
        self.ca = folder / "proxy-pki/proxy-ca.pem"
        papers = Authority(folder / "proxy-pki", "proxy").issue("proxy", names="IP:127.0.0.1")
        self.manner: Callable[[str, str], Manner] = lambda method, path: None
        # What is answered instead of asking the server, by method, path, headers and body; null: it is asked.
        self.instead: Callable[[str, str, Mapping[str, str], bytes], tuple[int, bytes] | None] = lambda *request: None
        self.asked: list[tuple[str, str]] = []
        self._over = threading.Event()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            upstream: http.client.HTTPSConnection | None = None

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                proxy.asked.append((self.command, self.path))
                manner = proxy.manner(self.command, self.path)
                if isinstance(manner, Refusal):
                    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": manner.status, "reason": manner.reason,
                              "message": f"the proxy says {manner.status}"}
                    self.give(manner.status, json.dumps(status).encode(), manner.headers)
                    return
                if isinstance(manner, Silence) and not manner.done:
                    self.be_silent()
                    return
                try:
                    status, answer = proxy.instead(self.command, self.path, self.headers, body) or self.ask(body)
                except OSError:
                    self.close_connection = True
                    return
                if isinstance(manner, Silence):
                    self.be_silent()
                    return
                self.give(status, answer, {})

            do_PATCH = do_DELETE = do_POST = do_PUT = do_GET

            def ask(self, body: bytes) -> tuple[int, bytes]:
                if self.upstream is None:
                    self.upstream = http.client.HTTPSConnection("127.0.0.1", cluster.port, timeout=60,
                                                                context=ssl.create_default_context(cafile=str(cluster.ca)))
                headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "content-length")}
                self.upstream.request(self.command, self.path, body=body or None, headers=headers)
                answer = self.upstream.getresponse()
                return answer.status, answer.read()

            def be_silent(self) -> None:
                self.close_connection = True
                proxy._over.wait(120)

            def give(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(papers.certificate, papers.key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def __enter__(self) -> "FaultProxy":
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_address[1]}"
