"""Private copies of the tree for ./dev mutate, each with a build folder of its own: the work tree is never touched."""

import fcntl
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/mutate"
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0", "-DCMAKE_C_COMPILER=clang-19",
             "-DCMAKE_CXX_COMPILER=clang++-19", "--log-level=WARNING"]
MEMORY = 4 << 30    # a change may make a loop grow for ever


class Broken(Exception):
    """The unchanged tree does not build, or its tests fail."""


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu: float


@dataclass(frozen=True)
class Ran:
    passed: bool
    timed_out: bool
    cost: Cost
    output: str


class Tree:
    """One copy, locked for as long as this lives."""

    def __init__(self):
        self.folder, self._lock = _free_folder()
        self.source, self.build = self.folder / "tree", self.folder / "build"
        self._code = {}
        self._scratch = tempfile.mkdtemp(prefix="wm-mutate-")    # short: sockets lie in it

    def close(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._lock.close()

    def copy(self, source: Path, names: set[str]) -> None:
        _copy_changed(source, self.source, names)

    def prepare(self, program: str) -> None:
        """Builds it from the unchanged tree."""
        if not (self.build / "build.ninja").exists():
            done = subprocess.run(["cmake", "-S", self.source, "-B", self.build, *CONFIGURE], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Broken(done.stdout + done.stderr)
        done = self._ninja([program], {})
        if done.returncode != 0:
            raise Broken(done.stdout[-8000:])

    def write(self, file: str, text: str) -> None:
        place = self.source / file
        if place.read_text(encoding="utf-8") != text:    # else it would be built again
            place.write_text(text, encoding="utf-8")

    def builds(self, program: str, changed: str) -> bool:
        """False: the compiler refuses the changed file."""
        # The cache is for code that somebody will compile again.
        done = self._ninja([program], {"CCACHE_READONLY": "1"})
        if done.returncode != 0 and "error:" not in done.stdout:
            raise Broken(f"with {changed} changed:\n{done.stdout[-8000:]}")
        return done.returncode == 0

    def code(self, file: str) -> str:
        """A hash of what the compiler made of a source file; empty for a header."""
        found = sorted(self.build.glob(f"CMakeFiles/*.dir/{file}.o"))
        return "".join(hashlib.sha256(each.read_bytes()).hexdigest() for each in found)

    def unchanged_code(self, file: str) -> str:
        """The same of the file as it is; to be asked before it is changed for the first time."""
        if file not in self._code:
            self._code[file] = self.code(file)
        return self._code[file]

    def run(self, program: str, limit: Cost, seeds: int) -> Ran:
        used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        confined = ["prlimit", f"--cpu={int(limit.cpu) + 1}", f"--as={MEMORY}", "--core=0"]
        child = subprocess.Popen([*confined, self.build / "bin" / program, "--gtest_brief=1", "--gtest_fail_fast"], cwd=self.folder,
                                 env={**os.environ, "TMPDIR": self._scratch, "WARDMOTE_SIM_SEEDS": str(seeds)},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = child.communicate(timeout=limit.seconds)
            timed_out = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(child.pid, signal.SIGKILL)    # its own session: only what it started
            output, _ = child.communicate()
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cost = Cost(time.monotonic() - began, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)
        return Ran(child.returncode == 0, timed_out, cost, output.decode(errors="replace"))

    def _ninja(self, targets: list[str], more: dict) -> subprocess.CompletedProcess:
        return subprocess.run(["nice", "-n", "5", "ninja", "-C", self.build, *targets], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", env={**os.environ, **more}, check=False)


def _free_folder():
    """The first that no other run holds, so that runs side by side each have one and builds are used again."""
    number = 1
    while True:
        folder = FOLDER / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return folder, lock
        except BlockingIOError:
            lock.close()
            number += 1


def files_of_work_tree() -> set[str]:
    """What git knows or would add."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.split("\0")
    return {name for name in listed if name and (ROOT / name).is_file()}


def _copy_changed(source: Path, target: Path, names: set[str]) -> None:
    """A file that is the same keeps its time, so that it is not built again."""
    for name in names:
        here, there = source / name, target / name
        data = here.read_bytes()
        if there.is_file() and there.read_bytes() == data:
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(data)
        shutil.copymode(here, there)
    for there in target.rglob("*"):
        if there.is_file() and str(there.relative_to(target)) not in names:
            there.unlink()
