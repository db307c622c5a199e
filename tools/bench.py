"""./dev bench: one benchmark of tests/bench by name; a script (NAME.py) or a program (bench_NAME.cc)."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/bench"


def main() -> int:
    scripts = {file.stem: file for file in FOLDER.glob("[a-z]*.py")}
    programs = {file.stem.removeprefix("bench_"): ROOT / "build/release/bin" / file.stem for file in FOLDER.glob("bench_*.cc")}
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("name", choices=sorted(scripts.keys() | programs.keys()))
    given, rest = parser.parse_known_args()
    if given.name in scripts:
        command = [sys.executable, "-m", f"tests.bench.{given.name}"]
    else:
        command = [str(programs[given.name])]
    return subprocess.run([*command, *rest], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
