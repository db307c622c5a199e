"""Small disks, and how they become full."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def small_disk(folder: Path, megabytes: int = 1) -> Iterator[None]:
    """A disk of so many megabytes at the folder."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(file: Path) -> None:
    """Takes all the room that is left on the disk of the file."""
    with open(file, "wb", buffering=0) as filler:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while filler.write(b"x" * size) == size:
                    pass
            except OSError:
                pass
