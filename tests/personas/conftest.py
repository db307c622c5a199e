import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests/integration"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: only with ./dev test --full")


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.slow)
