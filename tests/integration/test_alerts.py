"""The alert rules, by Debian's own promtool: they load, every alert fires for its reason, and a good cluster raises none."""

import re
import subprocess

import pytest
import yaml

import prometheus
from lab.instance import FOLDER, ROOT
from lab.packages import unpack
from tools.agent import Agent

RULES = sorted((ROOT / "contrib/prometheus").glob("*.rules.yaml"))


@pytest.fixture(scope="session")
def promtool() -> str:
    unpack(FOLDER / "prometheus", ["prometheus"])
    return str(FOLDER / "prometheus/usr/bin/promtool")


def rules() -> list[dict]:
    groups = [group for path in RULES for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def run(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_load(promtool):
    run(promtool, "check", "rules", "--lint=all", "--lint-fatal", *map(str, RULES))


def test_the_metrics_are_as_prometheus_wants_them(promtool, tmp_path):
    (tmp_path / "wardmote.yaml").write_text(
        f"api: {{socket: {tmp_path}/api.sock}}\nchecks: [{{name: c, file: {{path: /etc/passwd}}, every: 200ms, timeout: 100ms}}]\n"
        "notify: {receivers: [{name: a, log: {}}], routes: [{receiver: a}]}\n", encoding="utf-8")
    with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock") as agent:
        agent.wait_healthy()
        told = agent.get("/metrics")[1]
    done = subprocess.run([promtool, "check", "metrics"], input=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_fires_for_its_reason_and_no_other(promtool, tmp_path):
    # promtool compares annotations too; they are prose, and `check rules` has read their templates.
    bare = tmp_path / "bare.rules.yaml"
    stripped = [{key: value for key, value in rule.items() if key != "annotations"} for rule in rules()]
    bare.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": stripped}]}), encoding="utf-8")
    files = []
    for number, case in enumerate(prometheus.CASES):
        document = prometheus.document(str(bare), [rule["alert"] for rule in rules()], case)
        files.append(tmp_path / f"{number:02}.yaml")
        files[-1].write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    run(promtool, "test", "rules", *map(str, files))


def test_every_alert_has_a_case():
    covered = {alert for case in prometheus.CASES for alert in case.alerts}
    assert covered == {rule["alert"] for rule in rules()}


def test_only_metrics_and_codes_that_exist_are_asked_for():
    metrics = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/metrics.md").read_text(encoding="utf-8"), re.M))
    codes = {page.stem for page in (ROOT / "docs/findings").glob("*.md")}
    assert len(RULES) == 2
    for rule in rules():
        asked = set(re.findall(r"\b(?:ovn|wardmote)_\w+", rule["expr"]))
        assert asked and asked <= metrics, rule["alert"]
        assert set(re.findall(r"\b(?:RAFT|OVN|MONITOR)_[A-Z_]+", rule["expr"])) <= codes, rule["alert"]
