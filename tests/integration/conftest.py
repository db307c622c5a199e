import sys
from pathlib import Path

import pytest
from tcp_target import Target

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lab.etcd import EtcdCluster  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: only with ./dev test --full")
    config.addinivalue_line("markers", "alone: not beside other tests, since it counts seconds of what is real; only with ./dev test --full")


@pytest.fixture
def target():
    target = Target()
    yield target
    target.down()


@pytest.fixture
def targets():
    """One for each of three agents."""
    targets = [Target() for _ in range(3)]
    yield targets
    for target in targets:
        target.down()


@pytest.fixture
def etcd(tmp_path):
    """Of one member."""
    with EtcdCluster(ROOT / "build/lab/etcd", tmp_path / "etcd") as etcd:
        yield etcd
