"""./dev lint: format, the rules of the house, clang-tidy, coroutine hazards, scripts.

Without --all clang-tidy reads the files that changed, or whose own header did, since the commit at which all of them were clean last
(docs/evidence/lint.jsonl), without its static analyzer, which takes two thirds of the time. --all reads all of them with everything. A clean run on a committed tree
appends to that file."""

import argparse
import functools
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import check_floors, evidence, guards, mutate

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/lint"
CONFIG = ROOT / ".clang-tidy"
HAZARDS = ROOT / "tools/coroutine_hazards.cq"
EVIDENCE = evidence.FOLDER / "lint.jsonl"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev lint", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="clang-tidy on every file, with its static analyzer")
    parser.add_argument("--fix", action="store_true", help="let clang-format and clang-tidy mend what they can")
    given = parser.parse_args()
    checks = {"format": lambda: check_format(given.fix), "house rules": check_house, "scripts": check_scripts,
              "clang-tidy and coroutine hazards": lambda: check_code(given.all, given.fix)}
    failed = [name for name, check in checks.items() if not run(name, check)]
    print(f"==> lint: {'failed: ' + ', '.join(failed) if failed else 'clean'}", flush=True)
    return 1 if failed else 0


def run(name: str, check) -> bool:
    print(f"==> {name}", flush=True)
    return check()


def check_format(fix: bool) -> bool:
    files = [str(file) for folder in ("src", "tests") for file in sorted((ROOT / folder).rglob("*"))
             if file.suffix in (".h", ".cc")]
    mode = ["-i"] if fix else ["--dry-run", "--Werror"]
    return subprocess.run(["clang-format-19", *mode, *files], check=False).returncode == 0


def check_house() -> bool:
    """The floors, and the lists that quote the code and must follow it."""
    floors = check_floors.main() == 0
    _, stale = mutate.equivalents(mutate.EQUIVALENT, ROOT)
    stale += guards.stale()
    for line in stale:
        print(line, file=sys.stderr)
    return floors and not stale


def check_scripts() -> bool:
    shell = subprocess.run(["shellcheck", "dev", ".ci/run"], cwd=ROOT, check=False).returncode == 0
    # Debian's: names that are nowhere defined, imports that nobody uses, and what does not parse.
    python = subprocess.run(["/usr/bin/python3", "-m", "pyflakes", "lab", "tools", "tests"], cwd=ROOT, check=False).returncode == 0
    return shell and python


def check_code(everything: bool, fix: bool) -> bool:
    # Configured apart and never built: without the precompiled header, which would hide a missing include.
    configured = subprocess.run(["cmake", "--preset", "dev", "-B", str(BUILD), "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
                                 "-DWARDMOTE_TESTS=OFF", "--log-level=WARNING"], cwd=ROOT, stdout=subprocess.DEVNULL,
                                check=False)
    if configured.returncode != 0:
        return False
    sources = sorted((ROOT / "src").rglob("*.cc"))
    chosen = sources if everything else _changed(sources)
    todo = [file for file in sorted(chosen) if not _passed(file, everything).exists()]
    seconds = 15 if everything else 6
    minutes = max(1, len(todo) * seconds // 60 // (os.cpu_count() or 1))
    print(f"    {len(todo)} of {len(sources)} files (about {minutes} min; the rest is unchanged since it passed)", flush=True)
    # Two fixes at once would spoil a header that both mend.
    with ThreadPoolExecutor(1 if fix else os.cpu_count()) as pool:
        clean = all(list(pool.map(lambda file: _check_file(file, everything, fix), todo)))
    if clean and not fix and not evidence.commit().endswith("+"):
        evidence.append("lint", [{"files": len(chosen), "read": "all, with the analyzer" if everything else "what changed since the row before",
                                  "commit": evidence.commit(), "result": "clean"}])
    return clean


def _check_file(file: Path, analyze: bool, fix: bool) -> bool:
    options = [] if analyze else ["--checks=-clang-analyzer-*"]
    if fix:
        options += ["--fix", "--format-style=file"]
    tidy = subprocess.run(["clang-tidy-19", "--quiet", *options, "-p", str(BUILD), str(file)], capture_output=True, text=True, check=False)
    complaints = tidy.stdout if tidy.returncode != 0 else ""
    if "co_await" in file.read_text(encoding="utf-8"):
        query = subprocess.run(["clang-query-19", "-p", str(BUILD), "-f", str(HAZARDS), str(file)], capture_output=True,
                               text=True, check=False)
        if query.returncode != 0 or "Match #" in query.stdout:
            complaints += query.stdout + query.stderr
    if complaints:
        print(complaints, file=sys.stderr, flush=True)
        return False
    mark = _passed(file, analyze)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    return True


def _passed(file: Path, analyze: bool) -> Path:
    """The mark of a file that passed with exactly this content of itself, of the headers that it sees, and of the rules."""
    seen = sorted(_seen_headers(file))
    return BUILD / ("analyzed" if analyze else "passed") / hashlib.sha256(b"".join(input.read_bytes() for input in (CONFIG, HAZARDS, file, *seen))).hexdigest()


def _seen_headers(file: Path) -> set[Path]:
    """Our headers that it includes, directly or not."""
    seen: set[Path] = set()
    ahead = [file]
    while ahead:
        for header in _own_includes(ahead.pop()) - seen:
            seen.add(header)
            ahead.append(header)
    return seen


@functools.cache
def _own_includes(file: Path) -> frozenset[Path]:
    named = (ROOT / "src" / own for own, _ in check_floors.INCLUDE.findall(file.read_text(encoding="utf-8")) if own)
    return frozenset(header for header in named if header.exists())


def _changed(sources: list[Path]) -> list[Path]:
    """Since all were clean; all of them where that commit is not at hand."""
    base = _last_clean_commit()
    if base is None:
        print("    no commit is known here at which all files were clean: all are read", flush=True)
        return sources
    names = _git("diff", "--name-only", base).splitlines() + _git("ls-files", "--others", "--exclude-standard").splitlines()
    changed = {ROOT / name for name in names}
    return [file for file in sources if file in changed or file.with_suffix(".h") in changed]


def _last_clean_commit() -> str | None:
    lines = EVIDENCE.read_text(encoding="utf-8").splitlines() if EVIDENCE.exists() else []
    for line in reversed(lines):
        commit = json.loads(line)["commit"]
        if subprocess.run(["git", "merge-base", "--is-ancestor", commit, "HEAD"], cwd=ROOT, capture_output=True, check=False).returncode == 0:
            return commit
    return None


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
