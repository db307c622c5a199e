"""./dev bench storm: ten thousand endpoints fail within the same second. How late does the loop get, how much does the agent grow,
and how many messages does the person on call get?

The endpoints are fakes on the other core (tests/bench/fake_endpoints.cc), which are killed; the receiver is the log. Appends to
docs/evidence/bench.jsonl.
"""

import os
import platform
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from lab import rivals
from tools.evidence import append, commit
from tools.measure import BIN, agent_at, crowd, raise_descriptors

COUNT = 10_000
PORT = 18080
SETTLED, AFTER = 8.0, 12.0
NOTIFY = "notify: {receivers: [{name: pager, log: {}}], routes: [{receiver: pager, group_wait: 1s, group_interval: 5s}]}\n"


def main() -> int:
    raise_descriptors()
    looks = (f"tcp: {{address: '{rivals.address(i)}:{PORT}'}}" for i in range(COUNT))
    checks = "".join(f"  - {{name: c{i}, every: 1s, timeout: {rivals.TIMEOUT_MS}ms, fall: 3, {look}}}\n" for i, look in enumerate(looks))
    with tempfile.TemporaryDirectory(prefix="wardmote-bench-") as name:
        folder = Path(name)
        with crowd(folder, [BIN / "fake_endpoints", str(PORT)]) as endpoints, agent_at(folder, NOTIFY + "checks:\n" + checks) as (agent, account):
            time.sleep(SETTLED)
            calm, calm_rss = agent.json("/debug/latency"), account.used().rss
            os.kill(endpoints.pid, signal.SIGKILL)
            time.sleep(AFTER)
            stormy, stormy_rss = agent.json("/debug/latency"), account.used().rss
            output = agent.output()
    row = {"failures": len(re.findall(r"event=check_changed .* to=reported ", output)), "messages": output.count("event=notice_delivered"),
           "incidents": output.count("event=incident_opened"), "merged": output.count("event=incident_merged"),
           "loop_late_max_ms": {"before": calm["heartbeat"]["worst_us"] / 1e3, "after": stormy["heartbeat"]["worst_us"] / 1e3},
           "look_late_p99_ms": {"before": calm["looks"]["p99_us"] / 1e3, "after": stormy["looks"]["p99_us"] / 1e3},
           "rss_mb": {"before": round(calm_rss / 1e6, 1), "after": round(stormy_rss / 1e6, 1)}}
    for key, value in row.items():
        print(f"{key:<20}{value}")
    append("bench", [{"bench": "storm", "commit": commit(), "command": "./dev bench storm", "cpus": os.cpu_count(),
                      "kernel": platform.release(), "load": os.getloadavg()[0], "checks": COUNT, **row}])
    return 0


if __name__ == "__main__":
    sys.exit(main())
