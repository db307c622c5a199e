"""No secret of any receiver is in a log, an argument, an answer of the API, a bundle, a file or the output of a program."""

import io
import subprocess
import tarfile

from lab.ports import free_port
from lab.processes import wait_until
from test_notify import incidents, run, write_config
from http_sink import Sink
from tools.agent import programs

SECRETS = {name: f"{name}-never-to-be-seen-7f3a" for name in ("token", "sign", "am", "keystone", "credential", "mail", "kubernetes")}
PATH_SECRET = "T0PS3CRET-in-a-path"


def ways(folder, sink) -> dict[str, str]:
    """One of each kind that has a secret. Each fails in its own way, because what fails is what says most."""
    file, closed = folder / "secrets", f"127.0.0.1:{free_port()}"
    keystone = f"url: 'http://127.0.0.1:{sink.port}/{PATH_SECRET}'"
    return {
        "hook": f"webhook: {{url: 'http://127.0.0.1:{sink.port}/{PATH_SECRET}', token_file: {file}/token, secret_file: {file}/sign}}",
        "gone": f"webhook: {{url: 'http://{closed}/{PATH_SECRET}', token_file: {file}/token, secret_file: {file}/sign}}",
        "am": f"alertmanager: {{urls: ['http://127.0.0.1:{sink.port}/{PATH_SECRET}'], token_file: {file}/am}}",
        "user": f"masakari: {{keystone: {{{keystone}, user: ann, project: ops, secret_file: {file}/keystone}}}}",
        "credential": f"masakari: {{keystone: {{{keystone}, credential: 1f, secret_file: {file}/credential}}}}",
        "kubernetes": f"kubernetes: {{server: 'https://{closed}/{PATH_SECRET}', token_file: {file}/kubernetes}}",
        "mail": f"mail: {{server: '{closed}', from: w@example.org, to: [a@example.org], user: w, password_file: {file}/mail}}",
    }


def everything_shown(agent, folder) -> str:
    routes = [route for route in agent.json("/debug/routes")["routes"] if route["method"] == "GET" and "{" not in route["path"]]
    assert len(routes) > 15
    paths = [route["path"] for route in routes if not route["path"].endswith("/events")]
    shown = "".join(agent.get(path)[1] for path in paths) + agent.get("/api/v1/incidents/1")[1]
    for command in (["wardmote", "doctor", "--bundle", folder / "bundle.tar", "--socket", agent.api_socket], ["wardmote", "get", "receivers",
                    "-o", "json", "--socket", agent.api_socket], ["wardmote", "history", "--socket", agent.api_socket],
                    ["wardmoted", "config", "show", "--effective", folder / "wardmote.yaml"],
                    ["wardmoted", "config", "check", folder / "wardmote.yaml"]):
        done = subprocess.run([programs() / command[0], *command[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        shown += done.stdout + done.stderr
    with tarfile.open(fileobj=io.BytesIO((folder / "bundle.tar").read_bytes())) as bundle:
        assert bundle.getmembers()
        shown += "".join(bundle.extractfile(one).read().decode(errors="replace") for one in bundle.getmembers() if one.isfile())
    for name in ("cmdline", "environ"):
        with open(f"/proc/{agent.process.pid}/{name}", encoding="utf-8", errors="replace") as file:
            shown += file.read()
    shown += "".join(path.read_bytes().decode(errors="replace") for path in (folder / "data").iterdir())
    return shown + agent.output()


def test_no_secret_of_a_receiver_is_shown_anywhere(tmp_path, target):
    (tmp_path / "secrets").mkdir()
    for name, secret in SECRETS.items():
        (tmp_path / "secrets" / name).write_text(secret + "\n", encoding="utf-8")
    with Sink() as sink:
        sink.manner = "500"
        write_config(tmp_path, target, ways(tmp_path, sink))
        config = tmp_path / "wardmote.yaml"
        config.write_text(config.read_text(encoding="utf-8").replace("timeout: 2s, masakari", "timeout: 15s, masakari"), encoding="utf-8")
        with run(tmp_path) as agent:
            agent.wait_healthy()
            target.down()
            wait_until(lambda: incidents(agent), 10.0, "the incident")
            wait_until(lambda: all(one["refused"] for one in agent.json("/api/v1/receivers")["receivers"]), 20.0, "a refusal by each")
            sink.manner = "400"
            wait_until(lambda: agent.json("/api/v1/receivers")["dead_letters"], 30.0, "a dead letter")
            shown = everything_shown(agent, tmp_path)
            for name, secret in SECRETS.items():
                assert secret not in shown, name
            assert any(SECRETS["token"] in headers.get("Authorization", "") for _, _, headers in sink.attempts), "it was used"
            assert PATH_SECRET not in shown
