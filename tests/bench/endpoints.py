"""./dev bench endpoints: what looking at thousands of endpoints costs, ours beside the programs that people use for it, in one run.

Who looks has one core, and the endpoints are fakes on the other (tests/bench/fake_endpoints.cc), each at an address of its own. CPU
is that of the whole family of processes, by cgroup. How many looks there were is what the endpoints answered, or, where nothing is
asked of them, the connections that the kernel began. Who looks takes turns, in rounds, and ratios are taken round by round. The
last scene stops all endpoints and waits until they are called down. Appends everything to docs/evidence/bench.jsonl.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab import rivals
from lab.ports import free_port
from tests.bench import detection
from tools.evidence import append, commit
from tools.measure import BIN, LOOKED_AT, ROOT, Account, agent_at, connections_opened, crowd, raise_descriptors, running

PORT = 18080  # the silent ones are at the next
HUNG_EACH = 50  # of the scene with silent ones
WARM, SECONDS = 5.0, 8.0


@dataclass(frozen=True)
class Looker:
    name: str
    begin: Callable[[Path, int], AbstractContextManager[Account]]


@dataclass(frozen=True)
class Scene:
    name: str
    checks: int
    rounds: int
    lookers: list[Looker]
    answering: int | None = None  # of the endpoints; None: all
    asked: bool = True  # else only connected to


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench endpoints", description=__doc__)
    parser.add_argument("--only", help="one scene, by the beginning of its name; nothing is appended")
    given = parser.parse_args()
    raise_descriptors()
    tools = rivals.fetch(ROOT / "build/lab/rivals")
    rows = [row for scene in scenes(tools) if scene.name.startswith(given.only or "") for row in play(scene)]
    detected = detection.compare(tools, PORT) if "detection".startswith(given.only or "") else []
    if given.only is None:
        append("bench", [{"bench": "endpoints", "commit": commit(), "command": "./dev bench endpoints", "cpus": os.cpu_count(),
                          "kernel": platform.release(), "load": os.getloadavg()[0], "looks": rows, "detection": detected}])
    return 0


def scenes(tools: rivals.Rivals) -> list[Scene]:
    def ours(look: Callable[[int], str]) -> Looker:
        return Looker("wardmoted", lambda folder, count: our_checks(folder, [look(i) for i in range(count)]))

    def other(name: str, command: Callable[[Path, int], list]) -> Looker:
        # Only haproxy lacks libraries; for the others a search for them would be a cost that is not theirs.
        environment = tools.environment if name == "haproxy" else None
        return Looker(name, lambda folder, count: running(name, command(folder, count), folder / f"{name}.log", environment))

    def web(port: rivals.Port, more: str = "") -> Looker:
        return ours(lambda i: f"http: {{url: 'http://{rivals.address(i)}:{port(i)}/'{more}}}")

    tcp = ours(lambda i: f"tcp: {{address: '{rivals.address(i)}:{PORT}'}}")
    plugin = ours(lambda i: f"exec: {{program: {rivals.check_tcp(tools)}, args: [-H, {rivals.address(i)}, -p, '{PORT}', -t, '1']}}")
    haproxy_tcp = other("haproxy", lambda f, n: rivals.haproxy(tools, f, n, all_well, False))
    haproxy_web = other("haproxy", lambda f, n: rivals.haproxy(tools, f, n, all_well, True))
    return [
        Scene("tcp", 9000, 3, [tcp, haproxy_tcp], asked=False),
        Scene("tcp, 1,000", 1000, 1, [tcp, haproxy_tcp, other("monit", lambda f, n: rivals.monit(tools, f, n, all_well, False))], asked=False),
        Scene("tcp, 500", 500, 1, [tcp, Looker("blackbox_exporter", lambda f, n: blackbox(tools, f, n))], asked=False),
        Scene("http", 9000, 3, [web(all_well), haproxy_web]),
        Scene("http kept open", 1000, 3, [web(all_well, ", keep_open: true, fresh_every: 1000000"), other("prometheus", lambda f, n: rivals.prometheus(tools, f, n, all_well))]),
        Scene("http, 20 hung", 1000, 1, [web(some_hung), other("haproxy", lambda f, n: rivals.haproxy(tools, f, n, some_hung, True)),
                                         other("monit", lambda f, n: rivals.monit(tools, f, n, some_hung, True))], answering=980),
        Scene("plugins", 200, 3, [plugin, other("nagios", lambda f, n: rivals.nagios(tools, f, n, PORT))], asked=False),
    ]


def all_well(_: int) -> int:
    return PORT


def some_hung(number: int) -> int:
    return PORT + 1 if number % HUNG_EACH == 0 else PORT


@contextmanager
def our_checks(folder: Path, looks: list[str]) -> Iterator[Account]:
    checks = "".join(f"  - {{name: c{i}, every: 1s, timeout: {rivals.TIMEOUT_MS}ms, {look}}}\n" for i, look in enumerate(looks))
    with agent_at(folder, "checks:\n" + checks) as (_, account):
        yield account


@contextmanager
def blackbox(tools: rivals.Rivals, folder: Path, count: int) -> Iterator[Account]:
    """The exporter; Prometheus, which drives it, has the other core and is not counted."""
    at = free_port()
    driver = rivals.prometheus(tools, folder, count, all_well, through=at)
    with running("blackbox", rivals.blackbox(tools, folder, at), folder / "blackbox.log") as account, \
            running("driver", driver, folder / "driver.log", core=LOOKED_AT):
        yield account


def play(scene: Scene) -> list[dict]:
    print(f"\n{scene.name} ({scene.checks} checks a second)\n{'':<20}{'looks/s':>9}{'CPU us':>9}{'RSS MB':>8}{'CPU':>8}{'RSS':>7}", flush=True)
    rows = [measure(scene, looker, number) for number in range(scene.rounds) for looker in scene.lookers]
    for looker in scene.lookers:
        mine, our = ([row for row in rows if row["who"] == name] for name in (looker.name, scene.lookers[0].name))
        ratios = {field: statistics.median(a[field] / b[field] for a, b in zip(our, mine)) for field in ("cpu_us", "rss_mb")}
        middle = {field: statistics.median(row[field] for row in mine) for field in ("looks_per_s", "cpu_us", "rss_mb")}
        print(f"{looker.name:<20}{middle['looks_per_s']:>9.0f}{middle['cpu_us']:>9.1f}{middle['rss_mb']:>8.1f}"
              f"{ratios['cpu_us']:>7.2f}x{ratios['rss_mb']:>6.2f}x", flush=True)
    return rows


def measure(scene: Scene, looker: Looker, number: int) -> dict:
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name:
        folder = Path(name)
        with crowd(folder, [BIN / "fake_endpoints", str(PORT)]) as endpoints, looker.begin(folder, scene.checks) as account:
            time.sleep(WARM)
            begin, before, opened_before = time.time(), account.used(), connections_opened()
            time.sleep(SECONDS)
            end, after, opened = time.time(), account.used(), connections_opened() - opened_before
            replies = endpoints.between(begin, end)[1]
    looks = replies if scene.asked else opened / (after.at - before.at)
    expected = scene.answering or scene.checks
    return {"scene": scene.name, "checks": scene.checks, "who": looker.name, "round": number, "looks_per_s": round(looks, 1),
            "on_time_percent": round(100 * looks / expected, 2), "cpu_us": round(1e6 * after.since(before) / looks, 2),
            "cpu_percent": round(100 * after.since(before), 1), "rss_mb": round(after.rss / 1e6, 1)}


if __name__ == "__main__":
    sys.exit(main())
