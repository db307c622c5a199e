"""A port that a check looks at."""

import socket


class Target:
    """Somebody who accepts connections on one port, or does not; each turn is a change of the check that looks at it."""

    def __init__(self):
        self.port, self.listener = 0, None
        self.up()

    def up(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=1024)
        self.port = self.listener.getsockname()[1]

    def down(self) -> None:
        self.listener.close()
