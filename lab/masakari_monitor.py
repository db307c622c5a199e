"""Masakari's own introspective instance monitor, from Debian's packages: it pings the agents of guests, and tells a masakari-api of those
that are silent."""

import os
from pathlib import Path

from lab.guests import Guests
from lab.openstack import HOST, PASSWORD, PYTHON, OpenStack
from lab.packages import unpack
from lab.processes import Process, start, wait_until

# What it imports, and nothing of what it merely depends on.
MODULES = """
    appdirs automaton bcrypt certifi cffi cffi-backend chardet charset-normalizer cryptography dateutil debtcollector decorator dnspython
    dogpile.cache eventlet fasteners greenlet idna importlib-metadata iso8601 jmespath json-pointer jsonpatch keystoneauth1 libvirt lxml
    masakari-monitors monotonic more-itertools msgpack munch netaddr netifaces openstacksdk os-service-types oslo.cache oslo.concurrency
    oslo.config oslo.context oslo.i18n oslo.log oslo.privsep oslo.serialization oslo.service oslo.utils pbr pkg-resources ply prettytable
    pycparser requests requestsexceptions rfc3986 six statsd stevedore tz urllib3 wcwidth wrapt yaml yappi zipp
""".split()
PACKAGES = ["masakari-introspective-instance-monitor", "masakari-monitors-common", *(f"python3-{name}" for name in MODULES)]

CONFIG = r"""
[DEFAULT]
log_file = {folder}/monitor.log
tempdir = {folder}
[oslo_concurrency]
lock_path = {folder}
[introspectiveinstancemonitor]
guest_monitoring_interval = {interval}
guest_monitoring_timeout = {timeout}
guest_monitoring_failure_threshold = {threshold}
qemu_guest_agent_sock_path = /var/lib/libvirt/instance-.*\.ga
[libvirt]
connection_uri = {uri}
[api]
auth_type = password
auth_url = {keystone}
username = watcher
password = {password}
project_name = admin
user_domain_id = default
project_domain_id = default
"""
# Debian 12's asks for `map(None, …)`, which Python 2 had: in Python 3 each round ends there with "'NoneType' object is not callable",
# and no guest is ever pinged. It is given the `map` of Python 2; later versions of the monitor do without.
SERVER = """
import builtins, itertools, sys
sys.argv = ["masakari-introspectiveinstancemonitor", "--config-file", "{folder}/monitor.conf"]
from masakarimonitors.introspectiveinstancemonitor import qemu_utils
qemu_utils.map = lambda function, *rows: itertools.zip_longest(*rows) if function is None else builtins.map(function, *rows)
from masakarimonitors.cmd.introspectiveinstancemonitor import main
sys.exit(main())
"""


class MasakariMonitor:
    """Watches all guests of `lab` while it is entered."""

    def __init__(self, packages: Path, folder: Path, lab: Guests, cloud: OpenStack, interval: int, timeout: int, threshold: int):
        unpack(packages, PACKAGES)
        self.packages, self.folder, self.lab = packages, folder, lab
        folder.mkdir(parents=True, exist_ok=True)
        values = {"folder": folder, "uri": lab.uri, "keystone": cloud.keystone_url, "password": PASSWORD, "interval": interval,
                  "timeout": timeout, "threshold": threshold}
        (folder / "monitor.conf").write_text(CONFIG.format(**values), encoding="utf-8")
        (folder / "monitor.py").write_text(SERVER.format(**values), encoding="utf-8")
        self.process: Process | None = None

    def __enter__(self) -> "MasakariMonitor":
        # It tells Masakari the name of the machine, whatever its configuration says, and that must be one that Masakari knows.
        named = ["unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$@"', "sh"]
        libraries = [self.lab.libraries, *map(str, self.packages.glob("usr/lib/*-linux-gnu*"))]
        # It asks libvirt's default for guests, and its configuration's for events.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "LIBVIRT_DEFAULT_URI": self.lab.uri,
                       "PYTHONPATH": str(self.packages / "usr/lib/python3/dist-packages"), "LD_LIBRARY_PATH": ":".join(libraries)}
        self.process = start([*named, *PYTHON, str(self.folder / "monitor.py")], environment, self.folder / "monitor.out")
        wait_until(lambda: self.log() or not self.process.alive(), 60.0, "the log of the monitor", every=0.2)
        if not self.process.alive():
            raise RuntimeError(f"the monitor ended at once:\n{(self.folder / 'monitor.out').read_text(encoding='utf-8')}")
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()

    def log(self) -> str:
        file = self.folder / "monitor.log"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
