"""Mail to a real SMTP server (aiosmtpd), and entries in the journal of a real systemd-journald."""

import json

from lab.journald import Journald
from lab.mailserver import PASSWORD, USER, MailServer
from lab.pki import Authority
from lab.processes import wait_until
from test_notify import fail_and_recover, run, write_config
from tools.agent import ROOT

PACKAGES = ROOT / "build/lab/mailserver"


def mail(server, folder, more="tls: never") -> str:
    return f"mail: {{server: '127.0.0.1:{server.port}', from: wardmote@example.org, to: [ann@example.org, bob@example.org], {more}}}"


def subjects(server) -> list[str]:
    return [one["subject"] for one in server.taken()]


def test_mail_over_starttls_with_a_login_tells_the_beginning_and_the_end(tmp_path, target):
    papers = Authority(tmp_path / "pki").issue("mail", names="IP:127.0.0.1")
    (tmp_path / "password").write_text(PASSWORD + "\n", encoding="utf-8")
    with MailServer(PACKAGES, tmp_path / "mail", papers.certificate, papers.key) as server:
        more = f"user: {USER}, password_file: {tmp_path}/password, trust: {papers.ca}"
        ways = {"mail": mail(server, tmp_path, more), "stranger": mail(server, tmp_path, more.replace(str(papers.ca), "/etc/hostname"))}
        write_config(tmp_path, target, ways)
        with run(tmp_path) as agent:
            agent.wait_healthy()

            def heard(what: str) -> bool:
                return any(subject.startswith("CRITICAL" if what.startswith("opened") else "RESOLVED") for subject in subjects(server))

            fail_and_recover(agent, target, heard, seconds=20.0)
            assert len(server.taken()) == 2, "who does not trust the server sends nothing"
            began, ended = server.taken()
            assert began["from"] == "Wardmote <wardmote@example.org>" and began["auto-submitted"] == "auto-generated"
            assert began["message-id"] != ended["message-id"] and began["references"] == ended["references"]
            assert began["date"].datetime.tzinfo is not None and "check:web" in began["subject"]
            assert "check:web" in began.get_content() and "since" in began.get_content()
            envelope = server.envelopes()[0]
            assert envelope["tls"] and envelope["user"] == USER
            assert envelope["from"] == "wardmote@example.org" and envelope["to"] == ["ann@example.org", "bob@example.org"]
            states = {one["name"]: one for one in agent.json("/api/v1/receivers")["receivers"]}
            assert states["stranger"]["refused"] and not states["stranger"]["delivered"]
            assert PASSWORD not in agent.output() + agent.get("/api/v1/receivers")[1] + agent.get("/api/v1/history")[1]


def test_a_mail_server_that_is_away_or_refuses(tmp_path, target):
    with MailServer(PACKAGES, tmp_path / "mail") as server:
        write_config(tmp_path, target, {"mail": mail(server, tmp_path), "starttls": mail(server, tmp_path, "tls: starttls")})
        with run(tmp_path) as agent:
            agent.wait_healthy()
            server.refuse("450 try later")
            target.down()
            wait_until(lambda: all(one["refused"] for one in agent.json("/api/v1/receivers")["receivers"]), 10.0, "both refusals")
            assert not agent.json("/api/v1/receivers")["dead_letters"]
            server.refuse(None)
            wait_until(lambda: subjects(server), 30.0, "the mail")
            assert len(subjects(server)) == 1, "without STARTTLS nothing is sent to whom it is wanted of"
            server.refuse("550 no such user")
            target.up()
            letters = wait_until(lambda: agent.json("/api/v1/receivers")["dead_letters"], 10.0, "the dead letter")
            assert [one["receiver"] for one in letters] == ["mail"] and "550" in letters[0]["reason"]


def test_one_refused_recipient_costs_the_others_nothing(tmp_path, target):
    with MailServer(PACKAGES, tmp_path / "mail") as server:
        write_config(tmp_path, target, {"mail": mail(server, tmp_path)})
        with run(tmp_path) as agent:
            agent.wait_healthy()

            def state() -> dict:
                return agent.json("/api/v1/receivers")["receivers"][0]

            server.refuse("450 greylisted", only="bob@example.org")
            target.down()
            wait_until(lambda: state()["refused"], 10.0, "the refusal")
            assert [one["to"] for one in server.envelopes()] == [["ann@example.org"]]
            assert "bob@example.org: 450 greylisted" in state()["last"]["reason"]
            server.refuse(None)
            wait_until(lambda: state()["delivered"] == 1, 30.0, "the mail to the other")
            assert [one["to"] for one in server.envelopes()] == [["ann@example.org"], ["bob@example.org"]]
            assert state()["last"]["good"] and not state()["last"]["reason"]
            server.refuse("550 no such user", only="bob@example.org")
            target.up()
            wait_until(lambda: state()["delivered"] == 2, 10.0, "the end")
            assert server.envelopes()[-1]["to"] == ["ann@example.org"]
            assert not state()["last"]["good"] and "bob@example.org: 550 no such user" in state()["last"]["reason"]
            assert not agent.json("/api/v1/receivers")["dead_letters"] and state()["refused"] == 1
            assert "bob@example.org: 550 no such user" in agent.output()


def test_the_journal_has_an_entry_with_fields(tmp_path, target):
    write_config(tmp_path, target, {"journal": "journal: {}"})
    with Journald(tmp_path) as journald, run(tmp_path, journald.inside) as agent:
        agent.wait_healthy()

        def heard(what: str) -> bool:
            kind = what.split()[0]
            return any(f'"kind":"{kind}"' in one["WARDMOTE_NOTICE"] for one in journald.entries("WARDMOTE_RECEIVER=journal"))

        fail_and_recover(agent, target, heard, seconds=20.0)
        began, ended = journald.entries("WARDMOTE_RECEIVER=journal")
        assert (began["PRIORITY"], ended["PRIORITY"]) == ("2", "5")
        assert began["WARDMOTE_ROOT"] == "check:web" and began["WARDMOTE_INCIDENT"] == "1"
        assert began["MESSAGE"].startswith("CRITICAL check:web CHECK_FAILED")
        assert json.loads(ended["WARDMOTE_NOTICE"])["status"] == "resolved"
