#!/usr/bin/python3
"""Small programs that trouble one server for as long as they run: `nuisance.py stranger|stutter|babble ...`."""

import argparse
import json
import os
import selectors
import signal
import socket
import time


def stranger(host: str, port: int) -> None:
    """Keeps a connection to a raft port open and answers only its echo requests: somebody who never says who he is."""
    while True:
        try:
            with socket.create_connection((host, port), timeout=5) as peer:
                _answer_echoes(peer)
        except OSError:
            pass
        time.sleep(0.2)


def _answer_echoes(peer: socket.socket) -> None:
    peer.settimeout(None)
    decoder, text = json.JSONDecoder(), ""
    while piece := peer.recv(1 << 16):
        text += piece.decode("utf-8", "replace")
        while text:
            try:
                message, end = decoder.raw_decode(text)
            except ValueError:
                break
            text = text[end:]
            if message.get("method") == "echo":
                reply = {"id": message["id"], "result": message["params"], "error": None}
                peer.sendall(json.dumps(reply).encode())


def stutter(pid: int, stopped_ms: float) -> None:
    """Stops and continues the process all the time, as fsync() on a slow disk does to a server of one thread."""
    try:
        while True:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(stopped_ms / 1000)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.25)
    except ProcessLookupError:
        pass


def babble(paths: list[str]) -> None:
    """Listens at unix sockets and answers everybody as a web server does."""
    poller = selectors.DefaultSelector()
    for path in paths:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        poller.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in poller.select():
            peer, _ = key.fileobj.accept()
            try:
                peer.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            except OSError:
                pass
            peer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(required=True)
    kind = kinds.add_parser("stranger")
    kind.add_argument("host")
    kind.add_argument("port", type=int)
    kind.set_defaults(run=lambda given: stranger(given.host, given.port))
    kind = kinds.add_parser("stutter")
    kind.add_argument("pid", type=int)
    kind.add_argument("stopped_ms", type=float)
    kind.set_defaults(run=lambda given: stutter(given.pid, given.stopped_ms))
    kind = kinds.add_parser("babble")
    kind.add_argument("paths", nargs="+")
    kind.set_defaults(run=lambda given: babble(given.paths))
    given = parser.parse_args()
    given.run(given)
