"""The receiver `kubernetes` at an apiserver that hangs in the middle of an answer, or never ends one: at each of its three requests."""

import pytest

from fake_apiserver import FakeApiServer
from lab.pki import Authority
from lab.processes import wait_until
from test_kubernetes import NODE, reason
from test_notify import run, write_config

MANNERS = {"half": "timed out", "drip": "timed out", "endless": "over a limit", "chunks": "over a limit", "headers": "over a limit"}
METHODS = ("POST", "GET", "PATCH")
PATIENCE = 120.0
# All of them at once, 1 MiB each and what TLS and libcurl need for a connection; one that was read whole would be 4 GiB.
GROWTH_KB = 96 * 1024
# What a peer can be rid of before it is hung up on: the cap, and what lies in sockets.
SENT = 32 << 20


@pytest.fixture
def servers(tmp_path):
    authority = Authority(tmp_path / "pki")
    papers = authority.issue("api", names="IP:127.0.0.1")
    servers = {f"{manner}-{method.lower()}": FakeApiServer(papers, manner, method) for manner in MANNERS for method in METHODS}
    yield servers, authority.certificate
    for server in servers.values():
        server.close()


def peak_kb(agent) -> int:
    with open(f"/proc/{agent.process.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


def looks(agent) -> int:
    return agent.json("/api/v1/checks")["checks"][0]["looks"]


def configure(folder, target, servers, ca) -> None:
    (folder / "token").write_text("not-a-real-token", encoding="utf-8")
    write_config(folder, target, {name: f"kubernetes: {{server: '{server.url}', token_file: {folder}/token, trust: {ca}}}"
                                  for name, server in servers.items()})
    path = folder / "wardmote.yaml"
    path.write_text(f"node: {{name: {NODE}}}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


def mend_each_that_was_named(agent, servers) -> None:
    hostile = dict(servers)

    def none_left() -> bool:
        for name, server in list(hostile.items()):
            if server.badly_answered and MANNERS[server.manner] in reason(agent, name):
                hostile.pop(name).mend()
        return not hostile

    wait_until(none_left, PATIENCE, "each to be named with its reason", every=0.1)


def test_an_answer_without_an_end_costs_a_try_and_nothing_else(tmp_path, target, servers):
    servers, ca = servers
    configure(tmp_path, target, servers, ca)
    with run(tmp_path) as agent:
        agent.wait_healthy()
        quiet, seen = peak_kb(agent), looks(agent)
        target.down()
        mend_each_that_was_named(agent, servers)
        wait_until(lambda: looks(agent) > seen + 3, PATIENCE, "looks beside it")
        assert peak_kb(agent) < quiet + GROWTH_KB, f"{peak_kb(agent)} kB after {quiet} kB"
        assert max(server.most_sent for server in servers.values()) < SENT


@pytest.mark.slow  # ten seconds until it tries again
def test_what_was_done_before_an_answer_broke_off_is_not_done_again(tmp_path, target, servers):
    servers, ca = servers
    configure(tmp_path, target, servers, ca)
    with run(tmp_path) as agent:
        agent.wait_healthy()
        target.down()
        mend_each_that_was_named(agent, servers)

        def delivered() -> bool:
            return all(one["delivered"] == 1 and one["dead"] == 0 for one in agent.json("/api/v1/receivers")["receivers"])

        wait_until(delivered, PATIENCE, "each event", every=0.2)
        for name, server in servers.items():
            counts = [event["count"] for event in server.events.values() if event["reason"] == "CheckFailed"]
            assert counts == [2 if server.known else 1], name
