"""./dev test --coverage: how much of the pure floors the unit and property tests run through; fails below the limit."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/asan"
ROOMS = ("codec", "judge")
LEAST = 90.0    # percent of the lines of each room
SHOWN = 8       # of the files with the most lines that nothing ran


def main() -> int:
    programs = [BUILD / "bin" / f"unit_{room}" for room in ROOMS]
    profiles = [run(program) for program in programs]
    merged = BUILD / "coverage.profdata"
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", *profiles, "-o", merged], check=True)
    objects = [argument for program in programs[1:] for argument in ("-object", str(program))]
    report = subprocess.run(["llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}", str(programs[0]), *objects],
                            stdout=subprocess.PIPE, text=True, check=True)
    files = json.loads(report.stdout)["data"][0]["files"]
    return 1 if any([below(room, files) for room in ROOMS]) else 0


def run(program: Path) -> Path:
    """What `./dev sanitize` has just run is not run again."""
    profile = BUILD / f"profiles/{program.name}.profraw"
    if profile.exists() and profile.stat().st_mtime > program.stat().st_mtime:
        return profile
    subprocess.run([program, "--gtest_brief=1"], cwd=ROOT, env={**os.environ, "LLVM_PROFILE_FILE": str(profile)}, check=True)
    return profile


def below(room: str, files: list[dict]) -> bool:
    # However the compiler was told where it stands, a cache between them: the name may begin before `src` or with it.
    within = re.compile(f"(?:^|/)src/{room}/(.*)")
    lines = {found[1]: file["summary"]["lines"] for file in files if (found := within.search(file["filename"]))}
    count = sum(line["count"] for line in lines.values())
    covered = sum(line["covered"] for line in lines.values())
    percent = 100.0 * covered / max(1, count)
    print(f"    {room}: {percent:.1f} % of {count} lines (at least {LEAST:.0f} %)")
    missed = sorted(((line["count"] - line["covered"], name) for name, line in lines.items()), reverse=True)
    for number, name in missed[:SHOWN]:
        if number:
            print(f"        {number:4} not run in {name}")
    return percent < LEAST


if __name__ == "__main__":
    sys.exit(main())
