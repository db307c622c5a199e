"""A webhook's other end, which takes notices or behaves as bad receivers do. A fake, because no real one can be told to."""

import http.server
import json
import threading
import time


class Sink:
    """`manner`: ok, slow, 302 (to another host), 400, 403, 500, 429 (with Retry-After: 3), hang, half (closes in the middle of its answer)."""

    def __init__(self):
        self.manner = "ok"
        self.taken: list[dict] = []    # notices that were answered with 200, in order
        self.attempts: list[tuple[float, str, dict]] = []  # when, the key, the headers
        self.requests: list[tuple[str, str]] = []  # the method and the path of each attempt
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sink.requests.append((self.command, self.path))
                sink.attempts.append((time.monotonic(), self.headers["Idempotency-Key"], dict(self.headers)))
                sink.answer(self, body)

            do_PUT = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    def __enter__(self) -> "Sink":
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request: http.server.BaseHTTPRequestHandler, body: bytes) -> None:
        manner = self.manner
        if manner == "hang":
            time.sleep(30)
            return
        if manner == "half":
            request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
            request.close_connection = True
            return
        if manner == "slow":
            time.sleep(1)
        status = int(manner) if manner.isdigit() else 200
        if status == 200:
            said = json.loads(body)
            self.taken.append({"raw": body, **(said if isinstance(said, dict) else {"alerts": said})})
        request.send_response(status)
        if status == 429:
            request.send_header("Retry-After", "3")
        if status == 302:
            request.send_header("Location", "https://elsewhere.example/PATHSECRET")
        request.send_header("Content-Length", "0")
        request.end_headers()

    def kinds(self) -> list[str]:
        """What was taken: `began 1`, `ended 1`, …"""
        return [f"{item['kind']} {item['id']}" for notice in self.taken for item in notice.get("incidents", [])]
