"""Random worlds of real ovsdb-servers that know who lives, under an agent that may remove servers."""

import random
import re
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab import faults
from lab.instance import Lab
from lab.processes import Process
from lab.wire import WireError
from tools.agent import Agent

GONE_AFTER = 10.0
# A server that begins or ends in the moment of a look is neither.
MOMENT = 1.0
KICK = re.compile(r"cluster/kick \S+ ([0-9a-f-]{4,36})")
POLICY = "on: [RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER], mode: act, sole: true, approval: false, after: 1s, cooldown: 0s"


@dataclass
class Life:
    """A server by its id, from before it was started to when its process ended; and when its database was lost."""

    ident: str
    address: str
    born: float
    process: Process
    died: float | None = None
    lost: float | None = None

    def lives(self, at: float) -> bool:
        return self.born <= at - MOMENT and (self.died is None or self.died > at + MOMENT)

    def can_come_back(self, at: float) -> bool:
        """It ended too short a time ago for anybody to say that it is gone."""
        return (self.died is not None and self.born <= at and self.died <= at < self.died + GONE_AFTER - MOMENT
                and (self.lost is None or self.lost > at))


@dataclass
class Named:
    """Somebody would have the server removed."""

    at: float
    ident: str
    by: str


@dataclass
class World:
    lab: Lab
    folder: Path
    seed: int
    lives: list[Life] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    story: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.cluster = self.lab.clusters["nb"]
        self.chance = random.Random(self.seed)
        self.hidden: set[int] = set()
        (self.folder / "data").mkdir()
        self.began = time.monotonic()
        self.config = self.folder / "wardmote.yaml"
        for number in self.cluster.members:
            self.note(number, self.began - MOMENT)
        self.write_config()
        self.agent = self.run()
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def run(self) -> Agent:
        agent = Agent(self.config, self.lab.api_socket)
        agent.wait_serving()
        return agent

    def write_config(self) -> None:
        lines = self.lab.write_config().read_text(encoding="utf-8").splitlines()
        hidden = [f"name: {self.cluster.members[number].name}," for number in self.hidden]
        lines = [line for line in lines if not any(one in line for one in hidden)]
        lines.insert(lines.index("    every: 1s"), f"      gone_after: {GONE_AFTER:.0f}s")
        lines += [f"data: {self.folder}/data", "policies:", f"  - {{name: repair, {POLICY}}}"]
        self.config.write_text("\n".join(lines) + "\n", encoding="utf-8")

    # Who lives.

    def note(self, number: int, born: float) -> None:
        """A server was started; which one it is."""
        member = self.cluster.members[number]
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                view = self.cluster.view(number)
            except WireError:
                time.sleep(0.1)
                continue
            address = re.search(r"^Address: (\S+)", view.text, re.M)
            self.lives.append(Life(view.server_id, address[1] if address else "", born, member.process))
            return

    def ended(self, number: int, lost: bool = False) -> None:
        """Its process was ended."""
        now = time.monotonic()
        for life in self.lives:
            if life.process == self.cluster.members[number].process:
                life.died = life.died or now
                life.lost = life.lost or (now if lost else None)

    def is_up(self, number: int) -> bool:
        process = self.cluster.members[number].process
        return process is not None and process.alive()

    # Who is named.

    def watch(self) -> None:
        seen = 0
        while not self.over.wait(0.15):
            for seq, detail in self.intents(seen):
                seen = seq
                for ident in re.findall(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{4}\b", detail):
                    self.named.append(Named(time.monotonic(), ident, f"intent: {detail}"))
            try:
                begun = time.monotonic()
                status, answer = self.agent.get("/api/v1/findings")
            except Exception:  # noqa: BLE001 - it is being restarted
                continue
            if status == 200:
                self.named += [Named(begun, ident, f"advice: {answer[max(0, answer.find(ident) - 200):answer.find(ident) + 60]}")
                               for ident in set(KICK.findall(answer))]

    def intents(self, since: int) -> list[tuple[int, str]]:
        try:
            with sqlite3.connect(f"file:{self.folder}/data/wardmote.db?mode=ro", uri=True, timeout=0.2) as database:
                return database.execute("SELECT seq, subject || ' ' || detail FROM journal WHERE kind = 'intent' AND step = 'kick' AND seq > ? ORDER BY seq",
                                        (since,)).fetchall()
        except sqlite3.Error:
            return []

    def wrong(self) -> list[str]:
        """What was said of a server that lived, or that could come back where nobody else is."""
        found = []
        for one in self.named:
            for life in self.lives:
                if not life.ident.startswith(one.ident[:8] if len(one.ident) > 4 else one.ident):
                    continue
                if life.lives(one.at):
                    found.append(f"{life.ident} lives, {one.at - self.began:.1f} s: {one.by}")
                elif life.can_come_back(one.at) and not any(other.address == life.address and other.lives(one.at) for other in self.lives):
                    found.append(f"{life.ident} ended {one.at - life.died:.1f} s before, {one.at - self.began:.1f} s: {one.by}")
        return sorted(set(found))

    # What happens.

    def play(self, steps: int) -> None:
        for _ in range(steps):
            what = self.chance.choice(self.possible())
            number = self.chance.choice(list(self.cluster.members))
            self.story.append(f"{time.monotonic() - self.began:.1f} s {what.__name__} {number}")
            try:
                what(self, number)
            except (WireError, TimeoutError, StopIteration, RuntimeError) as error:
                self.story.append(f"  {type(error).__name__}: {error}")
            time.sleep(self.chance.choice([0.2, 1, 4, 8, 14]))

    def possible(self) -> list:
        """A cluster that can do nothing lets nobody be removed, so it is spared while it has troubles enough."""
        views = self.cluster.views()
        well = [view for view in views.values() if view.status == "cluster member" and view.leader != "unknown"]
        if len(self.cluster.members) - len(well) > 1:
            return MENDS
        ghosts = max((len(view.servers) for view in well), default=0) > len(self.cluster.members)
        return HARMLESS if ghosts and self.chance.random() < 0.9 else HAPPENINGS

    def start(self, number: int) -> None:
        born = time.monotonic()
        self.cluster.start(number)
        self.note(number, born)

    def end(self) -> None:
        self.over.set()
        self.watcher.join()
        self.agent.process.kill()
        self.agent.process.wait()


def stops(world: World, number: int) -> None:
    if world.is_up(number):
        world.cluster.kill(number)
        world.ended(number)


def starts(world: World, number: int) -> None:
    if not world.is_up(number):
        world.start(number)


def hangs(world: World, number: int) -> None:
    world.cluster.pause(number)


def goes_on(world: World, number: int) -> None:
    for one in world.cluster.members:
        world.cluster.resume(one)


def is_wiped(world: World, number: int) -> None:
    """And joins again at its address, unless nobody takes it in."""
    stops(world, number)
    world.ended(number, lost=True)
    born = time.monotonic()
    try:
        faults.wipe_and_rejoin(world.cluster, number)
    finally:
        if world.is_up(number):
            world.note(number, born)


def is_overtaken(world: World, number: int) -> None:
    """Another server joins with its address."""
    cluster = world.cluster
    if len(cluster.members) >= 5 or world.lab.network.hosts <= max(member.host for member in cluster.members.values()):
        return
    born = time.monotonic()
    try:
        cluster.add_at(cluster.address(number))
    finally:
        last = max(cluster.members)
        if world.is_up(last):
            world.note(last, born)
        world.write_config()


def loses_its_address(world: World, number: int) -> None:
    """Its host's address moves to the host of the newest member."""
    last = max(world.cluster.members)
    if last != number:
        world.lab.network.move_address(world.cluster.members[number].host, world.cluster.members[last].host)


def is_cut_from_the_leader(world: World, number: int) -> None:
    faults.cut_from_leader(world.cluster, number)


def is_cut_off(world: World, number: int) -> None:
    faults.cut_off(world.cluster, number)


def heals(world: World, number: int) -> None:
    for one in world.cluster.members:
        faults.heal(world.cluster, one)


def is_detached(world: World, number: int) -> None:
    faults.detach(world.cluster, number)


def is_kicked_by_its_operator(world: World, number: int) -> None:
    faults.kick(world.cluster, number)


def is_hidden(world: World, number: int) -> None:
    """The agent is not told of it, or of all again."""
    world.hidden = set() if world.hidden else {number}
    world.write_config()
    world.agent.cli("reload")


def the_agent_is_killed(world: World, number: int) -> None:
    world.agent.process.kill()
    world.agent.process.wait()
    world.agent = world.run()


def the_agent_forgets(world: World, number: int) -> None:
    world.agent.process.kill()
    world.agent.process.wait()
    for file in (world.folder / "data").iterdir():
        file.unlink()
    world.agent = world.run()


def the_agent_stands_still(world: World, number: int) -> None:
    pid = Process.of(world.agent.process.pid)
    pid.send(19)
    time.sleep(world.chance.choice([2, 8, 20]))
    pid.send(18)


def start(world: World, number: int) -> None:
    """Whoever is down."""
    for one in world.cluster.members:
        starts(world, one)


AGENTS = [the_agent_is_killed, the_agent_is_killed, the_agent_forgets, the_agent_stands_still, is_hidden]
MENDS = 4 * [start, start, goes_on, heals, heals] + AGENTS
HARMLESS = 2 * [stops, start, start, hangs, goes_on, goes_on, heals, heals, loses_its_address, is_cut_from_the_leader] + AGENTS
HAPPENINGS = [stops, stops, stops, starts, hangs, hangs, goes_on, *6 * [is_wiped], is_overtaken, is_overtaken, loses_its_address,
              loses_its_address, is_cut_from_the_leader, is_cut_off, heals, is_detached, is_kicked_by_its_operator, *AGENTS]
