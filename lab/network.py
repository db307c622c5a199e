"""Hosts of a lab: one network namespace each, joined by a bridge in a namespace of its own."""

import subprocess
import time

from lab.processes import Process


class NetworkError(Exception):
    pass


def run(*argv: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


def namespaces(prefix: str) -> list[str]:
    names = [line.split()[0] for line in run("ip", "netns", "list").splitlines() if line.strip()]
    return [name for name in names if name.startswith(prefix)]


class Network:
    """`key` is unique on this machine; it is in the name of every namespace. Host numbers begin at 1."""

    def __init__(self, key: str, subnet: str, hosts: int):
        self.key, self.subnet, self.hosts = key, subnet, hosts

    def namespace(self, host: int) -> str:
        return f"wm-{self.key}-{host}"

    def address(self, host: int) -> str:
        return f"{self.subnet}.{host}"

    def up(self) -> None:
        switch = f"wm-{self.key}-sw"
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "br0", "up")
        for host in range(1, self.hosts + 1):
            name, port = self.namespace(host), f"p{host}"
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", switch)
            run("ip", "-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", switch, "link", "set", port, "master", "br0", "up")

    def down(self) -> None:
        """Ends whatever runs in the namespaces, then removes them. Also right for a half-built or forgotten network."""
        names = namespaces(f"wm-{self.key}-")
        for name in names:
            for pid in run("ip", "netns", "pids", name).split():
                Process.of(int(pid)).kill()
        for name in names:
            run("ip", "netns", "del", name)

    def inside(self, host: int, *argv: str) -> list[str]:
        """The command line that runs `argv` on the host; it keeps the process id."""
        return ["ip", "netns", "exec", self.namespace(host), *argv]

    def drop(self, host: int, port: int, *, outbound: bool) -> None:
        """Drops what arrives for the host's `port`; with `outbound` also every other packet of that port."""
        self._filter(host, "INPUT", "--dport", str(port), "-j", "DROP")
        if outbound:
            self._filter(host, "INPUT", "--sport", str(port), "-j", "DROP")
            self._filter(host, "OUTPUT", "--dport", str(port), "-j", "DROP")
            self._filter(host, "OUTPUT", "--sport", str(port), "-j", "DROP")

    def cut(self, host: int, other: int) -> None:
        """Drops what passes between the two hosts; others reach either."""
        self._filter(host, "INPUT", "-s", self.address(other), "-j", "DROP")
        self._filter(host, "OUTPUT", "-d", self.address(other), "-j", "DROP")

    def lose(self, host: int, percent: float) -> None:
        """Drops each arriving packet with this probability (iptables' statistic match: sch_netem is often missing)."""
        run(*self.inside(host, "iptables", "-w", "-A", "INPUT", "-i", "eth0", "-m", "statistic", "--mode", "random",
                         "--probability", str(percent / 100), "-j", "DROP"))

    def throttle(self, host: int, packets_per_second: int) -> None:
        """Drops what arrives above this rate: a very slow line."""
        rule = ["iptables", "-w", "-A", "INPUT", "-i", "eth0", "-p", "tcp"]
        run(*self.inside(host, *rule, "-m", "limit", "--limit", f"{packets_per_second}/s", "--limit-burst", "10",
                         "-j", "ACCEPT"))
        run(*self.inside(host, *rule, "-j", "DROP"))

    def redirect(self, host: int, port: int, to: int) -> None:
        """Sends connections for the host's `port` to its port `to`; those that stand are reset at their next packet."""
        run(*self.inside(host, "iptables", "-w", "-t", "nat", "-A", "PREROUTING", "-i", "eth0", "-p", "tcp", "--dport",
                         str(port), "-j", "REDIRECT", "--to-ports", str(to)))
        run(*self.inside(host, "iptables", "-w", "-A", "INPUT", "-i", "eth0", "-p", "tcp", "--dport", str(port),
                         "-j", "REJECT", "--reject-with", "tcp-reset"))

    def reset(self, host: int, port: int, seconds: float) -> None:
        """Resets every connection to the host's `port` that stands now, at its next packet within so many seconds. A new one may be
        opened meanwhile: who connects again is not shut out."""
        standing = run(*self.inside(host, "ss", "-Htn", "state", "established", f"( sport = :{port} )")).splitlines()
        peers = [line.split()[3].rpartition(":") for line in standing]
        rules = [["INPUT", "-p", "tcp", "-s", address, "--sport", source, "--dport", str(port), "-j", "REJECT", "--reject-with", "tcp-reset"]
                 for address, _, source in peers]
        for rule in rules:
            run(*self.inside(host, "iptables", "-w", "-I", *rule))
        time.sleep(seconds)
        for rule in rules:
            run(*self.inside(host, "iptables", "-w", "-D", *rule))

    def move_address(self, host: int, to: int) -> None:
        """The host has its address no more, and `to` has it besides its own."""
        moved = f"{self.address(host)}/24"
        run(*self.inside(host, "ip", "address", "del", moved, "dev", "eth0"))
        run(*self.inside(to, "ip", "address", "add", moved, "dev", "eth0"))
        for other in range(1, self.hosts + 1):
            if other != host:
                run(*self.inside(other, "ip", "neighbour", "flush", "to", self.address(host), "dev", "eth0"))

    def lose_host(self, host: int) -> None:
        """Nobody has its address any more: the machine is gone."""
        run(*self.inside(host, "ip", "link", "set", "eth0", "down"))

    def heal(self, host: int) -> None:
        for table in ("filter", "nat"):
            run(*self.inside(host, "iptables", "-w", "-t", table, "-F"))

    def _filter(self, host: int, chain: str, *rule: str) -> None:
        run(*self.inside(host, "iptables", "-w", "-A", chain, "-p", "tcp", *rule))
