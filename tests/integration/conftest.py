import sys
from pathlib import Path

import pytest
from tcp_target import Target

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: only with ./dev test --full")
    config.addinivalue_line("markers", "alone: not beside other tests, since it counts seconds of what is real; only with ./dev test --full")


@pytest.fixture
def target():
    target = Target()
    yield target
    target.down()
