"""Real members are recorded while they are judged; the record alone gives the same verdict, byte for byte."""

import json
import os
import subprocess

import pytest

from lab.instance import Lab
from tools.agent import programs


@pytest.fixture(scope="module")
def lab():
    with Lab.up(f"replay-{os.getpid()}", ["nb"], transient=True) as up:
        yield up


def wardmote(*words) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([programs() / "wardmote", *map(str, words)], capture_output=True, timeout=30, check=False)


def assess(lab, *more) -> subprocess.CompletedProcess[bytes]:
    cluster = lab.clusters["nb"]
    members = [f"{member.name}={cluster.control(number)},unix:{cluster.socket(number)}" for number, member in cluster.members.items()]
    return wardmote("assess", "ovn", "--db", "OVN_Northbound", "--member", *members, *more)


@pytest.mark.parametrize("how", ["json", "yaml", "table"])
def test_a_healthy_cluster(lab, tmp_path, how):
    record = tmp_path / "seen.jsonl"
    judged = assess(lab, "--record", record, "-o", how)
    assert judged.returncode == 0, judged
    again = wardmote("replay", record, "-o", how)
    assert (again.stdout, again.returncode) == (judged.stdout, 0)


def test_a_cluster_in_trouble(lab, tmp_path):
    cluster, record = lab.clusters["nb"], tmp_path / "seen.jsonl"
    dead = cluster.followers()[0]
    cluster.kill(dead)
    try:
        judged = assess(lab, "--for", "6s", "--every", "500ms", "--record", record, "-o", "json")
    finally:
        cluster.start(dead)
    codes = {finding["code"] for finding in json.loads(judged.stdout)["findings"]}
    assert "RAFT_MEMBER_DOWN" in codes
    again = wardmote("replay", record, "-o", "json")
    assert (again.stdout, again.returncode) == (judged.stdout, judged.returncode)
    # Windows are judged over all looks: the last one alone proves less.
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    record.write_text(lines[0] + lines[-1], encoding="utf-8")
    assert "RAFT_MEMBER_DOWN" not in {finding["code"] for finding in json.loads(wardmote("replay", record, "-o", "json").stdout)["findings"]}


def test_a_record_is_never_written_over(lab, tmp_path):
    record = tmp_path / "seen.jsonl"
    record.write_text("mine", encoding="utf-8")
    refused = assess(lab, "--record", record)
    assert (refused.returncode, record.read_text(encoding="utf-8")) == (64, "mine")
    assert b"File exists" in refused.stderr


def test_what_is_no_evidence(tmp_path):
    record = tmp_path / "seen.jsonl"
    assert wardmote("replay", record).returncode == 64
    record.write_text('{"wardmote_evidence":1}\n', encoding="utf-8")
    refused = wardmote("replay", record)
    assert (refused.returncode, refused.stdout) == (65, b"")
    assert b"seen.jsonl: line 1: cluster is missing" in refused.stderr
