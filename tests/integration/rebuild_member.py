"""What an operator would install on a member's host: `copy` its database aside, or have it `rejoin` with an empty one.

Told what to do as JSON on standard input; docs/plans.md has the same as a shell script.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.processes import wait_until    # noqa: E402

# The agent ends a command earlier.
PATIENCE = 120.0


def runs(member: dict) -> bool:
    """Whether a process has the file open as its database, wherever its sockets are."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if Path(os.fsdecode(words[0])).name == "ovsdb-server" and os.fsencode(member["file"]) in words:
            return True
    return False


def told(member: dict, what: str, environment: dict) -> str:
    """What the file says of itself; empty when it cannot be read."""
    return subprocess.run([member["tool"], what, member["file"]], check=False, capture_output=True, text=True, env=environment).stdout.strip()


def main() -> None:
    what, folder, number = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    deed = json.loads(sys.stdin.read())
    member = json.loads((folder / f"member-{number}.json").read_text(encoding="utf-8"))
    file, environment = Path(member["file"]), {**os.environ, **member["environment"]}
    if what == "copy":
        report = json.dumps({"running": runs(member), "server": told(member, "db-sid", environment),
                             "cluster": told(member, "db-cid", environment)})
        (folder / f"copying-{number}").touch()
        wait_until(lambda: not (folder / "hold-the-copy").exists(), PATIENCE, "the test to let go of the copy")
        shutil.copy(file, folder / f"copy-of-{number}")
        print(f"copied {file.stat().st_size} bytes")
        said = folder / "say-of-the-copy"
        print(said.read_text(encoding="utf-8") if said.exists() else report)
        return
    (folder / f"rejoining-{number}").touch()
    wait_until(lambda: not (folder / "hold-the-rejoin").exists(), PATIENCE, "the test to let go of the rejoin")
    stopped = subprocess.run(member["stop"], check=False, env=environment, capture_output=True)
    control = Path(member["stop"][2])
    if stopped.returncode == 0:
        wait_until(lambda: not control.exists(), PATIENCE, "the server to remove its control socket, as it does at its end")
    file.unlink(missing_ok=True)
    file.with_name(f".{file.name}.~lock~").unlink(missing_ok=True)
    subprocess.run([member["tool"], "join-cluster", file, deed["database"], member["address"], *deed["remotes"]], check=True,
                   env=environment)
    with open(folder / f"rejoined-{number}", "a", encoding="utf-8") as file_of_starts:
        file_of_starts.write(f"plan {deed['plan']}\n")
    # In the process group of this command, and not waited for, as `ovsdb-server … &` at the end of a script.
    server = subprocess.Popen([*member["inside"], *member["server"], str(file)], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (folder / f"server-{number}.pid").write_text(str(server.pid), encoding="utf-8")


main()
