"""A file system that hangs: FUSE whose daemon never answers, which to whoever asks is what an NFS server that is gone is. Begins in a
mount namespace of its own, says `ready`, and hangs until its standard input ends: `unshare -m python3 -m lab.hung_files FOLDER`."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class HungFiles:
    """`folder` hangs for whatever runs `inside`. Needs root."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        self._daemon = subprocess.Popen(["unshare", "-m", "--propagation", "private", sys.executable, "-m", "lab.hung_files", folder],
                                        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = self._daemon.stdout.readline().strip()
        if ready != "ready":
            raise RuntimeError(f"no file system that hangs: {ready}")

    @property
    def inside(self) -> list[str]:
        return ["nsenter", f"--mount=/proc/{self._daemon.pid}/ns/mnt"]

    def end(self) -> None:
        """From now on every use of it fails at once."""
        if self._daemon.poll() is None:
            self._daemon.kill()
            self._daemon.wait()

    def __enter__(self) -> "HungFiles":
        return self

    def __exit__(self, *_) -> None:
        self.end()


def main() -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"hung", os.fsencode(sys.argv[1]), b"fuse", 0, options.encode()) != 0:
        print(os.strerror(ctypes.get_errno()), flush=True)
        return 1
    print("ready", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
