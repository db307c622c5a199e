"""Servers for TLS tests: honest ones of Python's ssl, and fakes that break the handshake in every way a hostile peer could."""

import os
import socket
import ssl
import threading

from lab.pki import Papers


class Peer:
    """Listens on the loopback and treats each connection by `_treat`, until closed."""

    def __init__(self):
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(64)
        self.port = self._socket.getsockname()[1]
        self.stop = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.stop.set()
        self._socket.close()

    def _accept(self) -> None:
        while not self.stop.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._guarded, args=[connection], daemon=True).start()

    def _guarded(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._treat(connection)
            except OSError:
                pass

    def _treat(self, connection: socket.socket) -> None:
        raise NotImplementedError


class HonestServer(Peer):
    """Shakes hands, and waits for the other to go."""

    def __init__(self, papers: Papers, *, wants_clients: bool = False, newest: ssl.TLSVersion | None = None):
        self.papers, self._wants, self._newest = papers, wants_clients, newest
        super().__init__()

    def _treat(self, connection: socket.socket) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.papers.certificate, self.papers.key)
        if self._wants:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.papers.ca)
        if self._newest:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = self._newest
            context.maximum_version = self._newest
        with context.wrap_socket(connection, server_side=True) as wrapped:
            while wrapped.recv(4096):
                pass


class BrokenServer(Peer):
    """A fake: no honest server does any of this."""

    def __init__(self, manner: str):
        self._manner = MANNERS[manner]
        super().__init__()

    def _treat(self, connection: socket.socket) -> None:
        connection.recv(4096)
        for piece in self._manner:
            if isinstance(piece, float):
                if self.stop.wait(piece):
                    return
            else:
                connection.sendall(piece)


def _record(kind: int, body: bytes) -> bytes:
    return bytes([kind, 3, 3, len(body) >> 8, len(body) & 255]) + body


SERVER_HELLO_BEGUN = _record(22, b"\x02\x00\x00\x70\x03\x03" + bytes(32))
MANNERS = {
    "silent": [60.0],
    "closes at once": [],
    "closes in the handshake": [SERVER_HELLO_BEGUN],
    "stalls in the handshake": [SERVER_HELLO_BEGUN, 60.0],
    "drips": [bytes([byte]) if index % 2 == 0 else 0.1 for byte in SERVER_HELLO_BEGUN for index in (0, 1)],
    "garbage": [os.urandom(8192).replace(b"\x16", b"\x00").replace(b"\x15", b"\x00"), 60.0],
    "a message of 16 MB": [_record(22, b"\x02\xff\xff\xff" + bytes(9000)), 60.0],
    # Requests to begin anew, which a client may ignore.
    "records without end": [_record(22, bytes(16000))] * 2000 + [60.0],
    "plain HTTP": [b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"],
    "an SSH banner": [b"SSH-2.0-OpenSSH_9.2p1\r\n", 60.0],
}
