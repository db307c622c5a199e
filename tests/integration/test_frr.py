"""The probe `frr` against a real bgpd."""

import json
import os
import subprocess

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import programs

WARN, FAIL = 1, 2


@pytest.fixture
def lab():
    with Lab.up(f"frr-{os.getpid()}", [], members=2, transient=True, birds=["frr", "2"]) as up:
        yield up


def probe(frr, *options):
    done = subprocess.run([programs() / "wardmote", "probe", "frr", frr.control, "--timeout", "2s", "-o", "json", *options],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=20)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_peers_of_every_vrf_are_seen(lab, monkeypatch):
    """bgpd has its VRFs without zebra and without a device; their peers are idle, which is what must not be missed."""
    frr, bird = lab.birds
    write = frr._write_config

    def with_vrf():
        write()
        with frr._config.open("a", encoding="utf-8") as config:
            config.write("router bgp 64512 vrf red\n bgp router-id 10.0.0.99\n neighbor 192.0.2.7 remote-as 64513\n")

    monkeypatch.setattr(frr, "_write_config", with_vrf)
    frr.reconfigure()
    frr.wait_established()
    wait_until(lambda: probe(frr)[1]["facts"]["peers"], 10, "peers")
    code, seen = probe(frr, "--expect", bird.address)
    assert code == WARN, seen
    assert {peer["name"]: peer["state"] == "Established" for peer in seen["facts"]["peers"]} == {
        bird.address: True, "red/192.0.2.7": False}
    assert probe(frr, "--vrf", "red")[0] == FAIL
    code, only = probe(frr, "--vrf", "default")
    assert code == 0, only
    assert [peer["name"] for peer in only["facts"]["peers"]] == [bird.address]
