"""./dev test: the integration tests, several at a time since most of their time is waiting for raft."""

import argparse
import os
import subprocess
import sys

from lab.instance import may_run

AT_A_TIME = 6


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__,
                                     epilog="--coverage, alone: the lines of codec and judge that tests run through; fails below 90 %.")
    parser.add_argument("--full", action="store_true", help="every fault scenario, not only a smoke of each kind")
    given = parser.parse_args()
    reason = may_run()
    if reason:
        print(f"test: {reason}", file=sys.stderr)
        return 77
    select = [] if given.full else ["-m", "not slow"]
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", str(AT_A_TIME), "--dist", "load", "--durations=5",
                           "-p", "no:cacheprovider", *select, "tests/integration", "tests/e2e", *(["tests/personas"] if given.full else [])],
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
