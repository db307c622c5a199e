"""A real systemd as the manager of a user, in a mount namespace of its own with a bus beside it. It is not the first process of this
machine, but it answers the same interface, org.freedesktop.systemd1, on a bus and on its own socket."""

import os
import signal
import subprocess
from pathlib import Path

from lab.packages import unpack
from lab.processes import Process, start, wait_until

PACKAGES = ["systemd", "libsystemd-shared", "dbus-daemon", "libapparmor1", "libdbus-1-3", "libexpat1", "libaudit1", "libcap-ng0",
            "libsystemd0", "libkmod2", "libip4tc2", "libseccomp2", "libcryptsetup12", "libfdisk1", "libmount1", "libblkid1",
            "libargon2-1", "libdevmapper1.02.1", "libjson-c5", "libpam0g", "libgcrypt20", "libgpg-error0", "libacl1", "libselinux1",
            "libpcre2-8-0", "libcrypt1", "liblz4-1", "libzstd1", "liblzma5", "libcap2", "libudev1", "libssl3"]
# What systemd insists on: that the machine was booted with it, and cgroups that it may arrange.
SCRIPT = """
mount -t tmpfs none /run && mkdir -p /run/systemd/system
mount -t tmpfs none /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
mkdir -p "$1/session" && echo $$ > "$1/session/cgroup.procs"
exec "$2" --user --log-target=console
"""
CLEAN = """
mount -t tmpfs none /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
find "$1" -depth -type d -exec rmdir {} +
"""
BUS_SOCKET = "[Socket]\nListenStream=%t/bus\n"
BUS_SERVICE = "[Unit]\nRequires=dbus.socket\n[Service]\nExecStart={} --session --address=systemd: --nofork --nopidfile --systemd-activation\n"


class Systemd:
    """Leaving it ends the manager and all that it started."""

    def __init__(self, packages: Path, folder: Path):
        unpack(packages, PACKAGES)
        self.packages = packages
        self.folder = folder
        self.units = folder / "config/systemd/user"
        self.runtime = folder / "run"
        self.bus = self.runtime / "bus"
        self.private = self.runtime / "systemd/private"
        self.cgroup = f"/sys/fs/cgroup/wardmote-{os.getpid()}"
        self.manager: Process | None = None

    def __enter__(self) -> "Systemd":
        self.units.mkdir(parents=True)
        self.runtime.mkdir(mode=0o700)
        (self.units / "dbus.socket").write_text(BUS_SOCKET, encoding="utf-8")
        (self.units / "dbus.service").write_text(BUS_SERVICE.format(self.packages / "usr/bin/dbus-daemon"), encoding="utf-8")
        program = next(path for path in (self.packages / "lib/systemd/systemd", self.packages / "usr/lib/systemd/systemd") if path.exists())
        self.manager = start(["unshare", "--mount", "--propagation", "private", "sh", "-eu", "-c", SCRIPT, "systemd", self.cgroup, str(program)],
                             self.environment(), self.folder / "systemd.log")
        try:
            wait_until(self.private.exists, 10.0, f"systemd: see {self.folder / 'systemd.log'}")
            self.order("start", "dbus.socket")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.manager is None:
            return
        try:
            self.manager.send(signal.SIGTERM)  # which, of a user's manager, stops all units first
            wait_until(lambda: not self.manager.alive(), 20.0, "the end of systemd")
        finally:
            self.manager.kill()
            self.manager = None
            subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-eu", "-c", CLEAN, "clean", self.cgroup],
                           stdin=subprocess.DEVNULL, check=True)

    def environment(self) -> dict[str, str]:
        libraries = [str(path) for path in sorted(self.packages.glob("**/*-linux-gnu")) if path.is_dir()]
        libraries += [f"{path}/systemd" for path in libraries]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries), "XDG_RUNTIME_DIR": str(self.runtime), "HOME": str(self.folder),
                "XDG_CONFIG_HOME": str(self.folder / "config"), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.bus}",
                "SYSTEMD_UNIT_PATH": f"{self.units}:{self.packages}/usr/lib/systemd/user"}

    def add(self, name: str, text: str) -> str:
        (self.units / name).write_text(text, encoding="utf-8")
        return name

    def order(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """systemctl with `arguments`."""
        program = next(path for path in (self.packages / "bin/systemctl", self.packages / "usr/bin/systemctl") if path.exists())
        return subprocess.run([str(program), "--user", *arguments], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=True, timeout=20)
