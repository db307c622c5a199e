import socket
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: only with ./dev test --full")


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


@pytest.fixture
def target():
    target = Target()
    yield target
    target.down()
