import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/integration")]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: only with ./dev test --full")
