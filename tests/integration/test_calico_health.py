"""wardmote calico-health as a process: codes, texts, deadlines, against real BIRDs and sockets that a simulator cannot show."""

import os
import signal
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import programs

READY, NOT_READY, PANIC, UNKNOWN = 0, 1, 2, 3


@pytest.fixture(scope="module")
def lab():
    """A BIRD 1.6 and a BIRD 2 with a session between them."""
    with Lab.up(f"calico-{os.getpid()}", [], members=2, transient=True, birds=["1.6", "2"]) as up:
        yield up


@pytest.fixture
def node(tmp_path):
    """The file system of a node, as far as the checks look at it."""
    for folder in ("var/run/calico", "var/run/bird", "var/lib/calico"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "var/lib/calico/nodename").write_text("node-1", encoding="utf-8")
    return tmp_path


def health(node, *flags, environment=None, timeout=20):
    return subprocess.run([programs() / "wardmote", "calico-health", *flags, "--root", node], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=timeout,
                          env={**os.environ, **(environment or {})})


def link(node, bird):
    (node / "var/run/calico/bird.ctl").symlink_to(bird.control)


def make_old(node):
    os.utime(node / "var/lib/calico/nodename", (time.time() - 3600,) * 2)


def test_ready_is_silent(lab, node):
    for bird in lab.birds:
        (node / "var/run/calico/bird.ctl").unlink(missing_ok=True)
        link(node, bird)
        done = health(node, "-bird-ready")
        assert (done.returncode, done.stdout, done.stderr) == (READY, "", ""), bird.version
    compat = health(node, "--bird-ready", "--compat", "head")
    assert compat.returncode == NOT_READY, "Calico does not know the headings of BIRD 2"
    assert "unknown BIRD table output format" in compat.stdout


def test_no_check_and_wrong_flags(node):
    none = health(node)
    assert none.returncode == NOT_READY
    assert none.stdout == ("calico/node check error: must specify at least one of -bird-live, -bird6-live, -felix-live, -bird, "
                           "-bird6, or -felix\n")
    assert health(node, "-no-such-flag").returncode == NOT_READY
    unit = health(node, "-bird-ready", "-threshold-time=30")
    assert unit.returncode == NOT_READY
    assert "threshold-time" in unit.stderr
    for off in (["-bird-ready=false"], ["-bird-ready", "-bird-ready=false"]):
        assert health(node, *off).stdout == none.stdout
    assert health(node, "-bird-ready=").returncode == NOT_READY


# The words are those of Go's package flag, on standard output as Calico prints them.
@pytest.mark.parametrize("flags, says", [
    (["-no-such-flag"], "flag provided but not defined: -no-such-flag"), (["-bird-ready="], 'invalid boolean value "" for -bird-ready: parse error'),
    (["-threshold-time=30"], 'invalid value "30" for flag -threshold-time: parse error')])
def test_wrong_flags_as_calico_says_them(node, flags, says):
    done = health(node, "-bird-ready", "--compat", "head", *flags)
    assert (done.returncode, done.stdout, done.stderr) == (NOT_READY, f"{says}\n", "")


@pytest.mark.parametrize("port", ["abc", " 9099", "1e3"])
def test_a_port_that_is_none_ends_calico_for_every_check(lab, node, port):
    link(node, lab.birds[0])
    environment = {"FELIX_HEALTHPORT": port}
    compat = health(node, "-bird-ready", "--compat", "head", environment=environment)
    assert (compat.returncode, compat.stdout) == (PANIC, "")
    assert "Failed to parse value for port" in compat.stderr
    assert health(node, "-bird-ready", environment=environment).returncode == READY


def test_a_panic_is_on_standard_error_alone(node):
    Closer(node / "var/run/calico/bird.ctl", "short")
    done = health(node, "-bird-ready", "-felix-live", "--compat", "head", environment={"FELIX_HEALTHPORT": "1"})
    assert (done.returncode, done.stdout) == (PANIC, "")
    assert "panic: runtime error: slice bounds out of range" in done.stderr


def test_calico_passes_over_extra_words(lab, node):
    link(node, lab.birds[0])
    done = subprocess.run([programs() / "wardmote", "calico-health", "--compat", "head", f"--root={node}", "-bird-ready", "extra"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (READY, "", "")


@pytest.mark.parametrize("threshold", ["0", "-1s", "5us"])
def test_a_threshold_of_nothing_is_no_deadline(lab, node, threshold):
    link(node, lab.birds[0])
    for more in ([], ["--compat", "calico-3.22"]):
        assert health(node, "-bird-ready", f"-threshold-time={threshold}", *more).returncode == READY


def test_all_failures_are_told_here_and_the_first_there(node):
    flags = ["-bird-ready", "-felix-live", "-felix-ready"]
    closed = {"FELIX_HEALTHPORT": "1", "FELIX_HEALTHHOST": "127.0.0.1", "HTTP_PROXY": "http://127.0.0.1:1"}
    own = health(node, *flags, environment=closed)
    assert own.returncode == NOT_READY
    assert len(own.stdout.splitlines()) == 3
    compat = health(node, *flags, "--compat", "calico-3.30", environment=closed)
    assert compat.returncode == NOT_READY
    assert len(compat.stdout.splitlines()) == 1


def test_a_stopped_bird_fails_in_time_with_its_reason(lab, node):
    bird = lab.birds[0]
    link(node, bird)
    bird.pause()
    try:
        begun = time.monotonic()
        done = health(node, "-bird-ready", "--deadline", "1s")
        assert time.monotonic() - begun < 2
        assert done.returncode == NOT_READY
        assert "no greeting" in done.stdout
        compat = health(node, "-bird-ready", "--compat", "head")
        assert "i/o timeout" in compat.stdout
    finally:
        bird.resume()


def test_the_program_may_be_called_calico_node(lab, node, tmp_path):
    link(node, lab.birds[0])
    other_name = tmp_path / "calico-node"
    other_name.symlink_to(programs() / "wardmote")
    done = subprocess.run([other_name, "-bird-ready", f"--root={node}"], capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (READY, "")
    newest = tmp_path / "calico"
    newest.symlink_to(programs() / "wardmote")
    done = subprocess.run([newest, "component", "node", "health", "--bird-ready", f"--root={node}"], capture_output=True,
                          text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (READY, "")


# The same program is Felix, confd and the preStop hook of a node.
def test_what_is_no_health_check_goes_to_the_real_calico_node(tmp_path):
    name = tmp_path / "calico-node"
    name.symlink_to(programs() / "wardmote")
    real = tmp_path / "calico-node.real"
    real.write_text('#!/bin/sh\necho "real $0 $*"\nexit 42\n', encoding="utf-8")
    real.chmod(0o755)

    def run(*flags, **environment):
        return subprocess.run([name, *flags], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=20,
                              env={**os.environ, **environment})

    for flags in (["-felix"], ["-confd"], ["-shutdown"], ["-felix", "-bird-ready"], []):
        done = run(*flags)
        assert (done.returncode, done.stdout) == (42, f"real {real} {' '.join(flags)}\n"), done.stderr
    assert run("-bird-ready").returncode == NOT_READY
    elsewhere = tmp_path / "elsewhere"
    real.rename(elsewhere)
    assert run("-felix", WARDMOTE_CALICO_NODE=str(elsewhere)).returncode == 42
    gone = run("-felix")
    assert gone.returncode == 127
    assert "WARDMOTE_CALICO_NODE" in gone.stderr
    assert run("-felix", WARDMOTE_CALICO_NODE=str(name)).returncode == 126, "it would call itself for ever"


def test_a_closed_output_does_not_change_the_verdict(node):
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([programs() / "wardmote", "calico-health", "-bird-ready", "--root", node], stdout=write_end, check=False,
                          stdin=subprocess.DEVNULL, timeout=20)
    os.close(write_end)
    assert done.returncode == NOT_READY


def asks(pid: int) -> bool:
    """Whether it holds a socket: it has connected, and a stopped daemon does not answer."""
    try:
        return any(os.readlink(fd).startswith("socket:") for fd in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_sigterm_is_not_ready(lab, node):
    bird = lab.birds[0]
    link(node, bird)
    bird.pause()
    try:
        process = subprocess.Popen([programs() / "wardmote", "calico-health", "-bird-ready", "--root", node],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_until(lambda: asks(process.pid), 15.0, "it to ask")
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) != READY
    finally:
        bird.resume()


class Closer:
    """A control socket that hangs up: at once, after its greeting, or after the question, with or without having read it."""

    def __init__(self, path: Path, how: str):
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(8)
        self._how = how
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            client, _ = self._listener.accept()
            if self._how != "close":
                client.sendall(b"0001 BIRD 1.6.8 ready.\n")
            if self._how in ("readclose", "short"):
                client.recv(4096)
            if self._how == "short":
                client.sendall(b"2002\n0000 \n")
            if self._how == "banner-close":
                time.sleep(0.1)  # the question has come and is not read: a reset
            client.close()


# What Calico's own code was seen to answer to each.
@pytest.mark.parametrize("how, code, says", [("banner-close", NOT_READY, "connection reset by peer"), ("readclose", READY, "")])
def test_a_socket_that_hangs_up_is_ready_for_calico_and_never_here(node, how, code, says):
    Closer(node / "var/run/calico/bird.ctl", how)
    compat = health(node, "-bird-ready", "--compat", "head")
    assert compat.returncode == code, compat.stdout
    assert says in compat.stdout
    own = health(node, "-bird-ready")
    assert own.returncode == UNKNOWN
    assert own.stdout.startswith("calico/node is not ready: BIRD is not ready: ")


def test_files_that_are_no_sockets(node):
    for make in (Path.mkdir, os.mkfifo, Path.touch):
        path = node / "var/run/calico/bird.ctl"
        make(path)
        begun = time.monotonic()
        assert health(node, "-bird-ready").returncode != READY
        assert time.monotonic() - begun < 5
        path.rmdir() if path.is_dir() else path.unlink()


def test_long_socket_paths(tmp_path):
    deep = tmp_path / ("x" * 200) / "y"
    (deep / "var/lib/calico").mkdir(parents=True)
    (deep / "var/lib/calico/nodename").touch()
    assert health(deep, "-bird-ready").returncode != READY


class LiveAndReady(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path in ("/liveness", "/readiness") else 404)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("host", [None, "127.0.0.1", "localhost"], ids=["default", "address", "name"])
def test_felix_is_reached_where_it_is_told_to_listen(node, host):
    server = ThreadingHTTPServer(("127.0.0.1", 0), LiveAndReady)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        environment = {"FELIX_HEALTHPORT": str(server.server_address[1])} | ({"FELIX_HEALTHHOST": host} if host else {})
        done = health(node, "-felix-live", "-felix-ready", environment=environment)
        assert (done.returncode, done.stdout, done.stderr) == (READY, "", "")
    finally:
        server.shutdown()
        server.server_close()
