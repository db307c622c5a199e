"""A fake kube-apiserver that keeps events as a real one does, and answers as none should: it hangs in the middle, drips, or never ends."""

import http.server
import json
import ssl
import threading

from lab.pki import Papers

HUGE = 4 << 30
PIECE = b" " * 65536


class FakeApiServer:
    """Until `mend()`, each answer to a request by the method `at` is given in this `manner`; what was asked for is done all the same.
    `known`: each event is there already, of an earlier notice, so that it is counted up instead of made."""

    def __init__(self, papers: Papers, manner: str, at: str):
        self.manner, self.at = manner, at
        self.known = at != "POST"
        self.events: dict[str, dict] = {}
        self.badly_answered, self.most_sent = 0, 0
        self._mended = threading.Event()
        self._lock = threading.Lock()
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._give(*fake.create(event))

            def do_GET(self):
                event = fake.events.get(self.path.rsplit("/", 1)[1])
                self._give(200 if event else 404, event or {})

            def do_PATCH(self):
                patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._give(*fake.change(self.path.rsplit("/", 1)[1], patch))

            def _give(self, status: int, answer: dict) -> None:
                try:
                    fake.answer(self, status, json.dumps(answer).encode())
                except OSError:  # it was hung up on
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(papers.certificate, papers.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self._mended.set()
        self.server.shutdown()
        self.server.server_close()

    def mend(self) -> None:
        self._mended.set()

    def create(self, event: dict) -> tuple[int, dict]:
        with self._lock:
            name = event["metadata"]["name"]
            there = name in self.events
            if not there:
                event["metadata"]["resourceVersion"] = "1"
                self.events[name] = event
            if not there and self.known:
                event["metadata"]["annotations"] = {}
            if there or self.known:
                return 409, {"kind": "Status", "reason": "AlreadyExists", "message": f"events \"{name}\" already exists"}
            return 201, event

    def change(self, name: str, patch: dict) -> tuple[int, dict]:
        with self._lock:
            event = self.events[name]
            version = event["metadata"]["resourceVersion"]
            if patch["metadata"]["resourceVersion"] != version:
                return 409, {"kind": "Status", "reason": "Conflict"}
            metadata = {**event["metadata"], **patch["metadata"], "resourceVersion": str(int(version) + 1)}
            self.events[name] = {**event, **patch, "metadata": metadata}
            return 200, self.events[name]

    def answer(self, request: http.server.BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        badly = request.command == self.at and not self._mended.is_set()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        if not badly:
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
            return
        self.badly_answered += 1
        request.close_connection = True
        if self.manner == "headers":
            request.flush_headers()
            self._send(request, b"X-More: " + b"x" * 4000 + b"\r\n")
        elif self.manner == "endless":
            request.send_header("Content-Length", str(HUGE))
            request.end_headers()
            self._send(request, PIECE)
        elif self.manner == "chunks":
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            self._send(request, b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
        else:
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body[:-5])
            for byte in body[-5:] if self.manner == "drip" else b"":
                if self._mended.wait(1.0):
                    return
                request.wfile.write(bytes([byte]))
            self._mended.wait()

    def _send(self, request: http.server.BaseHTTPRequestHandler, piece: bytes) -> None:
        sent = 0
        try:
            while sent < HUGE and not self._mended.is_set():
                request.wfile.write(piece)
                sent += len(piece)
        finally:
            self.most_sent = max(self.most_sent, sent)
