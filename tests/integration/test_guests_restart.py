"""Real guests that are dead, and a policy that lets the agent restart them."""

import json

import pytest

from lab.guests import name_of
from lab.processes import wait_until
from test_guests import fixture_lab, watching

lab = fixture_lab

POLICY = """policies:
  - {name: restarts, on: [GUEST_PANIC, GUEST_DIED], mode: act, sole: true, approval: false, after: 1s, cooldown: 0s, budget: 5}
"""
NAMESPACE = "https://wardmote.io/xmlns/guest/1"


def rows(site) -> list[dict]:
    return json.loads(site.agent.get("/api/v1/actions?limit=1000")[1])["actions"]


def count(site, kind: str, step: str) -> int:
    return sum(row["kind"] == kind and row["step"] == step for row in rows(site))


def plans(site) -> list[dict]:
    return json.loads(site.agent.get("/api/v1/plans?all=true")[1])["plans"]


def process(lab, number: int) -> int:
    return int(lab.virsh("domid", name_of(number)))


@pytest.mark.slow
def test_a_guest_that_panicked_is_restarted_once_though_the_agent_dies_in_the_middle(lab, tmp_path):
    lab.up(11)
    with watching(lab, tmp_path, more=POLICY) as site:
        site.wait(11, "HEALTHY", 20)
        before = process(lab, 11)
        lab.shell(11, "echo c > /proc/sysrq-trigger")
        site.wait(11, "GUEST_PANIC", 10)
        wait_until(lambda: count(site, "intent", "destroy") == 1, 90, "the plan begins", every=0.05)
        site.restart()
        site.wait(11, "HEALTHY", 180)
        wait_until(lambda: [plan["state"] for plan in plans(site)] == ["done"], 60, "its end")
        assert process(lab, 11) == before + 1, rows(site)
        assert count(site, "intent", "start") == 1, rows(site)
        lab.qemu(11).kill()
        site.wait(11, "GUEST_DIED", 10)
        site.wait(11, "HEALTHY", 180)
        assert process(lab, 11) == before + 2
        assert [plan["code"] for plan in plans(site)] == ["GUEST_PANIC", "GUEST_DIED"]
        lab.virsh("destroy", name_of(11))


@pytest.mark.slow
def test_what_nobody_wants_restarted_stays_as_it_is(lab, tmp_path):
    lab.up(12)
    lab.virsh("metadata", name_of(12), "--uri", NAMESPACE, "--key", "w", "--set", '<guest restart="no"/>', "--live")
    with watching(lab, tmp_path, more=POLICY) as site:
        site.wait(12, "HEALTHY", 20)
        before = process(lab, 12)
        lab.shell(12, "echo c > /proc/sysrq-trigger")
        site.wait(12, "GUEST_PANIC", 10)
        site.stays(12, "GUEST_PANIC", 40)
        refusals = json.loads(site.agent.get("/api/v1/plans")[1])
        assert "restart='no'" in json.dumps(refusals), refusals
        lab.virsh("metadata", name_of(12), "--uri", NAMESPACE, "--key", "w", "--set", "<guest/>", "--live")
        site.wait(12, "HEALTHY", 180)
        assert process(lab, 12) == before + 1
        lab.virsh("destroy", name_of(12))


@pytest.mark.slow
def test_an_operator_asks_for_it_and_approves_it(lab, tmp_path):
    lab.up(14)
    # The policy is for another verdict, so nothing begins by itself.
    with watching(lab, tmp_path, more=POLICY.replace("GUEST_PANIC, ", "")) as site:
        site.wait(14, "HEALTHY", 20)
        before = process(lab, 14)
        lives = site.agent.cli("plan", name_of(14), "restart")
        assert lives.returncode == 64 and "is no dead guest" in lives.stderr, lives
        lab.shell(14, "echo c > /proc/sysrq-trigger")
        site.wait(14, "GUEST_PANIC", 10)
        asked = site.agent.cli("plan", name_of(14), "restart")
        assert asked.returncode == 0, asked
        [plan] = plans(site)
        assert (plan["state"], process(lab, 14)) == ("proposed", before), plan
        approved = site.agent.cli("approve", str(plan["id"]))
        assert approved.returncode == 0, approved
        site.wait(14, "HEALTHY", 180)
        wait_until(lambda: [one["state"] for one in plans(site)] == ["done"], 60, "its end")
        assert process(lab, 14) == before + 1, rows(site)
        lab.virsh("destroy", name_of(14))


@pytest.mark.slow
def test_a_guest_that_hangs_gets_an_interrupt_before_it_is_ended(lab, tmp_path):
    lab.up(15)
    keys = "every: 1s, timeout: 900ms, threshold: 3, restart: {dump: 10m}"
    with watching(lab, tmp_path, keys, POLICY.replace("GUEST_DIED", "GUEST_IDLE_HUNG")) as site:
        site.wait(15, "HEALTHY", 20)
        before = process(lab, 15)
        # Its kernel panics at an unknown NMI, and tells: QEMU stops it then, and no dump is to be waited for.
        lab.shell(15, "echo 1 > /proc/sys/kernel/unknown_nmi_panic; killall -STOP qemu-ga")
        site.wait(15, "GUEST_IDLE_HUNG", 15)
        wait_until(lambda: count(site, "intent", "inject_nmi") == 1, 150, "the interrupt", every=0.2)
        site.wait(15, "GUEST_PANIC", 15)
        site.wait(15, "HEALTHY", 180)
        wait_until(lambda: [plan["state"] for plan in plans(site)] == ["done"], 60, "its end")
        assert process(lab, 15) == before + 1, rows(site)
        assert [count(site, "intent", step) for step in ("inject_nmi", "destroy", "start")] == [1, 1, 1], rows(site)
        lab.virsh("destroy", name_of(15))
