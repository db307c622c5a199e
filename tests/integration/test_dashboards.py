"""The dashboards for Grafana: each query asks for metrics that exist, and a real Prometheus that scrapes a real agent answers it.

Grafana itself is not in Debian; what it does with the variables of a query is done here.
"""

import json
import re

import pytest

from lab.instance import FOLDER, ROOT
from lab.ports import free_port
from lab.processes import wait_until
from lab.prometheus import Prometheus
from tools.agent import Agent

DASHBOARDS = sorted((ROOT / "contrib/grafana").glob("*.json"))


def dashboard(path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def queries(path) -> list[str]:
    return [target["expr"] for panel in dashboard(path)["panels"] for target in panel["targets"]]


def asked(path) -> str:
    """All queries, those of variables too."""
    return "\n".join(queries(path) + [one["definition"] for one in dashboard(path)["templating"]["list"] if one["type"] == "query"])


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_whole_and_asks_for_metrics_that_exist(path):
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", (ROOT / "docs/metrics.md").read_text(encoding="utf-8"), re.M)
    labels = {name: set(re.findall(r"\w+", given)) | {"instance", "job"} for name, _, given in rows}
    labels |= {f"{name}_bucket": labels[name] | {"le"} for name, kind, _ in rows if kind == "histogram"}
    board = dashboard(path)
    assert board["uid"] == path.stem and "__inputs" not in board, "it can be imported, and provisioned from a file"
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    text = asked(path)
    names = set(re.findall(r"\b(?:ovn|wardmote)_\w+", text))
    assert names and names <= set(labels)
    for name, selector in re.findall(r"(\w+)\{([^}]*)\}", text):
        assert set(re.findall(r"(\w+)[=!]", selector)) <= labels[name], f"{name}{{{selector}}}"
    known = {one["name"] for one in board["templating"]["list"]} | {"__rate_interval"}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(board["panels"]))) <= known
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24 and panel["title"]


def test_a_real_prometheus_answers_each_query(tmp_path):
    port = free_port()
    (tmp_path / "wardmote.yaml").write_text(
        f"""api: {{socket: {tmp_path}/api.sock, listen: "127.0.0.1:{port}"}}
checks:
  - {{name: page, http: {{url: "http://127.0.0.1:{port}/livez"}}, every: 500ms, timeout: 400ms}}
  - {{name: plugin, exec: {{program: /bin/echo, args: ["OK | load=3;5;9 used=50%"]}}, every: 500ms, timeout: 400ms}}
  - {{name: gone, tcp: {{address: "127.0.0.1:{free_port()}"}}, every: 200ms, timeout: 100ms, fall: 1}}
clusters:
  - {{name: nb, ovn: {{database: OVN_Northbound, members: [{{name: a, control: {tmp_path}/none.ctl}}]}}, every: 1s, timeout: 500ms}}
notify: {{receivers: [{{name: a, log: {{}}}}], routes: [{{receiver: a, group_wait: 0s}}]}}
""", encoding="utf-8")
    with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock") as agent, \
            Prometheus(FOLDER / "prometheus", tmp_path / "prometheus", [f"127.0.0.1:{port}"]) as prometheus:
        agent.wait_serving()
        wait_until(lambda: prometheus.query('wardmote_check_status{check="gone"} == 2'), 60.0, "the failed check in Prometheus")
        for path in DASHBOARDS:
            for query in queries(path):
                given = re.sub(r"\$__rate_interval", "1m", re.sub(r"\$\{?(?!__)\w+\}?", ".*", query))
                prometheus.query(given)  # an error of its parser is an exception
        # What this agent watches shows; it has neither a certificate nor guests. An increase needs two scrapes of a counter.
        own = [(query, re.sub(r"\$\{?(?!__)\w+\}?", ".*", re.sub(r"\$__rate_interval", "1m", query)))
               for query in queries(ROOT / "contrib/grafana/wardmote-overview.json")]
        for part in ("wardmote_verdict", "wardmote_incidents_open", "wardmote_gate_ready", "wardmote_check_status", "wardmote_check_duration_seconds",
                     "wardmote_http_status_code", "wardmote_exec_perfdata", "wardmote_notices_total"):
            wait_until(lambda part=part: any(prometheus.query(asked) for query, asked in own if part in query), 60.0, part)
        perfdata = prometheus.query("wardmote_exec_perfdata")
        assert {(one["metric"]["label"], one["metric"].get("unit", ""), float(one["value"][1])) for one in perfdata} == {("load", "", 3.0), ("used", "ratio", 0.5)}
