"""A real masakari-api behind a real Keystone: tokens, duplicates, refusals, an outage of both, a hang."""

import subprocess

from lab.openstack import HOST, PASSWORD, PROJECT_USER, OpenStack
from lab.processes import wait_until
from test_notify import answers, incidents, run, write_config
from tools.agent import ROOT, programs


def masakari(cloud, folder, who="user: watcher, project: admin", host=HOST, secret=PASSWORD) -> str:
    (folder / "keystone.secret").write_text(secret + "\n", encoding="utf-8")
    return (f"masakari: {{host: {host}, name_label: process, keystone: {{url: '{cloud.keystone_url}', {who}, "
            f"secret_file: {folder}/keystone.secret}}}}")


def configure(folder, target, ways, process, timeout="15s"):
    write_config(folder, target, ways)
    path = folder / "wardmote.yaml"
    # A name of its own for each test, so that what Masakari was told before does not count. It wants 15 s for an attempt at least.
    text = path.read_text(encoding="utf-8").replace("timeout: 2s", f"timeout: {timeout}")
    path.write_text(f"node: {{name: n1, labels: {{process: {process}}}}}\n{text}", encoding="utf-8")


def told(cloud, process) -> list[str]:
    return [one["payload"]["event"] for one in cloud.notifications() if one["payload"].get("process_name") == process]


def receiver(agent) -> dict:
    return agent.json("/api/v1/receivers")["receivers"][0]


def a_beginning_and_an_end_arrive_over_an_outage_and_a_lost_token(tmp_path, target, cloud):
    configure(tmp_path, target, {"masakari": masakari(cloud, tmp_path)}, "nova-compute")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        cloud.kill("masakari")
        target.down()
        wait_until(lambda: receiver(agent)["refused"], 20.0, "the refusal")
        cloud.start("masakari")
        wait_until(lambda: told(cloud, "nova-compute") == ["STOPPED"] if cloud.answers() else False, 60.0, "the beginning", every=0.5)
        cloud.revoke_tokens(cloud.users["watcher"])
        target.up()
        wait_until(lambda: told(cloud, "nova-compute") == ["STOPPED", "STARTED"], 60.0, "the end, with another token", every=0.5)
        one = next(one for one in cloud.notifications() if one["payload"].get("process_name") == "nova-compute")
        assert one["type"] == "PROCESS" and one["status"] == "new"
        opened = agent.json("/api/v1/incidents?all=true")["incidents"][0]["opened"]
        assert one["generated_time"].startswith(opened[:19]), "when it began, not when it was told"
        assert not agent.json("/api/v1/receivers")["dead_letters"]
        shown = "".join(agent.get(path)[1] for path in ("/api/v1/receivers", "/api/v1/history", "/api/v1/status", "/metrics"))
        assert PASSWORD not in shown + agent.output()


def an_application_credential_will_do(tmp_path, target, cloud):
    way = masakari(cloud, tmp_path, who=f"credential: {cloud.credential}", secret=cloud.credential_secret)
    configure(tmp_path, target, {"masakari": way}, "libvirtd")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: told(cloud, "libvirtd") == ["STOPPED"], 30.0, "the beginning", every=0.5)


def a_host_in_no_segment_is_surfaced_and_kept_as_undelivered(tmp_path, target, cloud):
    configure(tmp_path, target, {"masakari": masakari(cloud, tmp_path, host="nosuchhost")}, "masakari-test")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        letters = wait_until(lambda: agent.json("/api/v1/receivers")["dead_letters"], 30.0, "the dead letter", every=0.5)
        assert "HTTP 400" in letters[0]["reason"] and "nosuchhost" in letters[0]["reason"]


def who_may_not_or_is_not_known_is_tried_again_slowly(tmp_path, target, cloud):
    (tmp_path / "other").mkdir()
    ways = {"plain": masakari(cloud, tmp_path, who=f"user: {PROJECT_USER}, project: admin"),
            "wrong": masakari(cloud, tmp_path / "other", secret="not-the-password")}
    configure(tmp_path, target, ways, "masakari-test", timeout="60s")  # a slow answer is no refusal
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        wait_until(lambda: all(one["refused"] for one in agent.json("/api/v1/receivers")["receivers"]), 60.0, "both refusals", every=0.2)
        reasons = {one["name"]: one for one in agent.json("/api/v1/receivers")["receivers"]}
        assert reasons["plain"]["last"]["reason"].startswith("masakari: HTTP 403")
        assert reasons["wrong"]["last"]["reason"].startswith("keystone: HTTP 401")
        assert all(one["refused"] == 1 and one["waiting"] == 1 for one in reasons.values()), "the next attempt is in ten seconds"
        assert incidents(agent) and answers(agent)
        assert "not-the-password" not in agent.output() + agent.get("/api/v1/receivers")[1]


def one_that_hangs_is_given_its_time_and_knows_of_it_once(tmp_path, target, cloud):
    configure(tmp_path, target, {"masakari": masakari(cloud, tmp_path)}, "ovs-vswitchd")
    with run(tmp_path) as agent:
        agent.wait_healthy()
        cloud.freeze("masakari")
        try:
            target.down()
            wait_until(lambda: receiver(agent)["refused"], 120.0, "the end of the attempt", every=0.5)
            last = receiver(agent)["last"]
            assert not last["good"] and "127.0.0.1" in last["reason"], last
            assert incidents(agent), "the agent answers meanwhile"
        finally:
            cloud.thaw("masakari")
        # It may take up the request that waited in its queue, of which nobody heard the answer: the next is a repetition to it.
        wait_until(lambda: receiver(agent)["delivered"], 120.0, "the second attempt", every=0.5)
        assert told(cloud, "ovs-vswitchd") == ["STOPPED"]
        assert not agent.json("/api/v1/receivers")["dead_letters"]


def a_host_in_maintenance_is_known(tmp_path, target, cloud):
    way = masakari(cloud, tmp_path)
    configure(tmp_path, target, {"masakari": way}, "nova-api")
    path = tmp_path / "wardmote.yaml"
    text = path.read_text(encoding="utf-8")
    # No guest is needed to ask: libvirt is not there.
    path.write_text(f"{text}guests: {{uri: 'qemu+unix:///system?socket={tmp_path}/none', masakari: masakari}}\n", encoding="utf-8")
    cloud.set_maintenance(True)
    with run(tmp_path) as agent:
        wait_until(lambda: "maintenance_begun" in agent.output(), 60.0, "the maintenance", every=0.5)
        cloud.set_maintenance(False)
        wait_until(lambda: "maintenance_ended" in agent.output(), 60.0, "its end", every=0.5)
        assert "maintenance_not_known" not in agent.output()
        path.write_text(path.read_text(encoding="utf-8").replace("masakari: masakari}", "masakari: web}"), encoding="utf-8")
        refused = subprocess.run([programs() / "wardmote", "config", "check", path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 check=False, timeout=10)
        assert refused.returncode != 0 and "'web' is no masakari receiver" in refused.stdout + refused.stderr, refused


# One test, because each worker would bring up an OpenStack of its own.
def test_masakari(tmp_path, target):
    with OpenStack(ROOT / "build/lab/openstack", tmp_path / "openstack") as cloud:
        stories = (a_beginning_and_an_end_arrive_over_an_outage_and_a_lost_token, an_application_credential_will_do,
                   a_host_in_no_segment_is_surfaced_and_kept_as_undelivered, who_may_not_or_is_not_known_is_tried_again_slowly,
                   a_host_in_maintenance_is_known, one_that_hangs_is_given_its_time_and_knows_of_it_once)
        for number, story in enumerate(stories):
            # A short name: a socket's path has at most 107 bytes.
            folder = tmp_path / str(number)
            folder.mkdir()
            story(folder, target, cloud)
            target.down()
            target.up()
