"""The API of a running agent: every answer is what its OpenAPI file says, and everybody may do what his role may, no more."""

import http.client
import json
import os
import socket
import subprocess
import time
import urllib.parse

import jsonschema
import pytest

from lab.instance import Lab
from lab.processes import wait_until
from openapi import ROLES, Answer, Client, OpenApi
from tools.agent import Agent

TOKENS = {role: f"{role}-token-0123456789abcdef" for role in ROLES[1:]}


class Served:
    """An agent that watches a real cluster and something that is not there, and the ways to ask it."""

    def __init__(self, agent: Agent, port: int):
        self.agent, self.port = agent, port
        self.api = OpenApi(json.loads(self.local("GET", "/api/v1/openapi.json", [], {}).body))

    def local(self, method: str, path: str, query: list, headers: dict) -> Answer:
        connection = http.client.HTTPConnection("localhost", timeout=5)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(5)
        connection.sock.connect(str(self.agent.api_socket))
        return self._ask(connection, method, path, query, headers)

    def remote(self, role: str):
        def send(method: str, path: str, query: list, headers: dict) -> Answer:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            if role != "none":
                headers = {**headers, "Authorization": f"Bearer {TOKENS[role]}"}
            return self._ask(connection, method, path, query, headers)

        return send

    @staticmethod
    def _ask(connection: http.client.HTTPConnection, method: str, path: str, query: list, headers: dict) -> Answer:
        target = urllib.parse.quote(path) + ("?" + urllib.parse.urlencode(query) if query else "")
        body = None if method in ("GET", "DELETE") else "{}"
        connection.request(method, target, body, {"Content-Type": "application/json"} | headers)
        response = connection.getresponse()
        got = {name.lower(): value for name, value in response.getheaders()}
        endless = got["content-type"] == "text/event-stream"
        text = "" if endless else response.read().decode()
        connection.close()
        return Answer(response.status, got, text)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    tokens = []
    for role, token in TOKENS.items():
        file = folder / f"{role}.token"
        file.write_text(token + "\n", encoding="ascii")
        file.chmod(0o600)
        tokens.append(f"{{name: {role}, role: {role}, file: {file}}}")
    port = free_port()
    with Lab.up(f"api-{os.getpid()}", ["nb"], transient=True) as lab:
        text = lab.write_config().read_text(encoding="utf-8")
        api = f"api:\n  socket: {folder}/api.sock\n  listen: 127.0.0.1:{port}\n  anonymous: none\n  tokens: [{', '.join(tokens)}]\n"
        text = api + "\n".join(line for line in text.splitlines() if not line.startswith("api:")) + "\n"
        text += "checks:\n  - {name: nobody, tcp: {address: 127.0.0.1:1}, every: 1s, optional: true}\n"
        config = folder / "wardmote.yaml"
        config.write_text(text, encoding="utf-8")
        with Agent(config, folder / "api.sock") as agent:
            agent.wait_serving()
            wait_until(lambda: agent.json("/api/v1/status")["clusters"][0]["verdict"] == "ok", 30.0, "the cluster to be well")
            yield Served(agent, port), lab


def test_the_file_is_valid_openapi(served):
    assert served[0].api.problems() == []


def test_every_route_is_described_with_its_role_and_no_other(served):
    routes = served[0].agent.json("/debug/routes")["routes"]
    real = {(route["method"], route["path"], route["role"], route["local"]) for route in routes}
    described = {(one.method, one.path, one.role, one.local) for one in served[0].api.operations}
    assert real == described


NAMES = {"name": "ovn-nb", "check": "ovn-nb"}


def arguments(operation) -> dict:
    return {one["name"]: NAMES[one["name"]] for one in operation.parameters if one["in"] == "path" and one["name"] in NAMES}


def test_a_client_made_of_the_file_reads_everything(served):
    agent, _ = served
    client = Client(agent.api, agent.local)
    for operation in agent.api.operations:
        if operation.method == "GET":
            getattr(client, operation.name)(**arguments(operation))
    assert client.getCluster(name="none").status == 404
    assert client.readyz(verbose="").body.endswith("readyz check passed\n")
    assert client.readyz(exclude=["ovn-nb", "typo"]).body == "ok"
    assert client.livezCheck(check="ping").body == "ok"


def test_a_matrix_of_roles_and_operations(served):
    agent, _ = served
    for role in ROLES:
        send = agent.remote(role)
        for operation in agent.api.operations:
            if operation.method != "GET":
                continue  # an order that is let in would be carried out: see the unit tests of admission
            path = operation.path
            for name, value in arguments(operation).items():
                path = path.replace(f"{{{name}}}", value)
            answer = send(operation.method, path, [], {})
            may = ROLES.index(role) >= ROLES.index(operation.role)
            expected = 404 if operation.local else 200 if may else 401 if role == "none" else 403
            if operation.local or operation.path == "/livez/{check}":
                assert answer.status in (404, 401), (role, operation.name)
                continue
            if "{id}" in operation.path and may:
                expected = 404  # there is no incident and no plan
            assert answer.status == expected, (role, operation.name, answer.body)
            agent.api.check(operation, answer)


def test_orders_need_their_role(served):
    agent, _ = served
    for operation in agent.api.operations:
        if operation.method == "GET":
            continue
        for role in ROLES[:ROLES.index(operation.role)]:
            answer = agent.remote(role)(operation.method, operation.path, [], {})
            assert answer.status == (401 if role == "none" else 403), (role, operation.name)
            agent.api.check(operation, answer)


def test_what_is_not_in_the_file_is_noticed(served):
    agent, _ = served
    status = agent.agent.json("/api/v1/status")
    schema = agent.api.document["components"]["schemas"]["Status"]
    agent.api.check_value(schema, status)
    for wrong in ({**status, "new": 1}, {**status, "verdict": "fine"}, {key: status[key] for key in status if key != "at"}):
        with pytest.raises(jsonschema.ValidationError):
            agent.api.check_value(schema, wrong)


def test_errors_are_described_too(served):
    agent, _ = served
    status = next(one for one in agent.api.operations if one.name == "getStatus")
    for headers, expected in (({}, 401), ({"Authorization": "Bearer wrong-0123456789abcdef"}, 401)):
        answer = agent.remote("none")("GET", "/api/v1/status", [], headers)
        assert answer.status == expected
        agent.api.check(status, answer)
    error = agent.api.document["components"]["schemas"]["Error"]
    for method, path in (("GET", "/nothing"), ("POST", "/api/v1/status"), ("GET", "/debug/tasks")):
        answer = agent.remote("viewer")(method, path, [], {})
        assert answer.status in (404, 405)
        agent.api.check_value(error, json.loads(answer.body))


def test_the_matrix_holds_for_the_command_line(served, tmp_path):
    agent, _ = served
    host = f"127.0.0.1:{agent.port}"
    token = tmp_path / "token"
    token.write_text(TOKENS["viewer"], encoding="ascii")
    program = [str(part) for part in agent.agent.cli("version").args[:1]]
    without = subprocess.run([*program, "get", "members", "--host", host], capture_output=True, text=True, check=False)
    assert without.returncode == 77, without.stderr
    shown = subprocess.run([*program, "get", "members", "--host", host, "--token-file", token], capture_output=True, text=True,
                           check=False)
    assert shown.returncode == 0, shown.stderr


def test_events_of_a_real_fault_are_described_and_resume(served):
    """One member is stopped and goes on: what a reader hears, and one who comes back, is what the log says."""
    agent, lab = served
    cluster = lab.clusters["nb"]
    before = agent.agent.json("/api/v1/status")["last_event"]
    victim = cluster.followers()[0]
    cluster.pause(victim)
    try:
        heard = follow(agent, before, lambda changes: any(one["kind"] == "finding_raised" for one in changes), 30.0)
    finally:
        cluster.resume(victim)
    change = agent.api.document["components"]["schemas"]["Change"]
    finding = agent.api.document["components"]["schemas"]["Finding"]
    for one in heard:
        agent.api.check_value(change, one)
    raised = next(one for one in heard if one["kind"] == "finding_raised")
    assert (raised["scope"], raised["subject"], raised["data"]["code"]) == ("cluster", "ovn-nb", "RAFT_MEMBER_HUNG")
    agent.api.check_value(finding, raised["data"])
    again = follow(agent, before, lambda changes: len(changes) >= len(heard), 10.0)
    assert again[:len(heard)] == heard
    follow(agent, before, lambda changes: any(one["kind"] == "finding_cleared" for one in changes), 30.0)


def follow(agent: Served, after: str, enough, seconds: float) -> list[dict]:
    stream = socket.create_connection(("127.0.0.1", agent.port), timeout=1)
    stream.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKENS['viewer']}\r\n"
                   f"Last-Event-ID: {after}\r\n\r\n".encode())
    text, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            text += stream.recv(65536)
        except TimeoutError:
            pass
        whole = text.decode()[:text.decode().rfind("\n\n") + 2]
        changes = [json.loads(line[6:]) for line in whole.splitlines() if line.startswith("data: {\"sequence\"")]
        if enough(changes):
            stream.close()
            return changes
    raise TimeoutError(f"the events did not come:\n{text.decode()}")
