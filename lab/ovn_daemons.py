"""The daemons beside OVN's databases, from Debian's packages: ovn-northd, ovn-controller and ovs-vswitchd with a datapath of its own,
over one server for each database. The southbound database is clustered, with one member, as the fault needs it that it may have."""

import signal
import subprocess
from pathlib import Path

from lab import packages
from lab.processes import Process, start, wait_until

SCHEMAS = {"nb": "ovn/ovn-nb.ovsschema", "sb": "ovn/ovn-sb.ovsschema", "conf": "openvswitch/vswitch.ovsschema"}


class OvnDaemons:
    """Leaving it ends all daemons, by their ids."""

    def __init__(self, root: Path, folder: Path):
        """Packages are unpacked below `root`; `folder` gets files, pid files and sockets."""
        self.tools = packages.fetch(root / "x")
        packages.unpack(root / "ovn-host", ["ovn-host"])
        self.folder = folder
        self._controller = root / "ovn-host/usr/bin/ovn-controller"
        self._vswitchd = next((root / "x/usr/lib").rglob("ovs-vswitchd"))
        self.environment = {**self.tools.environment(), **{name: str(folder) for name in ("OVS_RUNDIR", "OVN_RUNDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")},
                            "OVS_PKGDATADIR": str(root / "x/usr/share/openvswitch")}
        self.processes: dict[str, Process] = {}

    def __enter__(self) -> "OvnDaemons":
        try:
            for database in SCHEMAS:
                self.create(database)
                self.start_database(database)
            self.vsctl("--no-wait", "init")
            self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "external_ids:system-id=host-1", f"external_ids:ovn-remote=unix:{self.folder}/sb.sock",
                       "external_ids:ovn-encap-type=geneve", "external_ids:ovn-encap-ip=127.0.0.1")
            for daemon in ("ovs-vswitchd", "ovn-northd", "ovn-controller"):
                self.start(daemon)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for process in self.processes.values():
            process.send(signal.SIGCONT)
            process.kill()

    def pid_file(self, daemon: str) -> Path:
        return self.folder / f"{daemon}.pid"

    def database(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    def create(self, name: str) -> None:
        """An empty database; an earlier one is thrown away."""
        self.database(name).unlink(missing_ok=True)
        schema = str(self.tools.root / "usr/share" / SCHEMAS[name])
        if name == "sb":
            self.run(self.tools.tool, "create-cluster", str(self.database(name)), schema, f"unix:{self.folder}/sb.raft")
        else:
            self.run(self.tools.tool, "create", str(self.database(name)), schema)

    def start_database(self, name: str) -> None:
        socket = self.folder / ("db.sock" if name == "conf" else f"{name}.sock")
        self._start(name, [self.tools.server, f"--unixctl={self.folder}/{name}.ctl", f"--remote=punix:{socket}", str(self.database(name))])

    def start(self, daemon: str) -> None:
        programs = {
            "ovs-vswitchd": [str(self._vswitchd), "--disable-system", "--enable-dummy", f"unix:{self.folder}/db.sock"],
            "ovn-northd": [str(self.tools.root / "usr/bin/ovn-northd"), f"--ovnnb-db=unix:{self.folder}/nb.sock", f"--ovnsb-db=unix:{self.folder}/sb.sock"],
            "ovn-controller": [str(self._controller), f"unix:{self.folder}/db.sock"],
        }
        self._start(daemon, programs[daemon])

    def _start(self, name: str, argv: list[str]) -> None:
        pid_file = self.pid_file(name)
        pid_file.unlink(missing_ok=True)
        program, *rest = argv
        self.processes[name] = start([program, "--no-chdir", "-vconsole:off", f"--log-file={self.folder}/{name}.log", f"--pidfile={pid_file}", *rest],
                                     self.environment, self.folder / f"{name}.out")
        wait_until(lambda: self.answers(name), 30.0, f"{name} to answer; see {self.folder}/{name}.log")

    def control(self, name: str) -> str:
        if name in SCHEMAS:
            return f"{self.folder}/{name}.ctl"
        return f"{self.folder}/{name}.{self.pid_file(name).read_text(encoding='utf-8').strip()}.ctl"

    def answers(self, name: str) -> bool:
        if not self.pid_file(name).exists():
            return False
        return self._appctl(name, "version").returncode == 0

    def appctl(self, name: str, *command: str) -> str:
        done = self._appctl(name, *command)
        assert done.returncode == 0, done
        return done.stdout

    def _appctl(self, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.tools.appctl, "-T", "5", "-t", self.control(name), *command], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=20, check=False)

    def vsctl(self, *command: str) -> str:
        return self.run(str(self.tools.root / "usr/bin/ovs-vsctl"), "-t", "20", f"--db=unix:{self.folder}/db.sock", *command)

    def nbctl(self, *command: str) -> str:
        return self.run(str(self.tools.root / "usr/bin/ovn-nbctl"), "-t", "20", f"--db=unix:{self.folder}/nb.sock", *command)

    def run(self, *argv: str) -> str:
        done = subprocess.run(argv, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done
        return done.stdout

    def kill(self, name: str) -> None:
        self.processes[name].kill()

    def pause(self, name: str) -> None:
        self.processes[name].send(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        self.processes[name].send(signal.SIGCONT)
