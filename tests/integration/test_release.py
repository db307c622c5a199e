"""What ./dev release makes, of the programs that are built here: apt reads and verifies the repository, and each file is what its page
says."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

import pytest

from tools import image, release
from tools.agent import ROOT

# Only the build folder can be packed, and it has both programs.
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (ROOT / "build/release/bin/wardmoted").exists() or "WARDMOTE_BIN" in os.environ,
                                                   reason="programs of another folder are tested")]
USER = "Wardmote test <test@example.org>"


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A key of this test; gpg keeps it in a folder of its own. A short path, because its agent has a socket there."""
    with tempfile.TemporaryDirectory(prefix="gpg-") as home:
        os.chmod(home, 0o700)
        before = os.environ.get("GNUPGHOME")
        os.environ["GNUPGHOME"] = home
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", USER, "ed25519", "sign", "never"], check=True)
        yield USER
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)
        if before is None:
            del os.environ["GNUPGHOME"]
        else:
            os.environ["GNUPGHOME"] = before


@pytest.fixture(scope="module")
def out(key, tmp_path_factory):
    """At one time, whatever is committed meanwhile."""
    into = tmp_path_factory.mktemp("release") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", str(image.epoch()))
        release.make(ROOT / "build/release", into, key)
        yield into


def apt(out, folder, *words: str) -> subprocess.CompletedProcess[str]:
    """With this repository and nothing else of this machine's."""
    for name in ("lists/partial", "cache/archives/partial", "dpkg"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "dpkg/status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by={out}/apt/wardmote.gpg] file:{out}/apt stable main\n", encoding="utf-8")
    options = {"Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "-", "Dir::State::Lists": folder / "lists",
               "Dir::Cache": folder / "cache", "Dir::State::status": folder / "dpkg/status", "APT::Sandbox::User": "root"}
    return subprocess.run(["apt-get", "-q", *(word for name, value in options.items() for word in ("-o", f"{name}={value}")), *words], cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_apt_verifies_the_repository_and_gets_the_packages(out, tmp_path):
    updated = apt(out, tmp_path, "update")
    assert updated.returncode == 0 and "W:" not in updated.stderr, updated.stderr
    got = apt(out, tmp_path, "download", "wardmote", "libwardmote-dev", "wardmote-dbgsym")
    assert got.returncode == 0, got.stderr
    assert {one.name.split("_")[0] for one in tmp_path.glob("*.deb")} == {"wardmote", "libwardmote-dev", "wardmote-dbgsym"}


def test_apt_refuses_a_repository_that_was_changed(out, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(out, changed)
    packages = next((changed / "apt/dists").rglob("Packages"))
    for file in (packages, packages.with_suffix(".gz")):
        file.write_bytes(file.read_bytes() + b"\n")
    assert apt(changed, tmp_path / "apt", "update").returncode != 0
    inrelease = changed / "apt/dists/stable/InRelease"
    inrelease.write_text(inrelease.read_text(encoding="utf-8").replace("Origin: Wardmote", "Origin: Somebody"), encoding="utf-8")
    refused = apt(changed, tmp_path / "apt-2", "update")
    assert refused.returncode != 0 or "BADSIG" in refused.stderr or "invalid" in refused.stderr, refused.stderr


def control(deb) -> dict[str, str]:
    shown = subprocess.run(["dpkg-deb", "--field", deb], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"(?m)^([\w-]+): (.*)$", shown))


def test_the_package_says_what_is_in_it(out):
    [deb] = (out / "apt/pool").glob("wardmote_*.deb")
    fields = control(deb)
    assert {"boost1.81", "glibc", "nettle", "nghttp2", "mbedtls", "pugixml"} <= {one.split(" ")[0] for one in fields["Static-Built-Using"].split(", ")}
    listed = subprocess.run(["dpkg-deb", "--contents", deb], capture_output=True, text=True, check=True).stdout
    for path in ("etc/default/wardmoted", "usr/lib/sysusers.d/wardmote.conf", "usr/lib/tmpfiles.d/wardmote.conf", "usr/share/doc/wardmote/linked/nettle.txt",
                 "usr/share/doc/wardmote/examples/kubernetes/kube-ovn/daemonset.yaml"):
        assert f"./{path}\n" in listed, path
    assert subprocess.run(["dpkg-deb", "-I", deb, "conffiles"], capture_output=True, text=True, check=True).stdout == "/etc/default/wardmoted\n"


def test_the_symbols_are_those_of_the_programs(out, tmp_path):
    for name in ("wardmote_", "wardmote-dbgsym_"):
        [deb] = (out / "apt/pool").glob(f"{name}*.deb")
        subprocess.run(["dpkg-deb", "-x", deb, tmp_path], check=True)
    for program in ("wardmote", "wardmoted"):
        notes = subprocess.run(["readelf", "--notes", tmp_path / "usr/bin" / program], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        symbols = tmp_path / f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
        shown = subprocess.run(["readelf", "--sections", "--wide", symbols], capture_output=True, text=True, check=True).stdout
        assert ".debug_info" in shown or ".zdebug_info" in shown, shown


def test_programs_of_another_preset_are_not_given_out():
    """Those of this test have paths of the source tree in them; test_two_folders.py shows that the preset `dist` leaves none."""
    assert any(path.endswith(".cc") for path in release.build_paths(ROOT / "build/release"))


def test_the_tarball_is_a_program_that_runs_anywhere(out, tmp_path):
    [packed] = out.glob("*-linux-*.tar.gz")
    with tarfile.open(packed) as tar:
        tar.extractall(tmp_path)
    [folder] = tmp_path.iterdir()
    done = subprocess.run(["unshare", "--root", folder, "/wardmote", "version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0.1.0" in done.stdout, done
    assert (folder / "linked/mbedtls.txt").is_file() and (folder / "LICENSE").is_file()


def test_the_bill_of_materials_names_all_that_it_speaks_of(out):
    [file] = out.glob("*.spdx.json")
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    ids = [one["SPDXID"] for one in document["packages"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids)
    assert {side for relation in document["relationships"] for side in (relation["spdxElementId"], relation["relatedSpdxElement"])} \
        == {*ids, "SPDXRef-DOCUMENT"}
    static = {one["relatedSpdxElement"] for one in document["relationships"] if one["relationshipType"] == "STATIC_LINK"}
    assert {"SPDXRef-deb-libmbedtls-dev", "SPDXRef-deb-libc6-dev", "SPDXRef-deb-libboost1.81-dev"} <= static


def test_the_checksums_hold_and_are_signed(out, key):
    lines = (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert {line.split("  ")[1] for line in lines} == {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} - {"SHA256SUMS", "SHA256SUMS.asc"}
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    subprocess.run(["gpg", "--batch", "--verify", out / "SHA256SUMS.asc", out / "SHA256SUMS"], check=True, capture_output=True)


def test_the_same_programs_make_the_same_release(out, tmp_path):
    release.make(ROOT / "build/release", tmp_path / "again", None)
    for path in sorted((tmp_path / "again").rglob("*")):
        if path.is_file() and path.name != "SHA256SUMS":
            assert path.read_bytes() == (out / path.relative_to(tmp_path / "again")).read_bytes(), path.name


def test_lintian_has_nothing_to_say(out):
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *(out / "apt/pool").glob("*.deb")], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout

