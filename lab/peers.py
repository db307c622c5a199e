"""A real etcd and a real name server (dnsmasq) on addresses of the loopback."""

import socket
from contextlib import suppress
from pathlib import Path

from lab.packages import Tools, check_libraries, unpack
from lab.pki import Papers
from lab.ports import free_port
from lab.processes import Process, start, wait_until

ETCD_PACKAGES = ["etcd-server", "etcd-client"]
DNSMASQ_PACKAGES = ["dnsmasq-base", "libdbus-1-3", "libidn2-0", "libunistring2", "libnetfilter-conntrack3", "libnfnetlink0", "libmnl0",
                    "libnettle8", "libhogweed6", "libgmp10", "libnftables1", "libnftnl11", "libjansson4", "libedit2", "libbsd0", "libmd0",
                    "libtinfo6", "libxtables12", "libsystemd0", "libcap2", "libgcrypt20", "libgpg-error0", "liblzma5", "libzstd1", "liblz4-1"]


class Etcd:
    """One member of its own. Leaving it ends it."""

    def __init__(self, packages: Path, folder: Path, papers: Papers | None = None, client_ca: Path | None = None):
        unpack(packages, ETCD_PACKAGES)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._argv = [str(packages / "usr/bin/etcd"), "--data-dir", str(folder / "data"), "--listen-peer-urls", f"http://127.0.0.1:{free_port()}"]
        url = f"{'https' if papers else 'http'}://{self.address}"
        self._argv += ["--listen-client-urls", url, "--advertise-client-urls", url]
        if papers:
            self._argv += ["--cert-file", str(papers.certificate), "--key-file", str(papers.key)]
        if client_ca:
            self._argv += ["--client-cert-auth", "--trusted-ca-file", str(client_ca)]
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "etcd.log"
        self.process: Process | None = None

    def __enter__(self) -> "Etcd":
        self.process = start(self._argv, {"ETCD_UNSUPPORTED_ARCH": "arm64", "PATH": "/usr/bin"}, self.log)
        try:
            wait_until(lambda: _accepts(self.port), 20.0, f"etcd: see {self.log}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.process:
            self.process.kill()


class Dnsmasq:
    """A name server for what `records` say, as options of dnsmasq without their dashes. Leaving it ends it."""

    def __init__(self, packages: Path, folder: Path, *records: str):
        tools = Tools(packages)
        program = str(packages / "usr/sbin/dnsmasq")
        unpack(packages, DNSMASQ_PACKAGES, lambda: check_libraries([program], tools.environment()))
        self.environment = tools.environment()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "dnsmasq.log"
        self._argv = [program, "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", f"--port={self.port}",
                      "--listen-address=127.0.0.1", "--bind-interfaces", "--user=root", "--pid-file", "--log-facility=-",
                      *[f"--{record}" for record in records]]
        self.process: Process | None = None

    def __enter__(self) -> "Dnsmasq":
        self.process = start(self._argv, self.environment, self.log)
        try:
            wait_until(lambda: _accepts(self.port), 10.0, f"dnsmasq: see {self.log}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.process:
            self.process.kill()


def _accepts(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
