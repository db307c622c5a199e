"""./dev bench crowd: how soon /livez is answered, and how large the agent is, while a crowd asks for all that it knows.

The agent has one core and ten thousand checks, each looked at every five seconds. On the other core, in a process of their own,
twenty open pages follow the events and ask every two seconds for what the page asks for; two hundred readers ask for the status, or
for a list, and never read the answer, and come again when they are cut off; and somebody scrapes /metrics. /livez is asked over
connections of its own, one after the other; who asks and the agent run before all else on this machine, so that what is measured is
the agent and not who else has work. Prints what came of it and appends it to docs/evidence/bench.jsonl.
"""

import argparse
import asyncio
import contextlib
import http.client
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab import rivals
from lab.ports import free_port
from tools.evidence import append, commit
from tools.measure import BIN, LOOKED_AT, agent_at, crowd, raise_descriptors

CHECKS, PAGES, DEAF, PORT = 10_000, 20, 200, 18080
WARM, SETTLED = 12, 5
PAGE_ASKS = ("status", "incidents", "receivers", "silences", "plans?all=true", "whoami")
DEAF_ASK = ("status", "checks", "checks?limit=1000&offset=1000", "status?limit=1000")
MOST_MS, MOST_MB = 5.0, 120.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench crowd", description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="how long it is measured (30)")
    parser.add_argument("--around", metavar="ADDRESS", help=argparse.SUPPRESS)  # the crowd itself
    given = parser.parse_args()
    raise_descriptors()
    if given.around:
        asyncio.run(gather(given.around))
        return 0
    row = measure(given.seconds)
    append("bench", [{"bench": "crowd", "commit": commit(), "command": "./dev bench crowd", "cpus": os.cpu_count(), "kernel": platform.release(),
                      "load": os.getloadavg()[0], **row}])
    return 0 if row["livez_p99_ms"] < MOST_MS and row["rss_mb"] < MOST_MB else 1


def measure(seconds: int) -> dict:
    looks = "".join(f"  - {{name: c{i}, every: 5s, timeout: 900ms, tcp: {{address: '{rivals.address(i)}:{PORT}'}}}}\n" for i in range(CHECKS))
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name:
        folder, at = Path(name), f"127.0.0.1:{free_port()}"
        with crowd(folder, [BIN / "fake_endpoints", str(PORT)]):
            first_of_all()
            return measure_agent(folder, "checks:\n" + looks, at, seconds)


def measure_agent(folder: Path, checks: str, at: str, seconds: int) -> dict:
    with agent_at(folder, checks, listen=at) as (_, account):
        time.sleep(WARM)
        before = account.used()
        alone, _ = ask_livez(at, 5, account)
        around = subprocess.Popen(["taskset", "-c", LOOKED_AT, sys.executable, "-m", "tests.bench.crowd", "--around", at],
                                  preexec_fn=one_of_all)
        try:
            time.sleep(SETTLED)
            begun = account.used()
            took, rss = ask_livez(at, seconds, account)
            ended = account.used()
            if around.poll() is not None:
                raise RuntimeError("the crowd has gone")
        finally:
            around.terminate()
            around.wait()
    row = {"checks": CHECKS, "pages": PAGES, "deaf_readers": DEAF, "seconds": seconds, "asked": len(took), "livez_p50_ms": quantile(took, 0.5),
           "livez_p99_ms": quantile(took, 0.99), "livez_max_ms": round(max(took), 2), "alone_p99_ms": quantile(alone, 0.99),
           "rss_mb": round(rss / 1e6, 1), "rss_alone_mb": round(before.rss / 1e6, 1), "cpu_percent": round(100 * ended.since(begun), 1)}
    print(row, flush=True)
    return row


def first_of_all() -> None:
    """This process, and the agent that it starts."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def one_of_all() -> None:
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def quantile(took: list[float], share: float) -> float:
    return round(statistics.quantiles(took, n=1000, method="inclusive")[round(share * 1000) - 1], 2)


def ask_livez(at: str, seconds: int, account) -> tuple[list[float], int]:
    """Milliseconds of each, and the most memory meanwhile."""
    took, rss, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.perf_counter()
        connection = http.client.HTTPConnection(at, timeout=30)
        connection.request("GET", "/livez")
        status = connection.getresponse().status
        took.append((time.perf_counter() - begun) * 1000)
        connection.close()
        if status != 200:
            raise RuntimeError(f"/livez: {status}")
        if len(took) % 20 == 0:
            rss = max(rss, account.used().rss)
        time.sleep(0.01)
    return took, rss


async def gather(at: str) -> None:
    host, port = at.split(":")
    async with asyncio.TaskGroup() as group:
        for number in range(PAGES):
            group.create_task(follow(host, int(port)))
            group.create_task(poll(host, int(port), 2.0, PAGE_ASKS, number / PAGES * 2.0))
        for number in range(DEAF):
            group.create_task(never_read(host, int(port), f"/api/v1/{DEAF_ASK[number % len(DEAF_ASK)]}", number / DEAF * 5.0))
        group.create_task(poll(host, int(port), 5.0, ("metrics",), 1.0))


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()


async def follow(host: str, port: int) -> None:
    while True:
        reader, writer = await asyncio.open_connection(host, port)
        with contextlib.closing(writer):
            writer.write(request("/api/v1/events"))
            while await reader.read(65536):
                pass


async def poll(host: str, port: int, every: float, asks: tuple[str, ...], first: float) -> None:
    await asyncio.sleep(first)
    while True:
        await asyncio.gather(*(ask(host, port, "/metrics" if what == "metrics" else f"/api/v1/{what}") for what in asks))
        await asyncio.sleep(every)


async def ask(host: str, port: int, path: str) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    with contextlib.closing(writer):
        writer.write(request(path))
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{path}: {head.decode()}")
        while await reader.read(1 << 20):
            pass


async def never_read(host: str, port: int, path: str, first: float) -> None:
    """With a small window, so that the answer stays with the agent; when it is cut off it comes again."""
    await asyncio.sleep(first)
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port, limit=1)
            with contextlib.closing(writer):
                writer.write(request(path))
                await asyncio.sleep(0.5)
                while not writer.is_closing() and not cut_off(writer):
                    await asyncio.sleep(0.5)
        await asyncio.sleep(0.1)


def cut_off(writer: asyncio.StreamWriter) -> bool:
    """TCP_INFO begins with the state; 1 is established."""
    return writer.get_extra_info("socket").getsockopt(6, 11, 1) != b"\x01"


if __name__ == "__main__":
    sys.exit(main())
