"""Runs every command that README, the user guide, the operations page and the pages for operators and developers show, in the order in
which a reader would, beside a `./dev run` of its own, and compares its output with what the page promises. A command that is not in the
table below fails the test."""

import os
import re
import signal
import subprocess
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.instance import Lab
from lab.processes import wait_until
from tools.agent import ROOT, programs

OPERATORS = sorted(f"docs/operators/{page.name}" for page in (ROOT / "docs/operators").glob("*.md"))
PAGES = ("README.md", "docs/user-guide.md", "docs/operations.md", "docs/developers.md", *OPERATORS)
PROGRAMS = ("wardmote", "wardmoted", "./dev", "build/release/bin/wardmote")


@dataclass(frozen=True)
class Told:
    says: str = ""      # a pattern that its output has
    ends: tuple = (0,)  # with one of these; the first when it is tried again
    within: float = 0   # seconds in which it comes to say so
    runs: str = ""      # in place of the words that a reader fills in
    stays: bool = False  # until Ctrl-C


# It is no wrong usage; this machine may have nothing of the kind.
ANYTHING = Told("", (0, 1, 2, 3))

# In this order.
STEPS = {
    "wardmote probe ovn /run/ovn/ovnnb_db.ctl": Told(r"SEES-LEADER[\s\S]* ok\n"),
    "wardmote probe ovn /run/ovn/ovnnb_db.ctl --ovsdb unix:/run/ovn/ovnnb_db.sock": Told(r"SEES-LEADER[\s\S]* ok\n"),
    "wardmote assess ovn --db OVN_Northbound --for 10s --member ctl-1=/run/ovn/ovnnb_db.ctl,unix:/run/ovn/ovnnb_db.sock":
        Told(r"ctl-1 .* ok\n"),
    "wardmote probe --help": Told(r"ovn[\s\S]*tls"),
    "wardmote probe bird": ANYTHING,
    "wardmote probe bird /run/bird/bird.ctl --expect 10.0.0.2 --expect 10.0.0.3": ANYTHING,
    "wardmote probe systemd kubelet": ANYTHING,
    "wardmote probe ping 10.0.0.1 --count 5": ANYTHING,
    "wardmote probe http http://10.0.0.10:5000/v3 --status 200": ANYTHING,
    "wardmote calico-health --bird-ready --felix-ready --explain": ANYTHING,
    "wardmote replay FILE": Told(r"RAFT_MEMBER_DOWN", (2,), runs=f"wardmote replay {ROOT}/tests/fuzz/corpus/evidence/member-down.jsonl"),
    "wardmote status": Told(r"ovn-nb .*HEALTHY[\s\S]*ovn-sb .*HEALTHY"),
    "wardmote readyz": Told(r"ok"),
    "wardmote explain CODE": Told(r"majority", runs="wardmote explain RAFT_NO_QUORUM"),
    "wardmote explain NAME": Told(r"ctl-1", runs="wardmote explain ctl-1"),
    "wardmote status CLUSTER": Told(r"ovn-nb .*HEALTHY", runs="wardmote status ovn-nb"),
    "wardmote get checks": Told(r"CHECK +KIND"),
    "wardmote get incidents": Told(r"No incident is open"),
    "wardmote get receivers": Told(r"nobody is notified"),
    "wardmote get plans": Told(r"Nothing is planned"),
    "wardmote pause": Told(r"Paused: all"),
    "wardmote resume": Told(r"Nothing is paused"),
    "wardmote silence add --match node=compute-1 --for 2h": Told(r"silence \d+ until"),
    "build/release/bin/wardmote status --watch --host 127.0.0.1:9470": Told(r"HEALTHY", (130,), stays=True),
    "wardmote doctor": Told(r"agent", (0, 1)),
    "wardmote doctor --bundle FILE": Told(r"holds what was seen", (0, 1), runs="wardmote doctor --bundle seen.tar"),
    # A machine for tests has nothing to find.
    "wardmote init > wardmote.yaml": Told("", (0, 1)),
    "wardmoted config check wardmote.yaml": Told(r"^ok$"),
    "wardmoted --check --config FILE": Told(r"", runs="wardmoted --check --config wardmote.yaml"),
    "wardmoted --config wardmote.yaml": Told(r"started[\s\S]*stopped", (0,), stays=True),
    "./dev lab break --help": Told(r"wipe[\s\S]*kill|kill[\s\S]*wipe"),
    "./dev lab --name run break wipe nb/follower": Told(),
    "build/release/bin/wardmote status ovn-nb --host 127.0.0.1:9470":
        Told(r"CRITICAL RAFT_STALE_MEMBER[\s\S]*cluster/kick OVN_Northbound", (2,), within=40),
    "wardmote explain RAFT_STALE_MEMBER": Told(r"says:[\s\S]*cluster/kick OVN_Northbound", (2,)),
    "./dev lab --name run mend": Told(r"nb: healthy", within=1),
    "./dev lab --name run break kill nb/leader": Told(),
    "./dev lab --name run break wipe": Told(),
}
ELSEWHERE = {
    "./dev run": "stands beside all of this",
    "./dev test": "runs this",
    "./dev package": "a stage of CI, which also installs, starts and purges what it makes",
    "./dev image": "test_image.py makes one",
    "./dev release": "test_release.py makes one",
    "./dev docs": "test_docs_site.py makes it",
    "wardmote init > /etc/wardmote/wardmote.yaml": "tests/personas do it in a clean root",
    "wardmoted config check": "the same",
    "wardmoted --check && systemctl enable --now wardmoted": "./dev package --check does it in a clean root",
    "./dev bench ovn": "a measurement",
    "wardmote notify test journal": "test_notify.py tests receivers",
    "wardmote explain 17": "there is no incident 17; test_notify.py explains one",
    "wardmote ack 17": "the same; test_notify.py acknowledges one",
    "wardmote assess bgp": "a name; test_bgp_mesh.py runs it",
    "wardmote calico-health": "a name; test_calico_health.py runs it",
}


def commands_of(page: str) -> list[str]:
    """Those in code blocks, after the prompt where there is one and before what explains them, and those in the text."""
    text = (ROOT / page).read_text(encoding="utf-8")
    block = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    found = []
    for kind, lines in block.findall(text):
        for line in re.sub(r"\\\n\s*", " ", textwrap.dedent(lines)).splitlines():
            if kind == "console" and line[:2] not in ("$ ", "# "):
                continue
            found.append(re.split(r"\s{3,}(?=\S)", line.removeprefix("$ ").removeprefix("# ").strip())[0])
    found += re.findall(r"(?<!`)`([^`]+)`(?!`)", block.sub("", text))
    plain = (" ".join(one.split()) for one in found)
    return [one for one in plain if any(one.startswith(program + " ") for program in PROGRAMS)]


def test_every_command_of_the_pages_is_known():
    shown = {command for page in PAGES for command in commands_of(page)}
    assert len(shown) > 20, "the pages are not read any more"
    assert shown - STEPS.keys() - ELSEWHERE.keys() == set(), "not run by this test"
    assert (STEPS.keys() | ELSEWHERE.keys()) - shown == set(), "no page shows it any more"


BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    """As the repository's host makes them of the headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere():
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").glob("*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text(encoding="utf-8"))):
            path, _, anchor = link.partition("#")
            target = (page.parent / path) if path else page
            if "://" in link or (target.exists() and (not anchor or anchor in anchors_of(target))):
                continue
            broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


@pytest.mark.parametrize("page", OPERATORS)
def test_every_configuration_for_operators_is_valid(page, tmp_path):
    """In itself: the folders and secrets that it names are not on this machine."""
    blocks = re.findall(r"^ *```yaml\n(.*?)^ *```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks, "a page for operators has a configuration"
    for block in blocks:
        file = tmp_path / "wardmote.yaml"
        file.write_text(textwrap.dedent(block), encoding="utf-8")
        shown = subprocess.run([programs() / "wardmoted", "config", "show", file], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               check=False)
        assert shown.returncode == 0, shown.stderr


class Reader:
    """Somebody who does what is written, in a folder of his own, on a host that has an OVN database."""

    def __init__(self, folder, lab: Lab, host: str):
        self.folder, self.lab, self.host = folder, lab, host
        (folder / "ovn").mkdir()
        cluster = lab.clusters["nb"]
        (folder / "ovn/ovnnb_db.ctl").symlink_to(cluster.control(1))
        (folder / "ovn/ovnnb_db.sock").symlink_to(cluster.socket(1))
        self.environment = {**os.environ, "PATH": f"{programs()}:{os.environ['PATH']}", "WARDMOTE_HOST": f"unix:{lab.api_socket}"}

    def here(self, command: str) -> str:
        """The same on this machine, where others may do it too."""
        return (command.replace("/run/ovn/", f"{self.folder}/ovn/").replace("127.0.0.1:9470", self.host)
                .replace("--name run", f"--name {self.lab.name}").replace("build/release/bin/wardmote", str(programs() / "wardmote")))

    def does(self, command: str, told: Told) -> None:
        line = self.here(told.runs or command)
        if "wardmote init" in command:
            assert self.run(line).returncode in told.ends
            # As if it had found this lab; another agent has the sockets of that one.
            found = (self.lab.folder / "wardmote.yaml").read_text(encoding="utf-8")
            own = re.sub(r"^api: .*$", f"api: {{socket: {self.folder}/own.sock}}", found, flags=re.MULTILINE)
            (self.folder / "wardmote.yaml").write_text(own, encoding="utf-8")
            return
        end = time.monotonic() + told.within
        while True:
            done = self.stay(line, told.says) if told.stays else self.run(line)
            output = done.stdout + done.stderr
            if done.returncode in told.ends and re.search(told.says, output, re.MULTILINE):
                return
            assert time.monotonic() < end, f"$ {line}\n{output}\nended with {done.returncode}"
            time.sleep(0.2)

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        at = ROOT if line.startswith("./dev") else self.folder
        return subprocess.run(["bash", "-c", line], cwd=at, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, check=False)

    def stay(self, line: str, says: str) -> subprocess.CompletedProcess[str]:
        """Until the first of it is said, then Ctrl-C."""
        first = says.split("[", 1)[0]
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=output, text=True)

            def said() -> str:
                output.seek(0)
                return output.read()

            try:
                wait_until(lambda: re.search(first, said()), 20, f"`{line}` to say {first}", every=0.1)
                process.send_signal(signal.SIGINT)
                process.wait(20)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            return subprocess.CompletedProcess(line, process.returncode, said(), "")


@pytest.fixture
def dev_run():
    """`./dev run`, until it shows its page: the lab's name, and where the agent listens."""
    name = f"docs-{os.getpid()}"
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(["./dev", "run", "--name", name], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True)

        def page() -> re.Match | None:
            output.seek(0)
            text = output.read()
            assert process.poll() is None, text
            return re.search(r"HEALTHY[\s\S]*HEALTHY[\s\S]*the page: http://([\d.]+:\d+)/", text)

        try:
            yield name, wait_until(page, 180, "./dev run to show its page", every=0.2)[1]
        finally:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def test_every_command_does_what_the_page_says(dev_run, tmp_path):
    name, host = dev_run
    reader = Reader(tmp_path, Lab.load(name), host)
    for command, told in STEPS.items():
        reader.does(command, told)
