"""Nodes with OVN databases in active/backup mode, each on a host of its own, driven by an OCF resource agent as Pacemaker would
drive it. There is no Pacemaker here: its tools are fakes that keep what they are told in a folder."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from lab import wire
from lab.network import Network, run
from lab.packages import Tools
from lab.processes import Process, wait_until

INSTANCE = "ovndb_servers"
DATABASES = {"nb": ("OVN_Northbound", 6641), "sb": ("OVN_Southbound", 6642)}
NOBODY = "192.0.2.254"

# What Pacemaker's tools do as far as the agent sees it: one file for each property and each attribute of a node.
FAKE_TOOLS = {
    "crm_attribute": """#!/bin/sh
# fake: properties of the cluster
name= value= query=
while [ $# -gt 0 ]; do case $1 in --name|-n) name=$2; shift;; -v) value=$2; shift;; --query) query=1;; esac; shift; done
[ -e "$FAKE_CLUSTER/gone" ] && { sleep 0.5; exit 102; }  # it waits for a cluster; attrd_updater does not
if [ "$query" ]; then cat "$FAKE_CLUSTER/property-$name" 2>/dev/null || exit 105
else printf '%s\\n' "$value" >"$FAKE_CLUSTER/property-$name"; fi
""",
    "attrd_updater": """#!/bin/sh
# fake: attributes of nodes
name= node= value= query= delete=
while [ $# -gt 0 ]; do case $1 in -n) name=$2; shift;; -N) node=$2; shift;; -U) value=$2; shift;; -Q) query=1;; -D) delete=1;; esac; shift; done
[ -e "$FAKE_CLUSTER/gone" ] && exit 102
if [ "$query" ]; then
  for file in "$FAKE_CLUSTER/node-$name-"*; do
    [ -n "$OCF_RESKEY_CRM_meta_on_node" ] && [ "${file##*-}" != "$OCF_RESKEY_CRM_meta_on_node" ] && continue  # as Pacemaker 2.1.5
    [ -e "$file" ] && printf 'name="%s" host="%s" value="%s"\\n' "$name" "${file##*-}" "$(cat "$file")"
  done
elif [ "$delete" ]; then rm -f "$FAKE_CLUSTER/node-$name-$node"
else printf '%s\\n' "$value" >"$FAKE_CLUSTER/node-$name-$node"; fi
""",
    "crm_node": "#!/bin/sh\n# fake\necho \"$FAKE_NODE\"\n",
    # The stock agent's.
    "crm_master": """#!/bin/sh
# fake
node= value=
while [ $# -gt 0 ]; do case $1 in -N) node=$2; shift;; -v) value=$2; shift;; esac; shift; done
printf '%s\\n' "$value" >"$FAKE_CLUSTER/node-master-ovndb_servers-$node"
""",
}


@dataclass(frozen=True)
class Result:
    """How one action ended."""

    code: int
    reason: str
    stderr: str


@dataclass
class Node:
    number: int
    site: "Site"
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"n{self.number}"

    @property
    def folder(self) -> Path:
        return self.site.folder / self.name

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def database(self, short: str) -> Path:
        return self.folder / "db" / f"ovn{short}_db.db"

    def environment(self) -> dict[str, str]:
        tools = self.site.tools
        binaries = [str(tools.root / "usr/bin"), str(tools.root / "usr/sbin"), os.environ["PATH"]]
        return {**tools.environment(), "PATH": ":".join(binaries), "OVN_RUNDIR": self.path("run"), "OVS_RUNDIR": self.path("run"),
                "OVN_DBDIR": self.path("db"), "OVN_LOGDIR": self.path("log"), "OVN_SYSCONFDIR": self.path("etc"),
                "OVN_PKGDATADIR": str(tools.root / "usr/share/ovn"), "OVN_BINDIR": str(tools.root / "usr/bin"),
                "OVN_SBINDIR": str(tools.root / "usr/sbin"), "OVS_PKGDATADIR": str(tools.root / "usr/share/openvswitch"),
                "OVS_LOGDIR": self.path("log"), "OVS_BINDIR": str(tools.root / "usr/bin"), "OVS_SBINDIR": str(tools.root / "usr/sbin"),
                "HA_SBIN_DIR": str(self.site.folder / "tools"), "FAKE_CLUSTER": str(self.site.cluster), "FAKE_NODE": self.name,
                "HA_LOGFILE": self.path("agent.log"), "OCF_ROOT": "/usr/lib/ocf", "OCF_RESOURCE_INSTANCE": INSTANCE,
                "OCF_EXIT_REASON_PREFIX": "ocf-exit-reason:", "OCF_RESKEY_CRM_meta_on_node": self.name,
                "OCF_RESKEY_CRM_meta_timeout": "20000", "OCF_RESKEY_CRM_meta_interval": "10000",
                "OCF_RESKEY_ovn_ctl": str(tools.root / "usr/share/ovn/scripts/ovn-ctl"), "OCF_RESKEY_master_ip": self.site.address,
                **{f"OCF_RESKEY_{key}": value for key, value in self.parameters.items()}}

    def agent(self, action: str, **extra: str) -> Result:
        """One action, on this node."""
        argv = self.site.network.inside(self.number, self.site.agent, action)
        done = subprocess.run(argv, env={**self.environment(), **extra}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=60)
        reasons = [line.partition(":")[2] for line in done.stderr.splitlines() if line.startswith("ocf-exit-reason:")]
        return Result(done.returncode, reasons[-1] if reasons else "", done.stderr)

    def notify(self, kind: str, operation: str, **lists: str) -> Result:
        """The action notify; `promote="n2"` and so on say who is concerned."""
        extra = {f"OCF_RESKEY_CRM_meta_notify_{key}_uname": value or " " for key, value in lists.items()}
        return self.agent("notify", OCF_RESKEY_CRM_meta_notify_type=kind, OCF_RESKEY_CRM_meta_notify_operation=operation, **extra)

    # What is true, without the agent.

    def role(self, short: str) -> str:
        """`active`, the source of a backup, or empty."""
        try:
            text = wire.control(self.path(f"run/ovn{short}_db.ctl"), "ovsdb-server/sync-status", timeout=1.0)
        except wire.WireError:
            return ""
        lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        return "active" if lines["state"] == "active" else lines.get("replicating", "~" + lines.get("connecting", ""))

    def roles(self) -> tuple[str, str]:
        return self.role("nb"), self.role("sb")

    def active(self) -> bool:
        return self.roles() == ("active", "active")

    def follows(self) -> bool:
        address = self.site.address
        return self.roles() == (f"tcp:{address}:6641", f"tcp:{address}:6642")

    def isolated(self) -> bool:
        return all(NOBODY in role for role in self.roles())

    def command(self, short: str, *words: str) -> str:
        """What an administrator does by ovn-appctl."""
        return wire.control(self.path(f"run/ovn{short}_db.ctl"), *words)

    def write(self, name: str) -> None:
        """One row in each database."""
        wire.transact(self.path("run/ovnnb_db.sock"), "OVN_Northbound", {"op": "insert", "table": "Logical_Switch", "row": {"name": name}})
        wire.transact(self.path("run/ovnsb_db.sock"), "OVN_Southbound", {"op": "insert", "table": "Address_Set", "row": {"name": name}})

    def rows(self) -> set[str]:
        """The names in the northbound database."""
        select = {"op": "select", "table": "Logical_Switch", "where": [], "columns": ["name"]}
        return {row["name"] for row in wire.transact(self.path("run/ovnnb_db.sock"), "OVN_Northbound", select)[0]["rows"]}

    def server(self, short: str) -> Process:
        return Process.of(int(Path(self.path(f"run/ovn{short}_db.pid")).read_text(encoding="utf-8")))

    def signal(self, short: str, number: signal.Signals) -> None:
        self.server(short).send(number)

    def power_off(self) -> None:
        """Everything ends at once, the address goes, and the cluster forgets the node's attributes."""
        for pid in run("ip", "netns", "pids", self.site.network.namespace(self.number)).split():
            Process.of(int(pid)).kill()
        self.site.take_address(self.number)
        for attribute in self.site.cluster.glob(f"node-*-{self.name}"):
            attribute.unlink()

    def score(self) -> str:
        with contextlib.suppress(OSError):
            return (self.site.cluster / f"node-master-{INSTANCE}-{self.name}").read_text(encoding="utf-8").strip()
        return ""

    def published(self) -> dict[str, str]:
        text = (self.site.cluster / f"node-wardmote-{INSTANCE}-{self.name}").read_text(encoding="utf-8").strip()
        return dict(part.split(":", 1) for part in text.split(";"))


class Site:
    """Some nodes, the address of the active one, and what Pacemaker would do with them."""

    def __init__(self, key: str, agent: str, tools: Tools, nodes: int = 3):
        self.agent, self.tools = agent, tools
        self.folder = Path(tempfile.mkdtemp(prefix="wm-ha-"))
        self.cluster = self.folder / "cluster"
        self.network = Network(f"ha-{key}", "10.79.1", nodes)
        self.address = "10.79.1.100"
        self.nodes = [Node(number, self) for number in range(1, nodes + 1)]

    def __enter__(self) -> "Site":
        try:
            self.cluster.mkdir()
            (self.folder / "tools").mkdir()
            for name, text in FAKE_TOOLS.items():
                (self.folder / "tools" / name).write_text(text, encoding="utf-8")
                (self.folder / "tools" / name).chmod(0o755)
            for node in self.nodes:
                for part in ("run", "db", "log", "etc/ovn"):
                    (node.folder / part).mkdir(parents=True)
            self.network.up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.network.down()
        for node in self.nodes:
            subprocess.run(["umount", "-l", str(node.folder / "db")], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def give_address(self, number: int) -> None:
        for node in self.nodes:
            self.take_address(node.number)
        run("ip", "-n", self.network.namespace(number), "addr", "add", f"{self.address}/24", "dev", "eth0")
        # As IPaddr2 does: those who had the old one learn of it.
        for node in self.nodes:
            run("ip", "-n", self.network.namespace(node.number), "neigh", "flush", "all")

    def take_address(self, number: int) -> None:
        subprocess.run(["ip", "-n", self.network.namespace(number), "addr", "del", f"{self.address}/24", "dev", "eth0"],
                       stderr=subprocess.DEVNULL, check=False)

    def start(self, *nodes: Node) -> None:
        names = " ".join(node.name for node in nodes)
        for node in nodes:
            result = node.agent("start", OCF_RESKEY_CRM_meta_notify_start_uname=names)
            assert result.code == 0, (node.name, result)

    def promote(self, node: Node, before: str = "", away: tuple[Node, ...] = (), address_first: bool = False) -> Result:
        """As Pacemaker does: notify, promote, the address, notify. `before` was promoted; those `away` run nothing."""
        there = [one for one in self.nodes if one not in away]
        lists = {"promote": node.name, "promoted": before, "unpromoted": " ".join(one.name for one in there if one.name != before)}
        for one in there:
            one.notify("pre", "promote", **lists)
        if address_first:
            self.give_address(node.number)
        result = node.agent("promote", **{f"OCF_RESKEY_CRM_meta_notify_{key}_uname": value or " " for key, value in lists.items()})
        if result.code != 0:
            return result
        self.give_address(node.number)
        for one in there:
            one.notify("post", "promote", **lists)
        return result

    def demote(self, node: Node) -> Result:
        self.take_address(node.number)
        lists = {"demote": node.name, "promoted": node.name}
        return node.agent("demote", **{f"OCF_RESKEY_CRM_meta_notify_{key}_uname": value for key, value in lists.items()})

    def wait_follow(self, *nodes: Node, seconds: float = 5.0) -> None:
        for node in nodes:
            wait_until(lambda node=node: node.follows(), seconds, f"{node.name} to follow: it is {node.roles()}")
