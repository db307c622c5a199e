"""./dev lint: format, the rules of the house, clang-tidy, coroutine hazards, scripts."""

import argparse
import functools
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import check_floors

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/lint"
CONFIG = ROOT / ".clang-tidy"
HAZARDS = ROOT / "tools/coroutine_hazards.cq"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev lint", description=__doc__)
    parser.add_argument("--all", action="store_true", help="clang-tidy on every file, not only on those that changed since origin/main")
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
    return check_floors.main() == 0


def check_scripts() -> bool:
    shell = subprocess.run(["shellcheck", "dev", ".ci/run"], cwd=ROOT, check=False).returncode == 0
    ok = shell
    for folder in ("lab", "tools", "tests/integration", "tests/e2e"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            try:
                compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
            except SyntaxError as error:
                print(f"{file.relative_to(ROOT)}:{error.lineno}: {error.msg}", file=sys.stderr)
                ok = False
    return ok


def check_code(everything: bool, fix: bool) -> bool:
    # Configured apart and never built: without the precompiled header, which would hide a missing include.
    configured = subprocess.run(["cmake", "--preset", "dev", "-B", str(BUILD), "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
                                 "-DWARDMOTE_TESTS=OFF", "--log-level=WARNING"], cwd=ROOT, stdout=subprocess.DEVNULL,
                                check=False)
    if configured.returncode != 0:
        return False
    sources = sorted((ROOT / "src").rglob("*.cc"))
    chosen = set(sources) if everything else _changed(sources)
    todo = [file for file in sorted(chosen) if not _passed(file).exists()]
    minutes = max(1, len(todo) * 8 // 60 // (os.cpu_count() or 1))
    print(f"    {len(todo)} of {len(sources)} files (about {minutes} min; the rest is unchanged since it passed)", flush=True)
    # Two fixes at once would spoil a header that both mend.
    with ThreadPoolExecutor(1 if fix else os.cpu_count()) as pool:
        return all(list(pool.map(lambda file: _check_file(file, fix), todo)))


def _check_file(file: Path, fix: bool) -> bool:
    tidy = subprocess.run(["clang-tidy-19", "--quiet", *(["--fix", "--format-style=file"] if fix else []), "-p", str(BUILD),
                           str(file)], capture_output=True, text=True, check=False)
    complaints = tidy.stdout if tidy.returncode != 0 else ""
    if "co_await" in file.read_text(encoding="utf-8"):
        query = subprocess.run(["clang-query-19", "-p", str(BUILD), "-f", str(HAZARDS), str(file)], capture_output=True,
                               text=True, check=False)
        if query.returncode != 0 or "Match #" in query.stdout:
            complaints += query.stdout + query.stderr
    if complaints:
        print(complaints, file=sys.stderr, flush=True)
        return False
    mark = _passed(file)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    return True


def _passed(file: Path) -> Path:
    """The mark of a file that passed with exactly this content of itself, of the headers that it sees, and of the rules."""
    seen = sorted(_seen_headers(file))
    return BUILD / "passed" / hashlib.sha256(b"".join(input.read_bytes() for input in (CONFIG, HAZARDS, file, *seen))).hexdigest()


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


def _changed(sources: list[Path]) -> set[Path]:
    """Sources that changed since origin/main, or that include a header that did (directly or not)."""
    base = subprocess.run(["git", "merge-base", "HEAD", "origin/main"], cwd=ROOT, capture_output=True, text=True, check=False)
    if base.returncode != 0:
        return set(sources)
    names = subprocess.run(["git", "diff", "--name-only", base.stdout.strip()], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                         check=True).stdout
    changed = {ROOT / name for name in (names + new).splitlines()}
    return {file for file in sources if file in changed or _seen_headers(file) & changed}


if __name__ == "__main__":
    sys.exit(main())
