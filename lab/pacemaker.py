"""A real Corosync and Pacemaker cluster on one machine: each node has a network, processes, a host name and a file system of its own.

The packages are not installed: a node's root is an overlay of the unpacked packages over the root of this machine.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.network import Network, namespaces, run
from lab.packages import DAEMONS, LIBRARIES, unpack
from lab.processes import Process, wait_until

PACKAGES = ["pacemaker", "pacemaker-cli-utils", "pacemaker-resource-agents", "pacemaker-common", "corosync", "resource-agents",
            "libqb100", "libcib27", "libcrmcluster29", "libcrmcommon34", "libcrmservice28", "liblrmd28", "libpacemaker1", "libpe-rules26",
            "libpe-status28", "libstonithd26", "libcfg7", "libcmap4", "libcorosync-common4", "libcpg4", "libquorum5", "libvotequorum8",
            "libknet1", "libnozzle1", "libxslt1.1", "libglib2.0-0", "libsystemd0", "libsam4", "libstatgrab10", "libnet1", "libnl-3-200",
            "libnl-route-3-200", "libpils2", "libplumb2", "cluster-glue", "gawk", "libsigsegv2", "libmpfr6", "libltdl7"]
AGENT = "usr/lib/ocf/resource.d/ovn/ovndb-servers"
STOCK = "/usr/share/ovn/scripts/ovndb-servers.ocf"

# What a node runs: the cluster, and somebody who reaps what daemons leave behind.
INIT = """set -e
mount --make-rprivate /
mount -t overlay node -o "lowerdir=$LOWER,upperdir=$NODE/upper,workdir=$NODE/work" "$NODE/root"
cd "$NODE/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs dev/shm
mkdir -p run/crm run/resource-agents run/ovn run/openvswitch run/lock
chown hacluster:haclient run/crm 2>/dev/null || chown 189:189 run/crm
hostname "$NAME"
ip link set lo up
exec chroot "$NODE/root" /bin/bash -c '
corosync -f >>/var/log/corosync-stdout.log 2>&1 &
for _ in $(seq 200); do corosync-cfgtool -s >/dev/null 2>&1 && break; sleep 0.05; done
PCMK_logfile=/var/log/pacemaker/pacemaker.log PCMK_logfacility=none pacemakerd -f >>/var/log/pacemakerd-stdout.log 2>&1 &
while :; do wait; sleep 0.2; done'
"""

CIB = """<cib crm_feature_set="3.16.1" validate-with="pacemaker-3.9" epoch="1" num_updates="0" admin_epoch="0">
  <configuration>
    <crm_config><cluster_property_set id="options">
      <nvpair id="o1" name="stonith-enabled" value="false"/>
      <nvpair id="o2" name="no-quorum-policy" value="stop"/>
      <nvpair id="o3" name="dc-deadtime" value="2s"/>
      <nvpair id="o4" name="cluster-recheck-interval" value="60s"/>
    </cluster_property_set></crm_config>
    <nodes>{nodes}</nodes>
    <resources>
      <clone id="ovndb_servers-master">
        <meta_attributes id="m"><nvpair id="m1" name="promotable" value="true"/><nvpair id="m2" name="notify" value="true"/>
          <nvpair id="m3" name="interleave" value="true"/></meta_attributes>
        <primitive id="ovndb_servers" class="ocf" provider="ovn" type="ovndb-servers">
          <instance_attributes id="a">{parameters}</instance_attributes>
          <operations>
            <op id="op1" name="start" interval="0" timeout="60s"/><op id="op2" name="stop" interval="0" timeout="60s"/>
            <op id="op3" name="promote" interval="0" timeout="50s"/><op id="op4" name="demote" interval="0" timeout="50s"/>
            <op id="op5" name="monitor" interval="{promoted}" role="Master" timeout="60s"/>
            <op id="op6" name="monitor" interval="{unpromoted}" role="Slave" timeout="60s"/>
          </operations>
        </primitive>
      </clone>
      <primitive id="VirtualIP" class="ocf" provider="heartbeat" type="IPaddr2">
        <instance_attributes id="v"><nvpair id="v1" name="ip" value="{address}"/><nvpair id="v2" name="nic" value="eth0"/>
          <nvpair id="v3" name="cidr_netmask" value="24"/></instance_attributes>
        <operations><op id="vop" name="monitor" interval="10s" timeout="20s"/></operations>
      </primitive>
    </resources>
    <constraints>{order}
      <rsc_colocation id="with" rsc="VirtualIP" with-rsc="ovndb_servers-master" with-rsc-role="Master" score="INFINITY"/>
    </constraints>
    <rsc_defaults><meta_attributes id="d"><nvpair id="d1" name="resource-stickiness" value="100"/></meta_attributes></rsc_defaults>
  </configuration>
  <status/>
</cib>
"""
PROMOTION_FIRST = ('<rsc_order id="order" first="ovndb_servers-master" first-action="promote" then="VirtualIP" then-action="start" '
                   'kind="Mandatory"/>')
ADDRESS_FIRST = ('<rsc_order id="order" first="VirtualIP" first-action="start" then="ovndb_servers-master" then-action="promote" '
                 'kind="Mandatory"/>')


@dataclass
class Node:
    number: int
    lab: "Pacemaker"
    init: Process | None = None

    @property
    def name(self) -> str:
        return f"n{self.number}"

    @property
    def root(self) -> Path:
        return self.lab.folder / self.name

    def on(self, *argv: str, timeout: float = 30, check: bool = False) -> subprocess.CompletedProcess:
        """Runs a program on the node."""
        enter = ["nsenter", "-t", str(self.init.pid), "-m", "-p", "-i", "-u", "-n", "-r", "-w", "--"]
        return subprocess.run([*enter, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=check, timeout=timeout)

    def up(self) -> bool:
        return self.init is not None and self.init.alive()

    def boot(self) -> None:
        network = self.lab.network
        run("ip", "-n", network.namespace(self.number), "addr", "replace", f"{network.address(self.number)}/24", "dev", "eth0")
        self.lab.line(self.number, "up")
        argv = network.inside(self.number, "unshare", "-m", "-p", "-i", "-u", "--fork", "--kill-child=SIGKILL", "/bin/bash", "-c", INIT)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NODE": str(self.root), "NAME": self.name, "LOWER": self.lab.lower}
        with open(self.lab.folder / f"{self.name}.console", "ab") as console:
            shell = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=console, stderr=console,
                                     start_new_session=True)
        shell.returncode = 0

        def child() -> int:
            children = Path(f"/proc/{shell.pid}/task/{shell.pid}/children")
            words = children.read_text(encoding="utf-8").split() if children.exists() else []
            return int(words[0]) if words else 0

        self.init = Process.of(wait_until(child, 5, f"the first process of {self.name}"))

    def power_off(self) -> None:
        self.init.kill()
        self.lab.line(self.number, "down")
        run("ip", "-n", self.lab.network.namespace(self.number), "addr", "flush", "dev", "eth0")

    def cut(self) -> None:
        self.lab.line(self.number, "down")

    def heal(self) -> None:
        self.lab.line(self.number, "up")

    def processes(self) -> list[Process]:
        """All of the node but its first."""
        mine = os.readlink(f"/proc/{self.init.pid}/ns/pid")
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/ns/pid") == mine and int(pid) != self.init.pid:
                    found.append(Process.of(int(pid)))
        return found

    def named(self, *names: str) -> list[Process]:
        found = []
        for process in self.processes():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{process.pid}/comm").read_text(encoding="utf-8").strip() in names:
                    found.append(process)
        return found

    def server(self, short: str) -> Process:
        """The worker of one database."""
        for process in self.named("ovsdb-server"):
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            inner = [line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:")][0]
            text = self.on("cat", f"/run/ovn/ovn{short}_db.pid").stdout.strip()
            if text == inner:
                return process
        raise LookupError(f"{self.name} has no server of {short}")

    def pause(self) -> None:
        for process in self.processes():
            process.send(signal.SIGSTOP)

    def resume(self) -> None:
        for process in self.processes():
            process.send(signal.SIGCONT)

    def role(self) -> str:
        """A active, B following, c connecting, x down, of NB and SB; and V when it has the address."""
        if not self.up():
            return "off"
        script = (
            'for d in nb sb; do s=$(timeout 0.5 ovn-appctl -t /run/ovn/ovn${d}_db.ctl ovsdb-server/sync-status 2>/dev/null | tr "\\n" " "); '
            'case "$s" in *active*) printf A;; *replicating*) printf B;; *connecting*) printf c;; *) printf x;; esac; done; '
            f'ip -4 -o addr show eth0 | grep -q "{self.lab.address}/" && printf V; true')
        try:
            return self.on("/bin/sh", "-c", script, timeout=5).stdout
        except subprocess.TimeoutExpired:
            return "??"


class Writer:
    """A client that writes through the address."""

    def __init__(self, lab: "Pacemaker", tag: str):
        self._stop = lab.folder / f"stop-{tag}"
        argv = ["ip", "netns", "exec", lab.switch, sys.executable, str(Path(__file__).with_name("row_writer.py")), lab.address, "6641", tag,
                str(self._stop)]
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def end(self) -> str:
        """The line of JSON."""
        self._stop.touch()
        return self._process.communicate(timeout=60)[0]


class Pacemaker:
    def __init__(self, key: str, packages: Path, agent: Path | None, nodes: int = 3, order: str = PROMOTION_FIRST,
                 parameters: dict[str, str] | None = None, monitors: tuple[str, str] = ("10s", "30s")):
        """`agent` is our program; None: the shell script of OVN."""
        self.packages, self.agent, self.order, self.monitors = packages, agent, order, monitors
        self.network = Network(f"pc-{key}", "10.79.2", nodes)
        self.switch = f"wm-pc-{key}-sw"
        self.address = "10.79.2.100"
        self.parameters = {"master_ip": self.address, "inactive_probe_interval": "180000", **(parameters or {})}
        self.folder = Path(tempfile.mkdtemp(prefix="wm-pc-"))
        self.nodes = [Node(number, self) for number in range(1, nodes + 1)]
        self.lower = ""

    def __enter__(self) -> "Pacemaker":
        try:
            self._prepare()
            for node in self.nodes:
                node.boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for node in self.nodes:
            if node.init is not None:
                node.init.kill()
        if namespaces(self.network.key and f"wm-{self.network.key}-"):
            self.network.down()
        subprocess.run(["umount", "-l", str(self.folder)], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def line(self, number: int, state: str) -> None:
        run("ip", "-n", self.switch, "link", "set", f"p{number}", state)

    def install(self, node: Node, agent: Path | None) -> None:
        """Puts our agent, or OVN's, in the place where Pacemaker looks for it; also while it is in use."""
        upper = node.root / "upper"
        target = "/usr/bin/wardmote" if agent else STOCK
        if node.up():
            node.on("ln", "-sfn", target, f"/{AGENT}", check=True)
            return
        link = upper / AGENT
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def _prepare(self) -> None:
        unpack(self.packages, PACKAGES + DAEMONS + LIBRARIES)
        run("mount", "-t", "tmpfs", "-o", "size=1g", "wm-pc", str(self.folder))
        layer = self.folder / "layer"
        layer.mkdir()
        # An overlay cannot merge a folder with the link that stands for it on a merged /usr.
        run("cp", "-a", f"{self.packages}/.", str(layer))
        for name in ("bin", "sbin", "lib"):
            if (layer / name).is_dir():
                run("cp", "-a", f"{layer / name}/.", f"{layer / 'usr' / name}/")
                shutil.rmtree(layer / name)
        self.lower = f"{layer}:/"
        self.network.up()
        run("ip", "-n", self.switch, "addr", "add", "10.79.2.254/24", "dev", "br0")
        run("ip", "-n", self.switch, "link", "set", "lo", "up")
        for node in self.nodes:
            self._prepare_node(node)

    def _prepare_node(self, node: Node) -> None:
        upper = node.root / "upper"
        for part in ("work", "root"):
            (node.root / part).mkdir(parents=True)
        for part in ("etc/corosync", "var/lib/pacemaker/cib", "var/lib/pacemaker/pengine", "var/lib/pacemaker/blackbox",
                     "var/lib/pacemaker/cores", "var/lib/corosync", "var/log/pacemaker", "var/log/corosync", "var/log/cluster", "var/log/ovn",
                     "var/lib/ovn", "var/lib/openvswitch", "etc/ovn", "etc/openvswitch", "usr/bin"):
            (upper / part).mkdir(parents=True)
        for file, line in (("passwd", "hacluster:x:189:189::/var/lib/pacemaker:/usr/sbin/nologin\n"), ("group", "haclient:x:189:\n")):
            text = Path(f"/etc/{file}").read_text(encoding="utf-8")
            (upper / "etc" / file).write_text(text + line, encoding="utf-8")
        # On many machines it is a link into /run, which is the node's own.
        (upper / "var/run").symlink_to("/run")
        nodes = "".join(f'<node id="{one.number}" uname="{one.name}"/>' for one in self.nodes)
        parameters = "".join(f'<nvpair id="p-{key}" name="{key}" value="{value}"/>' for key, value in self.parameters.items())
        (upper / "var/lib/pacemaker/cib/cib.xml").write_text(CIB.format(
            nodes=nodes, parameters=parameters, address=self.address, order=self.order, promoted=self.monitors[0],
            unpromoted=self.monitors[1]), encoding="utf-8")
        (upper / "etc/corosync/corosync.conf").write_text(self._corosync(), encoding="utf-8")
        for path in (upper / "var/lib/pacemaker").rglob("*"):
            os.chown(path, 189, 189)
        os.chmod(upper / "var/lib/pacemaker/cib/cib.xml", 0o600)
        for path in ("var/lib/pacemaker", "var/log/pacemaker"):
            os.chown(upper / path, 189, 189)
        if self.agent:
            shutil.copy(self.agent, upper / "usr/bin/wardmote")
        self.install(node, self.agent)

    def _corosync(self) -> str:
        members = "".join(f"  node {{\n    ring0_addr: {self.network.address(node.number)}\n    name: {node.name}\n    nodeid: {node.number}\n  }}\n"
                          for node in self.nodes)
        two = "  two_node: 1\n" if len(self.nodes) == 2 else ""
        return ("totem {\n  version: 2\n  cluster_name: lab\n  transport: knet\n  crypto_cipher: none\n  crypto_hash: none\n  token: 1000\n}\n"
                "logging {\n  to_logfile: yes\n  logfile: /var/log/corosync/corosync.log\n  to_syslog: no\n  timestamp: hires\n}\n"
                f"quorum {{\n  provider: corosync_votequorum\n{two}}}\nnodelist {{\n{members}}}\n")

    # What is true.

    def roles(self) -> dict[str, str]:
        return {node.name: node.role() for node in self.nodes}

    def active(self, stopped: tuple[Node, ...] = ()) -> Node | None:
        """Who is writable and has the address, if all others follow; those that are `stopped` run nothing."""
        roles = self.roles()
        found = [node for node in self.nodes if roles[node.name] == "AAV"]
        quiet = {node.name for node in stopped if roles[node.name] == "xx"}
        others = [name for name, role in roles.items() if role not in ("AAV", "off", "BB") and name not in quiet]
        return found[0] if len(found) == 1 and not others else None

    def wait_active(self, seconds: float = 60, stopped: tuple[Node, ...] = ()) -> Node:
        def look() -> Node | None:
            return self.active(stopped)

        try:
            return wait_until(look, seconds, "an active node and its backups", every=0.3)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {self.roles()}") from None

    def status(self) -> str:
        return next(node for node in self.nodes if node.up()).on("crm_mon", "-1rfA").stdout
