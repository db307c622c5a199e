"""Removes one guard after the other from a copy of its source, and plays random worlds against what is left: a guard whose absence no world
notices protects nothing, or is not tested. A list has the guards of one simulation."""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/single"    # where each source has an object of its own, which can be replaced
WORLDS = 30_000


@dataclass(frozen=True)
class Suite:
    program: str    # plays the worlds
    list: Path
    tests: str = "*"    # which of its tests do


# By their names for ./dev soak.
SUITES = {"guards": Suite("advice", ROOT / "tests/advice/guards.yaml"),
          "gate-guards": Suite("version_gate", ROOT / "tests/version_gate/guards.yaml"),
          "guest-guards": Suite("sim", ROOT / "tests/sim/guest_guards.yaml", "SimGuestRestart.Nobody*"),
          "failover-guards": Suite("failover", ROOT / "tests/failover/guards.yaml", "SimStandalone.One*")}


def remove_each(suite: Suite, worlds: int, only: list[str] | None) -> dict:
    """Every guard of the list must be noticed within so many worlds."""
    listed = guards(suite)
    if unknown := set(only or ()) - {guard["name"] for guard in listed}:
        sys.exit(f"no such guard: {', '.join(sorted(unknown))}")
    chosen = [guard for guard in listed if not only or guard["name"] in only]
    if faults := stale():   # of the whole lists, so that an outdated entry is noticed at once
        sys.exit("\n".join(faults))
    without = {guard["name"]: patched(guard) for guard in chosen}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        seeds = list(pool.map(lambda guard: seed_that_notices(suite, guard, without[guard["name"]], worlds), chosen))
    missed = [guard["name"] for guard, seed in zip(chosen, seeds, strict=True) if seed is None]
    return {"guards": len(chosen), "missed": missed, "schedules": worlds, "result": "failed" if missed else "clean"}


def guards(suite: Suite) -> list[dict]:
    return yaml.safe_load(suite.list.read_text(encoding="utf-8"))


def stale() -> list[str]:
    """What of the lists no longer fits the code."""
    faults = []
    for suite in SUITES.values():
        for guard in guards(suite):
            try:
                patched(guard)
            except ValueError as error:
                faults.append(f"{suite.list.relative_to(ROOT)}: '{guard['name']}': {error}")
    return faults


def patched(guard: dict) -> dict[str, str]:
    """The sources without the guard, by path. ValueError where its text is not there exactly once."""
    texts: dict[str, str] = {}
    for edit in guard["edits"]:
        text = texts.get(edit["file"]) or (ROOT / edit["file"]).read_text(encoding="utf-8")
        search = edit["search"].rstrip("\n")
        if (times := text.count(search)) != 1:
            raise ValueError(f"its text occurs {times} times in {edit['file']}, not once: {search.strip()}")
        texts[edit["file"]] = text.replace(search, edit["replace"].rstrip("\n"))
    return texts


def seed_that_notices(suite: Suite, guard: dict, texts: dict[str, str], worlds: int) -> int | None:
    """The world that noticed last time first; the worlds change with the sources, and then it is looked for anew."""
    name = guard["name"]
    program = build(suite.program, name, texts)
    found = None
    if "world" in guard:
        found = play(program, suite.tests, {"WARDMOTE_SIM_SEED": str(guard["world"])})
    if not found:
        found = play(program, suite.tests, {"WARDMOTE_SIM_MORE": str(worlds)})
    program.unlink()
    if found:
        known = "" if guard.get("world") == int(found["seed"]) else f" (write `world: {found['seed']}` into its entry)"
        print(f"    {name}: noticed in world {found['seed']}{known}: {found['fault']}", flush=True)
        return int(found["seed"])
    print(f"    {name}: NOT noticed in {worlds} worlds", file=sys.stderr, flush=True)
    return None


def play(program: Path, tests: str, which: dict[str, str]) -> re.Match | None:
    done = subprocess.run([program, f"--gtest_filter={tests}"], env={**os.environ, **which}, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"(?P<fault>[^\n]*)\nin the world of seed (?P<seed>\d+)", done.stdout)
    if not found and done.returncode != 0:
        print(f"    {program} ended with {done.returncode}", file=sys.stderr, flush=True)
    return found


def build(worlds_of: str, name: str, texts: dict[str, str]) -> Path:
    """The worlds with some sources replaced: their objects are linked before the library that holds the originals."""
    folder = BUILD / "guards" / worlds_of / re.sub(r"\W+", "-", name)
    folder.mkdir(parents=True, exist_ok=True)
    known = {entry["file"]: entry for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))}
    objects = []
    for file, text in texts.items():
        source = folder / Path(file).name
        source.write_text(text, encoding="utf-8")
        original = known[str(ROOT / file)]
        words = shlex.split(original["command"])
        objects.append(f"{source}.o")
        words[words.index("-o") + 1] = objects[-1]
        words[words.index("-c") + 1] = str(source)
        run([*words, "-Wno-unused", "-Wno-unused-parameter", "-Wno-sign-compare"], Path(original["directory"]), name)
    program = folder / worlds_of
    steps = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "-s", f"bin/{worlds_of}"], capture_output=True, text=True, check=True).stdout
    words = [word for word in shlex.split(steps.splitlines()[-1]) if word not in (":", "&&")]
    words[words.index("-o") + 1] = str(program)
    at = words.index("-o")
    run([*words[:at], *objects, *words[at:]], BUILD, name)
    return program


def run(command: list[str], folder: Path, name: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        sys.exit(f"'{name}' does not build without its guard:\n{done.stderr[-4000:]}")
