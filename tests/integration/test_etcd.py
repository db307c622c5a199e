"""The store on real etcd: one member and three, and what happens when members die, hang, fill up or want a password."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.etcd import EtcdCluster
from tools.agent import programs

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build/lab/etcd"


@pytest.mark.parametrize("size", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_store_on_etcd_does_what_every_store_does(tmp_path, size):
    with EtcdCluster(PACKAGES, tmp_path, size) as etcd:
        endpoints = ",".join(f"tcp:{at}" for at in etcd.endpoints)
        done = subprocess.run([str(programs() / "store_conformance"), "--gtest_filter=*/Etcd"], env={**os.environ, "WARDMOTE_ETCD": endpoints},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout[-4000:]
        assert "16 tests" in done.stdout
