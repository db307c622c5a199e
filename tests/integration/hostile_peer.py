"""A fake ovsdb-server: everything that a broken or evil one could do to whoever asks it. No part of any real server."""

import itertools
import json
import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

HUGE = 100 * 1024 * 1024
PIECE = b"x" * 65536


def _reply(identity: object, text: str = "") -> bytes:
    return json.dumps({"id": identity, "result": text or "unknown", "error": None}).encode()


def _silent(_request: dict) -> Iterator[bytes | float]:
    yield 60.0


def _drip(request: dict) -> Iterator[bytes | float]:
    """A whole answer, a byte every tenth of a second: each read makes progress, the whole never ends in time."""
    for byte in _reply(request["id"], "y" * 1000):
        yield bytes([byte])
        yield 0.1


def _endless(_request: dict) -> Iterator[bytes | float]:
    yield b'{"id":0,"result":"'
    yield from itertools.repeat(PIECE)


def _endless_messages(_request: dict) -> Iterator[bytes | float]:
    """Each is whole and of no interest."""
    yield from itertools.repeat(_reply("nobody") * 100)


def _garbage(_request: dict) -> Iterator[bytes | float]:
    yield random.Random(7).randbytes(4096)
    yield 60.0


def _half(request: dict) -> Iterator[bytes | float]:
    yield _reply(request["id"])[:-5]
    yield 60.0


def _half_and_gone(request: dict) -> Iterator[bytes | float]:
    yield _reply(request["id"])[:-5]


def _huge_string(request: dict) -> Iterator[bytes | float]:
    yield f'{{"id":{json.dumps(request["id"])},"error":null,"result":"'.encode()
    yield from itertools.repeat(PIECE, HUGE // len(PIECE))
    yield b'"}'


def _deep(_request: dict) -> Iterator[bytes | float]:
    yield from itertools.repeat(b"[" * 65536, 160)
    yield 60.0


def _wrong_id(_request: dict) -> Iterator[bytes | float]:
    yield _reply("somebody else's")
    yield 60.0


def _reply_to_nothing(_request: dict) -> Iterator[bytes | float]:
    yield _reply(None)
    yield 60.0


def _gone(_request: dict) -> Iterator[bytes | float]:
    yield from ()


MANNERS = {
    "silent": _silent, "drip": _drip, "endless": _endless, "endless_messages": _endless_messages, "garbage": _garbage,
    "half": _half, "half_and_gone": _half_and_gone, "huge_string": _huge_string, "deep": _deep, "wrong_id": _wrong_id,
    "reply_to_nothing": _reply_to_nothing, "gone": _gone,
}


class HostilePeer:
    """Listens on a unix socket and treats every connection in one manner."""

    def __init__(self, path: Path, manner: str):
        self._behave = MANNERS[manner]
        self._stop = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "HostilePeer":
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._treat, args=[connection], daemon=True).start()

    def _treat(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = json.JSONDecoder().raw_decode(connection.recv(65536).decode())[0]
                for piece in self._behave(request):
                    if isinstance(piece, float):
                        if self._stop.wait(piece):
                            return
                    else:
                        connection.sendall(piece)
            except (OSError, ValueError):
                return
