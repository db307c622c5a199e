"""The API of a running agent: every answer is what its OpenAPI file says, and everybody may do what his role may, no more."""

import http.client
import json
import os
import re
import socket
import subprocess
import time
import urllib.parse

import jsonschema
import pytest

from lab.instance import Lab
from lab.ports import free_port
from lab.processes import wait_until
from openapi import ROLES, Answer, Client, OpenApi
from tools.agent import ROOT, Agent, programs

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
        text += "public: {lines: [{name: Network, checks: [ovn-nb]}]}\n"
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
# This agent has a cluster of OVN, and none of these.
ABSENT = {"getMesh", "getEtcd", "getGuest", "getVersionGate", "readReconcile", "getFailover", "isPrimary", "isReplica"}


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


def test_a_field_that_is_not_known_is_refused_everywhere(served):
    agent, _ = served
    for operation in agent.api.operations:
        if operation.method != "GET" or not operation.path.startswith(("/api/", "/debug/")):
            continue
        path = operation.path.replace("{id}", "1")
        for name, value in arguments(operation).items():
            path = path.replace(f"{{{name}}}", value)
        answer = agent.local("GET", path, [("bogus", "1")], {})
        assert answer.status == 400 and "no field 'bogus' is known here" in answer.body, (path, answer)
    for path in ("/api/v1/incidents", "/api/v1/plans"):
        assert [agent.local("GET", path, [("all", word)], {}).status for word in ("maybe", "", "false", "true")] == [400, 400, 200, 200]


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
            if may and ("{id}" in operation.path or operation.name in ABSENT):
                expected = 404
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


def test_no_order_takes_a_key_that_the_file_does_not_have(served):
    agent, _ = served
    described = 0
    for operation in agent.api.operations:
        if "requestBody" not in operation.spec:
            continue
        schema = agent.api.resolve(operation.spec["requestBody"]["content"]["application/json"]["schema"])
        assert schema["additionalProperties"] is False, operation.name
        described += 1
        key = next(iter(schema["properties"]))
        for body, named in (('{"fro": "2h"}', "'fro'"), (f'{{"{key}": "a", "{key}": "b"}}', f"'{key}'")):
            path = operation.path.replace("{name}", "nobody").replace("{id}", "1")
            answers = []
            wait_until(lambda: answers.append(agent.agent.order(operation.method, path, body)) or answers[-1][0] != 429, 10.0, "its turn")
            status, text = answers[-1]
            if "reporters" in path:
                assert status == 404, text  # nobody reports to this agent; the codec's tests show the rest
                continue
            assert status == 400 and named in text, (operation.name, body, status, text)
    assert described >= 9
    assert agent.agent.json("/api/v1/plans")["pauses"] == []
    answers = []
    wait_until(lambda: answers.append(agent.agent.order("POST", "/api/v1/pauses", '{"scope": "no such cluster"}')) or answers[-1][0] != 429, 10.0, "its turn")
    assert answers[-1][0] == 404


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


WORDS = {"CLUSTER": "ovn-nb", "MEMBER": "nobody", "RECEIVER": "none", "SILENCE": "1", "PLAN": "1", "INCIDENT": "1", "SUBJECT": "ovn-nb",
         "LABEL=PATTERN": "code=RAFT_*", "DURATION": "1m"}


def verbs() -> dict[str, list[str]]:
    """Every verb that takes a token, with words for what it requires: docs/cli.md is written from the table of them, --help has their options."""
    found = {}
    for section in (ROOT / "docs/cli.md").read_text(encoding="utf-8").split("\n### ")[1:]:
        usage = next(line for line in section.splitlines() if line.startswith("Usage: wardmote"))
        name = section.splitlines()[0].strip("`").removeprefix("wardmote ")
        if "--token-file" in subprocess.run([programs() / "wardmote", *name.split(), "--help"], capture_output=True, text=True, check=True).stdout:
            words = usage.removeprefix("Usage: wardmote ").removesuffix(" [options]").replace("...", "").split()
            found[name] = [WORDS.get(word, word) for word in words if word[0] != "["]
    return found


def run_for(arguments: list[str], seconds: float) -> tuple[int | None, str]:
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        process.terminate()  # `top` goes on until it is told
        return None, process.communicate()[0]


def test_every_verb_shows_its_token(served, tmp_path):
    """The orders dropped it: an agent that lets in nobody else answered 401 to each."""
    agent, _ = served
    token = tmp_path / "token"
    token.write_text(TOKENS["admin"], encoding="ascii")
    program = str(agent.agent.cli("version").args[0])
    all_verbs = verbs()
    assert {"status", "ack", "silence add", "silence expire", "notify test", "plan", "approve", "reject", "pause", "resume", "reload", "doctor",
            "top"} <= all_verbs.keys(), all_verbs.keys()
    for name, words in all_verbs.items():
        options = [program, *words, "--host", f"127.0.0.1:{agent.port}"]
        code, output = run_for([*options, "--token-file", str(token)], 3.0)
        assert code not in (77, 69) and not re.search(r"\b401\b", output), (name, code, output)
        if name in ("livez", "readyz", "top", "doctor"):
            continue  # open to all, endless, or a judgement of its own
        code, output = run_for(options, 3.0)
        assert code == 77, (name, code, output)


def test_a_guesser_locks_out_himself_and_nobody_who_is_known(served):
    agent, _ = served
    send = agent.remote("none")
    guesses = [send("GET", "/api/v1/whoami", [], {"Authorization": "Bearer wrong-0123456789abcdef"}).status for _ in range(60)]
    assert set(guesses) == {401, 429}
    known = [agent.remote("viewer")("GET", "/api/v1/whoami", [], {}).status for _ in range(60)]
    assert set(known) == {200}, known


def test_what_is_no_request_is_described_too(served):
    agent, _ = served
    status = next(one for one in agent.api.operations if one.name == "getStatus")
    silence = next(one for one in agent.api.operations if one.name == "addSilence")
    answer = agent.remote("operator")("POST", "/api/v1/silences", [], {"Content-Type": "text/plain"})
    assert answer.status == 415
    agent.api.check(silence, answer)
    answer = agent.remote("viewer")("GET", "/api/v1/status", [("limit", "none")], {})
    assert answer.status == 400
    agent.api.check(status, answer)
    for head, wanted in (("GET /api/v1/status HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
                         ("GET /api%2Fv1/status HTTP/1.1\r\nHost: a\r\n\r\n", 400),
                         ("GET /api/v1/status HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: foo\r\n\r\n", 501)):
        with socket.create_connection(("127.0.0.1", agent.port), timeout=5) as raw:
            raw.sendall(head.encode())
            response = http.client.HTTPResponse(raw)
            response.begin()
            assert response.status == wanted, head
            answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read().decode())
            if wanted == 400:
                agent.api.check(status, answer)
                assert answer.headers["content-type"].startswith("text/plain")


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
