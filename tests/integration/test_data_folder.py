"""A data folder takes one agent only: two real agents, stopped ones, and kill -9."""

import shutil
import signal
import socket
import subprocess

import pytest

from lab.processes import wait_until
from tools.agent import Agent, programs

PATIENCE = 60.0


@pytest.fixture
def write(tmp_path):
    """Writes the configuration of the agent NAME; all have one data folder."""
    (tmp_path / "data").mkdir()
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        def write(name: str, every: str = "1s"):
            file = tmp_path / f"{name}.yaml"
            file.write_text(f"api: {{socket: {tmp_path}/{name}.sock}}\ndata: {tmp_path}/data\nchecks:\n"
                            f"  - {{name: web, tcp: {{address: 127.0.0.1:{listener.getsockname()[1]}}}, every: {every}}}\n", encoding="utf-8")
            return file

        yield write


@pytest.fixture
def start(tmp_path, write):
    agents = []

    def start(name: str) -> Agent:
        agents.append(Agent(write(name), tmp_path / f"{name}.sock"))
        return agents[-1]

    yield start
    for agent in agents:
        agent.process.kill()
        agent.process.wait()


def expect_refused(start, first) -> None:
    """Another agent does not start, and says because of whom."""
    second = start("second")
    assert second.process.wait(PATIENCE) == 69, second.output()
    told = second.output()
    assert f"process {first.process.pid} has it" in told and "one agent" in told, told
    assert not second.api_socket.exists()


def test_a_second_agent_is_refused_until_the_first_has_ended(start, tmp_path):
    first = start("first")
    first.wait_serving(PATIENCE)
    expect_refused(start, first)
    first.process.send_signal(signal.SIGSTOP)
    expect_refused(start, first)  # who is stopped goes on one day, with what he knew
    first.process.send_signal(signal.SIGCONT)
    first.wait_serving(PATIENCE)

    first.process.kill()
    first.process.wait()
    assert (tmp_path / "data/wardmote.lock").exists()
    second = start("second")
    second.wait_serving(PATIENCE)
    assert second.stop() == 0
    third = start("third")
    third.wait_serving(PATIENCE)


def complaint(agent: Agent) -> str:
    return agent.json("/api/v1/status")["self"]["complaint"] or ""


def expect_lost(agent: Agent) -> None:
    """Status, metrics, doctor and log say alike that nothing is written where somebody would read it."""
    wait_until(lambda: "its data folder was taken away: " in complaint(agent), PATIENCE, "the complaint")
    assert "the agent itself is degraded: its data folder was taken away" in agent.cli("status").stdout
    assert "\nwardmote_degraded 1\n" in agent.get("/metrics")[1]
    doctor = agent.cli("doctor", timeout=40.0)
    assert doctor.returncode == 1 and "make sure that no other agent uses the folder" in doctor.stdout, doctor.stdout
    assert "data_folder_lost" in agent.output() and "agent_degraded" in agent.output()


@pytest.mark.parametrize("name", ["wardmote.lock", "wardmote.db", "wardmote.db-wal"])
def test_an_agent_whose_file_is_another_one_says_so_until_it_is_back(start, tmp_path, name):
    first = start("first")
    first.wait_serving(PATIENCE)
    file = tmp_path / "data" / name
    file.rename(tmp_path / name)
    expect_lost(first)
    shutil.copy(tmp_path / name, file)  # a backup is another file
    wait_until(lambda: f"{file} is not the file that this agent has" in complaint(first), PATIENCE, "the complaint about the copy")
    (tmp_path / name).rename(file)
    wait_until(lambda: complaint(first) == "", PATIENCE, "the end of the complaint")
    assert first.stop() == 0


def test_what_was_in_a_log_that_is_gone_is_doubted_at_the_next_start(start, tmp_path):
    first = start("first")
    first.wait_serving(PATIENCE)
    (tmp_path / "data/wardmote.db-wal").unlink()
    expect_lost(first)
    order = first.cli("pause", "all", "--for", "1h")
    assert order.returncode != 0 and "not written down" in order.stderr, order
    first.process.kill()
    first.process.wait()
    second = start("second")
    second.wait_serving(PATIENCE)
    wait_until(lambda: second.json("/api/v1/plans")["pauses"], PATIENCE, "the pause")
    assert "before all that forbids acts was written down" in second.json("/api/v1/plans")["pauses"][0]["by"]


def test_of_two_agents_on_a_folder_that_was_emptied_only_the_second_has_it(start, tmp_path):
    first = start("first")
    first.wait_serving(PATIENCE)
    for file in (tmp_path / "data").iterdir():
        file.unlink()
    expect_lost(first)
    second = start("second")
    second.wait_serving(PATIENCE)
    order = first.cli("silence", "add", "--match", "root=check:*", "--for", "1h", "--comment", "tests")
    assert order.returncode != 0 and "not written down" in order.stderr, order
    assert complaint(second) == "" and "taken away" in complaint(first)


def test_a_reload_keeps_the_folder_and_who_only_reads_is_let_in(start, write, tmp_path):
    first = start("first")
    first.wait_serving(PATIENCE)
    write("first", every="2s")
    reloaded = first.cli("reload", timeout=PATIENCE)
    assert reloaded.returncode == 0, reloaded.stderr
    wait_until(lambda: first.json("/debug/config")["config"]["checks"][0]["every"] == "2s", PATIENCE, "the changed configuration")
    expect_refused(start, first)
    for words in (["journal", "verify", tmp_path / "data"], ["journal", "export", tmp_path / "data"], ["config", "check", tmp_path / "first.yaml"]):
        done = subprocess.run([programs() / "wardmoted", *words], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, (words, done.stderr)
