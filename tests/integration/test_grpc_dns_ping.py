"""The probes grpc, dns and ping against real peers: etcd, gRPC's own server, dnsmasq, kernels in network namespaces."""

import hashlib
import json
import os
import subprocess
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from lab.network import Network, run
from lab.peers import Dnsmasq, Etcd
from lab.pki import Authority
from lab.processes import wait_until
from tools.agent import Agent, programs

ROOT = Path(__file__).resolve().parents[2]
WARDMOTE = programs() / "wardmote"
OUTCOMES = {0: "ok", 1: "warn", 2: "fail", 3: "unknown"}


def probe(*arguments: str, inside: list[str] = ()) -> dict:
    done = subprocess.run([*inside, str(WARDMOTE), "probe", *map(str, arguments), "-o", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=20, check=False)
    seen = json.loads(done.stdout)
    assert OUTCOMES[done.returncode] == seen["outcome"], done
    return seen


def test_grpc_etcd(tmp_path):
    with Etcd(ROOT / "build/lab/etcd", tmp_path) as etcd:
        seen = probe("grpc", etcd.address)
        assert seen["outcome"] == "ok", seen
        assert (seen["facts"]["serving"], seen["facts"]["status"]) == ("SERVING", 0)
        missing = probe("grpc", etcd.address, "--service", "no.such.Service")
        assert (missing["outcome"], missing["reason"]) == ("fail", "missing"), missing
        assert missing["facts"]["status"] == 5
    assert probe("grpc", etcd.address)["reason"] == "refused"


def calls_at_once(address: str, *calls: tuple[str, bytes]) -> list[tuple[int, int, str]]:
    """Status, size and SHA-256 of what comes of gRPC calls that our HTTP/2 makes on one connection."""
    asked = "".join(f"{path} {message.hex()}\n" for path, message in calls)
    done = subprocess.run([str(ROOT / "build/release/bin/grpc_calls"), address], input=asked, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    return [(int(status), int(size), digest) for status, size, digest in (line.split() for line in done.stdout.splitlines())]


def unary(address: str, path: str, message: bytes) -> bytes:
    """The answer of gRPC's own client, as it comes over the wire: with its prefix."""
    with grpc.insecure_channel(address) as channel:
        answer = channel.unary_unary(path)(message, timeout=10)
    return b"\0" + len(answer).to_bytes(4, "big") + answer


def field(number: int, content: bytes) -> bytes:
    """A protobuf field of bytes."""
    size, length = len(content), b""
    while size >= 0x80:
        length, size = length + bytes([0x80 | size & 0x7F]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


# github.com/etcd-io/etcd, api/etcdserverpb/rpc.proto: PutRequest{key = 1, value = 2}, RangeRequest{key = 1}.
def test_http2_answers_larger_than_the_window_and_several_calls_at_once_etcd(tmp_path):
    kv = "/etcdserverpb.KV"
    with Etcd(ROOT / "build/lab/etcd", tmp_path) as etcd:
        sizes = {b"small": 10, b"large": 300_000, b"larger": 1_000_000}
        for key, size in sizes.items():
            # Larger than the windows of the server, too.
            (stored,) = calls_at_once(etcd.address, (f"{kv}/Put", field(1, key) + field(2, os.urandom(size))))
            assert stored[0] == 0, stored
        asked = [(f"{kv}/Range", field(1, key)) for key in sizes for _ in range(3)]
        expected = [unary(etcd.address, path, message) for path, message in asked]
        assert [len(answer) > 65_535 for answer in expected] == [False] * 3 + [True] * 6
        seen = calls_at_once(etcd.address, *asked)
        assert seen == [(0, len(answer), hashlib.sha256(answer).hexdigest()) for answer in expected]
        missing = calls_at_once(etcd.address, (f"{kv}/NoSuch", b""), asked[0])
        assert [status for status, _, _ in missing] == [12, 0], "UNIMPLEMENTED is the one's answer, and not the other's"


def test_http2_answers_larger_than_the_window_grpc_s_own_server():
    answers = {str(i).encode(): os.urandom(400_000 + i) for i in range(20)}
    with GrpcServer({field(1, name): answer for name, answer in answers.items()}) as address:
        seen = calls_at_once(address, *[("/grpc.health.v1.Health/Check", field(1, name)) for name in answers])
    wire = [b"\0" + len(answer).to_bytes(4, "big") + answer for answer in answers.values()]
    assert seen == [(0, len(answer), hashlib.sha256(answer).hexdigest()) for answer in wire]


def test_grpc_etcd_over_tls_with_both_certificates(tmp_path):
    authority, strangers = Authority(tmp_path / "pki"), Authority(tmp_path / "pki", "strangers")
    server, client = authority.issue("etcd", names="IP:127.0.0.1"), authority.issue("agent")
    with Etcd(ROOT / "build/lab/etcd", tmp_path / "etcd", server, client_ca=authority.certificate) as etcd:
        def check(name: str, ca: Path, more: str = "") -> str:
            return f"  - {{name: {name}, grpc: {{address: 'ssl:{etcd.address}', tls_ca: {ca}{more}}}, every: 2s, timeout: 2s, fall: 1}}\n"

        ours = f", tls_certificate: {client.certificate}, tls_key: {client.key}"
        config = tmp_path / "wardmote.yaml"
        config.write_text(f"api: {{socket: {tmp_path}/api.sock}}\nchecks:\n" + check("both", authority.certificate, ours)
                          + check("bare", authority.certificate) + check("other", strangers.certificate, ours), encoding="utf-8")
        with Agent(config, tmp_path / "api.sock") as agent:
            agent.wait_serving()

            def seen(name: str) -> dict:
                return next(one for one in agent.json("/api/v1/checks")["checks"] if one["name"] == name)
            wait_until(lambda: seen("both")["state"] == "healthy", 10.0, "etcd to be believed and to believe")
            wait_until(lambda: seen("other")["looks"] > 0, 10.0, "a look at a server of strangers")
            other = seen("other")
            assert (other["outcome"], other["reason"]) == ("fail", "untrusted"), other
            wait_until(lambda: seen("bare")["looks"] > 0, 10.0, "a look without a certificate")
            bare = seen("bare")
            assert (bare["outcome"], bare["reason"]) == ("unknown", "denied"), "etcd wants a certificate of ours"


class GrpcServer:
    """gRPC's own server, whose health service answers as `statuses` says; None: it does not have one."""

    def __init__(self, statuses: dict[bytes, bytes] | None):
        self.server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
        if statuses is not None:
            def check(request: bytes, context) -> bytes:
                if request not in statuses:
                    context.abort(grpc.StatusCode.NOT_FOUND, "no such service: ünknown")
                return statuses[request]
            handler = grpc.unary_unary_rpc_method_handler(check)
            self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": handler}),))
        self.port = self.server.add_insecure_port("127.0.0.1:0")

    def __enter__(self) -> str:
        self.server.start()
        return f"127.0.0.1:{self.port}"

    def __exit__(self, *_) -> None:
        self.server.stop(None).wait()


def test_grpc_every_status_of_grpc_s_own_server():
    # HealthCheckRequest{service}, HealthCheckResponse{status}: github.com/grpc/grpc, doc/health-checking.md.
    statuses = {b"": b"\x08\x01", b"\x0a\x02db": b"\x08\x02", b"\x0a\x03new": b"", b"\x0a\x04gone": b"\x08\x03"}
    with GrpcServer(statuses) as address:
        assert probe("grpc", address)["outcome"] == "ok"
        down = probe("grpc", address, "--service", "db")
        assert (down["outcome"], down["facts"]["serving"]) == ("fail", "NOT_SERVING")
        assert probe("grpc", address, "--service", "new")["outcome"] == "unknown"
        assert probe("grpc", address, "--service", "gone")["reason"] == "missing"
        unheard = probe("grpc", address, "--service", "unheard")
        assert unheard["facts"]["message"] == "no such service: ünknown"
    with GrpcServer(None) as address:
        seen = probe("grpc", address)
        assert (seen["outcome"], seen["facts"]["status"]) == ("unknown", 12), seen


RECORDS = ("host-record=api.example,10.0.0.7,fd00::7,60", "srv-host=_raft._tcp.example,ctl-1.example,6643,0,5", "txt-record=note.example,hello",
           "cname=alias.example,api.example", "mx-host=example,mx.example,10", "local=/example/",
           *[f"host-record=many.example,10.1.{i // 200}.{i % 200 + 1}" for i in range(100)])


def test_dns_dnsmasq(tmp_path):
    with Dnsmasq(ROOT / "build/lab/dnsmasq", tmp_path, *RECORDS) as server:
        def ask(name: str, *arguments: str) -> dict:
            return probe("dns", name, "--server", server.address, *arguments)
        seen = ask("api.example", "--expect", "10.0.0.7", "--only", "--mixed-case")
        assert seen["outcome"] == "ok", seen
        assert (seen["facts"]["answers"], seen["facts"]["least_ttl"], seen["facts"]["tries"]) == (["10.0.0.7"], 60, 1)
        assert ask("api.example.", "--type", "AAAA")["facts"]["answers"] == ["fd00::7"]
        assert ask("alias.example")["facts"]["answers"] == ["10.0.0.7"], "by way of its alias"
        assert ask("_raft._tcp.example", "--type", "srv")["facts"]["answers"] == ["0 5 6643 ctl-1.example"]
        assert ask("note.example", "--type", "TXT")["facts"]["answers"] == ["hello"]
        assert ask("example", "--type", "MX")["facts"]["answers"] == ["10 mx.example"]
        gone = ask("nosuch.example")
        assert (gone["outcome"], gone["facts"]["rcode"]) == ("fail", "NXDOMAIN")
        assert ask("nosuch.example", "--rcode", "NXDOMAIN")["outcome"] == "ok"
        assert ask("api.example", "--min-ttl", "61s")["outcome"] == "warn"
        assert ask("api.example", "--expect", "10.0.0.8")["outcome"] == "fail"
        # 100 addresses do not fit into the 512 bytes of RFC 1035.
        many = ask("many.example", "--min-answers", "100")
        assert many["outcome"] == "ok" and many["facts"]["over_tcp"], many
        assert ask("api.example", "--tcp")["facts"]["over_tcp"]
        # Not its own, and it was given nobody to ask.
        assert ask("elsewhere.org")["outcome"] == "unknown"
    assert probe("dns", "api.example", "--server", server.address)["reason"] == "refused"


def allow_pings(network: Network, host: int, groups: str) -> None:
    run(*network.inside(host, "sh", "-c", f"echo {groups} > /proc/sys/net/ipv4/ping_group_range"))


@pytest.fixture(name="hosts")
def two_hosts():
    network = Network(f"ping-{os.getpid()}", "10.99.7", 2)
    network.down()
    try:
        network.up()
        for host in (1, 2):
            run("ip", "-n", network.namespace(host), "addr", "add", f"fd99:7::{host}/64", "dev", "eth0", "nodad")
            allow_pings(network, host, "0 2147483647")
        yield network
    finally:
        network.down()


def test_ping_answers_losses_and_permission(hosts):
    inside = hosts.inside(1)
    for address in (hosts.address(2), "fd99:7::2"):
        seen = probe("ping", address, "--interval", "1ms", inside=inside)
        assert seen["outcome"] == "ok", seen
        assert (seen["facts"]["sent"], seen["facts"]["received"], seen["facts"]["address"]) == (3, 3, address)
        assert 0 < seen["facts"]["least_us"] <= seen["facts"]["mean_us"] <= seen["facts"]["most_us"]
    hosts.lose(2, 100.0)
    lost = probe("ping", hosts.address(2), "--timeout", "300ms", "--interval", "1ms", inside=inside)
    assert (lost["outcome"], lost["reason"]) == ("fail", "unreachable"), lost
    hosts.heal(2)
    assert probe("ping", "10.98.0.1", inside=inside)["reason"] == "unreachable", "no route"
    # Nobody may: no group of ours is in it.
    allow_pings(hosts, 1, "1 0")
    denied = probe("ping", hosts.address(2), inside=inside)
    assert (denied["outcome"], denied["reason"]) == ("unknown", "denied")
    assert "net.ipv4.ping_group_range" in denied["detail"]
