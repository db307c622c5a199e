"""The first steps on a host: `wardmote init` and `wardmote look` ask real OVN servers and real BIRDs that they find by their files."""

import os
import subprocess

import yaml

from lab.instance import Lab
from tools.agent import programs


def run(*words, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run([programs() / "wardmote", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60, **more)


def test_what_was_found_says_what_it_is_and_the_configuration_is_whole(tmp_path):
    with Lab.up(f"init-{os.getpid()}", ["nb"], members=3, transient=True, birds=["2"] * 2) as lab:
        cluster, bird = lab.clusters["nb"], lab.birds[0]
        here = {f"run/ovn/ovnnb_db.{kind}": path for kind, path in (("ctl", cluster.control(1)), ("sock", cluster.socket(1)))}
        here["run/bird/bird.ctl"] = bird.control
        for name, path in here.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).symlink_to(path)

        looked = run("look", "--root", str(tmp_path))
        assert "a cluster of 3 servers, this one is " in looked.stdout, looked.stdout + looked.stderr
        assert "1 of 1 BGP sessions are Established" in looked.stdout, looked.stdout
        assert looked.returncode == 0, looked.stdout

        done = run("init", "--root", str(tmp_path))
        assert done.returncode == 0, done.stderr
        whole = yaml.safe_load(done.stdout)
        status = subprocess.run([cluster.tools.appctl, "-t", cluster.control(1), "cluster/status", "OVN_Northbound"],
                                env=cluster.tools.environment(), capture_output=True, text=True, check=True).stdout
        servers = {line.split(" at ")[1].split(")")[0] for line in status.splitlines() if " at " in line and line.startswith("    ")}
        assert len(servers) == 3 and set(whole["clusters"][0]["ovn"]["expect"]) == servers, status
        assert whole["clusters"][0]["ovn"]["members"][0]["control"] == "/run/ovn/ovnnb_db.ctl"
        assert "data" not in whole, "its folder is not there, and a configuration with it would be refused"
        assert [check["name"] for check in whole["checks"]] == ["bird"]
        (tmp_path / "wardmote.yaml").write_text(done.stdout, encoding="utf-8")
        assert run("config", "check", str(tmp_path / "wardmote.yaml")).stdout == "ok\n"
        (tmp_path / "var/lib/wardmote").mkdir(parents=True)
        assert yaml.safe_load(run("init", "--no-ask", "--root", str(tmp_path)).stdout)["data"] == "/var/lib/wardmote"


def test_who_does_not_answer_is_written_all_the_same(tmp_path):
    (tmp_path / "run/ovn").mkdir(parents=True)
    (tmp_path / "run/ovn/ovnsb_db.ctl").touch()
    looked = run("look", "--root", str(tmp_path))
    assert looked.returncode in (2, 3) and "ovn-sb" in looked.stdout, looked.stdout
    done = run("init", "--root", str(tmp_path))
    assert done.returncode == 0 and "- name: ovn-sb" in done.stdout and "#expect:" in done.stdout


def test_without_a_word_it_looks(tmp_path):
    done = run("--help")
    assert done.returncode == 0 and "look " in done.stdout
    bare = run(env={**os.environ, "WARDMOTE_HOST": f"unix:{tmp_path}/none.sock"})
    assert bare.returncode == 69, "the agent that was named does not answer"
