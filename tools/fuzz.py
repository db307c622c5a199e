"""./dev fuzz: every fuzz target for a while, side by side; appends to docs/evidence/fuzz.jsonl what was done and what came of it."""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tools.evidence import append, commit

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/asan/bin"
CORPUS = ROOT / "build/fuzz/corpus"    # grows from run to run
CRASHES = ROOT / "build/fuzz/crashes"
LONGEST_INPUT = 1 << 16


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    targets = sorted(source.stem.removeprefix("fuzz_") for source in (ROOT / "tests/fuzz").glob("fuzz_*.cc"))
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"only these (default: all of {', '.join(targets)})")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--total", type=int, metavar="SECONDS", help="for all of them together, in place of --seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time (default: the cores)")
    parser.add_argument("--no-evidence", action="store_true", help="write nothing to docs/evidence")
    given = parser.parse_args()
    unknown = sorted(set(given.targets) - set(targets))
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)} (there are {', '.join(targets)})")
    targets = [f"fuzz_{name}" for name in given.targets or targets]
    if given.total:
        given.seconds = max(1, given.total * given.jobs // len(targets))
    print(f"==> {len(targets)} targets, {given.seconds} s each, {given.jobs} at a time "
          f"({given.seconds * -(-len(targets) // given.jobs)} s)", flush=True)
    with ThreadPoolExecutor(given.jobs) as pool:
        runs = [pool.submit(fuzz, target, given.seconds) for target in targets]
        clean = True
        for run in as_completed(runs):
            result = run.result()
            clean = clean and result["result"] == "clean"
            # At once: what was done counts also if the rest is interrupted.
            if not given.no_evidence:
                append("fuzz", [result])
    return 0 if clean else 1


def fuzz(target: str, seconds: int) -> dict:
    corpus = CORPUS / target
    corpus.mkdir(parents=True, exist_ok=True)
    CRASHES.mkdir(parents=True, exist_ok=True)
    command = [str(BIN / target), f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", "-timeout=10", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-artifact_prefix={CRASHES}/{target}-", str(corpus), *seeds(target)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "LLVM_PROFILE_FILE": os.devnull}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)
    executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    coverage = re.findall(r"cov: (\d+)", done.stderr)
    result = {"target": target, "seconds": seconds,
              "executions": int(executions.group(1)) if executions else 0, "coverage": int(coverage[-1]) if coverage else 0,
              "corpus": sum(1 for _ in corpus.iterdir()), "commit": commit(), "result": "clean" if done.returncode == 0 else "crash"}
    print(f"    {target}: {result['result']}, {result['executions']} executions, coverage {result['coverage']}", flush=True)
    if done.returncode != 0:
        print("\n".join(done.stderr.splitlines()[-60:]), file=sys.stderr, flush=True)
    return result


def seeds(target: str) -> list[str]:
    """tests/fuzz/corpus/NAME if there is one, and the real captures."""
    folders = [ROOT / "tests/fuzz/corpus" / target.removeprefix("fuzz_"), *sorted(path for path in (ROOT / "tests/data").glob("**/")
                                                                                    if path.is_dir())]
    return [str(folder) for folder in folders if folder.is_dir()]


if __name__ == "__main__":
    sys.exit(main())
