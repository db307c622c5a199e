"""The rules of the house that a compiler does not know: who may include whom, who may read a clock, how long a file may be."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {
    "base": 0, "codec": 1, "judge": 1, "runtime": 2, "observe": 3, "store": 3, "net": 3, "act": 4, "serve": 4,
    "agent": 5, "cli": 5,
}
SEES_NET = {"agent", "cli"}
SEES_TLS = {"agent", "net"}     # the command line is static and has no OpenSSL
PURE = {"base", "judge"}        # the standard library and base only
NO_ASIO = {"base", "codec", "judge"}
LONGEST = 600

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
CLOCK = re.compile(r"(?:steady|system|high_resolution|utc)_clock::now|clock_gettime|gettimeofday|std::time\(|\btime\(nullptr\)")
COMMENT = re.compile(r"//[^\n]*")


def main() -> int:
    problems = []
    for file in sorted((ROOT / "src").rglob("*")):
        if file.suffix in (".h", ".cc"):
            problems += check_source(file)
    for file in sorted(tracked()):
        if file.suffix in (".h", ".cc", ".py", ".ts", ".js", ".cmake") or file.name == "dev":
            problems += check_length(file)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def tracked() -> list[Path]:
    folders = ("src", "tests", "lab", "tools", "cmake", "web")
    return [file for folder in folders for file in (ROOT / folder).rglob("*")
            if file.is_file() and not {"node_modules", "generated", "data", "__pycache__"} & set(file.parts)] + [ROOT / "dev"]


def check_source(file: Path) -> list[str]:
    where = file.relative_to(ROOT)
    room = where.parts[1]
    if room not in FLOORS:
        return [f"{where}: '{room}' is no room of the house; rooms are {', '.join(FLOORS)}"]
    text = file.read_text(encoding="utf-8")
    problems = []
    for own, system in INCLUDE.findall(text):
        problems += [f"{where}: {reason}" for reason in (check_own(room, own) if own else check_system(room, system))]
    if room != "net" and CLOCK.search(COMMENT.sub("", text)):
        problems.append(f"{where}: reads a clock; time comes from Runtime or is a parameter")
    return problems


def check_own(room: str, header: str) -> list[str]:
    other = header.split("/")[0]
    if other not in FLOORS:
        return [f'includes "{header}", which names no room']
    if header.startswith("net/tls/") and room not in SEES_TLS:
        return [f'includes "{header}"; of the programs only the agent has TLS']
    if other == room:
        return []
    if other == "net" and room not in SEES_NET:
        return [f'includes "{header}"; only {" and ".join(sorted(SEES_NET))} may know net']
    if FLOORS[other] >= FLOORS[room]:
        return [f'includes "{header}"; {room} (floor {FLOORS[room]}) may not know {other} (floor {FLOORS[other]})']
    return []


def check_system(room: str, header: str) -> list[str]:
    if room in PURE and "/" in header and not header.startswith("fmt/"):
        return [f"includes <{header}>; {room} knows the standard library and base only"]
    if room in NO_ASIO and header.startswith("boost/asio"):
        return [f"includes <{header}>; {room} is pure"]
    if room != "net" and header.startswith("boost/beast"):
        return [f"includes <{header}>; Beast stays inside net"]
    return []


def check_length(file: Path) -> list[str]:
    lines = file.read_text(encoding="utf-8", errors="replace").count("\n")
    return [f"{file.relative_to(ROOT)}: {lines} lines; at most {LONGEST}"] if lines > LONGEST else []


if __name__ == "__main__":
    sys.exit(main())
