"""A real Keystone and a real masakari-api on loopback, from Debian's packages, each on a SQLite file; no engine, no Nova, no RabbitMQ."""

import json
import os
import signal
import sqlite3
import subprocess
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.packages import unpack
from lab.ports import free_port
from lab.processes import Process, start, wait_until

# Without what is installed here, so that the list is whole.
PYTHON = ["/usr/bin/python3", "-S"]
# What the two import, and nothing of what they merely depend on.
MODULES = """
    alembic amqp anyjson arrow attr babel bcrypt blinker cachetools certifi cffi-backend chardet charset-normalizer click
    cryptography dateutil debtcollector decorator defusedxml distutils dnspython dogpile.cache elementpath eventlet fasteners
    flask flask-restful futurist greenlet idna importlib-metadata importlib-resources iso8601 itsdangerous jaraco.classes jinja2
    jsonschema jwt keyring keystone keystoneauth1 keystoneclient keystonemiddleware kombu mako markupsafe masakari
    microversion-parse migrate monotonic more-itertools msgpack netaddr netifaces networkx novaclient oauthlib openssl
    os-service-types oslo.cache oslo.concurrency oslo.config oslo.context oslo.db oslo.i18n oslo.log oslo.messaging oslo.metrics
    oslo.middleware oslo.policy oslo.serialization oslo.service oslo.utils oslo.versionedobjects osprofiler packaging passlib
    paste pastedeploy pbr pkg-resources prettytable pycadf pyparsing pyrsistent pysaml2 repoze.lru requests rfc3986 routes scrypt
    simplejson six sqlalchemy sqlalchemy-utils sqlparse stevedore taskflow tempita tenacity tooz typing-extensions tz urllib3 vine
    wcwidth webob werkzeug wrapt xmlschema yaml yappi zipp
"""
PACKAGES = ["python-babel-localedata", *(f"python3-{name}" for name in MODULES.split())]
HOST = "compute-1"
PASSWORD = "lab-password"
PROJECT_USER = "plain"  # in the project, but without the role that Masakari asks for

KEYSTONE = """
[DEFAULT]
log_file = {folder}/keystone.log
[database]
connection = sqlite:///{folder}/keystone.sqlite
[fernet_tokens]
key_repository = {folder}/fernet
[credential]
key_repository = {folder}/credential
[token]
provider = fernet
"""
KEYSTONE_SERVER = """
import sys; sys.argv = ["keystone", "--config-file", "{folder}/keystone.conf"]
from keystone.server.wsgi import initialize_public_application
from wsgiref.simple_server import make_server
make_server("127.0.0.1", {port}, initialize_public_application()).serve_forever()
"""
MASAKARI = """
[DEFAULT]
auth_strategy = keystone
transport_url = fake:///
masakari_api_listen = 127.0.0.1
masakari_api_listen_port = {port}
masakari_api_workers = 1
state_path = {folder}
tempdir = {folder}
log_file = {folder}/masakari.log
[wsgi]
api_paste_config = {folder}/api-paste.ini
[database]
connection = sqlite:///{folder}/masakari.sqlite
[taskflow]
connection = sqlite:///{folder}/masakari.sqlite
[oslo_concurrency]
lock_path = {folder}
[oslo_messaging_notifications]
driver = noop
[keystone_authtoken]
www_authenticate_uri = {keystone}
auth_url = {keystone}
auth_type = password
auth_version = v3
interface = public
username = admin
password = {password}
project_name = admin
user_domain_id = default
project_domain_id = default
"""
PASTE = """
[composite:masakari_api]
use = call:masakari.api.urlmap:urlmap_factory
/: apiversions
/v1: masakari_api_v1
[composite:masakari_api_v1]
use = call:masakari.api.auth:pipeline_factory_v1
keystone = request_id faultwrap sizelimit authtoken keystonecontext osapi_masakari_app_v1
[filter:request_id]
paste.filter_factory = oslo_middleware:RequestId.factory
[filter:faultwrap]
paste.filter_factory = masakari.api.openstack:FaultWrapper.factory
[filter:sizelimit]
paste.filter_factory = oslo_middleware:RequestBodySizeLimiter.factory
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
[filter:keystonecontext]
paste.filter_factory = masakari.api.auth:MasakariKeystoneContext.factory
[app:osapi_masakari_app_v1]
paste.app_factory = masakari.api.openstack.ha:APIRouterV1.factory
[pipeline:apiversions]
pipeline = faultwrap apiversionsapp
[app:apiversionsapp]
paste.app_factory = masakari.api.openstack.ha.versions:Versions.factory
"""
# Debian 12's oslo.messaging rebuilds the context with read_deleted=None, which its masakari refuses: every good POST would be 500.
# Later versions of masakari take None for 'no'; so does this one then.
MASAKARI_SERVER = """
import sys; sys.argv = ["masakari-api", "--config-file", "{folder}/masakari.conf"]
import masakari.context as context
Context = context.RequestContext
Context.read_deleted = property(Context._get_read_deleted, lambda self, value: Context._set_read_deleted(self, value or "no"),
                                Context._del_read_deleted)
from masakari.cmd.api import main
sys.exit(main())
"""


class OpenStack:
    """Leaving it ends both, by their ids. Each can be killed and started again on the same port and data."""

    def __init__(self, packages: Path, folder: Path):
        unpack(packages, PACKAGES)
        self.packages, self.folder = packages, folder
        self.keystone_port, self.masakari_port = free_port(), free_port()
        self.processes: dict[str, Process] = {}
        for name in ("fernet", "credential"):
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name).chmod(0o700)
        values = {"folder": folder, "keystone": self.keystone_url.removesuffix("/v3"), "password": PASSWORD}
        self._write("keystone.conf", KEYSTONE, **values)
        self._write("serve_keystone.py", KEYSTONE_SERVER, port=self.keystone_port, **values)
        self._write("masakari.conf", MASAKARI, port=self.masakari_port, **values)
        self._write("serve_masakari.py", MASAKARI_SERVER, **values)
        self._write("api-paste.ini", PASTE)
        with ThreadPoolExecutor() as pool:
            masakari = pool.submit(self._make_masakari)
            self._make_keystone()
            masakari.result()

    def _make_keystone(self) -> None:
        self._manage("keystone", "db_sync")
        for command in ("fernet_setup", "credential_setup"):
            self._manage("keystone", command, "--keystone-user", "root", "--keystone-group", "root")
        self._manage("keystone", "bootstrap", "--bootstrap-username", "admin", "--bootstrap-password", PASSWORD,
                     "--bootstrap-project-name", "admin", "--bootstrap-role-name", "admin", "--bootstrap-service-name", "keystone",
                     "--bootstrap-region-id", "RegionOne", "--bootstrap-public-url", self.keystone_url)

    def _make_masakari(self) -> None:
        self._manage("masakari", "db", "sync")
        self._add_host()

    def __enter__(self) -> "OpenStack":
        self.start("keystone")
        self.start("masakari")
        wait_until(self._ready, 180.0, "Keystone and masakari-api")
        self._fill_keystone()
        return self

    def __exit__(self, *_) -> None:
        for name in list(self.processes):
            self.kill(name)

    @property
    def keystone_url(self) -> str:
        return f"http://127.0.0.1:{self.keystone_port}/v3"

    @property
    def masakari_url(self) -> str:
        return f"http://127.0.0.1:{self.masakari_port}/v1"

    def start(self, name: str) -> None:
        self.processes[name] = start([*PYTHON, str(self.folder / f"serve_{name}.py")], self._environment(), self.folder / f"{name}.out")

    def kill(self, name: str) -> None:
        self.processes.pop(name).kill()

    def freeze(self, name: str) -> None:
        """It accepts connections, and answers nobody; with it the workers that it has forked."""
        os.killpg(self.processes[name].pid, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        os.killpg(self.processes[name].pid, signal.SIGCONT)

    def notifications(self) -> list[dict]:
        """What Masakari was told, oldest first."""
        told = self.ask("GET", f"{self.masakari_url}/notifications")["notifications"]
        return sorted(told, key=lambda one: one["id"])

    def answers(self) -> bool:
        """Both do."""
        return self._ready()

    def ask(self, method: str, url: str, body: dict | None = None) -> dict:
        """As the administrator."""
        login = {"auth": {"identity": {"methods": ["password"], "password": {
            "user": {"name": "admin", "domain": {"id": "default"}, "password": PASSWORD}}},
            "scope": {"project": {"name": "admin", "domain": {"id": "default"}}}}}
        token, user = _call("POST", f"{self.keystone_url}/auth/tokens", login, {})
        self.user = json.loads(user)["token"]["user"]["id"]
        return json.loads(_call(method, url, body, {"X-Auth-Token": token["X-Subject-Token"]})[1] or "{}")

    def revoke_tokens(self, user: str) -> None:
        """Every token of the user ends now: his password is set anew, to the same."""
        self.ask("PATCH", f"{self.keystone_url}/users/{user}", {"user": {"password": PASSWORD}})

    def _fill_keystone(self) -> None:
        """The catalogue's endpoint of Masakari, a user who may do nothing there, and one who may with an application credential."""
        at = self.keystone_url
        service = self.ask("POST", f"{at}/services", {"service": {"type": "instance-ha", "name": "masakari"}})["service"]["id"]
        self.ask("POST", f"{at}/endpoints", {"endpoint": {"service_id": service, "interface": "public", "region": "RegionOne",
                                                          "url": self.masakari_url}})
        project = self.ask("GET", f"{at}/projects?name=admin")["projects"][0]["id"]
        roles = {role["name"]: role["id"] for role in self.ask("GET", f"{at}/roles")["roles"]}
        self.users = {}
        for name, role in ((PROJECT_USER, "member"), ("watcher", "admin")):
            user = self.ask("POST", f"{at}/users", {"user": {"name": name, "password": PASSWORD, "domain_id": "default"}})["user"]["id"]
            self.ask("PUT", f"{at}/projects/{project}/users/{user}/roles/{roles[role]}")
            self.users[name] = user
        self.ask("GET", f"{at}/users")
        made = self.ask("POST", f"{at}/users/{self.user}/application_credentials", {"application_credential": {"name": "wardmote"}})
        self.credential = made["application_credential"]["id"]
        self.credential_secret = made["application_credential"]["secret"]

    def _add_host(self) -> None:
        """One segment and one host. POST /segments/ID/hosts would ask Nova whether there is such a host."""
        rows = {"failover_segments": {"uuid": "11111111-1111-4111-8111-111111111111", "name": "lab", "service_type": "COMPUTE", "enabled": 1,
                                      "recovery_method": "auto", "deleted": 0, "created_at": "2026-01-01 00:00:00"},
                "hosts": {"uuid": "22222222-2222-4222-8222-222222222222", "name": HOST, "reserved": 0, "type": "COMPUTE", "deleted": 0,
                          "control_attributes": "SSH", "failover_segment_id": "11111111-1111-4111-8111-111111111111", "on_maintenance": 0,
                          "created_at": "2026-01-01 00:00:00"}}
        with sqlite3.connect(self.folder / "masakari.sqlite") as database:
            for table, row in rows.items():
                database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))

    def set_maintenance(self, on: bool) -> None:
        """Whether the host is, as `openstack segment host update --on_maintenance` says it to Masakari."""
        with sqlite3.connect(self.folder / "masakari.sqlite", timeout=10) as database:
            database.execute("UPDATE hosts SET on_maintenance = ?", (int(on),))

    def _ready(self) -> bool:
        for url in (self.keystone_url, self.masakari_url.removesuffix("v1")):
            try:
                urllib.request.urlopen(url, timeout=5).close()
            except urllib.error.HTTPError:
                continue
            except OSError:
                return False
        return True

    def _manage(self, name: str, *arguments: str) -> None:
        done = subprocess.run([*PYTHON, str(self.packages / f"usr/bin/{name}-manage"), "--config-file", str(self.folder / f"{name}.conf"),
                               *arguments], env=self._environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{name}-manage {' '.join(arguments)}:\n{done.stdout}{done.stderr}")

    def _environment(self) -> dict[str, str]:
        # Without bytecode each of these programs takes seconds longer to start.
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(self.packages / "usr/lib/python3/dist-packages"),
                "LD_LIBRARY_PATH": ":".join(str(path) for path in self.packages.glob("usr/lib/*-linux-gnu*"))}

    def _write(self, name: str, text: str, **values) -> None:
        (self.folder / name).write_text(text.format(**values) if values else text, encoding="utf-8")


def _call(method: str, url: str, body: dict | None, headers: dict[str, str]) -> tuple[dict[str, str], str]:
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return dict(answer.headers), answer.read().decode()
