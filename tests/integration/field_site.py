"""A cluster, an agent, and everything that the agent says from the first second on: what the tests of the field incidents share."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.instance import Lab
from lab.ovn import Cluster
from lab.processes import wait_until
from lab.wire import WireError
from plans_site import Site
from tools.agent import Agent

EVERYTHING = "on: [RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER, RAFT_MEMBER_DOWN, RAFT_JOINING_STUCK]"
OBSERVES = f"{EVERYTHING}, mode: observe"
ACTS = f"{EVERYTHING}, mode: act, sole: true, approval: false, after: 1s, cooldown: 0s, budget: 9"
GONE_AFTER = (r"( *)expect:", r"\1gone_after: 10s\n\1expect:")

# Next steps that somebody was harmed by. They are looked for in what is advised and planned, not in what is explained.
A_KICK = r"cluster/kick"
A_RESTART = r"\b[Rr]estart\b"
TO_WAIT = r"(^|[.;:] )[Ww]ait\b(?! for what is told next)"
TO_THROW_DATA_AWAY = r"\b([Dd]rop|[Dd]elete|[Rr]emove|[Ww]ipe|[Mm]ove)\b[^.]*\b(databases?|files?)\b"
TO_JOIN_ANEW = r"\b([Rr]ejoin|join\b[^.]*\b(again|anew|new member))|create-cluster|join-cluster"


@dataclass(frozen=True)
class Sample:
    """One answer: when it was asked for, what stood, and which servers lived before and after."""

    at: float
    findings: list[dict]
    plans: list[dict]
    living: frozenset[str]


class Scene(Site):
    """A site whose every word is kept. Seconds count from `cause()`."""

    def __init__(self, lab: Lab, folder: Path, policy: str = OBSERVES, *, edits: Iterable[tuple[str, str]] = (), checks: Iterable[str] = (),
                 inside: list[str] | None = None, before: Callable[[Cluster], object] | None = None):
        """`edits`: patterns of the configuration and what stands there instead; `inside`: where the agent runs; `before`: what was
        done to the cluster before there was an agent."""
        self._edits, self._checks, self._inside = list(edits), list(checks), inside
        self.samples: list[Sample] = []
        self._ids: dict[int, str] = {}
        self._over = threading.Event()
        self._began = time.monotonic()
        if before is not None:
            before(lab.clusters["nb"])
        self.cause()
        super().__init__(lab, folder, policy)
        self._thread = threading.Thread(target=self._record)
        self.agent.wait_serving()
        self._thread.start()

    def run(self) -> Agent:
        text = self.config.read_text(encoding="utf-8")
        for pattern, instead in self._edits:
            text, done = re.subn(pattern, instead, text)
            assert done, f"{pattern} is not in\n{text}"
        text += "".join(["checks:\n", *(f"  - {check}\n" for check in self._checks)]) if self._checks else ""
        self.config.write_text(text, encoding="utf-8")
        return Agent(self.config, self.lab.api_socket, self._inside)

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        super().end()

    # What is said.

    def cause(self) -> None:
        """What is looked for was caused now."""
        self._began = time.monotonic()

    def said(self, code: str, by: float, subject: str = "", words: str = "", severity: str = "") -> dict:
        """The first finding since the cause with this code (a pattern), of this subject, with these words in its summary, evidence or advice."""
        end = self._began + by

        def look():
            return next(((sample, finding) for sample in list(self.samples) if sample.at >= self._began for finding in sample.findings
                         if _is(finding, code, subject, severity) and re.search(words, _text(finding))), None)

        try:
            sample, finding = wait_until(look, max(0.0, end + 1.0 - time.monotonic()), f"{code} {subject} {words}", every=0.05)
        except TimeoutError as late:
            raise AssertionError(f"not said within {by:g} s: {late}\nbut {self.last_words()}") from late
        assert sample.at <= end, f"{code} came {sample.at - self._began:.1f} s after the cause, not within {by:g} s"
        print(f"{code} of {subject or 'the cluster'}: {sample.at - self._began:.1f} s: {finding['summary']}")
        self._is_shown(finding)
        return finding

    def _is_shown(self, finding: dict) -> None:
        """A person finds the same with the two commands that are typed first, unless it has ended meanwhile."""
        code, step = finding["code"], (finding["advice"] or {}).get("text") or ""
        status, told = self.agent.cli("status", "-o", "json"), self.explained(code)
        if any(_is(one, code, "", finding["severity"]) and _steps(one) == _steps(finding) for one in self.agent.json("/api/v1/findings")["findings"]):
            assert code in status.stdout and status.returncode in (1, 2), status
            assert code in told and " ".join(step.split()) in told, f"{step} is not in {told}"

    def check_says(self, name: str, words: str, by: float, state: str = "") -> dict:
        """The first answer of the check with these words since the cause."""
        def look() -> dict | None:
            check = next(one for one in self.agent.json("/api/v1/checks")["checks"] if one["name"] == name)
            return check if re.search(words, json.dumps(check)) and state in ("", check["state"]) else None
        try:
            found = wait_until(look, max(0.0, self._began + by - time.monotonic()), f"{name} to say '{words}'", every=0.1)
        except TimeoutError as late:
            raise AssertionError(f"{late}; it says {self.explained(name)}") from late
        print(f"check {name}: {time.monotonic() - self._began:.1f} s: {words}")
        return found

    def ends(self, code: str, by: float, subject: str = "") -> None:
        """No such finding stands any more."""
        def over() -> bool:
            last = self.samples[-1]
            return last.at >= self._began and not any(_is(finding, code, subject, "") for finding in last.findings)

        try:
            wait_until(over, max(0.0, self._began + by + 1.0 - time.monotonic()), f"the end of {code} {subject}", every=0.05)
        except TimeoutError as late:
            raise AssertionError(f"it stands after {by:g} s: {late}: {self.last_words()}") from late

    def codes(self) -> set[str]:
        """Whatever was said since the cause, of warning or above."""
        return {finding["code"] for sample in self.samples if sample.at >= self._began for finding in sample.findings
                if finding["severity"] != "info"}

    def last_words(self) -> str:
        return "\n".join(f"{one['severity']} {one['code']} {one['subjects']}: {_text(one)}" for one in self.samples[-1].findings)

    def status(self) -> tuple[int, str]:
        """As a person sees it."""
        done = self.agent.cli("status")
        return done.returncode, done.stdout

    def explained(self, name: str) -> str:
        return " ".join(self.agent.cli("explain", name).stdout.split())

    @contextmanager
    def never(self, *steps: str, but: Callable[[dict], bool] = lambda finding: False) -> Iterator[None]:
        """None of these steps is advised or begun meanwhile, and never the removal of a server that lives."""
        begun = len(self.samples)
        yield
        wrong = []
        for sample in self.samples[begun:]:
            for finding in sample.findings:
                advised = _steps(finding)
                wrong += [f"{finding['code']} advises {step}: {advised}" for step in steps if re.search(step, advised) and not but(finding)]
                command = " ".join((finding["advice"] or {}).get("command") or [])
                wrong += [f"{finding['code']} would kick {who}, which lives: {command}" for who in sample.living
                          if "cluster/kick" in command and re.search(rf"\b{who[:8]}|\b{who[:4]}$", command)]
        if A_KICK in steps:
            wrong += [f"a plan began to kick: {row}" for row in self.rows() if row[:2] == ("intent", "kick")]
        assert not wrong, "\n".join(dict.fromkeys(wrong))

    # How it is heard.

    def living(self) -> set[str]:
        """The ids of the servers whose processes run."""
        self._ids = {number: one for number, one in self._ids.items() if number in self.cluster.members}
        for number, member in list(self.cluster.members.items()):
            if member.process is None or not member.process.alive():
                self._ids.pop(number, None)
                continue
            try:
                self._ids[number] = self.cluster.view(number, 0.3).server_id
            except (WireError, OSError):
                continue
        return {one for one in self._ids.values() if one}

    def _record(self) -> None:
        before: set[str] = set()
        while not self._over.wait(0.2):
            asked = time.monotonic()
            try:
                findings = self.agent.json("/api/v1/findings")["findings"]
                plans = self.agent.json("/api/v1/plans?all=true")["plans"]
            except (RuntimeError, ValueError):
                continue
            after = self.living()
            self.samples.append(Sample(asked, findings, plans, frozenset(before & after)))
            before = after


def _is(finding: dict, code: str, subject: str, severity: str) -> bool:
    return re.fullmatch(code, finding["code"]) is not None and severity in ("", finding["severity"]) and (
        not subject or any(said == subject or (min(len(said), len(subject)) == 4 and said[:4] == subject[:4]) for said in finding["subjects"]))


def _steps(finding: dict) -> str:
    """What somebody is told to do."""
    advice = finding["advice"] or {}
    return " ".join([advice.get("text") or "", *(advice.get("command") or [])])


def _text(finding: dict) -> str:
    return "\n".join([finding["summary"], *(f"{one['by']}: {one['says']}" for one in finding["evidence"]), _steps(finding)])


# The files of the servers.

def records(file: Path) -> list[dict]:
    """The records of a clustered database: a line with length and digest, and one of JSON."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1::2]]


def rewrite(file: Path, rows: list[dict]) -> None:
    """As an editor of the file would, with the digests made anew."""
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in rows]
    file.write_text("".join(f"OVSDB CLUSTER {len(line)} {hashlib.sha1(line.encode()).hexdigest()}\n{line}" for line in lines), encoding="utf-8")


def put_header(cluster: Cluster, number: int, **header) -> None:
    """The member's database is lost, and one is made from a header that was kept: what it is, whom it dials, of which cluster."""
    cluster.kill(number)
    base = {"name": cluster.database.name, "local_address": cluster.address(number)}
    rewrite(cluster.file(number), [{**base, **header}])


def alone(cluster: Cluster, number: int, term: int, index: int, with_others: tuple[int, ...] = ()) -> None:
    """The member gets a broken snapshot: it lists itself, and those `with_others`, of a log that ends at `index`."""
    ids = {one: cluster.view(one).server_id for one in (number, *with_others)}
    for one in ids:
        cluster.kill(one)
    for one in ids:
        header = records(cluster.file(one))[0]
        header |= {"prev_servers": {ids[other]: cluster.address(other) for other in ids}, "prev_term": term, "prev_index": index}
        rewrite(cluster.file(one), [header, *([{"term": term}] if term else [])])
    for one in ids:
        cluster.start(one)


def nowhere(cluster: Cluster) -> str:
    """A raft address where nobody is."""
    return f"{cluster.scheme}:{cluster.network.subnet}.99:{cluster.database.raft_port}"


@contextmanager
def scenes(lab: Lab, folder: Path) -> Iterator[Callable[..., Scene]]:
    """Makes scenes, and ends them."""
    made: list[Scene] = []

    def make(policy: str = OBSERVES, healthy: bool = True, **more) -> Scene:
        made.append(Scene(lab, folder, policy, **more))
        if healthy:
            made[-1].agent.wait_healthy()
        return made[-1]

    try:
        yield make
    finally:
        for scene in made:
            scene.end()
