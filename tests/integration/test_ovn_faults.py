"""Every row of ovn-faults.yaml against real servers and a real agent."""

import re
import signal
import threading
import time
from pathlib import Path

import pytest

import scenario
from lab.faults import FAULTS
from lab.instance import Lab
from scenario import Cast, Sample, Step
from tools.agent import Agent

SCENARIOS = scenario.load()
# What a run without --full plays: every kind of evidence once (refusal, silence, ids, modes), and calm.
SMOKE = {"leader_killed", "follower_paused", "wiped_and_rejoined", "standalone_in_place_of_a_member", "addition_in_progress"}


def rows():
    for one in SCENARIOS:
        yield pytest.param(one, id=one.name, marks=[] if one.name in SMOKE else [pytest.mark.slow])


@pytest.mark.parametrize("one", rows())
def test_fault(one):
    with Lab.up(one.name.replace("_", "-")[:40].rstrip("-"), ["nb"], hosts=4, transient=True) as lab:
        stage = Stage(lab)
        try:
            before = None
            for number, step in enumerate(one.steps, 1):
                wrong = stage.play(step, before)
                assert not wrong, f"{one.name}, step {number} ({', '.join(step.do) or 'watch'}):\n" + "\n".join(wrong)
                before = step
        finally:
            stage.stop()


class Stage:
    """A healthy cluster and an agent that found it so."""

    def __init__(self, lab: Lab):
        self.lab, self.cluster = lab, lab.clusters["nb"]
        self.edits: list[tuple[str, str]] = []  # of the configuration: pattern and what stands there instead
        self.agent = Agent(lab.write_config(), lab.api_socket)
        try:
            self.agent.wait_healthy()
        except BaseException:
            self.agent.stop()
            raise
        self.cast = Cast.of(self.cluster)

    def stop(self) -> None:
        self.agent.stop()

    def play(self, step: Step, before: Step | None) -> list[str]:
        with Recorder(self.agent) as recorder:
            for words in step.do:
                self._do(*words.split(), recorder=recorder)
            done = time.monotonic()
            self.cast.look()
            recorder.run_until(done + step.settled + step.watch)
        if recorder.unanswered:
            return [f"{at - done:5.1f} s: the agent did not answer: {problem}" for at, problem in recorder.unanswered]
        samples = [Sample(at - done, findings) for at, findings in recorder.seen]
        wrong = scenario.judge(step, before, samples, self.cast)
        return wrong or self._command_line(step, samples[-1].findings)

    def _do(self, what: str, who: str = "", value: str = "", *, recorder: "Recorder") -> None:
        number = self.cast.numbers.get(who, 0)
        if what in ("restart-agent", "move-agent"):
            self.agent.stop()
            inside = self._move(number) if what == "move-agent" else []
            self.agent = Agent(self._config(), self.lab.api_socket, inside)
            self.agent.wait_serving()
            recorder.follow(self.agent)
        elif what == "hold-agent":
            self.agent.process.send_signal(signal.SIGSTOP)
        elif what == "release-agent":
            self.agent.process.send_signal(signal.SIGCONT)
            self.agent.wait_serving()
            recorder.follow(self.agent)
        elif what == "forget":
            self.edits.append((rf".*\{{name: {self.cast.name(who)}, .*\n", ""))
        elif what == "misname":
            self.edits.append(("database: [A-Za-z_]*", f"database: {who}"))
        elif what == "give-up-after":
            self.edits.append(("( *)expect:", rf"\1gone_after: {who}\n\1expect:"))
        else:
            fault = FAULTS[what]
            fault.does(self.cluster, number, float(value) if value else fault.default)
            if who == "new":
                self.cast.numbers["new"] = max(self.cluster.members)

    def _config(self) -> Path:
        path = self.lab.write_config()
        text = path.read_text(encoding="utf-8")
        for pattern, instead in self.edits:
            text = re.sub(pattern, instead, text)
        path.write_text(text, encoding="utf-8")
        return path

    def _move(self, number: int) -> list[str]:
        """To the member's host: it has the sockets of that one, and asks the others over the network."""
        for other in self.cluster.others(number):
            name = self.cluster.members[other].name
            self.edits.append((rf"\{{name: {name}, .*\}}", f'{{name: {name}, ovsdb: "{self.cluster.ovsdb(other)}"}}'))
        return self.cluster.network.inside(self.cluster.members[number].host)

    def _command_line(self, step: Step, findings: list[dict]) -> list[str]:
        """Exit code of status; explain quotes the evidence, by code and by subject."""
        wrong = []
        status = self.agent.cli("status")
        if status.returncode != step.status:
            wrong.append(f"wardmote status ends with {status.returncode}, expected {step.status}:\n{status.stdout}{status.stderr}")
        for finding in findings:
            quoted = [plain(one["says"]) for one in finding["evidence"]]
            for asked in (finding["code"], *finding["subjects"][:1]):
                told = plain(self.agent.cli("explain", asked).stdout)
                if finding["code"] not in told or not any(says in told for says in quoted):
                    wrong.append(f"wardmote explain {asked} does not quote any of {quoted} of {finding['code']}:\n{told}")
        return wrong


def plain(text: str) -> str:
    """Without line breaks, and without ages, which differ from one look to the next."""
    return re.sub(r"\d+ ms", "N ms", " ".join(text.split()))


class Recorder:
    """Notes what the agent says, five times a second, from its own thread."""

    def __init__(self, agent: Agent):
        self.agent = agent
        self.seen: list[tuple[float, list[dict]]] = []
        self.unanswered: list[tuple[float, str]] = []
        self._end = float("inf")
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Recorder":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._end = 0.0
        self._thread.join()

    def run_until(self, end: float) -> None:
        self._end = end
        self._thread.join()

    def follow(self, agent: Agent) -> None:
        """From here on another agent is asked; what could not be asked between the two does not matter."""
        self.agent = agent
        self.unanswered.clear()

    def _run(self) -> None:
        while time.monotonic() < self._end:
            asked = time.monotonic()
            try:
                findings = self.agent.json("/api/v1/findings")["findings"]
                self.seen.append((asked, [finding for finding in findings if finding["severity"] != "info"]))
            except RuntimeError as problem:
                self.unanswered.append((time.monotonic(), str(problem)))
            time.sleep(0.2)
