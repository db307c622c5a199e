"""What should be there, out of a git repository and out of a ConfigMap."""

import json
import subprocess

import pytest
import yaml
from gate_site import GateAgent
from reconcile_site import Site, config_map, play

from lab.kubernetes import ApiServer
from lab.processes import wait_until
from tools.agent import ROOT


class Repository:
    """A work tree that somebody commits to."""

    def __init__(self, path):
        self.path = path
        self.git("init", "-q", "-b", "main", str(path), within=path.parent)
        self.git("config", "user.email", "me@example.org")
        self.git("config", "user.name", "me")

    def git(self, *words: str, within=None) -> str:
        return subprocess.run(["git", "-C", within or self.path, *words], check=True, capture_output=True, text=True).stdout.strip()

    def put(self, file: str, text: str) -> None:
        (self.path / file).parent.mkdir(parents=True, exist_ok=True)
        (self.path / file).write_text(text, encoding="utf-8")

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")
        return self.git("rev-parse", "HEAD")


def agent_of(folder, source: str, target: str) -> GateAgent:
    (folder / "data").mkdir()
    config = folder / "w.yaml"
    config.write_text(f"""node: {{name: ctl-1}}
api: {{socket: {folder}/s}}
data: {folder}/data
version_gates:
  - name: k8s
    release: 1.0.0
    ttl: 2s
    reconcile:
      mode: act
      {source}
      {target}
      every: 1s
      wait: 1500ms
      write_deadline: 100ms
""", encoding="utf-8")
    return GateAgent(config, folder / "s")


def last_pass(agent: GateAgent) -> dict:
    """Empty before the first one."""
    return json.loads(agent.cli("explain", "gate", "k8s", "-o", "json").stdout).get("reconcile", {})


def test_a_commit_and_nothing_that_is_not_committed(tmp_path):
    work, target = Repository(tmp_path / "work"), tmp_path / "app"
    target.mkdir()
    work.put("deploy/a.conf", "1\n")
    work.put("deploy/sub/b.conf", "2\n")
    work.put("README.md", "not below the path\n")
    first = work.commit()
    source = f"git: {{work_tree: {work.path}, ref: main, path: deploy}}"
    with agent_of(tmp_path, source, f"files: {{folder: {target}}}") as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: agent.gate()["ready"], 60.0, "the first pass", every=0.2)
        assert (target / "a.conf").read_text() == "1\n" and (target / "sub/b.conf").read_text() == "2\n"
        assert sorted(path.name for path in target.iterdir()) == ["a.conf", "sub"]
        assert first in last_pass(agent)["source"]

        # What somebody edits counts from the commit on.
        work.put("deploy/a.conf", "edited\n")
        begun = last_pass(agent)["begun"]
        wait_until(lambda: last_pass(agent)["begun"] > begun, 60.0, "a pass over what was edited", every=0.1)
        assert (target / "a.conf").read_text() == "1\n"
        second = work.commit()
        wait_until(lambda: (target / "a.conf").read_text() == "edited\n", 60.0, "the commit", every=0.1)
        wait_until(lambda: second in last_pass(agent)["source"], 60.0, "the pass to be over", every=0.1)

        # A folder, a branch and a repository that are gone are no empty ones.
        for gone, back in ((("mv", "deploy", "elsewhere"), ("mv", "elsewhere", "deploy")), (("branch", "-m", "other"), ("branch", "-m", "main"))):
            work.git(*gone)
            if gone[0] == "mv":
                work.commit()
            wait_until(lambda: not last_pass(agent)["good"], 60.0, "the fault to be seen", every=0.1)
            assert "git " in last_pass(agent)["faults"][0], last_pass(agent)
            assert (target / "a.conf").read_text() == "edited\n" and (target / "sub/b.conf").exists()
            work.git(*back)
            if gone[0] == "mv":
                work.commit()
            wait_until(lambda: last_pass(agent)["good"], 60.0, "a good pass again", every=0.1)
        # The journal says which state it was.
        rows = json.loads(agent.cli("get", "actions", "-o", "json").stdout)
        assert first in json.dumps(rows) and second in json.dumps(rows)


def the_keys_of_a_config_map(site: Site):
    cluster, folder = site.cluster, site.folder

    def want(**objects: dict) -> None:
        data = {f"{name}.yaml": yaml.safe_dump(one) for name, one in objects.items()}
        status, answer = cluster.ask("GET", "/api/v1/namespaces/default/configmaps/wanted")
        if status == 404:
            status, answer = cluster.ask("POST", "/api/v1/namespaces/default/configmaps", config_map("wanted", data))
        else:
            status, answer = cluster.ask("PUT", "/api/v1/namespaces/default/configmaps/wanted", {**answer, "data": data})
        assert status in (200, 201), answer

    want(a=config_map("a", {"k": "1"}), b=config_map("b", {"k": "1"}))
    target = f"kubernetes: {{kubeconfig: {site.login}, set: {site.set}}}"
    with agent_of(folder, "config_map: {namespace: default, name: wanted}", target) as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: site.members() == {"a": {"k": "1"}, "b": {"k": "1"}}, 60.0, "the first pass", every=0.2)
        want(a=config_map("a", {"k": "2"}))
        wait_until(lambda: site.members() == {"a": {"k": "2"}}, 60.0, "what changed", every=0.2)
        assert "ConfigMap default/wanted, version " in last_pass(agent)["source"]
        # A ConfigMap that is gone is no empty one.
        status, answer = cluster.ask("DELETE", "/api/v1/namespaces/default/configmaps/wanted")
        assert status == 200, answer
        wait_until(lambda: not last_pass(agent)["good"], 60.0, "the fault to be seen", every=0.1)
        assert "there is none" in last_pass(agent)["faults"][0], last_pass(agent)
        assert site.members() == {"a": {"k": "2"}}


def refused(tmp_path, work_tree, ref: str = "main") -> str:
    """Why a pass from there is not good. The target has a file that such a pass would prune."""
    target = tmp_path / "app"
    target.mkdir()
    source = f"git: {{work_tree: {work_tree}, ref: {ref}, path: deploy}}"
    with agent_of(tmp_path, source, f"files: {{folder: {target}}}") as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: last_pass(agent).get("faults"), 60.0, "the fault", every=0.1)
        assert list(target.iterdir()) == []
        return last_pass(agent)["faults"][0]


def test_a_partial_clone_runs_nothing(tmp_path):
    upstream = Repository(tmp_path / "up")
    upstream.put("deploy/a.conf", "1\n")
    upstream.commit()
    upstream.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    upstream.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{upstream.path}", str(clone))
    run = tmp_path / "it-was-run"
    for key, value in (("remote.origin.url", "ssh://nowhere/x"), ("core.sshCommand", f"touch {run};"), ("protocol.ssh.allow", "always")):
        upstream.git("config", key, value, within=clone)
    assert "git cat-file" in refused(tmp_path, clone)
    assert not run.exists()


def test_a_tag_that_is_called_like_the_branch_directs_nothing(tmp_path):
    work = Repository(tmp_path / "work")
    work.put("deploy/a.conf", "1\n")
    work.commit()
    work.git("tag", "main")
    assert "'main' is ambiguous: refs/heads/main, refs/tags/main" in refused(tmp_path, work.path)


def test_a_repository_that_is_gone_is_not_the_one_around_it(tmp_path):
    outer = Repository(tmp_path / "outer")
    outer.put("deploy/o.conf", "1\n")
    outer.put("inner/x", "1\n")
    outer.commit()
    assert "no git repository itself" in refused(tmp_path, outer.path / "inner")


@pytest.mark.parametrize("kind", ["bare", "worktree", "shallow"])
def test_other_shapes_of_a_repository_will_do(tmp_path, kind):
    upstream, place, target = Repository(tmp_path / "up"), tmp_path / "it", tmp_path / "app"
    target.mkdir()
    upstream.put("deploy/a.conf", "1\n")
    upstream.commit()
    made = {"bare": ("clone", "-q", "--bare", str(upstream.path), str(place)), "worktree": ("worktree", "add", "-q", "-b", "other", str(place)),
            "shallow": ("clone", "-q", "--depth=1", f"file://{upstream.path}", str(place))}
    upstream.git(*made[kind])
    with agent_of(tmp_path, f"git: {{work_tree: {place}, ref: main, path: deploy}}", f"files: {{folder: {target}}}") as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: agent.gate()["ready"], 60.0, "the first pass", every=0.2)
        assert (target / "a.conf").read_text() == "1\n"


def test_replaced_objects_do_not_count(tmp_path):
    work, target = Repository(tmp_path / "work"), tmp_path / "app"
    target.mkdir()
    work.put("deploy/a.conf", "other\n")
    other = work.commit()
    work.put("deploy/a.conf", "1\n")
    work.git("replace", work.commit(), other)
    with agent_of(tmp_path, f"git: {{work_tree: {work.path}, ref: main, path: deploy}}", f"files: {{folder: {target}}}") as agent:
        agent.wait_serving(60.0)
        wait_until(lambda: agent.gate()["ready"], 60.0, "the first pass", every=0.2)
        assert (target / "a.conf").read_text() == "1\n"


@pytest.mark.parametrize("broken", ["HEAD^{tree}", "HEAD:deploy", "HEAD:deploy/sub", "HEAD:deploy/sub/a.conf"])
def test_an_object_with_the_bytes_of_another_is_not_taken_for_the_commit(tmp_path, broken):
    """The whole commit before would be written under the name of the new one. Above the path, at it, and below it."""
    work = Repository(tmp_path / "work")
    for text in ("1\n", "2\n"):
        work.put("deploy/sub/a.conf", text)
        work.commit()

    def loose(name: str):
        ident = work.git("rev-parse", name)
        return work.path / ".git/objects" / ident[:2] / ident[2:]

    right, other = loose(broken), loose(broken.replace("HEAD", "HEAD~1"))
    right.chmod(0o644)
    right.write_bytes(other.read_bytes())
    assert "manifests: git " in refused(tmp_path, work.path)


@pytest.mark.slow
def test_a_config_map_of_a_real_apiserver(tmp_path):
    with ApiServer(ROOT / "build/lab/kubernetes", tmp_path / "kube", []) as cluster:
        play((the_keys_of_a_config_map,), cluster, tmp_path)
