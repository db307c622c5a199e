"""A storm is of the checks of all agents that share an etcd, and it is the same one whoever leads."""

import pytest

from agents_site import Site
from lab.processes import holds, wait_until

FAIL, HOLD = 11, 8  # of each agent, beside `svc`


def storm(agent) -> str:
    """How the agent describes the storm, which is the only open incident of checks."""
    found = [one for one in agent.json("/api/v1/incidents")["incidents"] if one["phase"] == "open" and not one["root"].startswith("node:")]
    return found[0]["summary"] if [one["root"] for one in found] == ["storm:tcp"] else f"no storm: {found}"


@pytest.mark.parametrize("end", ["asked", "killed"])
def test_it_goes_on_under_the_next_leader(tmp_path, etcd, targets, end):
    with Site(tmp_path, etcd, targets, crowd=(FAIL, HOLD)) as site:
        site.wait_led_by("ctl-1")
        targets[1].down()
        targets[2].down()
        failing = f"{2 * (FAIL + 1)} of {3 * (FAIL + 1 + HOLD)} "
        wait_until(lambda: failing in storm(site["ctl-1"]), 20.0, f"the storm: {storm(site['ctl-1'])}")
        wait_until(lambda: site.told(), 10.0, "the message")
        told = site.told()
        assert len(told) == 1, told
        site["ctl-1"].kill() if end == "killed" else site["ctl-1"].stop()
        site.wait_led_by("ctl-2")
        following = [site["ctl-2"], site["ctl-3"]]
        for agent in following:
            wait_until(lambda one=agent: failing in storm(one), 10.0, f"{agent.name} to show it: {storm(agent)}")
        holds(lambda: site.told() == told and all(failing in storm(agent) for agent in following), 15.0, f"nothing told again: {site.told()} {storm(following[0])}")
        site.start("ctl-1")
        site.wait_queued("ctl-1")
        targets[1].up()
        targets[2].up()
        for agent in site.agents.values():
            wait_until(lambda one=agent: "nothing of it fails now" in storm(one), 15.0, f"{agent.name} to say that all is well: {storm(agent)}")


def test_what_recovers_while_nobody_leads_is_well_under_the_next_leader(tmp_path, etcd, targets):
    """Also what was told alone, before there was a storm that it went on in."""
    with Site(tmp_path, etcd, targets, crowd=(FAIL, HOLD)) as site:
        site.wait_led_by("ctl-1")
        targets[1].down()
        wait_until(lambda: len(site.told()) == FAIL + 1, 20.0, "the first message")
        targets[0].down()
        targets[2].down()
        wait_until(lambda: storm(site["ctl-2"]).startswith(f"{3 * (FAIL + 1)} of"), 20.0, f"the storm: {storm(site['ctl-2'])}")
        wait_until(lambda: len(site.told()) > FAIL + 1, 20.0, "the message of the storm")
        site["ctl-1"].kill()
        targets[1].up()
        site.leader()
        for agent in (site["ctl-2"], site["ctl-3"]):
            wait_until(lambda one=agent: storm(one).startswith(f"{2 * (FAIL + 1)} of"), 15.0, f"{agent.name} to show what is left: {storm(agent)}")
            shown = {one["root"]: one["confirmed"] for one in agent.json("/api/v1/incidents")["incidents"] if one["phase"] == "open"}
            assert shown["storm:tcp"], shown
        wait_until(lambda: [kind for _, kind in site.told()].count("resolved") == FAIL + 1, 20.0, f"the ends of what was told alone: {site.told()}")
        assert not any("not confirmed" in str(notice) for notice in site.sink.taken)
