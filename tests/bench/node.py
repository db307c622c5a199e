"""./dev bench node: what a look at the BGP daemon of a node costs, against the programs that are started for it today.

Brings up a real BIRD 1.6 and a real BIRD 2 with a session, then measures, taking turns in one run: `birdc` or `birdcl` as a
process, a native look with a fresh and with a kept connection, and `wardmote calico-health` as a process. Prints the ratios and
appends everything to docs/evidence/bench.jsonl.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from lab.instance import Lab
from tools.evidence import append, commit

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build/release/bin"
WAYS = ("exec", "fresh", "kept", "all", "health")


def main() -> int:
    with Lab.up("bench-node", [], members=2, transient=True, birds=["1.6", "2"]) as lab:
        looks = {f"bird {bird.version}": measure(lab, bird) for bird in lab.birds}
    for daemon, rows in looks.items():
        report(daemon, rows)
    append("bench", [{"bench": "node", "commit": commit(), "command": "./dev bench node", "cpus": os.cpu_count(),
                      "load": os.getloadavg()[0], "kernel": platform.release(), "looks": looks}])
    return 0


def measure(lab: Lab, bird) -> list[dict]:
    root = lab.folder / f"node-{bird.version}"
    for folder in ("var/run/calico", "var/lib/calico"):
        (root / folder).mkdir(parents=True)
    (root / "var/lib/calico/nodename").touch()
    (root / "var/run/calico/bird.ctl").symlink_to(bird.control)
    done = subprocess.run([BIN / "bench_bird_look", bird.control, bird.tools.client(bird.version), BIN / "wardmote", root],
                          env=bird.tools.environment(bird.version), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def report(daemon: str, rows: list[dict]) -> None:
    def of(way: str, field: str) -> list[float]:
        return [row[field] for row in rows if row["way"] == way]

    print(f"{daemon:<14}{'CPU us':>10}{'p50 us':>10}{'p99 us':>10}{'less CPU':>12}{'lower p50':>12}")
    for way in WAYS:
        ratios = [statistics.median(a / b for a, b in zip(of("exec", field), of(way, field))) for field in ("cpu_us", "wall_p50_us")]
        print(f"{way:<14}{statistics.median(of(way, 'cpu_us')):>10.1f}{statistics.median(of(way, 'wall_p50_us')):>10.1f}"
              f"{statistics.median(of(way, 'wall_p99_us')):>10.1f}{ratios[0]:>11.1f}x{ratios[1]:>11.1f}x")
    print("(medians of five rounds; ratios round by round against exec; native includes parsing and judging)\n")


if __name__ == "__main__":
    sys.exit(main())
