"""Certificates as ovs-pki makes them: one authority, RSA keys, names that no host has."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

DAYS_AGO, DAYS_AHEAD = -1, 3650


class PkiError(Exception):
    pass


@dataclass(frozen=True)
class Papers:
    """What one side of a conversation needs: whom it believes, and how it shows itself."""

    ca: Path
    certificate: Path
    key: Path


class Authority:
    """A certificate authority with its files in `folder`."""

    def __init__(self, folder: Path, name: str = "ward"):
        self.folder, self.name = folder, name
        self.certificate, self._key = folder / f"{name}-ca.pem", folder / f"{name}-ca-key.pem"
        folder.mkdir(parents=True, exist_ok=True)
        if not self.certificate.exists():
            _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha512", "-days", str(DAYS_AHEAD), "-keyout", str(self._key),
                     "-out", str(self.certificate), "-subj", f"/C=US/ST=CA/O=Open vSwitch/OU=controllerca/CN=OVS {name} CA")

    def issue(self, who: str, *, names: str = "", expired: bool = False, file: str = "") -> Papers:
        """`names` as openssl.cnf writes them (`DNS:api,IP:127.0.0.1`). Files of the same name are replaced, each in one step."""
        stem = file or who
        certificate, key = self.folder / f"{stem}-cert.pem", self.folder / f"{stem}-key.pem"
        request, extensions = self.folder / f"{stem}.csr", self.folder / f"{stem}.ext"
        fresh_certificate, fresh_key = (path.with_suffix(".new") for path in (certificate, key))
        _openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", str(fresh_key), "-out", str(request),
                 "-subj", f"/C=US/ST=CA/O=Open vSwitch/OU=Open vSwitch certifier/CN={who}")
        extensions.write_text("basicConstraints=CA:FALSE\n" + (f"subjectAltName={names}\n" if names else ""), encoding="utf-8")
        # x509 counts days from now, and a negative number is a certificate that has run out.
        days = DAYS_AGO if expired else DAYS_AHEAD
        _openssl("x509", "-req", "-sha512", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self._key),
                 "-CAcreateserial", "-days", str(days), "-extfile", str(extensions), "-out", str(fresh_certificate))
        # An ovsdb-server looks at its key first, and only when that has changed at its certificate.
        fresh_certificate.replace(certificate)
        fresh_key.replace(key)
        return Papers(self.certificate, certificate, key)


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PkiError(f"openssl {arguments[0]}: {done.stderr.strip()}")
