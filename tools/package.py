"""./dev package: the Debian packages, checked with lintian and systemd-analyze.

With --check they are also installed, upgraded, run and purged in a Debian 12 root of their own, with the rights that the unit and its
drop-in grant and against real daemons (tools/package_rights.py), and the example of the library is built against what was installed.
"""

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.deb import finish
from tools.image import epoch
from tools.package_rights import RightsError, check_rights

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PACKAGES = ROOT / "build/package"
BASE = PACKAGES / "debian-12.tar"
CHROOT = PACKAGES / "root"
UNIT = ROOT / "packaging/systemd/wardmoted.service"
# Each drop-in, and how exposed the unit may be with it, of 100 as systemd-analyze security counts. What moves addresses is root with
# three capabilities; what only watches is not.
MAX_EXPOSURE = {None: 20, "root-sockets.conf": 20, "failover.conf": 30}
AGENT = "usr/lib/ocf/resource.d/ovn/ovndb-servers"
EXAMPLE = "/usr/share/doc/wardmote/examples/wardmote.yaml"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev package", description=__doc__)
    parser.add_argument("--check", action="store_true", help="install, upgrade, run and purge in a Debian 12 root (network, two minutes)")
    given = parser.parse_args()
    packages = make()
    check_packages(packages)
    check_unit()
    if given.check:
        try:
            check_in_root(packages)
        finally:
            remove_root()
    for package in packages:
        print(f"    {package.relative_to(ROOT)}  {package.stat().st_size >> 10} KiB")
    return 0


def make(build: Path = BUILD, into: Path = PACKAGES) -> list[Path]:
    """Of what BUILD has built; the same bytes from the same programs. One at a time: cpack has one folder to work in, and tests that
    run side by side want packages, too."""
    say("making the packages")
    made = build / "debs"
    into.mkdir(parents=True, exist_ok=True)
    with (build / "debs.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(made, ignore_errors=True)
        for old in into.glob("*.deb"):
            old.unlink()
        when = epoch()
        run("cpack", cwd=build, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(when)})
        for deb in sorted(made.glob("*.deb")):
            for finished in finish(deb, build, made / "trees", when):
                shutil.move(finished, into / finished.name)
    return sorted(into.glob("*.deb"))


def check_packages(packages: list[Path]) -> None:
    say("lintian")
    run("lintian", "--allow-root", "--fail-on", "error", *map(str, packages))


def check_unit() -> None:
    say("systemd-analyze security")
    known = {None, *(path.name for path in UNIT.parent.glob("*.conf"))}
    expect(known == set(MAX_EXPOSURE), f"drop-ins without a limit, or limits without a drop-in: {known ^ set(MAX_EXPOSURE)}")
    for drop_in, most in MAX_EXPOSURE.items():
        root = PACKAGES / "units"
        shutil.rmtree(root, ignore_errors=True)
        folder = root / "etc/systemd/system"
        (folder / "wardmoted.service.d").mkdir(parents=True)
        shutil.copy(UNIT, folder)
        if drop_in:
            shutil.copy(UNIT.parent / drop_in, folder / "wardmoted.service.d")
        run("systemd-analyze", f"--root={root}", "security", "--offline=true", f"--threshold={most}", "--no-pager", UNIT.name,
            stdout=subprocess.DEVNULL)


def check_in_root(packages: list[Path]) -> None:
    make_root()
    # As Debian has it: a link that leads to nothing.
    stock = CHROOT / AGENT
    stock.parent.mkdir(parents=True)
    stock.symlink_to("../../../../share/openvswitch/scripts/ovndb-servers.ocf")
    before = files()
    say("install")
    packages = [package for package in packages if "-dbgsym_" not in package.name]
    for package in packages:
        shutil.copy(package, CHROOT / "tmp")
    inside("apt-get", "-qq", "install", "-y", "--no-install-recommends", *(f"/tmp/{package.name}" for package in packages),
           "cmake", "ninja-build", "clang-19", "g++-12", "pkg-config")
    installed = inside("dpkg-query", "-L", "wardmote", "libwardmote-dev").split()
    check_runs()
    metadata = inside(f"/{AGENT}", "meta-data")
    expect('<resource-agent name="ovndb-servers"' in metadata, f"the resource agent says: {metadata[:200]}")
    expect((CHROOT / f"{AGENT}.ovn-central").is_symlink(), "the link of ovn-central was not kept")
    try:
        check_rights(CHROOT, inside, say)
    except RightsError as broken:
        raise SystemExit(f"package: {broken}") from broken
    check_library()
    say("upgrade")
    inside("dpkg", "-i", f"/tmp/{newer(packages[-1], '99.0').name}")
    version = inside("dpkg-query", "-W", "-f", "${Version}", "wardmote")
    expect(version == "99.0", f"the newer package is not installed but {version}")
    (CHROOT / "etc/wardmote").mkdir(exist_ok=True)
    (CHROOT / "etc/wardmote/wardmote.yaml").write_text("# the operator's\n", encoding="utf-8")
    check_runs()
    say("purge")
    inside("dpkg", "--purge", "libwardmote-dev", "wardmote")
    left = sorted(path for path in files() - before if (path in installed or "wardmote" in path) and not owned(path))
    expect(not left, f"left behind: {left}")
    expect("openvswitch" in os.readlink(stock), "the link of ovn-central is not back")


def check_runs() -> None:
    """The agent, as its own user, on the example; then the command line against it."""
    inside("wardmote", "version")
    inside("wardmoted", "--check", "--config", EXAMPLE)
    inside("install", "-d", "-o", "wardmote", "/run/wardmote", "/var/lib/wardmote")    # as the unit's directories
    agent = subprocess.Popen(["chroot", "--userspec=wardmote:wardmote", CHROOT, "wardmoted", "--config", EXAMPLE],
                             stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while not (CHROOT / "run/wardmote/api.sock").is_socket() and time.monotonic() < deadline:
            expect(agent.poll() is None, "the agent ended by itself")
            time.sleep(0.05)
        inside("wardmote", "livez", "--socket", "/run/wardmote/api.sock")
    finally:
        agent.terminate()
        ended = agent.wait(10)
    # Not in `finally`: it would hide why the agent ended by itself (another one at its address).
    expect(ended == 0, "the agent did not end in order")


def check_library() -> None:
    """With CMake and with pkg-config; and a compiler that would make wrong programs is refused in both ways."""
    say("the examples of the library, against what is installed")
    source = "/usr/share/doc/libwardmote-dev/examples/library"
    inside("env", "CXX=clang++-19", "cmake", "-G", "Ninja", "-S", source, "-B", "/tmp/example")
    inside("ninja", "-C", "/tmp/example", "--quiet")
    flags = inside("pkg-config", "--cflags", "--libs", "wardmote").split()
    inside("clang++-19", f"{source}/ovn_leader.cc", "-o", "/tmp/ovn_leader", *flags)
    for program in ("/tmp/example/ovn_leader", "/tmp/ovn_leader"):
        done = subprocess.run(["chroot", CHROOT, program, "OVN_Northbound", "/nowhere"], capture_output=True, text=True, check=False)
        expect(done.returncode == 3 and "no status" in done.stderr, f"the example says {done.returncode}: {done.stderr}")
    inside("install", "-d", "/tmp/refused")
    for command in (["env", "CXX=g++-12", "cmake", "-G", "Ninja", "-S", source, "-B", "/tmp/refused"],
                    ["g++-12", "-fsyntax-only", f"{source}/ovn_leader.cc", *flags]):
        done = subprocess.run(["chroot", CHROOT, *command], capture_output=True, text=True, check=False)
        expect(done.returncode != 0 and "miscompiles" in done.stderr, f"g++ 12 is not refused: {done.stderr[-2000:]}")


def newer(package: Path, version: str) -> Path:
    """The same package under a higher version, in the root's /tmp."""
    folder = CHROOT / "tmp/newer"
    run("dpkg-deb", "-R", str(package), str(folder))
    control = folder / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text(encoding="utf-8")), encoding="utf-8")
    into = CHROOT / "tmp/newer.deb"
    run("dpkg-deb", "-b", str(folder), str(into), stdout=subprocess.DEVNULL)
    return into


def owned(path: str) -> bool:
    """By a package that is still installed."""
    return subprocess.run(["chroot", CHROOT, "dpkg-query", "-S", path], capture_output=True, check=False).returncode == 0


def unpack_base(folder: Path) -> None:
    """A fresh Debian 12 in FOLDER, which is made. What debootstrap brought is kept for the next time; whoever needs it first makes it."""
    PACKAGES.mkdir(parents=True, exist_ok=True)
    with BASE.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not BASE.exists():
            say("a Debian 12 root (debootstrap: network, a minute)")
            with tempfile.TemporaryDirectory(dir=PACKAGES) as made:
                run("debootstrap", "--variant=minbase", "bookworm", f"{made}/root", stdout=subprocess.DEVNULL)
                run("tar", "-C", f"{made}/root", "-cf", f"{made}/base.tar", ".")
                os.rename(f"{made}/base.tar", BASE)
    folder.mkdir(parents=True)
    run("tar", "-C", str(folder), "-xf", str(BASE))


def make_root() -> None:
    remove_root()
    unpack_base(CHROOT)
    for source in ("/etc/resolv.conf", "/etc/hosts"):
        if os.path.exists(source):
            shutil.copy(source, CHROOT / "etc")
    shutil.copytree("/etc/apt", CHROOT / "etc/apt", dirs_exist_ok=True)
    # Packages of daemons start none: the check does.
    policy = CHROOT / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    policy.chmod(0o755)
    run("mount", "-t", "proc", "proc", str(CHROOT / "proc"))
    inside("apt-get", "-qq", "update")


def remove_root() -> None:
    subprocess.run(["umount", CHROOT / "proc"], stderr=subprocess.DEVNULL, check=False)
    expect(not os.path.ismount(CHROOT / "proc"), f"cannot unmount {CHROOT}/proc")
    shutil.rmtree(CHROOT, ignore_errors=True)


def files() -> set[str]:
    found = set()
    for folder, folders, names in os.walk(CHROOT):
        inner = "/" + os.path.relpath(folder, CHROOT).removeprefix(".")
        if inner == "/":
            folders[:] = [name for name in folders if name not in ("proc", "tmp", "sys", "dev", "run")]
        found.update(os.path.join(inner, name) for name in [*folders, *names])
    return {path for path in found if not path.startswith(("/var/cache", "/var/lib/apt", "/var/log", "/var/lib/dpkg"))}


def inside(*command: str) -> str:
    done = subprocess.run(["chroot", CHROOT, "env", "DEBIAN_FRONTEND=noninteractive", *command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def run(*command: str, **options) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, **options)
    expect(done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}")


def expect(good: bool, otherwise: str) -> None:
    if not good:
        raise SystemExit(f"package: {otherwise}")


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
