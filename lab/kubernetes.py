"""A real kube-apiserver with a real etcd on loopback. Debian 12 has no package of it, but its source: it is built once, from Debian's
source package with Debian's Go (`python3 -m lab.kubernetes`; three minutes of one core), and kept below build/lab."""

import fcntl
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from lab.packages import PackageError, unpack
from lab.pki import Authority
from lab.ports import free_port
from lab.processes import Process, start, wait_until

ROOT = Path(__file__).resolve().parent.parent
VERSION = "1.20.2"
PROGRAM = ROOT / f"build/lab/kube-apiserver-{VERSION}"
PACKAGES = ["etcd-client", "etcd-server", "kubernetes-client"]
BUILD_PACKAGES = ["golang-1.19-go", "golang-1.19-src", "golang-github-modern-go-reflect2-dev"]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
ADMIN = "lab-admin-token"
BASE = "k8s.io/kubernetes"
AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: LEVEL
  omitStages: [RequestReceived]
  verbs: [create, update, patch, delete]
"""


def build() -> Path:
    """The program, built if it is not there. Safe to call from several processes at once."""
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    with open(PROGRAM.parent / f".{PROGRAM.name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not PROGRAM.exists():
            work = PROGRAM.with_name(f"{PROGRAM.name}-build")
            shutil.rmtree(work, ignore_errors=True)
            unpack(work / "tools", BUILD_PACKAGES)
            _compile(work, _source(work))
            shutil.rmtree(work)
    return PROGRAM


def _source(work: Path) -> Path:
    """Debian's source package, whose signature apt has checked."""
    release = next(line.split("=")[1].strip() for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
                   if line.startswith("VERSION_CODENAME="))
    # The mirror that this machine uses already.
    targets = _run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"], work)
    site = next((site for site, suite, part in (line.split() for line in targets.splitlines()) if suite == release and part == "main"), None)
    if site is None:
        raise PackageError(f"no apt source has main of {release}")
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / "apt" / folder).mkdir(parents=True)
    (work / "apt/sources.list").write_text(f"deb-src [signed-by={KEYRING}] {site} {release} main\n", encoding="utf-8")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={work}/apt/sources.list", "-o", "Dir::Etc::SourceParts=-",
           "-o", f"Dir::State::Lists={work}/apt/lists", "-o", f"Dir::Cache={work}/apt/cache", "-o", "APT::Sandbox::User=root"]
    _run([*apt, "update"], work)
    _run([*apt, "source", "--download-only", "kubernetes"], work)
    description = next(work.glob(f"kubernetes_{'.'.join(VERSION.split('.')[:2])}*.dsc"))
    _run(["dpkg-source", "-x", "--no-check", str(description), "kubernetes"], work)
    return work / "kubernetes"


def _compile(work: Path, source: Path) -> None:
    # Go from 1.18 on crashes with the reflect2 1.0.1 that is in the source; Debian's own is 1.0.2.
    vendored = source / "vendor/github.com/modern-go/reflect2"
    for old in [*vendored.glob("*.go"), *vendored.glob("*.s")]:
        old.unlink()
    packaged = work / "tools/usr/share/gocode/src/github.com/modern-go/reflect2"
    for new in [*packaged.glob("*.go"), *packaged.glob("*.s")]:
        if not new.name.endswith("_test.go"):
            shutil.copy(new, vendored)
    go_root = work / "tools/usr/lib/go-1.19"
    environment = {**os.environ, "GOROOT": str(go_root), "PATH": f"{go_root}/bin:{os.environ['PATH']}", "GOPATH": str(work / "go"),
                   "GOCACHE": str(work / "cache"), "GO111MODULE": "off", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
                   "GOFLAGS": "", "HOME": str(work)}
    # Go sees by the name of the folder it is called in what belongs to what, and that name is of a link.
    home = work / "go/src" / BASE
    environment["PWD"] = str(home)
    home.parent.mkdir(parents=True)
    home.symlink_to(source)
    # What `make` would generate, and the source lacks: the description of the API.
    generator = str(work / "openapi-gen")
    _run(["go", "build", "-o", generator, "./vendor/k8s.io/kube-openapi/cmd/openapi-gen"], home, environment)
    _run([generator, "-i", ",".join(_described(source)), "-p", f"{BASE}/pkg/generated/openapi", "-O", "zz_generated.openapi",
          "-h", "vendor/k8s.io/code-generator/hack/boilerplate.go.txt", "-r", str(work / "violations"), "-o", str(work / "go/src")],
         home, environment)
    stamp = f"{BASE}/vendor/k8s.io/component-base/version"
    flags = f"-s -w -X {stamp}.gitVersion=v{VERSION} -X {stamp}.gitMajor=1 -X {stamp}.gitMinor=20"
    made = work / "kube-apiserver"
    _run(["go", "build", "-tags", "providerless", "-ldflags", flags, "-o", str(made), "./cmd/kube-apiserver"], home, environment)
    made.replace(PROGRAM)


def _described(source: Path) -> list[str]:
    """The Go packages that ask for a description of theirs."""
    left_out = re.compile(r"code-generator|sample-apiserver|_test\.go|/testdata/|zz_generated")
    found = set()
    for top in ("pkg", "cmd", "staging/src/k8s.io"):
        for file in (source / top).rglob("*.go"):
            name = str(file.relative_to(source))
            if not left_out.search(name) and "+k8s:openapi-gen=" in file.read_text(encoding="utf-8"):
                found.add(str(Path(name).parent).replace("staging/src/", "vendor/", 1))
    return [f"{BASE}/{name}" for name in sorted(found)]


def _run(argv: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["nice", *argv], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackageError(f"{' '.join(argv)[:200]}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


class ApiServer:
    """Leaving it ends both, by their ids. Its administrator has a token, and so has each of `users`, who may do all as he may; others are
    service accounts. Every write is in its audit log, with `audit` RequestResponse also the object that it left."""

    def __init__(self, packages: Path, folder: Path, users: tuple[str, ...] = (), audit: str = "Metadata"):
        unpack(packages, PACKAGES)
        self.program, self.packages, self.folder = build(), packages, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port, etcd, peers = free_port(), free_port(), free_port()
        self.etcd = f"http://127.0.0.1:{etcd}"
        self.peers = f"http://127.0.0.1:{peers}"
        self.papers = Authority(folder / "pki", "kube").issue("kube-apiserver", names="IP:127.0.0.1,IP:::1,DNS:localhost")
        tokens = {ADMIN: "admin", **{f"{user}-token": user for user in users}}
        (folder / "tokens.csv").write_text("".join(f'{token},{user},{user},"system:masters"\n' for token, user in tokens.items()),
                                           encoding="utf-8")
        (folder / "audit.yaml").write_text(AUDIT.replace("LEVEL", audit), encoding="utf-8")
        _run(["openssl", "genrsa", "-out", "accounts.key", "2048"], folder)
        _run(["openssl", "rsa", "-in", "accounts.key", "-pubout", "-out", "accounts.pub"], folder)
        self.processes: list[Process] = []
        self.server: Process | None = None

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def ca(self) -> Path:
        return self.papers.ca

    def __enter__(self) -> "ApiServer":
        try:
            self.processes.append(start(
                [str(self.packages / "usr/bin/etcd"), "--name", "lab", "--data-dir", str(self.folder / "etcd"), "--listen-client-urls", self.etcd,
                 "--advertise-client-urls", self.etcd, "--listen-peer-urls", self.peers, "--initial-advertise-peer-urls", self.peers,
                 "--initial-cluster", f"lab={self.peers}", "--logger=zap", "--log-outputs=stderr"], dict(os.environ), self.folder / "etcd.log"))
            self.start_server()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_server(self) -> None:
        """The kube-apiserver; its etcd runs."""
        self.server = start(
            [str(self.program), f"--etcd-servers={self.etcd}", "--bind-address=::", f"--secure-port={self.port}",
             "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
             f"--cert-dir={self.folder}/run", f"--tls-cert-file={self.papers.certificate}", f"--tls-private-key-file={self.papers.key}",
             f"--audit-policy-file={self.folder}/audit.yaml", f"--audit-log-path={self.folder}/audit.log",
             f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
             "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={self.folder}/accounts.pub",
             f"--service-account-signing-key-file={self.folder}/accounts.key"], dict(os.environ), self.folder / "apiserver.log")
        self.processes.append(self.server)
        wait_until(self._ready, 120.0, f"kube-apiserver: see {self.folder}/apiserver.log", every=0.2)

    def kill_server(self) -> None:
        """kill -9; its etcd goes on."""
        self.server.kill()
        self.processes.remove(self.server)

    def writes_of(self, user: str) -> list[dict]:
        """All that `user` wrote or tried to write, as the audit log has it, in its order."""
        lines = (self.folder / "audit.log").read_text(encoding="utf-8").splitlines()
        return [event for event in map(json.loads, lines) if event["user"]["username"] == user]

    def __exit__(self, *_) -> None:
        for process in reversed(self.processes):
            process.kill()
        self.processes.clear()

    def ask(self, method: str, path: str, body: dict | None = None) -> tuple[int, dict]:
        """As the administrator: the status, and the JSON of the answer."""
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json", "Authorization": f"Bearer {ADMIN}"})
        try:
            with urllib.request.urlopen(request, timeout=30, context=ssl.create_default_context(cafile=str(self.ca))) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def create(self, path: str, body: dict) -> None:
        status, answer = self.ask("POST", path, body)
        if status not in (200, 201):
            raise RuntimeError(f"POST {path}: {status} {answer.get('message')}")

    def token_of(self, space: str, account: str) -> str:
        """A token of a service account, as the kubelet gives it to pods."""
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        status, answer = self.ask("POST", f"/api/v1/namespaces/{space}/serviceaccounts/{account}/token", asked)
        if status != 201:
            raise RuntimeError(f"no token of {space}/{account}: {answer.get('message')}")
        return answer["status"]["token"]

    def kubectl(self, *arguments: str) -> str:
        """What Debian's kubectl prints."""
        return _run([str(self.packages / "usr/bin/kubectl"), "--kubeconfig=/dev/null", f"--server={self.url}", f"--token={ADMIN}",
                     f"--certificate-authority={self.ca}", *arguments], self.folder)

    def _ready(self) -> bool:
        try:
            status, _ = self.ask("GET", "/api/v1/namespaces/default")
            return status == 200
        except (OSError, ValueError):
            return False


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"==> building kube-apiserver {VERSION} from Debian's source (three minutes of one core, once)", flush=True)
    try:
        build()
    except PackageError as error:
        sys.exit(f"kube-apiserver: {error}")
