"""The page in a real Chromium: a plan is shown to who may read, and approved by who may and has said so twice."""

import os
import socket

import pytest

from lab.browser import Browser
from lab.instance import Lab
from lab.processes import wait_until
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


class PageSite(Site):
    """A cluster and an agent that also answers a browser, with a token for each role."""

    def run(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        for name, token in TOKENS.items():
            (self.folder / name).write_text(token + "\n", encoding="utf-8")
        tokens = ", ".join(f"{{name: {name}, role: {name}, file: {self.folder}/{name}}}" for name in TOKENS)
        text = self.config.read_text(encoding="utf-8")
        assert "api: {" in text
        address = self.url.removeprefix("http://").removesuffix("/")
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
        browser.wait_text("Yes, begin", "#plans")
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
