"""Real guests under a real libvirtd and QEMU (TCG), from Debian's packages: nothing is installed. They live in a mount and a PID
namespace of their own, so that killing its first process ends all of them."""

import gzip
import os
import shutil
import socket
import subprocess
import sys
import zlib
from pathlib import Path

from lab.packages import unpack, unpacking
from lab.processes import Process, start, wait_until

PACKAGES = """
    busybox-static dmidecode ipxe-qemu libaio1 libbrlapi0.8 libcacard0 libcapstone4 libdaxctl1 libepoxy0 libexecs0 libfdt1 libfuse3-3
    libgstreamer-plugins-base1.0-0 libibverbs1 libndctl6 libnl-3-200 libnl-route-3-200 libopus0 liborc-0.4-0 libparted2 libpcap0.8
    libpmem1 librdmacm1 libslirp0 libsndio7.0 libspice-server1 libssh-4 liburing2 libusb-1.0-0 libusbredirparser1 libvdeplug2
    libvirt-clients libvirt-daemon libvirt-daemon-driver-qemu libvirt0 libyajl2 qemu-guest-agent qemu-system-common
    qemu-system-data qemu-system-x86 seabios
""".split()
# The kernel of the guests is whatever the archive has now.
KERNEL = "linux-image-cloud-amd64"
MODULES = ["virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_console", "pvpanic",
           "pvpanic-mmio", "loop"]
MEMORY = 112  # MiB of each guest

LIBVIRTD = 'auth_unix_rw = "none"\nauth_unix_ro = "none"\nunix_sock_group = "root"\n'
QEMU = ('user = "root"\ngroup = "root"\nsecurity_driver = "none"\ncgroup_controllers = [ ]\nnamespaces = [ ]\nremember_owner = 0\n'
        'stdio_handler = "file"\n')
# The first process of the namespace: it collects what others leave behind.
INIT = r"""
import os, signal, subprocess, sys
for command in %r:
    subprocess.run(command, check=True)
# libvirt looks its usual user up even where it is configured to use another.
open("/etc/passwd", "a").write("libvirt-qemu:x:64055:64055::/var/lib/libvirt:/usr/sbin/nologin\n")
open("/etc/group", "a").write("libvirt-qemu:x:64055:\nkvm:x:64056:\n")
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
open(%r, "w").close()
while True:
    signal.sigtimedwait({signal.SIGCHLD}, 1)
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass
"""
GUEST_INIT = """#!/bin/sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
for m in %s; do [ -f /mods/$m.ko ] && insmod /mods/$m.ko 2>/dev/null; done
mkdir -p /dev/virtio-ports /var/run /run; echo 1 > /proc/sys/kernel/sysrq
printf '#!/bin/sh\nsleep $(cat /hook 2>/dev/null || echo 0)\n' > /bin/hook; chmod +x /bin/hook
cat > /bin/gastart <<'G'
#!/bin/sh
for p in /sys/class/virtio-ports/*; do n=$(cat $p/name 2>/dev/null); [ -n "$n" ] && ln -sf /dev/${p##*/} /dev/virtio-ports/$n; done
setsid /usr/sbin/qemu-ga -m virtio-serial -p /dev/virtio-ports/org.qemu.guest_agent.0 -t /run -f /run/ga.pid -F/bin/hook >/run/ga.log 2>&1 &
G
chmod +x /bin/gastart
i=0; while [ $i -lt 300 ]; do cat /sys/class/virtio-ports/*/name 2>/dev/null | grep -q guest_agent && break; i=$((i+1)); usleep 100000; done
case "$(cat /proc/cmdline)" in *noga*) ;; *) gastart ;; esac
while true; do setsid sh -c 'exec sh </dev/ttyS0 >/dev/ttyS0 2>&1'; sleep 1; done
"""
DOMAIN = """<domain type='qemu'><name>{name}</name><uuid>{uuid}</uuid><memory unit='MiB'>{memory}</memory><vcpu>1</vcpu>
<os><type arch='x86_64' machine='pc'>hvm</type><kernel>{boot}/vmlinuz</kernel><initrd>{boot}/initrd.gz</initrd>
<cmdline>console=ttyS0 quiet panic=0 {arguments}</cmdline></os>
<features><acpi/><apic/><tcg><tb-cache unit='MiB'>32</tb-cache></tcg></features><cpu mode='custom'><model>qemu64</model></cpu>
<on_poweroff>destroy</on_poweroff><on_reboot>restart</on_reboot><on_crash>{on_crash}</on_crash>
<devices><emulator>/usr/bin/qemu-system-x86_64</emulator>
<channel type='unix'><source mode='bind' path='/var/lib/libvirt/{name}.ga'/><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
<serial type='unix'><source mode='bind' path='/var/lib/libvirt/{name}.ser'/><target port='0'/></serial>
<controller type='usb' model='none'/><memballoon model='none'/><video><model type='none'/></video>{panic}
</devices></domain>
"""


def uuid_of(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def name_of(number: int) -> str:
    return f"instance-{number:08x}"


class Guests:
    """Leaving it ends all of them. `folder` has a short path: sockets lie below it. `libvirtd` is more of libvirtd.conf."""

    def __init__(self, packages: Path, folder: Path, libvirtd: str = ""):
        self.packages, self.folder, self.configured = packages, folder, LIBVIRTD + libvirtd
        kernel = subprocess.run(["apt-cache", "depends", KERNEL], capture_output=True, text=True, check=True).stdout
        self.kernel = next(line.split()[1] for line in kernel.splitlines() if "Depends: linux-image" in line)
        unpack(packages, [*PACKAGES, self.kernel])
        for name in ("run", "var", "etc", "upper", "work"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.boot = packages.with_name(f"{packages.name}-boot-{zlib.crc32((GUEST_INIT + str(MODULES)).encode()):08x}")
        with unpacking(packages):
            if not (self.boot / "initrd.gz").exists():
                self._build_boot(self.boot)
        self.init: Process | None = None
        self.libvirtd: Process | None = None

    @property
    def uri(self) -> str:
        return f"qemu+unix:///system?socket={self.folder}/run/libvirt/libvirt-sock"

    @property
    def libraries(self) -> str:
        return str(self.packages / "usr/lib/x86_64-linux-gnu")

    def __enter__(self) -> "Guests":
        (self.folder / "etc/libvirtd.conf").write_text(self.configured, encoding="utf-8")
        (self.folder / "etc/qemu.conf").write_text(QEMU, encoding="utf-8")
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        mounts = [["mount", "--make-rprivate", "/"],
                  ["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={self.packages}/usr:/usr", "/usr"],
                  ["mount", "-t", "overlay", "overlay", "-o",
                   f"lowerdir={self.packages}/etc:/etc,upperdir={self.folder}/upper,workdir={self.folder}/work", "/etc"],
                  ["mkdir", "-p", "/etc/libvirt"], ["cp", str(self.folder / "etc/qemu.conf"), "/etc/libvirt/qemu.conf"],
                  ["mount", "--bind", str(self.folder / "var"), "/var/lib"], ["mkdir", "-p", "/var/lib/libvirt/qemu"],
                  ["mount", "-t", "tmpfs", "tmpfs", "/var/cache"], ["mount", "-t", "tmpfs", "tmpfs", "/var/log"], ["mkdir", "-p", "/var/log/libvirt/qemu"],
                  ["mount", "--bind", str(self.folder / "run"), "/run"]]
        script = self.folder / "init.py"
        script.write_text(INIT % (mounts, str(ready)), encoding="utf-8")
        outer = start(["unshare", "-m", "-p", "--fork", "--mount-proc", "--kill-child", sys.executable, str(script)], dict(os.environ),
                      self.folder / "init.log")
        self.outer = outer
        try:
            wait_until(ready.exists, 20.0, f"the namespace of {self.folder}")
            children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text(encoding="utf-8").split()
            self.init = Process.of(int(children[0]))
            self.start_libvirtd()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        # With the first process of a PID namespace all others of it end.
        if self.init:
            self.init.kill()
        self.outer.kill()

    def start_libvirtd(self) -> None:
        self._inside("libvirtd", "-d", "-f", str(self.folder / "etc/libvirtd.conf"))
        pid_file = self.folder / "run/libvirtd.pid"
        wait_until(lambda: self._virsh("version", check=False).returncode == 0, 30.0, "libvirtd", every=0.2)
        inner = int(pid_file.read_text(encoding="utf-8"))
        self.libvirtd = wait_until(lambda: self._outside(inner, "libvirtd"), 5.0, "the process of libvirtd")

    def up(self, *numbers: int, on_crash: str = "preserve", arguments: str = "", panic: bool = True, within: float = 120.0) -> None:
        """Defines and starts guests, and waits until their agents answer."""
        for number in numbers:
            xml = DOMAIN.format(name=name_of(number), uuid=uuid_of(number), memory=MEMORY, boot=self.boot,
                                arguments=arguments, on_crash=on_crash, panic="<panic model='isa'/>" if panic else "")
            file = self.folder / f"{name_of(number)}.xml"
            file.write_text(xml, encoding="utf-8")
            self._virsh("define", str(file))
            self._virsh("start", name_of(number))
        if "noga" not in arguments:
            for number in numbers:
                wait_until(lambda n=number: self.answers(n), within, f"the agent of {name_of(number)}", every=0.5)

    def answers(self, number: int) -> bool:
        ping = '{"execute":"guest-ping"}'
        return self._virsh("qemu-agent-command", name_of(number), "--timeout", "1", ping, check=False).returncode == 0

    def virsh(self, *arguments: str) -> str:
        return self._virsh(*arguments).stdout

    def shell(self, number: int, command: str) -> None:
        """Types a command into the guest's serial console."""
        with socket.socket(socket.AF_UNIX) as console:
            console.connect(str(self.folder / f"var/libvirt/{name_of(number)}.ser"))
            console.settimeout(0.5)
            console.sendall(command.encode() + b"\n")
            try:
                while console.recv(65536):
                    pass
            except OSError:
                pass

    def stop_agent(self, number: int) -> None:
        self.shell(number, "killall -STOP qemu-ga")

    def continue_agent(self, number: int) -> None:
        self.shell(number, "killall -CONT qemu-ga")

    def mount(self, number: int) -> None:
        """A file system of 4 MiB at /srv, in a file in memory."""
        self.shell(number, "dd if=/dev/zero of=/disk bs=1M count=4; losetup /dev/loop0 /disk; mke2fs /dev/loop0; mkdir -p /srv; mount -t ext2 /dev/loop0 /srv")
        wait_until(lambda: "/srv" in self.agent(number, "guest-get-fsinfo"), 30.0, "the file system", every=0.5)

    def agent(self, number: int, command: str) -> str:
        """What the agent of a guest answers."""
        return self._virsh("qemu-agent-command", name_of(number), f'{{"execute":"{command}"}}', check=False).stdout

    def qemu(self, number: int) -> Process:
        inner = int((self.folder / f"run/libvirt/qemu/{name_of(number)}.pid").read_text(encoding="utf-8"))
        found = self._outside(inner, "qemu-system")
        assert found, f"no process of {name_of(number)}"
        return found

    def _outside(self, inner: int, name: str) -> Process | None:
        """The process that has this id inside."""
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                lines = dict(line.split(":\t", 1) for line in status.read_text(encoding="utf-8").splitlines() if ":\t" in line)
            except (OSError, ValueError):
                continue
            ids = lines.get("NSpid", "").split()
            same_space = len(ids) == 2 and os.path.exists(f"/proc/{ids[0]}/ns/pid") and os.readlink(
                f"/proc/{ids[0]}/ns/pid") == os.readlink(f"/proc/{self.init.pid}/ns/pid")
            if same_space and ids[1] == str(inner) and lines["Name"].startswith(name):
                return Process.of(int(ids[0]))
        return None

    def _inside(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["nsenter", "-t", str(self.init.pid), "-m", "-p", *argv], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=check, timeout=120)

    def _virsh(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = self._inside("virsh", "-q", "-c", "qemu:///system", *arguments, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"virsh {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done

    def _merge(self) -> None:
        """/lib and the like are links into /usr on this Debian, and no links in its packages."""
        for name in ("lib", "bin", "sbin"):
            if (self.packages / name).is_dir() and not (self.packages / name).is_symlink():
                shutil.copytree(self.packages / name, self.packages / "usr" / name, symlinks=True, dirs_exist_ok=True)
                shutil.rmtree(self.packages / name)

    def _build_boot(self, boot: Path) -> None:
        """A kernel and a root file system in memory: busybox, qemu-ga, and the drivers that it needs."""
        self._merge()
        usr = self.packages / "usr"
        root = boot / "root"
        shutil.rmtree(root, ignore_errors=True)
        for name in ("bin", "proc", "sys", "dev", "run", "tmp", "var", "mods", "usr/sbin"):
            (root / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(usr / "bin/busybox", root / "bin/busybox")
        (root / "bin/sh").unlink(missing_ok=True)
        (root / "bin/sh").symlink_to("busybox")
        agent = usr / "sbin/qemu-ga"
        shutil.copy(agent, root / "usr/sbin/qemu-ga")
        linked = subprocess.run(["ldd", str(agent)], env={**os.environ, "LD_LIBRARY_PATH": self.libraries}, capture_output=True,
                                text=True, check=True).stdout
        for word in linked.split():
            if word.startswith("/"):
                inside = root / ("lib64" if "ld-linux" in word else "lib/x86_64-linux-gnu")
                inside.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, inside / Path(word).name)
        for module in MODULES:
            for found in (usr / "lib/modules").rglob(f"{module}.ko"):
                shutil.copy(found, root / "mods" / found.name)
        (root / "init").write_text(GUEST_INIT % " ".join(MODULES), encoding="utf-8")
        (root / "init").chmod(0o755)
        archive = subprocess.run([str(usr / "bin/busybox"), "cpio", "-o", "-H", "newc"], cwd=root, capture_output=True, check=True,
                                 input="\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*"))).encode()).stdout
        shutil.rmtree(root)
        shutil.copy(next((self.packages / "boot").glob("vmlinuz-*")), boot / "vmlinuz")
        # Last: who finds it finds all.
        (boot / "initrd.gz").write_bytes(gzip.compress(archive, 6))
