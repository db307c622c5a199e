"""Several agents that share one etcd: one leads, tells and acts; the others show the same, and one of them goes on when it dies."""

import shutil
import signal
import subprocess
import time

import pytest

from agents_site import TTL, Site
from lab.etcd import ENVIRONMENT
from lab.ports import free_port
from lab.processes import holds, wait_until

EXPIRY = 0.5  # etcd looks for expired leases twice a second
ROUND = 0.5   # of ours: a look at the API, a loaded machine


def parts(site: Site, name: str, incident: int = 1) -> list[tuple[str, str]]:
    """What fails in an incident, as an agent shows it."""
    return [(one["component"], one["summary"]) for one in site[name].json(f"/api/v1/incidents/{incident}")["standing"]]


def test_one_message_for_what_any_agent_sees_and_all_show_it(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets) as site:
        site.wait_led_by("ctl-1")
        targets[1].down()
        wait_until(lambda: site.told() == [(1, "opened")], 10.0, "the message of a follower's check")
        for agent in site.agents.values():
            wait_until(lambda one=agent: one.open_incidents() == [(1, "check:svc@ctl-2")], 5.0, f"{agent.name} to show it")
        said = site["ctl-3"].cli("status", "--all")
        assert said.returncode == 2 and "check:svc@ctl-2" in said.stdout and "ctl-2" in said.stdout, said
        explained = site["ctl-3"].cli("explain", "1").stdout
        assert explained.count("connect: refused") == 2, explained
        for name in ("ctl-2", "ctl-3"):
            wait_until(lambda one=name: parts(site, one) == parts(site, "ctl-1") != [], 5.0, f"{name} to show what fails in it as its leader does")
        targets[0].down()
        wait_until(lambda: site.told()[1:] == [(2, "opened")], 10.0, "the message of the leader's own check")
        targets[1].up()
        wait_until(lambda: site.told()[2:] == [(1, "resolved")], 10.0, "the end")
        for agent in site.agents.values():
            wait_until(lambda one=agent: one.open_incidents() == [(2, "check:svc@ctl-1")], 5.0, f"{agent.name} to show it")
        targets[0].up()
        wait_until(lambda: site.told()[3:] == [(2, "resolved")], 10.0, "the end of the other, and nothing twice")
        assert len(site.told()) == 4


def test_a_leader_that_is_killed_is_succeeded_and_nothing_is_told_twice_or_lost(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets) as site:
        site.wait_led_by("ctl-1")
        targets[2].down()
        wait_until(lambda: site.told() == [(1, "opened")], 10.0, "the first message")
        site["ctl-1"].kill()
        assert site.wait_led_by("ctl-2") <= TTL + EXPIRY + ROUND
        assert not site["ctl-3"].leads()
        wait_until(lambda: site["ctl-2"].open_incidents() == [(1, "check:svc@ctl-3")], 5.0, "the incident to go on under its number")
        assert site.told() == [(1, "opened")], "it was told before"
        targets[2].up()
        wait_until(lambda: site.told()[1:] == [(1, "resolved")], 10.0, "its end")
        targets[1].down()
        wait_until(lambda: len(site.told()) == 3, 10.0, "the next incident")
        second, kind = site.told()[2]
        assert kind == "opened" and second > 1, "numbers that the killed agent had reserved are left out"
        site["ctl-2"].kill()
        site.wait_led_by("ctl-3")
        # Who knew of it is gone; nobody has seen it well.
        assert site.told()[3:] == []
        site.start("ctl-2")
        targets[1].up()
        wait_until(lambda: site.told()[3:] == [(second, "resolved")], 15.0, "its end, seen by the agent that came back")


@pytest.mark.slow
def test_an_orderly_end_hands_over_at_once(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        site["ctl-1"].process.terminate()
        begun = time.monotonic()
        wait_until(site["ctl-2"].leads, 5.0, "the hand-over", every=0.005)
        took = time.monotonic() - begun
        assert took < TTL / 2, "no lease was waited for"
        assert site["ctl-1"].process.wait(10) == 0
        assert site["ctl-2"].queue() == ["ctl-2"]


def test_a_paused_leader_has_stopped_before_the_next_begins(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        site["ctl-1"].pause()
        targets[1].down()
        site.wait_led_by("ctl-2")
        wait_until(lambda: [kind for _, kind in site.told()] == ["opened"], 10.0, "the message of the new leader")
        told = site.told()
        site["ctl-1"].resume()
        assert not site["ctl-1"].leads(), "its time is over, by its own clock"
        wait_until(lambda: site["ctl-2"].queue() == ["ctl-2", "ctl-1"], 10.0, "the old leader to queue again")
        expected = [(told[0][0], "check:svc@ctl-2")]
        wait_until(lambda: site["ctl-1"].open_incidents() == expected, 5.0, "the old leader to follow")
        assert site.told() == told and site["ctl-2"].leads()


def test_etcdctl_and_agents_stand_in_one_queue(tmp_path, etcd, targets):
    name = "/wardmote/test/leader"
    elect = lambda *more: subprocess.Popen(etcd.argv("elect", name, *more), env=ENVIRONMENT, stdin=subprocess.DEVNULL,  # noqa: E731
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    person = elect("somebody")
    try:
        assert person.stdout.readline().startswith(f"{name}/")
        with Site(tmp_path, etcd, targets[:2]) as site:
            assert site["ctl-1"].queue() == ["somebody", "ctl-1", "ctl-2"]
            targets[0].down()
            failed = lambda: site["ctl-1"].json("/api/v1/checks")["checks"][0]["state"] == "reported"  # noqa: E731
            wait_until(failed, 10.0, "the failure to be seen")
            assert site.told() == [], "somebody else leads, and tells or does not"
            person.terminate()
            person.wait()
            site.wait_led_by("ctl-1")
            wait_until(lambda: site.told() == [(1, "opened")], 10.0, "the message")
            # And in the other direction.
            observer, second = elect("--listen"), elect("another")
            try:
                assert observer.stdout.readline().startswith(f"{name}/")
                assert observer.stdout.readline().strip() == "ctl-1"
                wait_until(lambda: site["ctl-1"].queue() == ["ctl-1", "ctl-2", "another"], 5.0, "etcdctl behind them")
                site["ctl-1"].stop()
                site.wait_led_by("ctl-2")
                site["ctl-2"].stop()
                assert second.stdout.readline().startswith(f"{name}/"), "it is its turn"
            finally:
                for one in (observer, second):
                    one.terminate()
                    one.wait()
    finally:
        if person.poll() is None:
            person.terminate()
        person.wait()


@pytest.mark.slow
def test_a_leader_whose_key_is_deleted_stops_and_another_begins(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        key = site["ctl-1"].json("/api/v1/election")["candidates"][0]["key"]
        begun = time.monotonic()
        etcd.ctl("del", f"/wardmote/test/{key}")
        site.wait_led_by("ctl-2")
        assert time.monotonic() - begun < TTL / 2
        wait_until(lambda: not site["ctl-1"].leads(), 1.0, "the other to have noticed")
        wait_until(lambda: site["ctl-2"].queue() == ["ctl-2", "ctl-1"], 5.0, "it to queue again")


def test_while_etcd_is_away_nobody_leads_all_watch_and_then_all_is_told(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        etcd.members[0].kill()
        wait_until(lambda: not site["ctl-1"].leads(), TTL + 2, "the leader to stop")
        targets[1].down()
        time.sleep(TTL + 2)
        assert not site["ctl-1"].leads() and not site["ctl-2"].leads()
        assert site.told() == []
        check = site["ctl-2"].json("/api/v1/checks")["checks"][0]
        assert check["state"] == "reported", "it watches all the same"
        assert site["ctl-2"].json("/api/v1/election")["complaint"]
        etcd.members[0].start()
        site.leader()
        wait_until(lambda: [kind for _, kind in site.told()] == ["opened"], 15.0, "the message")


@pytest.mark.slow
def test_an_agent_starts_while_etcd_is_away(tmp_path, etcd, targets):
    etcd.members[0].pause()
    with Site(tmp_path, etcd, []) as site:
        site.targets = targets[:1]
        agent = site.start("ctl-1")
        wait_until(lambda: agent.json("/api/v1/checks")["checks"][0]["state"] == "healthy", 10.0, "it to watch")
        assert not agent.leads()
        etcd.members[0].resume()
        site.wait_led_by("ctl-1", 15.0)


@pytest.mark.slow
def test_a_node_that_is_lost_is_told_once_with_what_it_watched_below_it(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets) as site:
        site.wait_led_by("ctl-1")
        targets[1].down()
        wait_until(lambda: site.told() == [(1, "opened")], 10.0, "the message of its check")
        site["ctl-2"].kill()
        wait_until(lambda: any(one["code"] == "NODE_DOWN" for one in site["ctl-1"].json("/api/v1/incidents")["incidents"]), 45.0, "the finding")
        open_now = [root for _, root in site["ctl-1"].open_incidents()]
        assert open_now == ["node:ctl-2"], "what it watched is below it"
        [(down, _)] = site["ctl-1"].open_incidents()
        wait_until(lambda: {one for one, _ in parts(site, "ctl-3", down)} == {"node:ctl-2", "check:svc@ctl-2"}, 5.0, "a follower to show both")
        assert sorted(parts(site, "ctl-3", down)) == sorted(parts(site, "ctl-1", down))
        assert site["ctl-1"].cli("get", "agents").returncode == 1
        assert "away" in site["ctl-1"].cli("get", "agents").stdout
        targets[1].up()
        site.start("ctl-2")
        wait_until(lambda: site["ctl-1"].open_incidents() == [], 15.0, "the end")
        assert [kind for _, kind in site.told()].count("opened") <= 2
        wait_until(lambda: site["ctl-1"].cli("get", "agents").returncode == 0, 5.0, "both to be there")


@pytest.mark.slow
def test_a_node_that_is_back_under_the_next_leader_is_down_no_more(tmp_path, etcd, targets):
    """Who leads next began so lately that he would not call it lost yet."""
    with Site(tmp_path, etcd, targets) as site:
        site.wait_led_by("ctl-1")
        site["ctl-3"].kill()
        wait_until(lambda: site["ctl-1"].open_incidents() == [(1, "node:ctl-3")], 45.0, "the finding")
        site["ctl-2"].kill()
        site.start("ctl-2")
        site.wait_queued("ctl-2")
        site["ctl-1"].kill()
        site.wait_led_by("ctl-2")
        holds(lambda: site["ctl-2"].open_incidents() == [(1, "node:ctl-3")], 6.0, "it to go on")
        site.start("ctl-3")
        wait_until(lambda: site["ctl-2"].open_incidents() == [], 10.0, "its end")
        wait_until(lambda: site.told() == [(1, "opened"), (1, "resolved")], 10.0, "both to be told")


@pytest.mark.slow
def test_who_leads_again_does_not_know_a_node_as_lost_that_came_back_meanwhile(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets) as site:
        site.wait_led_by("ctl-1")
        site["ctl-3"].kill()
        wait_until(lambda: site.told() == [(1, "opened")], 45.0, "the finding")
        site["ctl-1"].pause()
        site.wait_led_by("ctl-2")
        site["ctl-1"].resume()
        site.wait_queued("ctl-1")
        site.start("ctl-3")
        wait_until(lambda: site.told() == [(1, "opened"), (1, "resolved")], 45.0, "the end")
        site["ctl-2"].kill()
        site.wait_led_by("ctl-1")
        holds(lambda: not any(root == "node:ctl-3" for _, root in site["ctl-1"].open_incidents()), 5.0, "it to be there")
        assert site.told() == [(1, "opened"), (1, "resolved")]


def judged(site: Site, name: str, *states: str):
    wait_until(lambda: [one["state"] for one in site[name].json("/api/v1/checks")["checks"]] == list(states), 10.0, f"{name} to see its checks {states}")


def lost_cluster() -> str:
    """For the configuration: an etcd cluster that is not there."""
    member = f"{{name: a, endpoint: '127.0.0.1:{free_port()}'}}"
    return f"clusters: [{{name: kv, etcd: {{members: [{member}]}}, every: 500ms, timeout: 450ms}}]\n"


@pytest.mark.parametrize("forgets", [True, False])
def test_an_agent_that_starts_anew_ends_nothing_that_it_has_not_seen_good(tmp_path, etcd, targets, forgets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        targets[1].down()
        wait_until(lambda: site.told() == [(1, "opened")], 10.0, "the message of its check")
        site["ctl-2"].kill()
        if forgets:
            shutil.rmtree(tmp_path / "ctl-2/data")
        site.start("ctl-2")
        judged(site, "ctl-2", "reported")
        holds(lambda: site.told() == [(1, "opened")], 2.0, "told once")
        assert site["ctl-1"].open_incidents() == [(1, "check:svc@ctl-2")]
        targets[1].up()
        wait_until(lambda: site.told() == [(1, "opened"), (1, "resolved")], 10.0, "the end")


def test_an_agent_that_was_removed_and_returns_begins_nothing_that_it_has_not_seen(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        targets[1].down()
        wait_until(lambda: site.told() == [(1, "opened")], 10.0, "the message of its check")
        site["ctl-2"].kill()
        etcd.ctl("del", "--prefix", "/wardmote/test/agents/ctl-2/")
        told = [(1, "opened"), (1, "unwatched")]
        wait_until(lambda: site.told() == told, 20.0, "nobody to watch it any more")
        targets[1].up()
        site.start("ctl-2")
        judged(site, "ctl-2", "healthy")
        holds(lambda: site.told() == told and site["ctl-1"].open_incidents() == [], 2.0, "nothing is told")
        targets[1].down()
        wait_until(lambda: [kind for _, kind in site.told()[len(told):]] == ["opened"], 10.0, "a new failure")


@pytest.mark.parametrize("restarts", [True, False])
def test_what_leaves_the_configuration_of_the_only_agent_that_watches_it_was_not_seen_good(tmp_path, etcd, targets, restarts):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")

        def begin_with(more: str):
            site.more["ctl-2"] = more
            if restarts:
                site["ctl-2"].kill()
                site.start("ctl-2")
            else:
                site.configure("ctl-2")
                site["ctl-2"].process.send_signal(signal.SIGHUP)
        begin_with(lost_cluster())
        wait_until(lambda: site.told() == [(1, "opened")], 15.0, "the message of its cluster")
        assert site["ctl-1"].open_incidents()[0][1].startswith("etcd:kv")
        begin_with("")
        wait_until(lambda: len(site.told()) > 1, 10.0, "nobody to watch it any more")
        holds(lambda: site.told() == [(1, "opened"), (1, "unwatched")], 2.0, "it was not seen good")


@pytest.mark.parametrize("who", ["ctl-1", "ctl-2"])
def test_what_one_of_two_agents_watches_no_more_is_as_the_other_sees_it(tmp_path, etcd, targets, who):
    cluster = lost_cluster()
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")

        def begin_with(name: str, more: str):
            site.more[name] = more
            site.configure(name)
            site[name].process.send_signal(signal.SIGHUP)
        for name in ("ctl-1", "ctl-2"):
            begin_with(name, cluster)
        wait_until(lambda: site.told() == [(1, "opened")], 15.0, "the message of the cluster")
        wait_until(lambda: "etcd:kv" in str(site["ctl-2"].json("/api/v1/agents")), 10.0, "both to see it fail")
        begin_with(who, "")
        judged(site, who, "healthy")  # its other check; the cluster is watched no more
        holds(lambda: site.told() == [(1, "opened")] and all(agent.open_incidents() == [(1, "etcd:kv")] for agent in site.agents.values()), 3.0,
              "the other sees it fail", every=0.01)


def test_checks_of_an_agent_that_does_not_lead_fail_together_with_what_they_depend_on(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        site.depending = "ctl-2"
        site.configure("ctl-2")
        site["ctl-2"].process.send_signal(signal.SIGHUP)
        judged(site, "ctl-2", "healthy", "healthy")
        targets[1].down()
        judged(site, "ctl-2", "reported", "reported")
        wait_until(site.told, 5.0, "the message")
        # When the lower one was seen first, its incident gets the other's name.
        holds(lambda: site.told() in ([(1, "opened")], [(1, "opened"), (1, "changed")]), 2.0, "one incident")
        assert site["ctl-1"].open_incidents() == [(1, "check:svc@ctl-2")] == site["ctl-2"].open_incidents()


@pytest.mark.slow
def test_an_agent_that_is_cut_off_says_that_its_view_is_its_own(tmp_path, etcd, targets):
    with Site(tmp_path, etcd, targets[:2]) as site:
        site.wait_led_by("ctl-1")
        assert "my view alone" not in site["ctl-2"].cli("status").stdout
        assert site["ctl-2"].cli("elect", "status").returncode == 0
        etcd.members[0].pause()
        wait_until(lambda: "my view alone: 1 of 2 agents not heard for" in site["ctl-2"].cli("status").stdout, 20.0, "it to say so")
        assert site["ctl-2"].cli("elect", "status").returncode == 3
        wait_until(lambda: "my view alone" in site["ctl-2"].get("/api/v1/status")[1], 5.0, "the page to say so, too")
        etcd.members[0].resume()
        wait_until(lambda: "my view alone" not in site["ctl-2"].cli("status").stdout, 15.0, "it to hear the others again")
