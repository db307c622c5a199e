"""The page for everybody: at an address where all else asks for credentials."""

import http.client
import json
import socket

from lab.ports import free_port
from lab.processes import wait_until
from tools.agent import Agent


def ask(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_everybody_sees_what_was_chosen_and_nothing_else(tmp_path):
    port, watched = free_port(), free_port()
    config = tmp_path / "w.yaml"
    config.write_text(f"""node: {{name: ctl-secret}}
api: {{listen: 127.0.0.1:{port}, socket: {tmp_path}/s, anonymous: none}}
checks:
  - {{name: internal-name, tcp: {{address: 127.0.0.1:{watched}}}, every: 200ms, timeout: 150ms, fall: 2, rise: 1}}
public: {{title: Example Cloud, lines: [{{name: Network, checks: [internal-name]}}]}}
""", encoding="utf-8")
    with socket.create_server(("127.0.0.1", watched)) as door, Agent(config, tmp_path / "s") as agent:
        agent.wait_serving()

        def state() -> str:
            status, body = ask(port, "/public.json")
            assert status == 200, body
            return json.loads(body)["state"]
        wait_until(lambda: state() == "operational", 20.0, "the first verdict")
        door.close()
        wait_until(lambda: state() == "outage", 20.0, "the outage to be shown")
        status, page = ask(port, "/public")
        assert status == 200 and "There is an outage" in page and "Network" in page
        assert not any(word in page for word in ("internal-name", "ctl-secret", str(watched)))
        assert ask(port, "/api/v1/status")[0] == 401
        # Without the key there is no page, from the reload on.
        config.write_text("\n".join(line for line in config.read_text(encoding="utf-8").splitlines() if not line.startswith("public:")) + "\n",
                          encoding="utf-8")
        assert agent.cli("reload").returncode == 0
        assert ask(port, "/public")[0] == 404
