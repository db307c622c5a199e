"""./dev bench ocf: what one `monitor` of the resource agent costs, against OVN's shell script, on the nodes of a real Pacemaker cluster.

They take turns on the same node, in the environment that Pacemaker gives them, with the cluster's own tools. Processes are counted by
the numbers that the node's kernel gave away meanwhile, of which the fewest count, because the cluster starts some, too. Appends to
docs/evidence/bench.jsonl.
"""

import json
import os
import platform
import statistics
import sys

from lab.pacemaker import STOCK, Node, Pacemaker
from tools.evidence import append, commit
from tools.measure import BIN, ROOT

ROUNDS, RUNS = 5, 20
# Runs on the node.
MEASURE = """
import json, os, sys, time
argv, runs, expected = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
def last(): return int(open("/proc/sys/kernel/ns_last_pid").read())
walls, cpu, processes = [], 0.0, []
for _ in range(runs):
    first, begun = last(), time.monotonic()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=silent)
    _, status, used = os.wait4(pid, 0)
    walls.append(1e3 * (time.monotonic() - begun))
    processes.append(last() - first)
    cpu += used.ru_utime + used.ru_stime
    assert os.waitstatus_to_exitcode(status) == expected, (argv, status)
walls.sort()
print(json.dumps({"wall_ms": round(walls[len(walls) // 2], 3), "wall_max_ms": round(walls[-1], 3), "cpu_ms": round(1e3 * cpu / runs, 3),
                  "processes": min(processes)}))
"""


def main() -> int:
    with Pacemaker(f"bench{os.getpid() % 10000}", ROOT / "build/lab/pacemaker-ovn", BIN / "wardmote") as lab:
        active = lab.wait_active()
        backup = next(node for node in lab.nodes if node is not active)
        agents = {"wardmote": "/usr/lib/ocf/resource.d/ovn/ovndb-servers", "shell script": STOCK}
        rows = []
        for number in range(ROUNDS):
            for role, node, expected in (("active", active, 8), ("backup", backup, 0)):
                for who, path in agents.items():
                    rows.append({"who": who, "role": role, "round": number, **measure(lab, node, path, expected)})
    medians = {}
    for role in ("active", "backup"):
        for who in agents:
            mine = [row for row in rows if row["who"] == who and row["role"] == role]
            medians[who, role] = {key: statistics.median(row[key] for row in mine) for key in ("wall_ms", "cpu_ms", "processes")}
            print(f"{role:<8}{who:<14}" + "  ".join(f"{key} {value:.2f}" for key, value in medians[who, role].items()))
        ratio = {key: round(medians["shell script", role][key] / medians["wardmote", role][key], 1) for key in ("wall_ms", "cpu_ms")}
        print(f"{role:<8}{'ratio':<14}{ratio}")
    append("bench", [{"bench": "ocf", "commit": commit(), "command": "./dev bench ocf", "cpus": os.cpu_count(), "kernel": platform.release(),
                      "load": os.getloadavg()[0], "monitors": rows}])
    return 0


def measure(lab: Pacemaker, node: Node, agent: str, expected: int) -> dict:
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OCF_ROOT": "/usr/lib/ocf", "OCF_RESOURCE_INSTANCE": "ovndb_servers",
                   "OCF_RESOURCE_TYPE": "ovndb-servers", "OCF_RESOURCE_PROVIDER": "ovn", "OCF_RA_VERSION_MAJOR": "1",
                   "OCF_RA_VERSION_MINOR": "1", "HA_LOGFILE": "/var/log/pacemaker/pacemaker.log", "PCMK_service": "pacemaker-execd",
                   "OCF_RESKEY_CRM_meta_on_node": node.name, "OCF_RESKEY_CRM_meta_interval": "10000",
                   "OCF_RESKEY_CRM_meta_timeout": "20000", **{f"OCF_RESKEY_{key}": value for key, value in lab.parameters.items()}}
    words = [f"{key}={value}" for key, value in environment.items()]
    argv = ["/usr/bin/env", "-i", *words, "/usr/bin/python3", "-c", MEASURE, json.dumps([agent, "monitor"]), str(RUNS), str(expected)]
    done = node.on(*argv, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
