"""The probe `frr` and `assess bgp` against a real BIRD 1.6, BIRD 2 and FRR that peer with each other."""

import json
import os
import socket
import subprocess

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import Agent, programs

OK, WARN, FAIL, UNKNOWN = 0, 1, 2, 3


@pytest.fixture(scope="module")
def lab():
    with Lab.up(f"mesh-{os.getpid()}", [], members=3, transient=True, birds=["1.6", "2", "frr"]) as up:
        yield up


def wardmote(*words):
    done = subprocess.run([programs() / "wardmote", *words, "-o", "json"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=20)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def assess(lab, timeout="2s"):
    members = [f"{bird.name}={bird.control},{bird.address}" for bird in lab.birds]
    return wardmote("assess", "bgp", "--timeout", timeout, "--member", *members)


@pytest.fixture(scope="module")
def agent(lab):
    with Agent(lab.write_config(), lab.api_socket) as running:
        running.wait_healthy()
        yield running


def findings(agent):
    return {(finding["code"], *finding["subjects"]) for finding in agent.json("/api/v1/findings")["findings"]}


def open_roots(agent):
    return {incident["root"] for incident in agent.json("/api/v1/incidents")["incidents"]}


def faults(lab):
    return {(problem["fault"], problem["from"], problem["to"]) for problem in assess(lab)[1]["problems"]}


@pytest.fixture(autouse=True)
def mended(lab):
    yield
    for bird in lab.birds:
        for peer in bird.peers:
            peer.remote_as, peer.password, peer.disabled = 64512, "", False
        bird.reconfigure()
    wait_until(lambda: assess(lab)[0] == OK, 60, "the mesh to be whole again", every=0.5)


def test_a_whole_mesh(lab):
    code, mesh = assess(lab)
    assert (code, mesh["verdict"], mesh["problems"]) == (OK, "ok", [])
    assert [node["version"].split(".")[0] for node in mesh["nodes"]] == ["BIRD 1", "BIRD 2", "FRR"]
    assert mesh["matrix"] == [["self" if i == j else "up" for j in range(3)] for i in range(3)]


def test_frr_tells_its_sessions(lab):
    first, second, third = lab.birds
    code, seen = wardmote("probe", "frr", third.control, "--expect", first.address, "--expect",
                          second.address)
    assert (code, seen["outcome"]) == (OK, "ok"), seen
    peers = {peer["address"]: peer for peer in seen["facts"]["peers"]}
    assert {peer["state"] for peer in peers.values()} == {"Established"}
    assert {peer["remote_as"] for peer in peers.values()} == {64512}
    assert seen["facts"]["lines_not_understood"] == 0


def test_a_stopped_frr_hangs_and_is_told_once(lab):
    third = lab.birds[2]
    third.pause()
    try:
        code, seen = wardmote("probe", "frr", third.control, "--timeout", "300ms")
        assert (code, seen["reason"]) == (FAIL, "hung")
        code, mesh = assess(lab, "500ms")
        assert [problem["fault"] for problem in mesh["problems"]] == ["daemon down"]
        assert mesh["matrix"][2] == ["blind", "blind", "self"]
    finally:
        third.resume()


def test_a_mesh_of_which_every_daemon_is_gone_fails_and_of_which_one_may_not_be_asked_is_unknown(tmp_path):
    argv = ["assess", "bgp", "--timeout", "500ms", "--member", f"a={tmp_path}/a.ctl", "--member", f"b={tmp_path}/b.ctl"]
    for name in "ab":
        with socket.socket(socket.AF_UNIX) as left:   # nobody listens there
            left.bind(f"{tmp_path}/{name}.ctl")
    code, mesh = wardmote(*argv)
    assert (code, mesh["verdict"], [node["reason"] for node in mesh["nodes"]]) == (FAIL, "fail", ["refused"] * 2)
    (tmp_path / "a.ctl").unlink()
    (tmp_path / "a.ctl").symlink_to("a.ctl")
    code, mesh = wardmote(*argv)
    assert (code, mesh["verdict"]) == (UNKNOWN, "unknown"), mesh


def test_other_passwords_are_suspected(lab):
    first, second, _ = lab.birds
    first.peers[0].password = "one"
    second.peers[0].password = "two"
    for bird in (first, second):
        bird.reconfigure()
    wait_until(lambda: ("password mismatch suspected", first.name, second.name) in faults(lab), 30, "the suspicion", every=0.5)


def test_a_wrong_as_is_named(lab):
    first, second, _ = lab.birds
    first.peers[0].remote_as = 64999
    first.reconfigure()
    wait_until(lambda: any(fault == "wrong AS" and {one, other} == {first.name, second.name} for fault, one, other in faults(lab)),
               30, "the wrong AS", every=0.5)


def test_a_disabled_and_a_missing_peer(lab):
    first, second, third = lab.birds
    first.peers[0].disabled = True
    first.reconfigure()
    wait_until(lambda: ("disabled", first.name, second.name) in faults(lab), 30, "the disabled session", every=0.5)
    kept, second.peers = second.peers, [peer for peer in second.peers if peer.host != third.host]
    second.reconfigure()
    try:
        wait_until(lambda: ("missing peer", second.name, third.name) in faults(lab), 30, "the missing peer", every=0.5)
    finally:
        second.peers = kept


def test_the_agent_shows_the_whole_mesh(lab, agent):
    wait_until(lambda: agent.json("/api/v1/meshes")["meshes"][0]["outcome"] == "ok", 60, "the mesh to be whole")
    mesh = agent.json("/api/v1/meshes")["meshes"][0]
    assert [node["name"] for node in mesh["nodes"]] == [bird.name for bird in lab.birds]
    assert mesh["matrix"] == [["self" if i == j else "up" for j in range(3)] for i in range(3)]
    assert "BGP mesh of 3 nodes" in agent.cli("status").stdout
    alone = agent.cli("status", mesh["mesh"])
    assert alone.returncode == OK and "BGP mesh of 3 nodes" in alone.stdout.splitlines()[0], alone
    assert agent.cli("status", mesh["mesh"], "-o", "name").stdout == f"mesh/{mesh['mesh']}\n"


def test_the_agent_names_faults_between_two(lab, agent):
    first, second, third = lab.birds
    first.peers[0].password, second.peers[0].password = "one", "two"
    second.peers[1].remote_as = 64999
    for bird in (first, second):
        bird.reconfigure()
    wanted = {("BGP_PASSWORD_MISMATCH", f"{first.name}/{second.name}"), ("BGP_WRONG_AS", f"{second.name}/{third.name}")}
    wait_until(lambda: wanted <= findings(agent), 90, "both findings", every=0.5)
    assert agent.json("/api/v1/meshes")["meshes"][0]["outcome"] == "fail"


def test_a_stopped_daemon_is_one_finding_and_one_incident(lab, agent):
    first, second, _ = lab.birds
    wait_until(lambda: not findings(agent) and not open_roots(agent), 90, "the agent to be quiet", every=0.5)
    second.pause()
    try:
        wait_until(lambda: ("BGP_DAEMON_DOWN", second.name) in findings(agent), 60, "the daemon to be missed", every=0.5)
        wait_until(lambda: open_roots(agent) == {f"check:{second.name}"}, 60, "one incident", every=0.5)
        assert {code for code, *_ in findings(agent)} == {"BGP_DAEMON_DOWN"}
    finally:
        second.resume()
    wait_until(lambda: not findings(agent) and not open_roots(agent), 120, "the end of it", every=0.5)
    assert first.established()


def test_a_restart_of_the_agent_in_an_outage(lab, tmp_path):
    """The mesh is not called well before both ends of its session were seen well again."""
    (tmp_path / "data").mkdir()
    config = tmp_path / "wardmote.yaml"
    config.write_text(f"data: {tmp_path}/data\n" + lab.write_config().read_text(encoding="utf-8"), encoding="utf-8")

    def faces(agent):
        mesh = agent.json("/api/v1/meshes")["meshes"][0]
        check = next(one for one in agent.json("/api/v1/checks")["checks"] if one["name"] == mesh["mesh"])
        return mesh["outcome"], check["state"], {one["root"] for one in agent.json("/api/v1/incidents")["incidents"]}

    first, second, _ = lab.birds
    session = f"{first.name}/{second.name}"
    with Agent(config, lab.api_socket) as agent:
        agent.wait_serving()
        wait_until(lambda: faces(agent)[0] == "ok", 60, "the mesh to be whole", every=0.5)
        first.peers[0].password, second.peers[0].password = "one", "two"
        for bird in (first, second):
            bird.reconfigure()
        wait_until(lambda: faces(agent)[0] == "fail", 90, "the fault", every=0.5)
        root = wait_until(lambda: next((one for one in faces(agent)[2] if one.endswith(session)), None), 60, "its incident", every=0.5)
        shown = agent.cli("status", agent.json("/api/v1/meshes")["meshes"][0]["mesh"])
        assert shown.returncode == 2 and "BGP_PASSWORD_MISMATCH" in shown.stdout, shown
        agent.process.kill()
        agent.process.wait()
    with Agent(config, lab.api_socket) as agent:
        agent.wait_serving()
        for _ in range(100):
            outcome, state, roots = faces(agent)
            assert (outcome, state) == ("fail", "reported"), faces(agent)
            assert root in roots
        agent.process.kill()
        agent.process.wait()
    first.peers[0].password = second.peers[0].password = ""
    for bird in (first, second):
        bird.reconfigure()
    wait_until(lambda: assess(lab)[0] == OK, 60, "the mesh to be whole again", every=0.5)
    with Agent(config, lab.api_socket) as agent:
        agent.wait_serving()
        assert faces(agent)[0] == "fail", "nobody has looked yet"
        wait_until(lambda: faces(agent) == ("ok", "healthy", set()), 40, "the end of it", every=0.2)
