"""tests/scenarios.md names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_every_test_that_is_named_exists():
    sources = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*_test.cc")]
    known = {f"{suite}.{name}" for text in sources for suite, name in
             re.findall(r"(?:TEST|TEST_F|TEST_P|SIM_TEST|SIM_TEST_SEEDS|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)", text)}
    known |= {name for path in TESTS.glob("integration/test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)}
    named = re.findall(r"`(\w+\.[A-Z]\w+|test_\w+)`", (TESTS / "scenarios.md").read_text(encoding="utf-8"))
    assert len(named) > 100
    assert sorted(set(named) - known) == []
