"""docs/evidence: what was run, when, on which commit, and what came of it. Documents quote these files only."""

import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/evidence"


def append(name: str, records: list[dict]) -> None:
    """Adds lines to docs/evidence/NAME.jsonl, each with the moment."""
    file = FOLDER / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    moment = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(file, "a", encoding="utf-8") as out:
        out.writelines(json.dumps({"at": moment, **record}) + "\n" for record in records)
    print(f"appended to {file.relative_to(ROOT)}", flush=True)


def rows(name: str) -> list[dict]:
    """What docs/evidence/NAME.jsonl holds."""
    file = FOLDER / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def commit() -> str:
    """Of the work tree; with a '+' when what is built differs from it."""
    name = _git("rev-parse", "--short=12", "HEAD")
    return name + ("+" if _git("status", "--porcelain", "--", "src", "tests", "cmake", "CMakeLists.txt") else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
