"""./dev test: the integration tests, several at a time since most of their time is waiting for raft."""

import argparse
import os
import subprocess
import sys

from lab.instance import may_run

SIDE_BY_SIDE = ("-n", "6", "--dist", "loadgroup")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__,
                                     epilog="--coverage, alone: the lines of codec and judge that tests run through; fails below 90 %.")
    parser.add_argument("--full", action="store_true", help="every fault scenario, not only a smoke of each kind")
    given = parser.parse_args()
    reason = may_run()
    if reason:
        print(f"test: {reason}", file=sys.stderr)
        return 77
    folders = ["tests/integration", "tests/e2e"]
    if not given.full:
        return play(*SIDE_BY_SIDE, "-m", "not slow", *folders)
    side_by_side = play(*SIDE_BY_SIDE, "-m", "not alone", *folders, "tests/personas")
    alone = play("-m", "alone", "tests/integration")
    return side_by_side or alone


def play(*options: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "--durations=5", "-p", "no:cacheprovider", *options],
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
