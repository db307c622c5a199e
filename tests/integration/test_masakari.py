"""A real masakari-api behind a real Keystone: tokens, duplicates, refusals, an outage of both, a hang."""

import datetime
import subprocess
import tempfile
from pathlib import Path

import pytest

from lab.guests import Guests, name_of, uuid_of
from lab.openstack import HOST, PASSWORD, PROJECT_USER, OpenStack
from lab.processes import wait_until
from test_notify import answers, incidents, run, write_config
from tools.agent import ROOT, Agent, programs


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


def what_it_could_not_be_told_outlives_the_agent(tmp_path, target, cloud):
    configure(tmp_path, target, {"masakari": masakari(cloud, tmp_path)}, "nova-conductor")
    agent = run(tmp_path)
    try:
        agent.wait_healthy()
        cloud.kill("masakari")
        target.down()
        wait_until(lambda: receiver(agent)["refused"], 20.0, "the refusal")
        opened = incidents(agent)[0]["opened"]
        agent.process.kill()
        agent.process.wait()
        agent = run(tmp_path)
        cloud.start("masakari")
        wait_until(lambda: told(cloud, "nova-conductor") == ["STOPPED"] if cloud.answers() else False, 90.0, "the beginning", every=0.5)
        wait_until(lambda: receiver(agent)["delivered"], 60.0, "the answer", every=0.5)
        one = next(one for one in cloud.notifications() if one["payload"].get("process_name") == "nova-conductor")
        assert one["generated_time"].startswith(opened[:19]), "when it began, not when it was told"
        assert told(cloud, "nova-conductor") == ["STOPPED"] and not agent.json("/api/v1/receivers")["dead_letters"]
    finally:
        agent.stop()


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
        stories = (a_beginning_and_an_end_arrive_over_an_outage_and_a_lost_token, what_it_could_not_be_told_outlives_the_agent,
                   an_application_credential_will_do, a_host_in_no_segment_is_surfaced_and_kept_as_undelivered, who_may_not_or_is_not_known_is_tried_again_slowly,
                   a_host_in_maintenance_is_known, one_that_hangs_is_given_its_time_and_knows_of_it_once)
        for number, story in enumerate(stories):
            # A short name: a socket's path has at most 107 bytes.
            folder = tmp_path / str(number)
            folder.mkdir()
            story(folder, target, cloud)
            target.down()
            target.up()


WATCHES = """
node: {{name: {host}}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
guests: {{uri: "{uri}", every: 1s, timeout: 900ms, threshold: 3, masakari: masakari}}
notify:
  receivers:
    - {{name: masakari, timeout: 30s, {way}}}
  routes:
    - {{receiver: masakari, match: ["scope=guest", "code=GUEST_*"], group_wait: 0s, group_interval: 1s, repeat_interval: 0s}}
"""


@pytest.mark.slow
@pytest.mark.xdist_group("guests")
def test_masakari_and_a_real_guest(tmp_path):
    """A QEMU that is killed, once more inside Masakari's window of duplicates, and what libvirt tells besides."""
    with (OpenStack(ROOT / "build/lab/openstack", tmp_path / "openstack") as cloud, tempfile.TemporaryDirectory(prefix="wg-", dir="/tmp") as folder,
          Guests(ROOT / "build/lab/guests", Path(folder)) as lab):
        lab.up(1)
        (tmp_path / "data").mkdir()
        way = masakari(cloud, tmp_path).replace("name_label: process", "type: instance")
        (tmp_path / "wardmote.yaml").write_text(WATCHES.format(host=HOST, folder=tmp_path, uri=lab.uri, way=way), encoding="utf-8")

        def said(event: str) -> list[dict]:
            return [one for one in cloud.notifications() if one["payload"]["event"] == event and one["payload"]["instance_uuid"] == uuid_of(1)]

        with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock", ["env", f"LD_LIBRARY_PATH={lab.libraries}"]) as agent:
            def healthy() -> bool:
                status, body = agent.get(f"/api/v1/guests/{name_of(1)}")
                return status == 200 and '"verdict":"HEALTHY"' in body

            wait_until(healthy, 60.0, "the guest", every=0.2)
            lab.virsh("reset", name_of(1))
            wait_until(lambda: said("REBOOT"), 30.0, "the reboot", every=0.5)
            wait_until(healthy, 90.0, "the guest after it", every=0.2)
            assert [one["payload"]["vir_domain_event"] for one in said("REBOOT")] == ["UNKNOWN"] and not said("QEMU_GUEST_AGENT_ERROR")
            lab.qemu(1).kill()
            wait_until(lambda: said("LIFECYCLE"), 30.0, "its death", every=0.5)
            assert [(one["type"], one["payload"]["vir_domain_event"]) for one in said("LIFECYCLE")] == [("VM", "STOPPED_FAILED")]
            lab.virsh("start", name_of(1))
            wait_until(healthy, 90.0, "the guest again", every=0.2)
            lab.qemu(1).kill()
            wait_until(lambda: "is told again" in receiver(agent)["last"]["reason"], 60.0, "the drop", every=0.5)
            assert len(said("LIFECYCLE")) == 1
            wait_until(lambda: len(said("LIFECYCLE")) == 2, 240.0, "its second death, after the window", every=1)
            first, second = (datetime.datetime.fromisoformat(one["generated_time"]) for one in said("LIFECYCLE"))
            assert second - first > datetime.timedelta(seconds=180)
