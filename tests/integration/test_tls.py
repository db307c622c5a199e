"""TLS for real: OVN clusters that talk over ssl:, certificates that change, run out or are of somebody else, the API over HTTPS,
and servers that break the handshake."""

import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from lab import wire
from lab.instance import Lab
from lab.network import run
from lab.pki import Authority, Papers
from lab.ports import free_port
from lab.processes import wait_until
from tls_peers import MANNERS, BrokenServer, HonestServer
from tools.agent import Agent, programs

MONITOR_HOST = 4
TCP_PORT = 16641


@pytest.fixture(scope="module")
def lab():
    with Lab.up(f"tls-{os.getpid()}", ["nb"], hosts=MONITOR_HOST, transient=True, tls=True) as up:
        yield up


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("strangers"), "other")


def ovn_tls(papers: Papers, ca: Path | None = None) -> str:
    return f"tls_ca: {ca or papers.ca}, tls_certificate: {papers.certificate}, tls_key: {papers.key}"


def reasons(agent: Agent) -> dict[str, tuple[str, str | None]]:
    """What each check says: outcome and reason."""
    return {check["name"]: (check["outcome"], check["reason"]) for check in agent.json("/api/v1/checks")["checks"]}


def details(agent: Agent) -> dict[str, str]:
    return {check["name"]: check["detail"] or "" for check in agent.json("/api/v1/checks")["checks"]}


def wait_reasons(agent: Agent, wanted: dict[str, tuple[str, str | None]], seconds: float = 30.0) -> None:
    try:
        wait_until(lambda: reasons(agent) == wanted, seconds, "every check to say what is so", every=0.1)
    except TimeoutError:
        assert reasons(agent) == wanted, details(agent)


def write(folder: Path, *lines: str, api: str = "") -> tuple[Path, Path]:
    """A configuration and its API socket."""
    config, api_socket = folder / "wardmote.yaml", folder / "api.sock"
    config.write_text("\n".join([f"api: {{socket: {api_socket}{api}}}", *lines]) + "\n", encoding="utf-8")
    return config, api_socket


# OVN.


def test_an_agent_on_another_host_watches_over_ssl(lab, tmp_path):
    cluster = lab.clusters["nb"]
    papers = cluster.authority.issue("watcher")
    members = "\n".join(f'        - {{name: {member.name}, ovsdb: "{cluster.ovsdb(number)}"}}'
                        for number, member in cluster.members.items())
    expect = ", ".join(f'"{address}"' for address in cluster.expected)
    config, api_socket = write(tmp_path, "clusters:", "  - name: ovn-nb", "    ovn:", "      database: OVN_Northbound",
                               "      members:", members, f"      expect: [{expect}]",
                               f"      tls: {{ca: {papers.ca}, certificate: {papers.certificate}, key: {papers.key}}}",
                               "    every: 500ms", "    timeout: 450ms")
    with Agent(config, api_socket, lab.network.inside(MONITOR_HOST)) as agent:
        agent.wait_healthy()
        told = {one["name"]: one for one in agent.json("/api/v1/members")["members"]}
        for number, member in cluster.members.items():
            assert told[member.name]["server_id"] == cluster.view(number).server_id
            assert told[member.name]["outcome"] == "ok"
        assert "ovsdb_watch_lost" not in agent.output(), "the push works over ssl: too"

        # A certificate that changes counts from the next connection on: first a bad one, then a good one.
        Authority(tmp_path, "other").issue("watcher", file="watcher")
        for stranger, own in (("watcher-cert.pem", papers.certificate), ("watcher-key.pem", papers.key)):
            shutil.copyfile(tmp_path / stranger, own)
        wait_until(lambda: {one["reason"] for one in agent.json("/api/v1/members")["members"]} == {"denied"}, 30.0,
                   "the servers to refuse the new certificate")
        cluster.authority.issue("watcher")
        agent.wait_healthy(40.0)
        assert "tls_reloaded" in agent.output()


def test_every_reason_has_its_name(lab, strangers, tmp_path):
    cluster = lab.clusters["nb"]
    ours, theirs = cluster.authority.issue("prober"), strangers.issue("prober")
    plain = f"{cluster.network.address(1)}:{TCP_PORT}"
    wire.control(cluster.control(1), "ovsdb-server/add-remote", f"ptcp:{TCP_PORT}:{cluster.network.address(1)}")
    cases = {
        "good": (cluster.ovsdb(1), ovn_tls(ours), "ok", None),
        "another-authority": (cluster.ovsdb(1), ovn_tls(ours, strangers.certificate), "unknown", "untrusted"),
        "no-certificate": (cluster.ovsdb(1), f"tls_ca: {ours.ca}", "unknown", "denied"),
        "a-strangers-certificate": (cluster.ovsdb(1), ovn_tls(theirs, ours.ca), "unknown", "denied"),
        "ssl-to-a-plain-port": (f"ssl:{plain}", ovn_tls(ours), "unknown", "closed"),
        "tcp-to-an-ssl-port": (cluster.ovsdb(1).replace("ssl:", "tcp:"), "", "unknown", "closed"),
        "no-such-file": (cluster.ovsdb(1), "tls_ca: /nowhere/ca.pem", "unknown", "rejected"),
    }
    checks = [f'  - {{name: {name}, every: 500ms, timeout: 450ms, ovn: {{ovsdb: "{address}"{", " if tls else ""}{tls}}}}}'
              for name, (address, tls, *_) in cases.items()]
    config, api_socket = write(tmp_path, "checks:", *checks)
    with Agent(config, api_socket, lab.network.inside(MONITOR_HOST)) as agent:
        agent.wait_serving()
        wait_reasons(agent, {name: (outcome, reason) for name, (_, _, outcome, reason) in cases.items()})
        assert "is not among" in details(agent)["another-authority"]
        assert "is TLS spoken there?" in details(agent)["ssl-to-a-plain-port"]

        # ovsdb-server reads its certificate again, too. Connections that stand go on, the others see that it has run out.
        cluster.authority.issue("nb-1", expired=True)
        wait_until(lambda: reasons(agent)["good"] == ("fail", "expired"), 40.0, "the expired certificate to be noticed")
        assert "has run out on" in details(agent)["good"]
        cluster.authority.issue("nb-1")
        wait_until(lambda: reasons(agent)["good"] == ("ok", None), 40.0, "the new certificate to be noticed")
    errors = [line for line in cluster.log(1).read_text(encoding="utf-8").splitlines() if "unexpected SSL connection close" in line]
    assert not errors, f"the agent says goodbye, so that no server complains: {errors[:3]}"


def test_the_command_of_the_library_client_is_right(lab):
    """tests/unit/observe/ovn_client_test.cc holds that observe::ovn::Client with use_tls runs just these arguments."""
    cluster = lab.clusters["nb"]
    papers = cluster.authority.issue("library")
    row = '["_Server",{"op":"select","table":"Database","where":[["name","==","OVN_Northbound"]],"columns":["leader","sid"]}]'
    told = run(*lab.network.inside(MONITOR_HOST, cluster.tools.client, "-p", str(papers.key), "-c", str(papers.certificate), "-C",
                                   str(papers.ca), "query", cluster.ovsdb(1), row), environment=cluster.tools.environment())
    assert cluster.view(1).server_id in told


# The probe `tls`.


def test_the_probe_tells_certificates_apart(authority, strangers, tmp_path):
    host = "DNS:api.example,IP:127.0.0.1"
    good, expired = authority.issue("api", names=host), authority.issue("expired", names=host, expired=True)
    other_name, stranger = authority.issue("other-name", names="DNS:elsewhere.example"), strangers.issue("stranger", names=host)
    with HonestServer(good) as plain, HonestServer(good, wants_clients=True) as mutual, HonestServer(expired) as old, \
            HonestServer(other_name) as named, HonestServer(stranger) as foreign, \
            HonestServer(good, newest=ssl.TLSVersion.TLSv1_1) as ancient, HonestServer(good, newest=ssl.TLSVersion.TLSv1_2) as tls12:
        ca = f"tls_ca: {authority.certificate}"
        cases = {
            "good": (plain, ca, "ok", None),
            "by-name": (plain, f"{ca}, server_name: api.example", "ok", None),
            "soon": (plain, f"{ca}, warn_days: 3650", "warn", "state"),
            "too-soon": (plain, f"{ca}, warn_days: 3650, fail_days: 3650", "fail", "state"),
            "tls-1-2": (tls12, ca, "ok", None),
            "mutual": (mutual, f"{ca}, tls_certificate: {good.certificate}, tls_key: {good.key}", "ok", None),
            "expired": (old, ca, "fail", "expired"),
            "expired-unverified": (old, "verify: none", "fail", "expired"),
            "other-name": (named, ca, "fail", "untrusted"),
            "other-name-chain": (named, f"{ca}, verify: chain", "ok", None),
            "stranger": (foreign, ca, "fail", "untrusted"),
            "stranger-unverified": (foreign, "verify: none", "ok", None),
            "system-authorities": (plain, "verify: name", "fail", "untrusted"),
            "ancient": (ancient, ca, "fail", "protocol"),
        }
        checks = [f'  - {{name: {name}, every: 500ms, timeout: 450ms, tls: {{address: "127.0.0.1:{peer.port}", {params}}}}}'
                  for name, (peer, params, *_) in cases.items()]
        config, api_socket = write(tmp_path, "checks:", *checks)
        with Agent(config, api_socket) as agent:
            agent.wait_serving()
            wait_reasons(agent, {name: (outcome, reason) for name, (_, _, outcome, reason) in cases.items()})
            told = details(agent)
    assert "runs out in 36" in told["soon"]
    assert "is for dns:elsewhere.example, not for '127.0.0.1'" in told["other-name"]
    assert "1.2 or later" in told["ancient"]


BROKEN = {
    "silent": ("fail", "hung"), "stalls in the handshake": ("fail", "hung"), "drips": ("fail", "hung"),
    "closes at once": ("unknown", "closed"), "closes in the handshake": ("unknown", "closed"),
    "garbage": ("fail", "protocol"), "a message of 16 MB": ("fail", "protocol"), "records without end": ("unknown", "over_limit"),
    "plain HTTP": ("fail", "protocol"), "an SSH banner": ("fail", "protocol"),
}


def test_whatever_breaks_the_handshake_is_told_by_the_deadline(tmp_path):
    assert BROKEN.keys() == MANNERS.keys()
    peers = {manner: BrokenServer(manner) for manner in BROKEN}
    names = {manner: manner.replace(" ", "-") for manner in BROKEN}
    checks = [f'  - {{name: {names[manner]}, every: 500ms, timeout: 400ms, tls: {{address: "127.0.0.1:{peer.port}"}}}}'
              for manner, peer in peers.items()]
    config, api_socket = write(tmp_path, "checks:", *checks)
    try:
        with Agent(config, api_socket) as agent:
            agent.wait_serving()
            before = resident_kb(agent)
            wait_reasons(agent, {names[manner]: told for manner, told in BROKEN.items()})
            time.sleep(2.0)  # what leaks would show
            assert resident_kb(agent) < before + 8 * 1024
            assert agent.get("/livez")[0] == 200
    finally:
        for peer in peers.values():
            peer.__exit__()


def resident_kb(agent: Agent) -> int:
    status = Path(f"/proc/{agent.process.pid}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


# The API.


@pytest.fixture(scope="module")
def api(authority, tmp_path_factory):
    """An agent that serves its API over TLS, and the port."""
    folder, port = tmp_path_factory.mktemp("api"), free_port()
    papers = authority.issue("wardmote", names="IP:127.0.0.1")
    config, api_socket = write(folder, f"checks: [{{name: itself, tcp: {{address: \"127.0.0.1:{port}\"}}}}]",
                               api=f", listen: 127.0.0.1:{port}, tls: {{certificate: {papers.certificate}, key: {papers.key}, "
                                   f"client_ca: {authority.certificate}}}, anonymous: none, certificates: {{\"cn:reader\": viewer}}")
    with Agent(config, api_socket) as agent:
        agent.wait_serving()
        yield agent, port, papers


def client(authority: Authority, papers: Papers | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority.certificate)
    if papers:
        context.load_cert_chain(papers.certificate, papers.key)
    return context


def https_get(port: int, context: ssl.SSLContext, path: str = "/livez", timeout: float = 3.0) -> tuple[int, str]:
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_the_api_is_served_over_tls(api, authority):
    _, port, _ = api
    assert https_get(port, client(authority)) == (200, "ok")
    status, body = https_get(port, client(authority, authority.issue("reader")), "/metrics")
    assert status == 200
    assert "wardmote_build_info" in body


def test_a_client_certificate_gives_the_role_of_its_name(api, authority):
    _, port, _ = api
    assert https_get(port, client(authority), "/api/v1/checks")[0] == 401
    assert https_get(port, client(authority, authority.issue("reader")), "/api/v1/checks")[0] == 200
    assert https_get(port, client(authority, authority.issue("somebody", names="DNS:reader")), "/api/v1/checks")[0] == 401


def test_the_api_takes_neither_an_old_tls_nor_a_strangers_certificate(api, authority, strangers):
    _, port, _ = api
    old = client(authority)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        https_get(port, old)
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
        https_get(port, client(authority, strangers.issue("operator")))
    with pytest.raises((ConnectionError, http.client.RemoteDisconnected, http.client.BadStatusLine)):
        plain = http.client.HTTPConnection("127.0.0.1", port, timeout=3.0)
        plain.request("GET", "/livez")
        plain.getresponse()


def test_the_probe_https_sees_the_answer_and_the_certificate(api, authority, strangers, tmp_path):
    _, port, _ = api
    ca, url = f"tls_ca: {authority.certificate}", f"https://127.0.0.1:{port}"
    reader = authority.issue("reader")
    cases = {
        "good": (f'url: "{url}/livez", body: ok, {ca}', "ok", None),
        "kept": (f'url: "{url}/livez", keep_open: true, {ca}', "ok", None),
        "denied-by-status": (f'url: "{url}/api/v1/checks", {ca}', "fail", "state"),
        "with-a-certificate": (f'url: "{url}/api/v1/checks", {ca}, tls_certificate: {reader.certificate}, tls_key: {reader.key}', "ok", None),
        "soon": (f'url: "{url}/livez", warn_days: 3650, {ca}', "warn", "state"),
        "stranger": (f'url: "{url}/livez", tls_ca: {strangers.certificate}', "fail", "untrusted"),
        "unverified": (f'url: "{url}/livez", verify: none', "ok", None),
    }
    checks = [f"  - {{name: {name}, every: 500ms, timeout: 450ms, https: {{{params}}}}}" for name, (params, *_) in cases.items()]
    config, api_socket = write(tmp_path, "checks:", *checks)
    with Agent(config, api_socket) as agent:
        agent.wait_serving()
        wait_reasons(agent, {name: (outcome, reason) for name, (_, outcome, reason) in cases.items()})


def command_line(*words) -> subprocess.CompletedProcess[str]:
    return subprocess.run([programs() / "wardmote", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)


def test_the_command_line_asks_over_tls(api, authority, strangers):
    """It is static and has no OpenSSL; the agent could not be asked over the network at all."""
    agent, port, _ = api
    at, reader = ("--host", f"https://127.0.0.1:{port}"), authority.issue("reader")
    ours = ("--ca", authority.certificate, "--cert", reader.certificate, "--key", reader.key)
    wait_until(lambda: agent.cli("status").returncode == 0, 10.0, "the agent to find all well")
    shown = command_line("status", *at, *ours)
    assert shown.returncode == 0, shown.stderr
    assert "1 check" in shown.stdout
    assert command_line("readyz", *at, "--ca", authority.certificate).returncode == 0
    environment = {**os.environ, "WARDMOTE_HOST": at[1], "WARDMOTE_CA": str(authority.certificate), "WARDMOTE_CERT": str(reader.certificate),
                   "WARDMOTE_KEY": str(reader.key)}
    by_environment = subprocess.run([programs() / "wardmote", "get", "checks"], env=environment, capture_output=True, text=True, check=False)
    assert by_environment.returncode == 0, by_environment.stderr

    refused = {
        "without a certificate": ((*at, "--ca", authority.certificate), 77, "401"),
        "another authority": ((*at, "--ca", strangers.certificate), 69, "is not among"),
        "the system's authorities": (at, 69, "is not among the authorities of this system"),
        "another name": (("--host", f"https://localhost:{port}", *ours), 69, "is for ip:127.0.0.1, not for 'localhost'"),
        "a stranger's certificate": ((*at, "--ca", authority.certificate, "--cert", strangers.issue("reader").certificate, "--key",
                                      strangers.issue("reader").key), 69, "TLS"),
        "no such file": ((*at, "--ca", "/nowhere/ca.pem"), 69, "/nowhere/ca.pem"),
        "half a pair": ((*at, "--cert", reader.certificate), 64, "go together"),
        "no TLS": (("--host", f"127.0.0.1:{port}", "--ca", authority.certificate), 64, "https://HOST:PORT"),
        "plain to a TLS port": (("--host", f"127.0.0.1:{port}"), 69, "write https:// before the host"),
        "a key of another": ((*at, "--ca", authority.certificate, "--cert", reader.certificate, "--key", strangers.issue("x").key), 69,
                             "Mend the files"),
    }
    for name, (words, code, text) in refused.items():
        told = command_line("status", *words)
        assert (told.returncode, text in told.stderr) == (code, True), (name, told.returncode, told.stderr)
        assert "Is wardmoted running?" not in told.stderr, f"{name}: it runs, and answers"
    assert "with --ca" in command_line("status", *at).stderr


def test_the_command_line_probes_tls_without_an_agent(api, authority, strangers):
    _, port, _ = api
    good, expired = authority.issue("cli", names="DNS:api.example,IP:127.0.0.1"), authority.issue("cli-old", names="IP:127.0.0.1", expired=True)
    with HonestServer(good) as plain, HonestServer(expired) as old, HonestServer(good, newest=ssl.TLSVersion.TLSv1_2) as tls12:
        ca = ("--tls-ca", authority.certificate)
        cases = {
            "good": ((f"127.0.0.1:{plain.port}", *ca), 0),
            "tls-1-2": ((f"127.0.0.1:{tls12.port}", *ca), 0),
            "by-name": ((f"127.0.0.1:{plain.port}", *ca, "--server-name", "api.example"), 0),
            "other-name": ((f"127.0.0.1:{plain.port}", *ca, "--server-name", "elsewhere.example"), 2),
            "soon": ((f"127.0.0.1:{plain.port}", *ca, "--warn-days", 3650), 1),
            "stranger": ((f"127.0.0.1:{plain.port}", "--tls-ca", strangers.certificate), 2),
            "unverified": ((f"127.0.0.1:{plain.port}", "--verify", "none"), 0),
            "expired": ((f"127.0.0.1:{old.port}", *ca), 2),
        }
        for name, (words, code) in cases.items():
            told = command_line("probe", "tls", *words)
            assert told.returncode == code, (name, told.stdout, told.stderr)
    url = f"https://127.0.0.1:{port}/livez"
    told = command_line("probe", "https", url, "--tls-ca", authority.certificate, "--body", "ok")
    assert told.returncode == 0, told.stdout + told.stderr
    assert command_line("probe", "https", url, "--tls-ca", strangers.certificate).returncode == 2


@pytest.mark.parametrize("manner", sorted(MANNERS))
def test_whatever_breaks_the_handshake_of_the_command_line_ends_by_the_deadline(manner):
    with BrokenServer(manner) as peer:
        begun = time.monotonic()
        told = command_line("probe", "tls", f"127.0.0.1:{peer.port}", "--timeout", "400ms")
        assert told.returncode in (2, 3), (told.returncode, told.stdout, told.stderr)
        assert time.monotonic() - begun < 3.0


def test_stalled_handshakes_keep_nobody_out(api, authority):
    _, port, _ = api
    stalled = [socket.create_connection(("127.0.0.1", port)) for _ in range(500)]
    try:
        for number, one in enumerate(stalled):
            one.sendall(b"\x16\x03\x01\x02" * (number % 3))
        assert https_get(port, client(authority)) == (200, "ok")
    finally:
        for one in stalled:
            one.close()


def test_a_new_certificate_is_served_without_a_restart(api, authority):
    agent, port, papers = api

    def serial() -> int:
        with socket.create_connection(("127.0.0.1", port), 3.0) as plain, \
                client(authority).wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
            return wrapped.getpeercert()["serialNumber"]

    before = serial()
    authority.issue("wardmote", names="IP:127.0.0.1")
    assert serial() != before
    after = serial()
    papers.key.write_text("no key\n", encoding="utf-8")
    assert serial() == after, "files that are no good leave the former in use"
    wait_until(lambda: "tls_reload_failed" in agent.output(), 15.0, "the log to tell")
    authority.issue("wardmote", names="IP:127.0.0.1")
    assert https_get(port, client(authority))[0] == 200


def test_the_tls_of_a_served_port_changes_without_a_restart(authority, strangers, tmp_path):
    port = free_port()
    first = authority.issue("first", names="IP:127.0.0.1")
    second = authority.issue("second", names="IP:127.0.0.1")

    def say(tls: str) -> None:
        write(tmp_path, f'checks: [{{name: itself, tcp: {{address: "127.0.0.1:{port}"}}}}]', api=f", listen: 127.0.0.1:{port}{tls}, anonymous: none")

    def pair(papers: Papers) -> str:
        return f"certificate: {papers.certificate}, key: {papers.key}"

    def order(agent: Agent) -> int:
        return agent.order("POST", "/api/v1/reload", "")[0]

    def plain_get() -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3.0)
        connection.request("GET", "/livez")
        return connection.getresponse().status

    def shown() -> str:
        with socket.create_connection(("127.0.0.1", port), 3.0) as plain, \
                client(authority).wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
            return dict(entry[0] for entry in wrapped.getpeercert()["subject"])["commonName"]

    say("")
    config, api_socket = tmp_path / "wardmote.yaml", tmp_path / "api.sock"
    with Agent(config, api_socket) as agent:
        agent.wait_serving()
        assert plain_get() == 200
        standing = http.client.HTTPConnection("127.0.0.1", port, timeout=3.0)
        standing.request("GET", "/livez")
        standing.getresponse().read()

        say(f", tls: {{{pair(first)}}}")
        assert order(agent) == 200
        assert shown() == "first"
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            plain_get()
        assert standing.sock.recv(1) == b"", "what was open without TLS has ended"

        say(f", tls: {{{pair(second)}, client_ca: {authority.certificate}}}, certificates: {{\"cn:reader\": viewer}}")
        assert order(agent) == 200
        assert shown() == "second"
        reader = client(authority, authority.issue("reader"))
        assert https_get(port, reader, "/api/v1/checks")[0] == 200

        say(f", tls: {{certificate: {first.certificate}, key: {second.key}}}")
        assert order(agent) == 422, "refused whole"
        assert shown() == "second"
        assert https_get(port, reader, "/api/v1/checks")[0] == 200

        say(f", tls: {{{pair(second)}, client_ca: {strangers.certificate}}}, certificates: {{\"cn:reader\": viewer}}")
        assert order(agent) == 200
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            https_get(port, reader, "/api/v1/checks")

        say("")
        assert order(agent) == 200
        assert plain_get() == 200
