"""A real cluster, an agent with policies on it, and its journal: what the tests of plans share."""

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

from lab import faults
from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import ROOT, Agent, programs

GHOSTS = "on: [RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER], mode: act, sole: true, approval: false, after: 1s"
REBUILD = "on: [RAFT_MEMBER_DOWN], mode: act, sole: true, approval: true, after: 1s, cooldown: 0s"


class Site:
    """A healthy cluster, and an agent with policies."""

    def __init__(self, lab: Lab, folder: Path, policy: str, kick_ends_with: int | None = None):
        """`kick_ends_with`: the members are asked by a command, which kicks as it is told and then ends with this."""
        self.lab, self.cluster, self.folder = lab, lab.clusters["nb"], folder
        (folder / "data").mkdir(exist_ok=True)
        lines = lab.write_config().read_text(encoding="utf-8").splitlines()
        out = []
        for line in lines:
            out.append(line)
            if line.lstrip().startswith("- {name:") and "control:" in line:
                name = line.split("name:")[1].split(",")[0].strip()
                if kick_ends_with is not None:
                    line = re.sub(r"control: [^,}]+", f"control: {{command: [{self.broken_way(name, kick_ends_with)}]}}", line)
                out[-1] = line.rstrip()[:-1] + f", repair: {{copy: {{command: [{self.script(name, 'copy')}]}}," \
                    f" rejoin: {{command: [{self.script(name, 'rejoin')}]}}, timeout: 20s}}}}"
        out += [f"data: {folder}/data", "policies:", f"  - {{name: repair, {policy}}}"]
        self.config = folder / "wardmote.yaml"
        self.config.write_text("\n".join(out) + "\n", encoding="utf-8")
        self.agent = self.run()

    def run(self) -> Agent:
        return Agent(self.config, self.lab.api_socket)

    def script(self, name: str, what: str) -> Path:
        """What an operator would install on the member's host."""
        number = next(number for number, member in self.cluster.members.items() if member.name == name)
        path = self.folder / f"{what}-{name}"
        program = ROOT / "tests/integration/rebuild_member.py"
        path.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(program), what, str(self.folder), str(number)])}\n",
                        encoding="utf-8")
        path.chmod(0o755)
        tools = self.cluster.tools
        member = self.cluster.members[number]
        (self.folder / f"member-{number}.json").write_text(json.dumps({
            "file": str(self.cluster.file(number)), "database": self.cluster.database.name, "address": self.cluster.address(number),
            "stop": [tools.appctl, "-t", str(self.cluster.control(number)), "exit"], "tool": tools.tool, "environment": dict(tools.environment()),
            "inside": self.cluster.network.inside(member.host),
            "server": [tools.server, "--no-chdir", "-vconsole:off", f"--log-file={self.cluster.log(number)}",
                       f"--unixctl={self.cluster.control(number)}", f"--remote=punix:{self.cluster.socket(number)}"]}), encoding="utf-8")
        return path

    def broken_way(self, name: str, status: int) -> Path:
        """As ssh to a host whose connection breaks when the work is done."""
        number = next(number for number, member in self.cluster.members.items() if member.name == name)
        tools = self.cluster.tools
        path = self.folder / f"appctl-{name}"
        exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in tools.environment().items())
        ask = shlex.join([tools.appctl, "-t", str(self.cluster.control(number))])
        path.write_text(f'#!/bin/sh\n{exports}{ask} "$@"\nended=$?\n[ "$1" = cluster/kick ] && exit {status}\nexit $ended\n',
                        encoding="utf-8")
        path.chmod(0o755)
        return path

    def configure(self, old: str, new: str) -> None:
        """Changes the configuration, and has the agent go over to it."""
        text = self.config.read_text(encoding="utf-8")
        assert old in text, (old, text)
        self.config.write_text(text.replace(old, new), encoding="utf-8")
        done = self.agent.cli("reload")
        assert done.returncode == 0, done

    def rows(self) -> list[tuple]:
        """What the journal holds, read beside the agent."""
        return self._read("SELECT kind, step, detail FROM journal ORDER BY seq")

    def keys(self) -> set[str]:
        """What is written down, by key."""
        return {key for key, in self._read("SELECT key FROM store_kv")}

    def _read(self, statement: str) -> list[tuple]:
        try:
            with sqlite3.connect(f"file:{self.folder}/data/wardmote.db?mode=ro", uri=True) as database:
                return database.execute(statement).fetchall()
        except sqlite3.OperationalError:
            return []

    def has(self, kind: str, step: str) -> bool:
        return any(row[:2] == (kind, step) for row in self.rows())

    def plans(self, which: str = "?all=true") -> list[dict]:
        return self.agent.json("/api/v1/plans" + which)["plans"]

    def state(self) -> str:
        return self.plans()[-1]["state"] if self.plans() else ""

    def wait_proposed(self) -> None:
        """Until a plan waits that is written down, too: one that is only shown ends with an agent that is killed."""
        wait_until(lambda: self.state() == "proposed" and self.has("proposed", ""), 30.0, "the plan")

    def wait_unhindered(self, seconds: float) -> None:
        """Until nothing but somebody's approval holds the first plan back."""
        last: list[dict] = []

        def is_free() -> bool:
            last[:] = self.plans()
            return bool(last) and last[0]["reason"] is None
        try:
            wait_until(is_free, seconds, "a plan that nothing holds back")
        except TimeoutError as late:
            findings = [one["code"] for one in self.agent.json("/api/v1/findings")["findings"]]
            raise TimeoutError(f"{late}; plans {[(one['id'], one['state'], one['reason']) for one in last]}, findings {findings}") from late

    def kill_agent(self) -> None:
        self.agent.process.kill()
        self.agent.process.wait()

    def wait_finding(self, code: str) -> None:
        wait_until(lambda: any(one["code"] == code for one in self.agent.json("/api/v1/findings")["findings"]), 30.0, code)

    def look_on(self, looks: int = 3) -> None:
        """Time enough for a plan that must not come."""
        self.agent.look_on(looks)

    def wipe_and_rejoin(self, number: int) -> None:
        """As a person does it: the agent has seen the loss before another server comes to its place."""
        faults.wipe_and_rejoin(self.cluster, number, lambda: self.agent.wait_lost(self.cluster.members[number].name))

    def verify(self) -> subprocess.CompletedProcess:
        return self._journal("verify")

    def exported(self) -> list[dict]:
        """The rows as `wardmoted journal export` gives them away."""
        done = self._journal("export")
        assert done.returncode == 0, done
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _journal(self, verb: str) -> subprocess.CompletedProcess:
        return subprocess.run([programs() / "wardmoted", "journal", verb, f"{self.folder}/data"], capture_output=True, text=True,
                              timeout=10, check=False)

    def whole(self) -> bool:
        views = self.cluster.views()
        return len(views) == 3 and all(len(view.servers) == 3 and view.status == "cluster member" for view in views.values())

    def starts(self, number: int) -> int:
        """How often the member was rebuilt."""
        path = self.folder / f"rejoined-{number}"
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    def end(self) -> None:
        self.kill_agent()
        for path in self.folder.glob("server-*.pid"):
            try:
                os.kill(int(path.read_text(encoding="utf-8")), 9)
            except ProcessLookupError:
                pass


def damage(site: Site) -> int:
    """A follower dies and its database is no database any more."""
    number = site.cluster.followers()[0]
    site.cluster.kill(number)
    with open(site.cluster.file(number), "r+b") as file:
        file.write(b"\0" * 512)
    return number
