"""The page in a real Chromium: a plan is shown to who may read, and approved by who may and has said so twice; a mesh with its faults."""

import os
import time

import pytest

from lab.browser import Browser
from lab.instance import Lab
from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import Agent
from test_plans import REBUILD, Site

pytestmark = pytest.mark.slow

TOKENS = {"viewer": "viewer-token-0123456789", "operator": "operator-token-0123456789", "admin": "admin-token-0123456789"}


@pytest.fixture
def lab():
    with Lab.up(f"page-{os.getpid()}", ["nb"], hosts=4, transient=True) as lab:
        yield lab


@pytest.fixture
def browser(tmp_path):
    with Browser(tmp_path / "browser") as browser:
        yield browser
        assert not browser.problems


def free_address() -> str:
    return f"127.0.0.1:{free_port()}"


class PageSite(Site):
    """A cluster and an agent that also answers a browser, with a token for each role."""

    def run(self):
        address = free_address()
        self.url = f"http://{address}/"
        for name, token in TOKENS.items():
            (self.folder / name).write_text(token + "\n", encoding="utf-8")
        tokens = ", ".join(f"{{name: {name}, role: {name}, file: {self.folder}/{name}}}" for name in TOKENS)
        text = self.config.read_text(encoding="utf-8")
        assert "api: {" in text
        self.config.write_text(text.replace("api: {", f"api: {{listen: '{address}', anonymous: none, tokens: [{tokens}], ", 1), encoding="utf-8")
        return super().run()


def sign_in(browser, role) -> None:
    browser.run("document.querySelector('#who').open = true")
    browser.run("document.querySelector('#token').focus()")
    browser.type(TOKENS[role])
    browser.click("Use it")
    browser.wait_text(f"{role} (token:{role})", "#who")


def test_a_plan_is_approved_on_the_page_by_who_may(lab, tmp_path, browser):
    site = PageSite(lab, tmp_path, REBUILD)
    try:
        site.agent.wait_healthy()
        browser.open(site.url)
        browser.wait_text("The agent asks who you are")
        assert "nb" not in browser.text("#clusters")

        victim = site.cluster.followers()[0]
        name = site.cluster.members[victim].name
        site.cluster.kill(victim)
        plan = wait_until(lambda: next((one for one in site.plans() if one["state"] == "proposed"), None), 60.0, "the plan", every=0.2)
        sign_in(browser, "viewer")
        shown = browser.wait_text("waits for approval", "#plans")
        assert plan["summary"] in shown and "confirm_quorum" in shown and "rejoin" in shown
        assert "needs the role admin" in shown and "Approve" not in browser.run("[...document.querySelectorAll('button')].map((b) => b.innerText).join()")

        sign_in(browser, "operator")
        browser.wait_text("Reject", "#plans")
        assert "approve: needs the role admin" in browser.text("#plans")

        sign_in(browser, "admin")
        browser.wait_text("Approve", "#plans")
        # A reading of the state draws all anew; what somebody began to order stays.
        browser.click("Approve")
        browser.wait_text("Yes, begin", "#plans")
        browser.screenshot(tmp_path / "asked.png")
        browser.click("No")
        browser.wait_text("Approve", "#plans")
        assert site.plans()[0]["state"] == "proposed", "one click orders nothing"
        browser.click("Approve")
        browser.click("Yes, begin")
        assert site.plans()[0]["state"] == "proposed", "the second button is deaf at first"
        browser.click("No")
        for times in (2, 3):
            browser.click("Approve", times=times)
            time.sleep(1.0)  # an order would be on its way
            assert site.plans()[0]["state"] == "proposed", "a double click orders nothing"
            if "Yes, begin" in browser.text("#plans"):
                browser.click("No")
            browser.wait_text("Approve", "#plans")
        browser.click("Approve")
        wait_until(lambda: browser.run("document.querySelector('#plans .grave')?.disabled === false"), 5.0, "the second button to listen", every=0.1)
        browser.click("Yes, begin")
        wait_until(lambda: site.state() == "done", 90.0, "the plan's end", every=0.2)
        assert site.plans()[-1]["approver"] == "token:admin"
        browser.wait_text("1 plan at the end", "#plans")
        browser.click("1 plan at the end", "#plans summary")
        shown = browser.wait_text("approved by token:admin", "#plans")
        assert name in shown and all(step["detail"] in shown for step in site.plans()[-1]["steps"])
        browser.screenshot(tmp_path / "done.png")
    finally:
        site.end()


@pytest.fixture
def birds():
    with Lab.up(f"page-mesh-{os.getpid()}", [], members=3, transient=True, birds=["2", "2", "2"]) as lab:
        yield lab


def matrix(browser) -> dict[tuple[str, str], str]:
    """The matrix as it is drawn: who says what of whom."""
    rows = browser.run("[...document.querySelectorAll('.mesh tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))") or [[]]
    names = rows[0][2:]
    return {(row[0], names[n]): cell for row in rows[1:] for n, cell in enumerate(row[2:])}


def test_a_mesh_is_drawn_from_both_ends_and_says_what_is_wrong(birds, tmp_path, browser):
    address = free_address()
    with Agent(birds.write_config(address), birds.api_socket) as agent:
        agent.wait_healthy(120.0)
        browser.open(f"http://{address}/")
        browser.wait_text("3 of 3 sessions up at both ends", "#meshes")
        names = [bird.name for bird in birds.birds]
        drawn = matrix(browser)
        assert {pair for pair, cell in drawn.items() if "up" in cell} == {(a, b) for a in names for b in names if a != b}
        assert "mesh bgp well" in browser.text("#verdict")
        browser.screenshot(tmp_path / "whole.png")

        first, second, third = birds.birds
        first.peers[0].remote_as = 64999
        first.reconfigure()
        third.kill()
        def told() -> bool:
            """Both findings on the page, in the words that the API has at this moment."""
            standing = {one["code"]: one["summary"] for one in agent.json("/api/v1/findings")["findings"]}
            shown = browser.text("#meshes .findings")
            return all(code in standing and standing[code] in shown for code in ("BGP_WRONG_AS", "BGP_DAEMON_DOWN"))

        wait_until(told, 120.0, "both findings on the page", every=0.2)
        wait_until(lambda: "down" in matrix(browser)[first.name, second.name], 60.0, "the session on the page", every=0.2)
        drawn = matrix(browser)
        assert "says nothing" in drawn[third.name, first.name] and "up" not in drawn[second.name, first.name], drawn
        assert "mesh bgp not well" in browser.text("#verdict")

        # By the keys, from the overview and from the mesh's check; the focus outlives a redrawing.
        for place in ("#verdict a", "#checks a"):
            browser.run("scrollTo(0, 0)")
            browser.run(f"document.querySelector({place!r}).focus()")
            seen = browser.text("#freshness")
            wait_until(lambda: browser.text("#freshness") != seen, 60.0, "the page to be drawn anew", every=0.1)
            assert browser.run(f"document.activeElement === document.querySelector({place!r})")
            for kind in ("keyDown", "keyUp"):
                browser.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r" if kind == "keyDown" else "")
            wait_until(lambda: browser.run("document.activeElement.id") == "mesh bgp", 60.0, f"the mesh to be reached from {place}", every=0.1)
        browser.screenshot(tmp_path / "broken.png")
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.screenshot(tmp_path / "broken-dark.png")


def tone(browser) -> str:
    """The colour of the head of the page, and what it says; nothing before the agent has answered."""
    shown = browser.text("#verdict h1")
    return "" if shown in ("", "Asking the agent") else browser.run("document.querySelector('#verdict').className")


def test_an_agent_that_is_restarted_in_an_outage_is_red_from_its_first_page_on(tmp_path, browser):
    """A cluster of which one server is dead, and a port where nobody listens."""
    address = free_address()
    with Lab.up(f"page-outage-{os.getpid()}", ["nb"], transient=True) as lab:
        config = lab.write_config(address)
        (tmp_path / "data").mkdir()
        config.write_text(config.read_text(encoding="utf-8") + f"data: {tmp_path}/data\nchecks:\n  - {{name: port, tcp: {{address: "
                          f"'{free_address()}'}}, every: 500ms, timeout: 400ms, fall: 3}}\n", encoding="utf-8")
        with Agent(config, lab.api_socket) as agent:
            agent.wait_serving()
            lab.clusters["nb"].kill(lab.clusters["nb"].followers()[0])
            browser.open(f"http://{address}/")
            browser.wait_text("RAFT_MEMBER_DOWN")
            wait_until(lambda: tone(browser) == "verdict critical", 30.0, "a red page", every=0.1)
            before = browser.text("#verdict h1")
            agent.process.kill()
            agent.process.wait()
        with Agent(config, lab.api_socket) as agent:
            agent.wait_serving()
            browser.open(f"http://{address}/")
            assert wait_until(lambda: tone(browser), 30.0, "the page", every=0.005) == "verdict critical", "also at first"
            browser.screenshot(tmp_path / "restarted.png")
            browser.wait_text("RAFT_MEMBER_DOWN")
            assert browser.text("#verdict h1") == before
            browser.screenshot(tmp_path / "again.png")
