"""The script for `copy` and `report` that docs/plans.md shows, beside a real ovsdb-server."""

import json
import re
import subprocess

import pytest

from lab.packages import fetch
from lab.ports import free_port
from lab.processes import start, wait_until
from tools.agent import ROOT

PLACE = "/var/lib/ovn/ovnnb_db.db"


@pytest.fixture
def host(tmp_path):
    """A member's host: its database, the script of the docs, and a way to start its server."""
    tools = fetch(ROOT / "build/lab/x")
    return Host(tools, tmp_path)


class Host:
    def __init__(self, tools, folder):
        self.folder, self.tools, self.environment = folder, tools, tools.environment()
        self.environment["PATH"] = f"{tools.root}/usr/bin:{self.environment['PATH']}"
        self.file = folder / "ovnnb_db.db"
        schema = tools.root / "usr/share/ovn/ovn-nb.ovsschema"
        subprocess.run([tools.tool, "create-cluster", self.file, schema, f"tcp:127.0.0.1:{free_port()}"], check=True, env=self.environment)
        page = (ROOT / "docs/plans.md").read_text(encoding="utf-8")
        script = re.search(r"```sh\n(#!/bin/sh\n.*?)```", page, re.DOTALL)[1]
        assert PLACE in script
        self.script = folder / "copy"
        self.script.write_text(script.replace(PLACE, str(self.file)), encoding="utf-8")
        self.script.chmod(0o755)

    def ask(self, step: str) -> dict:
        told = json.dumps({"plan": 1, "step": step, "member": "ctl-3"}, separators=(",", ":")) + "\n"
        ran = subprocess.run([self.script], input=told, capture_output=True, text=True, check=True, env=self.environment)
        return json.loads(ran.stdout.splitlines()[-1])

    def says(self, what: str) -> str:
        return subprocess.run([self.tools.tool, what, self.file], capture_output=True, text=True, check=True, env=self.environment).stdout.strip()

    def copies(self) -> list:
        return list(self.folder.glob("*.aside-*"))

    def serve(self):
        return start([self.tools.server, f"--remote=punix:{self.folder}/db.sock", f"--unixctl={self.folder}/db.ctl", str(self.file)],
                     self.environment, self.folder / "server.log")


def test_the_script_of_the_docs_says_what_is_true(host):
    told = host.ask("copy_database")
    assert told == {"running": False, "server": host.says("db-sid"), "cluster": host.says("db-cid")}
    assert [copy.read_bytes() for copy in host.copies()] == [host.file.read_bytes()]
    server = host.serve()
    try:
        wait_until(lambda: (host.folder / "db.ctl").exists(), 10.0, "the server")
        assert host.ask("report")["running"] is True
    finally:
        server.kill()
    assert host.ask("report")["running"] is False
    assert len(host.copies()) == 1, "a report copies nothing"


def test_the_script_of_the_docs_fails_when_it_cannot_copy(host):
    host.file.unlink()
    told = json.dumps({"step": "copy_database"}) + "\n"
    assert subprocess.run([host.script], input=told, capture_output=True, text=True, check=False, env=host.environment).returncode != 0
