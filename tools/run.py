"""./dev run: real OVN clusters, BIRDs and services, the agent on them, until Ctrl-C; with --check until all is well."""

import argparse
import os
import signal
import socket
import sys

from lab.instance import Lab, LabError, may_run
from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import Agent

PORT = 9470


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev run", description=__doc__)
    parser.add_argument("--check", action="store_true", help="stop when the agent finds all well; 0 is good")
    parser.add_argument("--name", default="run", help="of the lab (default: run); another name runs beside it")
    given = parser.parse_args()
    reason = may_run()
    if reason:
        print(f"run: {reason}", file=sys.stderr)
        return 77
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored when a script started us in the background
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))

    say("bringing up OVN_Northbound and OVN_Southbound, three members each, a BIRD 1.6 and a BIRD 2 with a session, and two services "
        "under runit")
    name = f"check-{os.getpid()}" if given.check else given.name
    with Lab.up(name, ["nb", "sb"], transient=True, birds=["1.6", "2"], services=["service-1", "service-2"]) as lab:
        port = 0 if given.check or not free(PORT) else PORT
        listen = f"127.0.0.1:{port or free_port()}"
        config = lab.write_config(listen)
        say("starting the agent")
        with Agent(config, lab.api_socket) as agent:
            agent.wait_healthy()
            print(agent.cli("status").stdout, end="", flush=True)
            if given.check:
                say(f"wardmote status: 0, /readyz: {agent.get('/readyz')[0]}")
            else:
                stay(lab, agent, listen)
        say("stopped")
    return 0


def stay(lab: Lab, agent: Agent, listen: str) -> None:
    program = os.path.relpath("build/release/bin/wardmote")
    say(f"the page: http://{listen}/     Ctrl-C ends everything")
    print(f"    {program} status --watch --host {listen}\n"
          f"    ./dev lab --name {lab.name} break kill nb/leader      then: {program} get findings --host {listen}\n"
          f"    ./dev lab --name {lab.name} mend", flush=True)
    try:
        wait_until(lambda: agent.process.poll() is not None, float("inf"), "the end of the agent", every=0.2)
    except KeyboardInterrupt:
        print(flush=True)
        return
    raise RuntimeError(f"the agent ended by itself with {agent.process.returncode}:\n{agent.output()}")


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (LabError, TimeoutError, RuntimeError) as problem:
        print(f"run: {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
