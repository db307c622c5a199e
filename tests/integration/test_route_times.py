"""Routes that tell at certain times of the week, by the clocks of a place: a real agent, and the time zones of Python as another opinion."""

import datetime
import subprocess
import zoneinfo

import pytest

from http_sink import Sink
from lab.processes import wait_until
from tools.agent import Agent, programs

FAR = zoneinfo.ZoneInfo("Pacific/Kiritimati")  # fourteen hours ahead of UTC


@pytest.fixture
def sink():
    with Sink() as sink:
        yield sink


def write_config(folder, target, sink, begin: str, zone: str = FAR.key) -> None:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "wardmote.yaml").write_text(f"""api: {{socket: {folder}/api.sock}}
data: {folder}/data
checks:
  - {{name: web, tcp: {{address: 127.0.0.1:{target.port}}}, every: 200ms, timeout: 200ms, fall: 2, rise: 1}}
notify:
  receivers:
    - {{name: hook, webhook: {{url: 'http://127.0.0.1:{sink.port}/'}}}}
  routes:
    - {{receiver: hook, group_wait: 0s, active: [{{from: '{begin}', for: 2h, time_zone: {zone}}}]}}
""", encoding="utf-8")


def test_a_route_tells_at_its_times_by_the_clocks_of_its_place(tmp_path, target, sink):
    now = datetime.datetime.now(FAR).replace(second=0, microsecond=0)

    def tried(agent) -> str:
        return agent.cli("notify", "route", "test", "-l", "root=check:web").stdout

    begin = now + datetime.timedelta(hours=3)
    write_config(tmp_path, target, sink, f"{begin:%H:%M}")
    with Agent(tmp_path / "wardmote.yaml", tmp_path / "api.sock") as agent:
        agent.wait_healthy()
        asked = agent.json("/api/v1/routes?label=root%3Dcheck:web")["routes"][0]
        assert asked["rests_until"] == f"{begin.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%S}.000Z", asked
        assert "later" in tried(agent) and f"not active before {asked['rests_until']}; group hook" in tried(agent)
        target.down()
        wait_until(lambda: len(agent.json("/api/v1/incidents")["incidents"]) == 1, 10.0, "the incident")
        agent.look_on()
        assert sink.attempts == []
        write_config(tmp_path, target, sink, f"{now - datetime.timedelta(hours=1):%H:%M}")
        wait_until(lambda: "opened 1" in sink.kinds(), 10.0, "what stands is told as soon as its time begins")
        assert "gets it" in tried(agent)


def test_a_time_zone_that_nobody_knows_is_refused(tmp_path, target, sink):
    write_config(tmp_path, target, sink, "09:00", "Europe/Berlni")
    refused = subprocess.run([programs() / "wardmoted", "config", "check", tmp_path / "wardmote.yaml"], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=False, timeout=10)
    assert refused.returncode == 65 and "Europe/Berlni" in refused.stderr and "list-timezones" in refused.stderr, refused
