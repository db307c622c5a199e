"""The OpenAPI file in the hands of others: a real validator takes it, and a client that a real generator makes of it asks a running
agent for everything. openapi-typescript and redocly are installed into the build folder, in the versions of tests/client."""

import fcntl
import json
import os
import shutil
import socket
import subprocess

import pytest

from lab.processes import wait_until
from openapi import Answer, OpenApi
from tools.agent import ROOT, Agent

CLIENT = ROOT / "tests/client"
FOLDER = ROOT / "build/client"


def run(*argv, cwd=FOLDER) -> str:
    # npm trusts its own list only; behind a proxy of one's own the system's list counts too.
    environment = {"NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt", **os.environ}
    done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def tools():
    """What tests/client needs, in build/client; as long as the versions are the same it stays."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (CLIENT / "package-lock.json").read_bytes()
        installed = FOLDER / "installed.json"
        for file in CLIENT.iterdir():
            shutil.copy(file, FOLDER)
        if not installed.exists() or installed.read_bytes() != wanted:
            run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
            installed.write_bytes(wanted)
        yield FOLDER / "node_modules"


@pytest.fixture
def agent(tmp_path):
    """One that has something of everything: a cluster, a check that fails, an incident, a receiver, a reporter, a mesh that is down."""
    goes = socket.create_server(("127.0.0.1", 0), backlog=1024)
    config = tmp_path / "wardmote.yaml"
    config.write_text(f"""
api: {{socket: {tmp_path}/api.sock}}
clusters:
  - {{name: ovn-nb, ovn: {{database: OVN_Northbound, members: [{{name: ctl-1, control: {tmp_path}/none.ctl}}]}}}}
checks:
  - {{name: gone, tcp: {{address: 127.0.0.1:{goes.getsockname()[1]}}}, every: 200ms, fall: 1}}
  - {{name: r1, bird: {{socket: {tmp_path}/r1.ctl}}, every: 200ms}}
  - {{name: r2, bird: {{socket: {tmp_path}/r2.ctl}}, every: 200ms}}
meshes: [{{name: bgp, members: [{{check: r1}}, {{check: r2}}]}}]
reporters: [{{name: worker}}]
notify:
  receivers: [{{name: journal, log: {{}}}}]
""", encoding="utf-8")
    with Agent(config, tmp_path / "api.sock") as running:
        running.wait_serving()
        wait_until(lambda: running.get("/readyz/gone")[0] == 200, 10.0, "the check to be good")
        goes.close()
        wait_until(lambda: "check:gone" in {one["root"] for one in running.json("/api/v1/incidents")["incidents"]}, 20.0, "the incident")
        wait_until(lambda: "mesh" in {key for one in running.json("/api/v1/findings")["findings"] for key in one}, 40.0,
                   "a finding of the mesh")
        yield running


def test_a_real_validator_takes_the_file(tools):
    run("node", "lint.js", ROOT / "src/serve/openapi.json")
    broken = json.loads((ROOT / "src/serve/openapi.json").read_text(encoding="utf-8"))
    del broken["info"]["version"]
    (FOLDER / "broken.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(AssertionError, match="version"):
        run("node", "lint.js", "broken.json")


def test_a_generated_client_asks_everything(tools, agent):
    (FOLDER / "openapi.json").write_text(agent.get("/api/v1/openapi.json")[1], encoding="utf-8")
    run("node", tools / "openapi-typescript/bin/cli.js", "openapi.json", "-o", "schema.d.ts")
    run("node", tools / "typescript/bin/tsc", "-p", ".")
    *answers, described = map(json.loads, run("node", "out/everything.js", str(agent.api_socket)).splitlines())

    api = OpenApi(described["described"])
    operations = {(one.method, one.path): one for one in api.operations}
    for answer in answers:
        operation = operations[answer["method"], answer["path"]]
        held_back = operation.path in ("/readyz", "/readyz/{check}", "/liveness", "/readiness")
        assert 200 <= answer["status"] < 300 or held_back or answer["made_up"], answer
        text = answer["body"] if isinstance(answer["body"], str) else json.dumps(answer["body"])
        headers = {"content-type": answer["type"]}
        api.check(operation, Answer(answer["status"], headers, text))
    left_out = operations.keys() - {(one["method"], one["path"]) for one in answers}
    assert not left_out, f"tests/client/everything.ts does not ask for {left_out}"
