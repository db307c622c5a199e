"""A real SMTP server on loopback, aiosmtpd from Debian's package: STARTTLS or not, with or without a login. What it takes is in a file
for each message. Run as a program by MailServer."""

import json
import os
import ssl
import sys
import time
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from lab.packages import unpack
from lab.ports import free_port
from lab.processes import Process, start, wait_until

PACKAGES = ["python3-aiosmtpd", "python3-attr", "python3-public", "python3-typing-extensions"]
USER, PASSWORD = "wardmote", "lab-mail-password"


class MailServer:
    """Leaving it ends the process, by its id. It can be killed and started again on the same port."""

    def __init__(self, packages: Path, folder: Path, certificate: Path | None = None, key: Path | None = None):
        """With a certificate it wants STARTTLS and a login before it takes anything; else neither."""
        unpack(packages, PACKAGES)
        self.packages, self.folder = packages, folder
        self.certificate, self.key = certificate, key
        self.port = free_port()
        self.process: Process | None = None
        (folder / "taken").mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "MailServer":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.kill()

    def start(self) -> None:
        root = Path(__file__).resolve().parent.parent
        environment = {**os.environ, "PYTHONPATH": f"{root}:{self.packages}/usr/lib/python3/dist-packages"}
        self.process = start(["/usr/bin/python3", "-m", "lab.mailserver", str(self.port), str(self.folder),
                              *(str(path) for path in (self.certificate, self.key) if path)], environment, self.folder / "log")
        wait_until((self.folder / "up").exists, 20.0, "the mail server")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            (self.folder / "up").unlink(missing_ok=True)
            self.process = None

    def refuse(self, answer: str | None, only: str = "") -> None:
        """What it answers to RCPT from now on, `550 no such user`, perhaps of one address only; None: it takes everything."""
        path = self.folder / "refuse"
        path.unlink(missing_ok=True) if answer is None else path.write_text(f"{only}\n{answer}", encoding="utf-8")

    def taken(self) -> list[EmailMessage]:
        """In the order in which they came."""
        files = sorted((self.folder / "taken").glob("*.eml"))
        return [message_from_bytes(path.read_bytes(), policy=policy.default) for path in files]

    def envelopes(self) -> list[dict]:
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((self.folder / "taken").glob("*.json"))]


def serve(port: int, folder: Path, certificate: str | None, key: str | None) -> None:
    # Of the unpacked package, which only this program sees.
    from aiosmtpd.controller import Controller  # pylint: disable=import-error,import-outside-toplevel
    from aiosmtpd.smtp import AuthResult  # pylint: disable=import-error,import-outside-toplevel

    class Taker:
        count = 0

        async def handle_RCPT(self, _server, _session, envelope, address, _options):
            refuse = folder / "refuse"
            if refuse.exists():
                only, answer = refuse.read_text(encoding="utf-8").split("\n")
                if only in ("", address):
                    return answer
            envelope.rcpt_tos.append(address)
            return "250 OK"

        async def handle_DATA(self, _server, session, envelope):
            Taker.count += 1
            name = folder / "taken" / f"{Taker.count:06}"
            name.with_suffix(".json").write_text(json.dumps({
                "from": envelope.mail_from, "to": envelope.rcpt_tos, "helo": session.host_name, "tls": session.ssl is not None,
                "user": session.auth_data}), encoding="utf-8")
            name.with_suffix(".part").write_bytes(envelope.original_content)
            name.with_suffix(".part").rename(name.with_suffix(".eml"))
            return "250 taken"

    def authenticate(_server, _session, _envelope, _mechanism, data):
        good = data.login == USER.encode() and data.password == PASSWORD.encode()
        return AuthResult(success=good, auth_data=USER if good else None)

    options = {}
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        options = {"tls_context": context, "require_starttls": True, "auth_required": True, "authenticator": authenticate}
    Taker.count = len(list((folder / "taken").glob("*.eml")))
    Controller(Taker(), hostname="127.0.0.1", port=port, **options).start()
    (folder / "up").touch()
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]), *(sys.argv[3:5] or (None, None)))
