"""What an operator would install on a member's host: `copy` its database aside, or have it `rejoin` with an empty one.

Told what to do as JSON on standard input; docs/plans.md has the same as a shell script.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


def main() -> None:
    what, folder, number = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    deed = json.loads(sys.stdin.read())
    member = json.loads((folder / f"member-{number}.json").read_text(encoding="utf-8"))
    file, environment = Path(member["file"]), {**os.environ, **member["environment"]}
    if what == "copy":
        shutil.copy(file, folder / f"copy-of-{number}")
        print(f"copied {file.stat().st_size} bytes")
        return
    file.unlink(missing_ok=True)
    file.with_name(f".{file.name}.~lock~").unlink(missing_ok=True)
    subprocess.run([member["tool"], "join-cluster", file, deed["database"], member["address"], *deed["remotes"]], check=True,
                   env=environment)
    with open(folder / f"rejoined-{number}", "a", encoding="utf-8") as file_of_starts:
        file_of_starts.write(f"plan {deed['plan']}\n")
    server = subprocess.Popen([*member["inside"], *member["server"], str(file)], env=environment, start_new_session=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (folder / f"server-{number}.pid").write_text(str(server.pid), encoding="utf-8")


main()
