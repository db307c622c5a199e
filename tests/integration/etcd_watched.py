"""An agent that watches a real etcd cluster."""

import json
from pathlib import Path

from lab.etcd import EtcdCluster, Member
from lab.processes import wait_until
from tools.agent import Agent


class Watched:
    """The cluster, and an agent that looks at it every 500 ms. `metrics`: where those of a member are; empty: it is not asked for them."""

    def __init__(self, folder: Path, etcd: EtcdCluster, more: str = "", remembers: bool = False, metrics=lambda member: ""):
        def of(member: Member) -> str:
            url = metrics(member)
            return f"{{name: {member.name}, endpoint: '{member.address}'" + (f", metrics: '{url}'}}" if url else "}")
        members = ", ".join(of(member) for member in etcd.members)
        self.config = folder / "wardmote.yaml"
        (folder / "data").mkdir(exist_ok=True)
        data = f"data: {folder}/data\n" if remembers else ""
        self.config.write_text(f"api: {{socket: {folder}/api.sock}}\n{data}"
                               f"clusters: [{{name: etcd, etcd: {{members: [{members}]{more}}}, every: 500ms, timeout: 450ms}}]\n", encoding="utf-8")
        self.folder = folder
        self.agent = Agent(self.config, folder / "api.sock")

    def kill_and_start(self, meanwhile=lambda: None) -> None:
        self.agent.process.kill()
        self.agent.process.wait()
        meanwhile()
        self.agent = Agent(self.config, self.folder / "api.sock")
        self.agent.wait_serving()

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *_) -> None:
        self.agent.stop()

    def begin_again(self) -> None:
        """A new life of the agent, after an orderly end of the one before."""
        self.agent = Agent(self.config, self.agent.api_socket)
        self.agent.wait_serving()

    def incidents(self) -> dict[int, str]:
        return {one["id"]: f"{one['code']} of {one['root']}" for one in self.agent.json("/api/v1/incidents")["incidents"]}

    def cluster(self) -> dict | None:
        status, body = self.agent.get("/api/v1/etcd/etcd")
        return json.loads(body) if status == 200 else None

    def codes(self) -> set[str]:
        seen = self.cluster()
        return {finding["code"] for finding in seen["findings"]} if seen else set()

    def finding(self, code: str) -> dict:
        return next(finding for finding in self.cluster()["findings"] if finding["code"] == code)

    def wait(self, *codes: str, seconds: float = 60.0) -> None:
        """Until these are found, and perhaps others."""
        try:
            wait_until(lambda: set(codes) <= self.codes(), seconds, f"{codes}", every=0.2)
        except TimeoutError as late:
            raise AssertionError(f"{codes}: {self.cluster()}\n{self.agent.output()[-2000:]}") from late

    def wait_well(self) -> None:
        def well() -> bool:
            seen = self.cluster()
            return bool(seen) and seen["verdict"] == "ok" and not seen["findings"] and bool(seen["leader"])
        try:
            wait_until(well, 60.0, "the cluster to be well", every=0.2)
        except TimeoutError as late:
            raise AssertionError(f"{self.cluster()}\n{self.agent.output()[-2000:]}") from late

    def leader(self) -> str:
        return wait_until(lambda: (self.cluster() or {}).get("leader"), 60.0, "a leader", every=0.1)
