"""./dev mutate: do the tests notice a random one-token change? Appends to docs/evidence/mutate.jsonl what came of it.

Each change is made alone, in a private copy of the tree under build/mutate. The programs that cover the room are built without
optimisation and run, quickest first; the first that fails or hangs kills the change. Changes that do not compile, or compile to
the same code, are not counted: another one is drawn. A change that nothing kills is shown as a diff, for a person to judge:
either a test is missing, or the change is equivalent and goes into tests/equivalent-mutants.yaml with the reason."""

import argparse
import difflib
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tools.evidence import append, commit, rows
from tools.mutants import Mutant, mutant, mutants, sites
from tools.mutation_tree import Broken, Cost, Ran, Tree, files_of_work_tree

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = ROOT / "tests/equivalent-mutants.yaml"
# The programs that cover a room of src, or a part of one, quickest first. The longest name that fits decides.
PROGRAMS = {
    "base": ["unit_base", "unit_codec", "unit_judge"],
    "codec": ["unit_codec", "unit_observe", "unit_act", "sim"],
    "judge": ["unit_judge", "unit_serve", "unit_observe", "unit_store", "unit_agent", "sim"],
    "judge/condition": ["unit_judge", "unit_serve", "unit_agent", "sim", "advice"],
    "judge/failover": ["unit_judge", "failover", "unit_agent"],
    "judge/plan": ["unit_judge", "unit_act", "unit_agent", "sim", "advice"],
    "judge/raft": ["unit_judge", "unit_serve", "unit_observe", "unit_store", "unit_agent", "sim", "advice"],
    "judge/version_gate": ["unit_judge", "version_gate", "unit_act", "unit_agent"],
    "runtime": ["unit_runtime", "unit_store", "sim"],
    "observe": ["unit_observe", "sim"],
    "store": ["unit_store", "store_conformance", "unit_serve", "unit_agent", "sim", "agents"],    # sim: the client of etcd
    "net": ["unit_net"],
    "act": ["unit_act", "unit_agent"],
    "serve": ["unit_serve", "unit_agent", "sim"],
    "config": ["unit_config", "unit_agent", "unit_daemon"],
    "incidents": ["unit_agent", "sim"],
    "agent": ["unit_agent", "sim"],
    "daemon": ["unit_daemon"],
    "cli": ["unit_cli"],
}
# Stories that play whole worlds, of which a second takes many: so many for each one of --sim-seeds.
WORLDS = {"advice": 20, "failover": 50, "version_gate": 50}
NO_LIMIT = Cost(3600, 3600)


@dataclass
class Tally:
    killed: int = 0
    timed_out: int = 0    # of the killed
    same_code: int = 0
    not_compiled: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    def counted(self) -> int:
        return self.killed + len(self.survivors)


class Run:
    def __init__(self, programs: list[str] | None, candidates, wanted: int, seeds: int):
        self.programs, self.seeds, self.wanted = programs, seeds, wanted    # programs: None: those that cover the file
        self.tally, self.limits = Tally(), {}    # limits: by program
        self._candidates, self._in_flight = candidates, 0
        self._changed, self._measuring = threading.Condition(), threading.Lock()

    def measure(self, tree: Tree, program: str) -> None:
        """Before it decides anything: that it passes on the unchanged tree, and how long that takes."""
        with self._measuring:
            if program in self.limits:
                return
            tree.prepare(program)
            ran = self._play(tree, program, NO_LIMIT)
            if not ran.passed:
                raise Broken(f"{program} fails on the unchanged tree:\n{ran.output[-8000:]}")
            print(f"    {program}: {ran.cost.seconds:.0f} s", flush=True)
            # Generous in seconds, since others may use the machine; exact in processor time.
            self.limits[program] = Cost(60 + 10 * ran.cost.seconds, 15 + 3 * ran.cost.cpu)

    def work(self, tree: Tree) -> None:
        while (change := self._next()) is not None:
            try:
                fate = self._try(tree, change)
            except BaseException:
                self._finish(change, "broken")
                raise
            self._finish(change, fate)

    def _next(self) -> Mutant | None:
        with self._changed:
            # What is being tried may not compile: then one more is needed.
            while self.tally.counted() + self._in_flight >= self.wanted and self._in_flight > 0:
                self._changed.wait()
            if self.tally.counted() >= self.wanted:
                return None
            change = next(self._candidates, None)
            self._in_flight += change is not None
            return change

    def _finish(self, change: Mutant, fate: str) -> None:
        with self._changed:
            self._in_flight -= 1
            if fate == "survived":
                self.tally.survivors.append(change)
            elif fate == "not compiled":
                self.tally.not_compiled += 1
            elif fate == "same code":
                self.tally.same_code += 1
            elif fate.startswith("killed"):
                self.tally.killed += 1
                self.tally.timed_out += fate.endswith("in time")
            self._changed.notify_all()
            print(f"    {self.tally.counted():3}  {fate}: {change.file}:{change.line}  {change.before}  →  {change.after}"[:240], flush=True)

    def _try(self, tree: Tree, change: Mutant) -> str:
        text = (tree.source / change.file).read_text(encoding="utf-8")
        try:
            for program in self.programs or programs_of(change.file.removeprefix("src/")):
                # Only when it is needed: most changes are noticed by the first.
                if program not in self.limits:
                    tree.write(change.file, text)
                    self.measure(tree, program)
                code = tree.unchanged_code(change.file)
                tree.write(change.file, change.apply(text))
                if not tree.builds(program, change.file):
                    return "not compiled"
                if code and tree.code(change.file) == code:
                    return "same code"
                ran = self._play(tree, program, self.limits[program])
                if not ran.passed:
                    return f"killed by {program}" + (", which did not end in time" if ran.timed_out else "")
        finally:
            tree.write(change.file, text)
        return "survived"

    def _play(self, tree: Tree, program: str, limit: Cost) -> Ran:
        return tree.run(program, limit, self.seeds * WORLDS.get(program, 1))


def programs_of(place: str) -> list[str]:
    """Of a folder or file of src; empty: nothing covers it."""
    fitting = [room for room in PROGRAMS if f"{place}/".startswith(f"{room}/")]
    return PROGRAMS[max(fitting, key=len)] if fitting else []


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", nargs="?", metavar="ROOM", help="a folder or file of src: judge, judge/raft, act/acts.cc, …")
    parser.add_argument("--sample", type=int, default=30, help="changes to count (default: 30)")
    parser.add_argument("--seed", type=int, help="of the draw (default: another one each time; it is printed)")
    parser.add_argument("--jobs", type=int, default=1, help="changes at a time, each with a copy of the tree (default: 1)")
    parser.add_argument("--sim-seeds", type=int, default=20, help="random worlds per simulated story (default: 20)")
    parser.add_argument("--programs", nargs="+", metavar="PROGRAM", help="run only these (default: all that cover the room)")
    parser.add_argument("--line", type=int, help="try every change of this line of the file instead; writes no evidence")
    parser.add_argument("--again", action="store_true", help="try what survived earlier runs and is there still, instead of a draw; writes no evidence")
    parser.add_argument("--headers", action="store_true", help="change headers as well; each costs a build of all that include it")
    parser.add_argument("--no-evidence", action="store_true", help="write nothing to docs/evidence")
    parser.add_argument("--check", action="store_true", help="only check that tests/equivalent-mutants.yaml is up to date")
    given = parser.parse_args()
    known, stale = equivalents(EQUIVALENT, ROOT)
    for problem in stale:
        print(f"{EQUIVALENT.relative_to(ROOT)}: {problem}", file=sys.stderr)
    if stale or given.check:
        return 1 if stale else 0
    if not given.room or not programs_of(given.room) or not (ROOT / "src" / given.room).exists():
        parser.error(f"ROOM is a folder or file of src, in one of: {', '.join(room for room in PROGRAMS if '/' not in room)}")
    given.seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
    trees = [Tree() for _ in range(max(1, given.jobs))]
    try:
        names = files_of_work_tree()
        trees[0].copy(ROOT, names)
        for tree in trees[1:]:
            tree.copy(trees[0].source, names)    # the work tree may have changed since
        return mutate(given, trees, known)
    except Broken as broken:
        print(f"mutate: {broken}", file=sys.stderr)
        return 2
    finally:
        for tree in trees:
            tree.close()


def mutate(given, trees: list[Tree], known: set) -> int:
    root = trees[0].source
    files = source_files(root / "src" / given.room, given.headers)
    if given.line is None and not given.again:
        changes, wanted = draw(root, files, random.Random(given.seed), known), given.sample
    else:
        again = survived_before() - known
        found = [each for file in files for each in mutants(str(file.relative_to(root)), file.read_text(encoding="utf-8"))
                 if each.line == given.line or (given.again and (each.file, each.before, each.after) in again)]
        changes, wanted, given.no_evidence = iter(found), len(found), True
    run = Run(given.programs, changes, wanted, given.sim_seeds)
    of, first = commit(), (given.programs or programs_of(given.room))[0]
    print(f"==> {given.room}, in {', '.join(str(tree.folder.relative_to(ROOT)) for tree in trees)}"
          + (f", seed {given.seed}" if given.line is None else ""), flush=True)
    for tree in trees:
        tree.prepare(first)
    run.measure(trees[0], first)
    began = time.monotonic()
    with ThreadPoolExecutor(len(trees)) as pool:
        for worker in [pool.submit(run.work, tree) for tree in trees]:
            worker.result()
    show(given.room, run.tally, root)
    if not given.no_evidence:
        append("mutate", [{"room": given.room, "seed": given.seed, "programs": sorted(run.limits), **record(run.tally), "seconds": round(time.monotonic() - began),
                           "commit": of}])
    return 0


def source_files(place: Path, headers: bool) -> list[Path]:
    if place.is_file():
        return [place]
    return sorted(file for file in place.rglob("*") if not file.name.startswith("main_")    # no test links a main()
                  and (file.suffix == ".cc" or (headers and file.suffix == ".h")))


def draw(root: Path, files: list[Path], rng: random.Random, known: set):
    """Every place has the same chance; of its variants one is drawn. Those judged equivalent are left out."""
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    places = [(file, site) for file in files for site in sites(texts[file])]
    rng.shuffle(places)
    for file, site in places:
        change = mutant(str(file.relative_to(root)), texts[file], site, rng.choice(site.variants))
        if (change.file, change.before, change.after) not in known:
            yield change


def survived_before() -> set:
    return {(change["at"].rsplit(":", 1)[0], change["before"], change["after"]) for row in rows("mutate") for change in row["survivors"]}


def equivalents(file: Path, root: Path) -> tuple[set, list[str]]:
    """What the list holds, and what is wrong with it: an entry must be a change that can be made today, and say why."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8")) or [] if file.exists() else []
    known, problems = set(), []
    for entry in entries:
        key = (entry.get("file", ""), " ".join(entry.get("before", "").split()), " ".join(entry.get("after", "").split()))
        source = root / key[0]
        if not entry.get("reason"):
            problems.append(f"{key[0]}: '{key[1]}' has no reason")
        if not source.is_file() or key not in {(each.file, each.before, each.after)
                                               for each in mutants(key[0], source.read_text(encoding="utf-8"))}:
            problems.append(f"stale: {key[0]} has no change of '{key[1]}' into '{key[2]}'")
        known.add(key)
    return known, problems


def show(room: str, tally: Tally, root: Path) -> None:
    for change in tally.survivors:
        print(f"\nSURVIVED {change.file}:{change.line} ({change.kind})\n{diff(change, (root / change.file).read_text(encoding='utf-8'))}",
              flush=True)
    percent = 100 * tally.killed // max(1, tally.counted())
    print(f"==> {room}: {tally.killed} of {tally.counted()} killed ({percent} %; {tally.timed_out} did not end in time), "
          f"{len(tally.survivors)} survived; not counted: {tally.not_compiled} not compiled, {tally.same_code} same code", flush=True)


def record(tally: Tally) -> dict:
    return {"sample": tally.counted(), "killed": tally.killed, "timed_out": tally.timed_out, "not_compiled": tally.not_compiled,
            "same_code": tally.same_code,
            "survivors": [{"at": f"{each.file}:{each.line}", "kind": each.kind, "before": each.before, "after": each.after}
                          for each in tally.survivors]}


def diff(change: Mutant, text: str) -> str:
    return "".join(difflib.unified_diff(text.splitlines(keepends=True), change.apply(text).splitlines(keepends=True),
                                        f"a/{change.file}", f"b/{change.file}", n=2))


if __name__ == "__main__":
    sys.exit(main())
