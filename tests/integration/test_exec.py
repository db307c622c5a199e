"""Checks of the kind `exec` with the built programs: whatever their program starts ends with it."""

import subprocess
from pathlib import Path

import pytest

from lab.processes import wait_until
from tools.agent import Agent, programs

LOOKS = 100


@pytest.fixture
def plugin(tmp_path):
    """Leaves a daemon behind at each look, as daemon(3) makes one; its name is its own, so that it can be found."""
    sleeper = tmp_path / "left-behind"
    sleeper.symlink_to("/bin/sleep")
    path = tmp_path / "plugin"
    path.write_text(f"#!/bin/sh\nsetsid sh -c '{sleeper} 1000 </dev/null >/dev/null 2>&1 &' </dev/null >/dev/null 2>&1\necho x >> {tmp_path}/looks\n"
                    '[ -z "$1" ] || sleep 1000\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def left(plugin) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(plugin.parent / "left-behind").encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue  # it has just ended
    return found


def looks(plugin) -> int:
    try:
        return len((plugin.parent / "looks").read_text(encoding="utf-8").splitlines())
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("hangs", [[], ["--args=hang"]], ids=["ends", "hangs"])
def test_one_look_leaves_nothing(plugin, hangs):
    for _ in range(10):
        subprocess.run([programs() / "wardmote", "probe", "exec", plugin, "--timeout", "300ms", *hangs], stdin=subprocess.DEVNULL,
                       capture_output=True, check=False, timeout=20)
    assert looks(plugin) > 0
    wait_until(lambda: not left(plugin), 5, "what was killed to be gone")


@pytest.mark.parametrize("args", ["[]", "[hang]"], ids=["ends", "hangs"])
def test_an_agent_does_not_fill_its_host(plugin, tmp_path, args):
    config = tmp_path / "wardmote.yaml"
    config.write_text(f"api: {{socket: {tmp_path}/api.sock}}\n"
                      f"checks: [{{name: a, exec: {{program: {plugin}, args: {args}}}, every: 100ms, timeout: 90ms}}]\n", encoding="utf-8")
    with Agent(config, tmp_path / "api.sock"):
        wait_until(lambda: looks(plugin) >= LOOKS, 60, "a hundred looks")
        assert len(left(plugin)) <= 2, "of the look under way"
    wait_until(lambda: not left(plugin), 5, "the agent to leave none")
