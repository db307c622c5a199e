"""Appends a benchmark's result to docs/evidence/bench.jsonl, with the machine, the moment and the commit that it speaks of."""

import json
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "docs/evidence/bench.jsonl"


def append(name: str, result: dict) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    record = {"at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "bench": name, "commit": commit,
              "command": f"./dev bench {name}", "cpus": os.cpu_count(), "kernel": platform.release(), **result}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with open(FILE, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    print(f"\nappended to {FILE.relative_to(ROOT)}")
