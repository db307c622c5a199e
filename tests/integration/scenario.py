"""Reads ovn-faults.yaml and holds what an agent says against it."""

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from lab.ovn import Cluster

FILE = Path(__file__).with_name("ovn-faults.yaml")
DEFAULT_CLEAR = 4.0
DEFAULT_WATCH = 5.0


@dataclass(frozen=True)
class Row:
    """One expected or allowed finding."""

    code: str
    severity: str
    subject: str = ""
    by: float = 0.0
    raft: float = 0.0
    kick: str = ""
    until: float = 0.0
    why: str = ""

    def __str__(self) -> str:
        return f"{self.severity} {self.code}" + (f" of {self.subject}" if self.subject else "")


@dataclass(frozen=True)
class Step:
    do: tuple[str, ...]
    expect: tuple[Row, ...]
    may: tuple[Row, ...]
    spared: tuple[str, ...]
    clear: float
    watch: float
    status: int

    @property
    def settled(self) -> float:
        """The second from which only what is expected may stand."""
        return max([self.clear, *(row.by for row in self.expect), *(row.until for row in self.may)])


@dataclass(frozen=True)
class Scenario:
    name: str
    why: str
    steps: tuple[Step, ...]


def load() -> list[Scenario]:
    with open(FILE, encoding="utf-8") as file:
        rows = yaml.safe_load(file)["scenarios"]
    return [Scenario(row["name"], row["why"], _steps(row["steps"])) for row in rows]


def _steps(rows: list[dict]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for row in rows:
        row = dict(row)
        expect = tuple(Row(**one) for one in row.pop("expect"))
        may = tuple(Row(**one) for one in row.pop("may", []))
        nothing_before = not steps or not steps[-1].expect
        steps.append(Step(tuple(row.pop("do", ())), expect, may, tuple(row.pop("spared", ())),
                          row.pop("clear", 0.0 if nothing_before else DEFAULT_CLEAR), row.pop("watch", DEFAULT_WATCH),
                          row.pop("status")))
        if row:
            raise ValueError(f"{FILE.name}: unknown keys {sorted(row)}")
    return tuple(steps)


@dataclass
class Cast:
    """Who is who: the leader and the followers as they were at the start, and all their names then and now."""

    cluster: Cluster
    numbers: dict[str, int]
    first_ids: dict[str, str] = field(default_factory=dict)
    first_addresses: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def of(cluster: Cluster) -> "Cast":
        leader, followers = cluster.leader(), cluster.followers()
        cast = Cast(cluster, {"leader": leader, "f1": followers[0], "f2": followers[1]})
        cast.look()
        cast.first_ids = dict(cast.ids)
        cast.first_addresses = {who: cluster.address(number) for who, number in cast.numbers.items()}
        return cast

    def look(self) -> None:
        """Learns the ids of those who answer."""
        views = self.cluster.views()
        for who, number in self.numbers.items():
            if number in views and views[number].server_id:
                self.ids[who] = views[number].server_id

    def name(self, who: str) -> str:
        return self.cluster.members[self.numbers[who]].name

    def names(self, subject: str) -> list[str]:
        """What a finding may call the subject; see ovn-faults.yaml."""
        kind, _, who = subject.rpartition(" ")
        if kind == "old":
            return [self.first_ids[who]]
        if kind == "address":
            return [self.first_addresses[who]]
        return [self.name(who), self.ids.get(who, self.name(who)), self.cluster.address(self.numbers[who])]


def same_name(a: str, b: str) -> bool:
    """Equal, or one the four digits that the other begins with."""
    return a == b or (min(len(a), len(b)) == 4 and a[:4] == b[:4] and max(len(a), len(b)) == 36)


def matches(finding: dict, row: Row, cast: Cast) -> bool:
    if finding["code"] != row.code or finding["severity"] != row.severity:
        return False
    return not row.subject or any(same_name(said, name) for said in finding["subjects"] for name in cast.names(row.subject))


def describe(finding: dict) -> str:
    return f"{finding['severity']} {finding['code']} {finding['subjects']}: {finding['summary']} {finding['evidence']}"


@dataclass(frozen=True)
class Sample:
    at: float  # when it was asked for: seconds after the step's fault took effect; negative while it was being done
    findings: list[dict]  # of warning or above


def judge(step: Step, before: Step | None, samples: list[Sample], cast: Cast) -> list[str]:
    """Everything that is not as the file says."""
    wrong: list[str] = []
    for sample in samples:
        for finding in sample.findings:
            allowed = [row for row in step.expect if matches(finding, row, cast)]
            allowed += [row for row in step.may if sample.at <= row.until and matches(finding, row, cast)]
            if before is not None and sample.at <= step.clear:
                allowed += [row for row in before.expect if matches(finding, row, cast)]
            if not allowed:
                wrong.append(f"{sample.at:5.1f} s: not expected: {describe(finding)}")
            wrong += [f"{sample.at:5.1f} s: advises to remove {who}, which lives: {finding['advice']['command']}"
                      for who in step.spared if _kicks(finding, cast.names(who))]
    for row in step.expect:
        lapses = [sample.at for sample in samples
                  if sample.at > row.by and not any(matches(finding, row, cast) for finding in sample.findings)]
        if lapses:
            wrong.append(f"{row}: expected by {row.by:g} s, not said at {', '.join(f'{at:.1f}' for at in lapses[:5])} s")
    last = samples[-1].findings
    if len(last) > len(step.expect):
        wrong.append(f"said more than once: {[finding['code'] for finding in last]}")
    wrong += [problem for row in step.expect for problem in _advice(row, last, cast)]
    return list(dict.fromkeys(wrong))


def _kicks(finding: dict, names: list[str]) -> bool:
    command = (finding["advice"] or {}).get("command") or []
    return "cluster/kick" in command and any(same_name(word, name) for word in command for name in names)


def _advice(row: Row, findings: list[dict], cast: Cast) -> list[str]:
    found = [finding for finding in findings if matches(finding, row, cast)]
    if not row.kick or not found:
        return []
    advice = found[0]["advice"] or {"command": [], "run_on": None}
    if row.kick == "none":
        return [f"{row}: advises {advice['command']}, which cannot work"] if advice["command"] else []
    problems = []
    if not _kicks(found[0], cast.names(row.kick)):
        problems.append(f"{row}: should advise to kick {row.kick} {cast.names(row.kick)}, not {advice['command']}")
    leader = cast.cluster.members[cast.cluster.leader()].name
    if advice["run_on"] != leader:
        problems.append(f"{row}: the kick is for the leader {leader}, not {advice['run_on']}")
    return problems
