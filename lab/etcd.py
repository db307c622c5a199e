"""A cluster of real etcd members on loopback, from Debian's packages, to be killed, paused and restarted."""

import base64
import http.client
import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab.packages import unpack
from lab.peers import ETCD_PACKAGES
from lab.pki import Authority, Papers
from lab.ports import free_port
from lab.processes import Process, start, wait_until

# Debian's etcd asks for this on some machines.
ENVIRONMENT = {**os.environ, "ETCD_UNSUPPORTED_ARCH": "arm64", "ETCDCTL_API": "3"}


@dataclass
class Member:
    name: str
    port: int
    argv: list[str]
    log: Path
    process: Process | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = start(self.argv, ENVIRONMENT, self.log)

    def kill(self) -> None:
        self.process.kill()

    def pause(self) -> None:
        self.process.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send(signal.SIGCONT)


class EtcdCluster:
    """Leaving it ends all members, by their ids. `fast`: elections within 200 ms, and leases from one second on. With an
    `authority` members and clients need its certificates, and etcdctl has one of `root`."""

    def __init__(self, packages: Path, folder: Path, size: int = 1, fast: bool = True, options: tuple[str, ...] = (),
                 authority: Authority | None = None):
        unpack(packages, ETCD_PACKAGES)
        self.packages, self.folder = packages, folder
        self.user = ""  # of etcdctl, with its password; for an etcd that asks for passwords
        self.papers: Papers | None = authority.issue("root") if authority else None
        if authority:
            server = authority.issue("etcd", names="IP:127.0.0.1")
            options += (f"--cert-file={server.certificate}", f"--key-file={server.key}", "--client-cert-auth",
                        f"--trusted-ca-file={authority.certificate}")
        folder.mkdir(parents=True, exist_ok=True)
        names = [f"m{i}" for i in range(size)]
        peers = {name: f"http://127.0.0.1:{free_port()}" for name in names}
        timing = ["--heartbeat-interval=20", "--election-timeout=200"] if fast else []
        self.members = []
        for name in names:
            port = free_port()
            url = f"{'https' if authority else 'http'}://127.0.0.1:{port}"
            self.members.append(Member(name, port, [
                str(packages / "usr/bin/etcd"), "--name", name, "--data-dir", str(folder / name), "--listen-client-urls", url,
                "--advertise-client-urls", url, "--listen-peer-urls", peers[name], "--initial-advertise-peer-urls", peers[name],
                "--initial-cluster", ",".join(f"{one}={at}" for one, at in peers.items()), "--initial-cluster-state", "new",
                "--logger=zap", "--log-outputs=stderr", "--log-level=warn", *timing, *options], folder / f"{name}.log"))

    @property
    def endpoints(self) -> list[str]:
        return [member.address for member in self.members]

    def __enter__(self) -> "EtcdCluster":
        try:
            for member in self.members:
                member.start()
            for member in self.members:
                wait_until(lambda at=member: self.answers(at), 30.0, f"etcd: see {member.log}", every=0.1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for member in self.members:
            if member.process:
                member.resume()
                member.kill()

    def answers(self, member: Member) -> bool:
        return self.run("endpoint", "health", endpoints=[member.address]).returncode == 0

    def argv(self, *arguments: str, endpoints: list[str] | None = None) -> list[str]:
        """Of Debian's etcdctl."""
        return [str(self.packages / "usr/bin/etcdctl"), f"--endpoints={','.join(endpoints or self.endpoints)}", *self._shows(), *arguments]

    def _shows(self, papers: Papers | None = None) -> list[str]:
        papers = papers or self.papers
        if self.user:
            return [f"--user={self.user}"]
        return [f"--cacert={papers.ca}", f"--cert={papers.certificate}", f"--key={papers.key}"] if papers else []

    def as_holder(self, papers: Papers) -> "EtcdCluster":
        """The same cluster, for etcdctl with other certificates."""
        other = object.__new__(EtcdCluster)
        other.__dict__ = {**self.__dict__, "papers": papers}
        return other

    def run(self, *arguments: str, endpoints: list[str] | None = None, said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.argv(*arguments, endpoints=endpoints), env=ENVIRONMENT, input=said,
                              capture_output=True, text=True, timeout=30, check=False)

    def restore(self, snapshot: Path, later: bool = False) -> None:
        """Of one member: it is killed, and begins anew from a file of `snapshot save`. `later`: the copy has higher revisions than anything
        before, and all older ones are compacted, as after `etcdutl snapshot restore --bump-revision … --mark-compacted` of newer versions."""
        [member] = self.members
        member.kill()
        folder = self.folder / member.name
        shutil.rmtree(folder)
        peer = member.argv[member.argv.index("--initial-advertise-peer-urls") + 1]
        self.ctl("snapshot", "restore", str(snapshot), "--data-dir", str(folder), "--name", member.name,
                 "--initial-cluster", f"{member.name}={peer}", "--initial-advertise-peer-urls", peer)
        if later:
            self._age(member)
        member.start()
        wait_until(lambda: self.answers(member), 30.0, f"etcd: see {member.log}", every=0.1)

    def begin_empty(self) -> None:
        """The only member is killed, and begins anew without its data."""
        [member] = self.members
        member.kill()
        shutil.rmtree(self.folder / member.name)
        member.start()
        wait_until(lambda: self.answers(member), 30.0, f"etcd: see {member.log}", every=0.1)

    def _age(self, member: Member) -> None:
        """Makes a thousand revisions where no client is."""
        aside = free_port()
        argv = [one.replace(f":{member.port}", f":{aside}") for one in member.argv]
        alone = Member(member.name, aside, argv, member.log)
        alone.start()
        try:
            wait_until(lambda: self.answers(alone), 30.0, f"etcd: see {alone.log}", every=0.1)
            gateway = http.client.HTTPConnection("127.0.0.1", aside, timeout=30)
            key = base64.b64encode(b"/nobody's").decode()
            for _ in range(1000):
                gateway.request("POST", "/v3/kv/put", json.dumps({"key": key, "value": key}))
                answer = json.loads(gateway.getresponse().read())
            revision = answer["header"]["revision"]
            assert self.run("compact", revision, endpoints=[alone.address]).returncode == 0
        finally:
            alone.kill()

    def ctl(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done
        return done.stdout
