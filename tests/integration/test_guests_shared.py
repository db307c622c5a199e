"""A guest that is watched by an agent which shares a store, and does not lead."""

import shutil

import pytest

from agents_site import SharedAgent
from http_sink import Sink
from lab.processes import holds, wait_until
from test_guests import fixture_lab, watching

lab = fixture_lab


@pytest.mark.slow
@pytest.mark.parametrize("data", ["kept", "lost"])
def test_what_a_guest_has_goes_on_over_a_restart_of_its_agent(lab, tmp_path, etcd, data):
    number = {"kept": 21, "lost": 22}[data]
    store = f"store: {{etcd: {{endpoints: ['{etcd.endpoints[0]}']}}, name: test, ttl: 2s}}\n"
    folder = tmp_path / "leader"
    (folder / "data").mkdir(parents=True)
    with Sink() as sink:
        (folder / "wardmote.yaml").write_text(f"""node: {{name: leader}}
api: {{socket: {folder}/api.sock}}
data: {folder}/data
{store}checks: [{{name: store, tcp: {{address: '{etcd.endpoints[0].split('//')[-1]}'}}}}]
notify:
  receivers: [{{name: hook, webhook: {{url: 'http://127.0.0.1:{sink.port}/'}}}}]
  routes: [{{receiver: hook, group_wait: 100ms, group_interval: 1s}}]
""", encoding="utf-8")
        leader = SharedAgent("leader", folder / "wardmote.yaml", folder / "api.sock")
        try:
            leader.wait_serving()
            wait_until(leader.leads, 20.0, "it to lead")
            lab.up(number)
            with watching(lab, tmp_path, more=store) as site:
                site.wait(number, "HEALTHY", 30)
                lab.stop_agent(number)
                site.wait(number, "GUEST_IDLE_HUNG", 30)
                wait_until(lambda: sink.kinds(), 10.0, "the message")
                opened = leader.open_incidents()
                if data == "lost":
                    site.agent.process.kill()
                    site.agent.process.wait()
                    shutil.rmtree(tmp_path / "data")
                    (tmp_path / "data").mkdir()
                    site.agent = site.start()
                else:
                    site.restart()
                holds(lambda: leader.open_incidents() == opened, 25.0, f"{opened} to be open: {sink.kinds()}")
                assert not any(one.startswith("resolved") for one in sink.kinds()), sink.kinds()
                lab.continue_agent(number)
                site.wait(number, "HEALTHY", 10)
                wait_until(lambda: not leader.open_incidents(), 20.0, "its end")
        finally:
            leader.stop()
