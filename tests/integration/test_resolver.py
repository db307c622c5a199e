"""Trouble of the resolver is ours; that there is no such name is the target's."""

import errno
import socket
import threading

import pytest

from lab.processes import wait_until
from tools.agent import Agent

NXDOMAIN, SERVFAIL = 3, 2
FALL = 3


class FakeNameServer(threading.Thread):
    """Answers every question with the same code, or with nothing."""

    def __init__(self):
        super().__init__(daemon=True)
        self.rcode = NXDOMAIN
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address = bind_to_a_free_address(self.socket)
        # A thread that waits in recvfrom() would keep a closed socket open.
        self.socket.settimeout(0.1)
        self.ends = False

    def run(self):
        while not self.ends:
            try:
                question, asker = self.socket.recvfrom(512)
            except TimeoutError:
                continue
            if self.rcode is not None:
                # RFC 1035 4.1.1: the question again as a reply, with recursion available.
                reply = question[:2] + bytes([0x81, 0x80 | self.rcode]) + question[4:6] + bytes(6) + question[12:]
                self.socket.sendto(reply, asker)


def bind_to_a_free_address(server):
    """Name servers listen on port 53 alone, and other tests may run one at the same moment: any address of loopback serves."""
    for last in range(1, 255):
        address = f"127.0.53.{last}"
        try:
            server.bind((address, 53))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return address
    raise RuntimeError("no free address for a name server on 127.0.53.0/24")


@pytest.fixture
def name_server():
    server = FakeNameServer()
    server.start()
    yield server
    server.ends = True
    server.join()
    server.socket.close()


def run(folder, server):
    """With a resolv.conf of its own."""
    (folder / "resolv.conf").write_text(f"nameserver {server}\noptions timeout:1 attempts:1\n", encoding="utf-8")
    (folder / "wardmote.yaml").write_text(
        f"api: {{socket: {folder}/api.sock}}\n"
        f"checks:\n  - {{name: db, tcp: {{address: db.wardmote.test:5432}}, every: 2s, timeout: 1900ms, fall: {FALL}, rise: 1}}\n",
        encoding="utf-8")
    inside = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', str(folder / "resolv.conf")]
    return Agent(folder / "wardmote.yaml", folder / "api.sock", inside)


def check_of(agent):
    return agent.json("/api/v1/checks")["checks"][0]


def looked(agent, times):
    before = check_of(agent)["looks"]
    wait_until(lambda: check_of(agent)["looks"] >= before + times, 20, f"{times} looks")
    return check_of(agent)


@pytest.mark.parametrize("rcode", [SERVFAIL, None])
def test_a_resolver_that_gives_no_answer_accuses_nobody(tmp_path, name_server, rcode):
    name_server.rcode = rcode
    with run(tmp_path, name_server.address) as agent:
        agent.wait_serving()
        check = looked(agent, FALL + 1)
        assert (check["outcome"], check["reason"], check["state"]) == ("unknown", "no_resolver", "discovery"), check
        assert agent.json("/api/v1/incidents")["incidents"] == []
        assert not agent.json("/api/v1/status")["self"]["degraded"], "and the agent does not call itself starved"


def test_a_name_that_does_not_exist_is_the_targets_failure(tmp_path, name_server):
    name_server.rcode = NXDOMAIN
    with run(tmp_path, name_server.address) as agent:
        agent.wait_serving()
        wait_until(lambda: check_of(agent)["state"] == "reported", 20, "the check to be reported")
        check = check_of(agent)
        assert (check["outcome"], check["reason"]) == ("fail", "missing"), check
