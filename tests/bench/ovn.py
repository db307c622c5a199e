"""./dev bench ovn: what one look at an OVN raft cluster costs, against exec of OVS's own tools, in one run.

Brings up a real three-member cluster, then measures a snapshot of one member (exec, fresh and kept-open connections, taking
turns), the parsing of one cluster/status, the judging of three and nine members, and the start of `wardmote version`.
Prints the ratios and appends everything to docs/evidence/bench.jsonl.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from lab.instance import Lab
from tools.evidence import append, commit

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build/release/bin"
STARTS = 300


def main() -> int:
    snapshots = measure_snapshots()
    micro = {**google_benchmark("bench_codec"), **google_benchmark("bench_judge")}
    start = start_cost([str(BIN / "wardmote"), "version"])
    report(snapshots, micro, start)
    append("bench", [{"bench": "ovn", "commit": commit(), "command": "./dev bench ovn", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "snapshots": snapshots, "micro_ns": micro, "version_cpu_ms": start}])
    return 0


def measure_snapshots() -> list[dict]:
    """All on one core: else the figures tell where the scheduler put the server, and what it costs to wake an idle core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return take_turns()
    finally:
        os.sched_setaffinity(0, cores)


def take_turns() -> list[dict]:
    with Lab.up("bench-ovn", ["nb"], transient=True) as lab:
        cluster = lab.clusters["nb"]
        pairs = [f"{cluster.control(n)},{cluster.socket(n)}" for n in cluster.members]
        done = subprocess.run([BIN / "bench_ovn_snapshot", cluster.database.name, cluster.tools.client, cluster.tools.appctl, *pairs],
                              env=cluster.tools.environment(), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def google_benchmark(program: str) -> dict[str, float]:
    """CPU nanoseconds of each benchmark, the median of five repetitions."""
    done = subprocess.run([BIN / program, "--benchmark_format=json", "--benchmark_repetitions=5",
                           "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.2"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    unit = {"ns": 1, "us": 1e3, "ms": 1e6}
    return {row["run_name"]: row["cpu_time"] * unit[row["time_unit"]] for row in json.loads(done.stdout)["benchmarks"]
            if row.get("aggregate_name") == "median"}


def start_cost(argv: list[str]) -> float:
    """User and system milliseconds of one run, the mean of many."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(STARTS):
        os.waitpid(os.posix_spawn(argv[0], argv, {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]), 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(spent * 1000 / STARTS, 3)


def report(snapshots: list[dict], micro: dict[str, float], start: float) -> None:
    def of(way: str, field: str) -> list[float]:
        return [row[field] for row in snapshots if row["way"] == way]

    print(f"{'a snapshot by':<14}{'CPU us':>10}{'server us':>11}{'p50 us':>10}{'p99 us':>10}{'less CPU':>12}{'lower p50':>12}")
    for way in ("exec", "fresh", "kept", "raw"):
        ratios = [statistics.median(a / b for a, b in zip(of("exec", field), of(way, field))) for field in ("cpu_us", "wall_p50_us")]
        print(f"{way:<14}{statistics.median(of(way, 'cpu_us')):>10.1f}{statistics.median(of(way, 'server_us')):>11.1f}"
              f"{statistics.median(of(way, 'wall_p50_us')):>10.1f}"
              f"{statistics.median(of(way, 'wall_p99_us')):>10.1f}{ratios[0]:>11.0f}x{ratios[1]:>11.0f}x")
    print("\n(medians of five rounds; ratios round by round against exec; native includes parsing and judging;\n"
          " server is what the asked ovsdb-server ran; raw is two questions and two answers on open sockets, nothing parsed)\n")
    for name, nanoseconds in micro.items():
        print(f"{name:<48}{nanoseconds / 1000:>10.2f} us")
    print(f"{'start of `wardmote version`':<48}{start:>10.2f} ms CPU")


if __name__ == "__main__":
    sys.exit(main())
