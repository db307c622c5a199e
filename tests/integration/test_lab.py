"""The lab itself leaves nothing behind."""

import os
import signal
import subprocess
import sys

from lab.instance import REGISTRY, ROOT, Lab
from lab.network import namespaces
from lab.processes import wait_until

FORGETFUL = """
import sys, time
from lab.instance import Lab
lab = Lab.up(sys.argv[1], ["nb"], transient=True)
print(lab.key, flush=True)
time.sleep(600)
"""


def test_the_lab_of_a_killed_run_is_removed_by_the_next():
    maker = subprocess.Popen([sys.executable, "-c", FORGETFUL, f"forgotten-{os.getpid()}"], cwd=ROOT, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True)
    key = maker.stdout.readline().strip()
    assert len(namespaces(f"wm-{key}-")) == 5  # four hosts and the bridge
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    with Lab.up(f"next-{os.getpid()}", ["nb"], transient=True) as lab:
        assert lab.clusters["nb"].healthy()
        assert namespaces(f"wm-{key}-") == []
        assert not (REGISTRY / key).is_symlink()


def test_a_lab_takes_everything_down_with_it():
    with Lab.up(f"tidy-{os.getpid()}", ["nb"], transient=True) as lab:
        processes = [member.process for member in lab.clusters["nb"].members.values()]
        assert all(process.alive() for process in processes)
    assert not any(process.alive() for process in processes)
    assert namespaces(f"wm-{lab.key}-") == []
    assert not lab.folder.exists() and not lab.sockets.is_symlink()
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        assert str(lab.folder) not in mounts.read()


def test_run_check_ends_with_nothing_left():
    check = subprocess.Popen([sys.executable, "-m", "tools.run", "--check"], cwd=ROOT, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = check.communicate(timeout=120)
    assert check.returncode == 0, output
    assert namespaces(f"wm-check-{check.pid}-") == []


def test_ctrl_c_ends_a_run():
    run = subprocess.Popen([sys.executable, "-m", "tools.run", "--name", f"run-{os.getpid()}"], cwd=ROOT,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_until(lambda: "the page: http://" in run.stdout.readline(), 60.0, "the address of the page")
    run.send_signal(signal.SIGINT)
    assert run.wait(20) == 0
    assert namespaces(f"wm-run-{os.getpid()}-") == []
