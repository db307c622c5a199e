#!/usr/bin/python3
"""What a start of a program costs: user and system CPU of the child, as the kernel counts it.

    cli_start.py [-n RUNS] PROGRAM [ARGUMENT...]

Prints one JSON object; the budget of `wardmote version` is 1 ms.
"""

import argparse
import json
import os
import statistics


def cpu_ms_of_one_run(argv):
    silence = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=silence)
    _, status, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--runs", type=int, default=200)
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="PROGRAM ARGUMENT...")
    options = parser.parse_args()
    runs = [cpu_ms_of_one_run(options.argv) for _ in range(options.runs)]
    cpu = [run[0] for run in runs]
    print(json.dumps({
        "argv": options.argv,
        "runs": options.runs,
        "cpu_ms_mean": round(statistics.mean(cpu), 3),
        "cpu_ms_p50": round(statistics.median(cpu), 3),
        "cpu_ms_max": round(max(cpu), 3),
        "exit_codes": sorted({run[1] for run in runs}),
    }))


if __name__ == "__main__":
    main()
