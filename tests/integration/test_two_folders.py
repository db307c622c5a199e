"""The preset of a release makes the same objects wherever the source lies. Of one room only: to build all of it twice without a cache takes
too long. That the same programs make the same packages, image and tarball, test_release.py shows."""

import os
import subprocess

import pytest

from tools.agent import ROOT

ROOM = "wardmote_base"


def built(folder) -> bytes:
    """The room's archive, of what lies here, built in FOLDER without a cache."""
    folder.mkdir(parents=True)
    files = subprocess.run(["git", "ls-files", "-z", "src", "cmake", "packaging", "docs", "contrib", "examples", "*.txt", "*.json", "*.md"], cwd=ROOT,
                           capture_output=True, check=True).stdout
    packed = subprocess.run(["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=files, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    for command in (["cmake", "--preset", "dist", "--log-level=WARNING"], ["nice", "ninja", "-C", "build/dist", "--quiet", ROOM]):
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return (folder / f"build/dist/lib{ROOM}.a").read_bytes()


@pytest.mark.slow
def test_two_folders_make_the_same_objects(tmp_path):
    one, other = tmp_path / "one", tmp_path / "a/deeper/one"
    first, second = built(one), built(other)
    assert str(one).encode() not in first, "a path of the build is in the objects"
    assert first == second
