"""The rules of the house that a compiler does not know: who may include whom, who may name a domain, who may read a clock, who
may parse JSON, which interfaces are used, how long a file and how large a room may be."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {
    "base": 0, "codec": 1, "judge": 1, "runtime": 2, "control": 3, "observe": 3, "store": 3, "net": 3, "act": 4, "serve": 4,
    "config": 5, "cli": 5, "incidents": 6, "agent": 7, "daemon": 8,
}
SEES_NET = {"agent", "cli", "daemon"}
SEES_TLS = {"daemon", "net"}    # the command line is static and has no OpenSSL
PURE = {"base", "judge"}        # the standard library and base only
NO_ASIO = {"base", "codec", "judge"}
LONGEST = 500
LARGEST_SHARE = 0.2             # of all lines of src/, in one room
ROOM_LINES = {"agent": 7000}    # where everything meets, everything would like to stay
# A domain's own folders. Elsewhere in these rooms nobody includes a header of it.
DOMAINS = {
    "raft": {"agent/ovn", "serve/raft", "act/repair", "agent/etcd", "serve/etcd"},
    "ovn": {"agent/ovn", "serve/raft", "act/repair", "act/failover", "agent/failover"},
    "bgp": {"agent/bgp", "serve/bgp"},
    "guest": {"agent/guests", "serve/guest", "act/guests"},
    "guests": {"agent/guests", "act/guests"},
}
# Nor does anybody else in these rooms name it, in a type, a function or a text.
NAMELESS = {"act", "agent", "control", "incidents", "serve"}
NAMES_DOMAIN = {
    "src/act/notify/masakari.cc": "a receiver that restarts guests and knows nothing else",
    "src/act/plan/plan_runner_orders.cc": "an example in a message",
    "src/act/plan/plan_runner.cc": "an example in a message",
    "src/agent/agent.cc": "the executor of the only plans that have steps",
    "src/agent/agent.h": "the executor of the only plans that have steps",
    "src/incidents/incident_manager.cc": "the label that Masakari knows a guest by",
    "src/serve/notify_control.cc": "an example in a message",
}
GENERAL = NAMELESS | {"daemon"}
# What every domain may use knows none of them.
GENERAL_FOLDERS = {"judge/plan"}
# The table of all domains, and the configuration.
KNOWS_DOMAINS = ("src/agent/domains.cc",)

# Text that comes from outside or from a disk. Inside the process a fact is a type, and JSON is made once, where it leaves. A codec
# reads what others send, by definition.
PARSES_JSON = {
    "src/act/repair/testimony.cc": "what the operator's program prints",
    "src/cli/agent_client.cc": "the agent's answers",
    "src/cli/verbs/reload.cc": "the agent's answers",
    "src/observe/ovn/unixctl_client.cc": "what ovn-appctl prints",
    "src/serve/history.cc": "events that the history kept on disk",
    "src/serve/order.cc": "the bodies of requests",
    "src/store/evidence.cc": "the file of evidence",
}

# Interfaces that are whole, and used in part so far.
UNCALLED: dict[str, str] = {}

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
CLOCK = re.compile(r"(?:steady|system|high_resolution|utc)_clock::now|clock_gettime|gettimeofday|std::time\(|\btime\(nullptr\)")
# The words of an identifier: `kRaftNoLeader`, `ovn_cluster`, `RAFT_MEMBER_DOWN`.
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
COMMENT = re.compile(r"//[^\n]*")
JSON_PARSER = re.compile(r"\bjson::(?:parse|parser|stream_parser|basic_parser)\b\s*[({<;]|\bjson::(?:stream_)?parser\s+\w+")
CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?\s*(?::([^;{]*))?\{")
# Without an object in front of it only what is returned, awaited or asked for is surely a call and no declaration.
CALL = re.compile(r"(?:\.|->|\breturn |\bco_await |\bco_return |[(!] ?)(\w+)\(")
PURE_VIRTUAL = re.compile(r"\bvirtual\b[^;{}]*?\b(\w+)\s*\([^;{}]*\)[^;{}()]*=\s*0\s*;")


def main() -> int:
    problems = check(ROOT)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def check(root: Path) -> list[str]:
    """What breaks the rules in the tree at `root`, each with its file."""
    sources = {file.relative_to(root): file.read_text(encoding="utf-8") for file in sorted((root / "src").rglob("*"))
               if file.suffix in (".h", ".cc")}
    code = {where: COMMENT.sub("", text) for where, text in sources.items()}
    problems = []
    for where, text in code.items():
        problems += check_source(where, text)
    problems += [f"{where}: is said to parse JSON ({PARSES_JSON[where]}), and does not" for where in sorted(PARSES_JSON)
                 if (root / where).exists() and not JSON_PARSER.search(code[Path(where)])]
    problems += [f"{where}: is said to name a domain ({NAMES_DOMAIN[where]}), and does not" for where in sorted(NAMES_DOMAIN)
                 if (root / where).exists() and not foreign_domains(Path(where), code[Path(where)])]
    problems += check_interfaces(code)
    problems += check_rooms(sources)
    for file in sorted(tracked(root)):
        if file.suffix in (".h", ".cc", ".py", ".ts", ".js", ".cmake") or file.name == "dev":
            problems += check_length(file.relative_to(root), file.read_text(encoding="utf-8", errors="replace"))
    return problems


def tracked(root: Path) -> list[Path]:
    folders = ("src", "tests", "lab", "tools", "cmake", "web")
    return [file for folder in folders for file in (root / folder).rglob("*")
            if file.is_file() and not {"node_modules", "generated", "data", "__pycache__"} & set(file.parts)] + [
                file for file in [root / "dev"] if file.exists()]


def check_source(where: Path, code: str) -> list[str]:
    room = where.parts[1]
    if room not in FLOORS:
        return [f"{where}: '{room}' is no room of the house; rooms are {', '.join(FLOORS)}"]
    problems = []
    for own, system in INCLUDE.findall(code):
        problems += [f"{where}: {reason}" for reason in (check_own(room, own) if own else check_system(room, system))]
        problems += [f"{where}: {reason}" for reason in check_domain(where, own)]
    if str(where) not in NAMES_DOMAIN:
        problems += [f"{where}: names {domain}; only {', '.join(sorted(DOMAINS[domain]))} may" for domain in foreign_domains(where, code)]
    if room != "net" and CLOCK.search(code):
        problems.append(f"{where}: reads a clock; time comes from Runtime or is a parameter")
    if room != "codec" and str(where) not in PARSES_JSON and JSON_PARSER.search(code):
        problems.append(f"{where}: parses JSON; pass the typed value on, or name in PARSES_JSON which foreign text this is")
    return problems


def check_interfaces(code: dict[Path, str]) -> list[str]:
    """An interface that nobody implements, and a function of one that nobody calls. Calls are found by name alone, so one of another
    type's function of that name counts, too; tests do not."""
    bases = {base for text in code.values() for _, parents in CLASS.findall(text) for base in re.findall(r"\w+", parents)}
    called = {name for text in code.values() for name in CALL.findall(text)}
    problems = []
    for where, text in code.items():
        for name, body in classes(text) if "virtual" in text else []:
            functions = PURE_VIRTUAL.findall(body)
            if functions and name not in bases:
                problems.append(f"{where}: nothing implements the interface {name}")
            for function in functions:
                known = f"{name}::{function}" in UNCALLED
                if not known and function not in called:
                    problems.append(f"{where}: nobody calls {name}::{function}")
                if known and function in called:
                    problems.append(f"{where}: somebody calls {name}::{function} by now: take it off the list UNCALLED")
    return problems


def classes(code: str) -> list[tuple[str, str]]:
    """Each class with its own body, without those of classes inside it."""
    found = []
    for head in CLASS.finditer(code):
        depth, body = 1, []
        for at in range(head.end(), len(code)):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            if depth == 0:
                break
            if depth == 1 and code[at] != "}":
                body.append(code[at])
        found.append((head[1], "".join(body)))
    return found


def check_own(room: str, header: str) -> list[str]:
    other = header.split("/")[0]
    if other not in FLOORS:
        return [f'includes "{header}", which names no room']
    if header.startswith("net/tls/") and room not in SEES_TLS:
        return [f'includes "{header}"; of the programs only wardmoted has TLS']
    if other == room:
        return []
    if other == "net" and room not in SEES_NET:
        return [f'includes "{header}"; only {" and ".join(sorted(SEES_NET))} may know net']
    if FLOORS[other] >= FLOORS[room]:
        return [f'includes "{header}"; {room} (floor {FLOORS[room]}) may not know {other} (floor {FLOORS[other]})']
    return []


def check_domain(where: Path, header: str) -> list[str]:
    domain = next((part for part in header.split("/")[1:-1] if part in DOMAINS), None)
    folder = "/".join(where.parts[1:3])
    if domain is None or (where.parts[1] not in GENERAL and folder not in GENERAL_FOLDERS):
        return []
    if folder in DOMAINS[domain] or str(where).startswith(KNOWS_DOMAINS):
        return []
    return [f'includes "{header}"; only {", ".join(sorted(DOMAINS[domain]))} may know {domain}']


def foreign_domains(where: Path, code: str) -> list[str]:
    """The domains that a file of a general room names outside its includes, and that are not its own."""
    folder = "/".join(where.parts[1:3])
    if where.parts[1] not in NAMELESS or str(where).startswith(KNOWS_DOMAINS):
        return []
    words = {word.lower() for word in WORD.findall(INCLUDE.sub("", code))}
    return sorted(domain for domain, own in DOMAINS.items() if domain in words and folder not in own
                  and not any(other + "s" == domain and folder in DOMAINS[other] for other in DOMAINS))


def check_rooms(sources: dict[Path, str]) -> list[str]:
    """How the lines are spread over the rooms; a tree of a few files has no proportions yet."""
    lines: dict[str, int] = {}
    for where, text in sources.items():
        lines[where.parts[1]] = lines.get(where.parts[1], 0) + text.count("\n")
    total = sum(lines.values())
    problems = [f"src/{room}: {count} of {total} lines; a room may hold a fifth" for room, count in sorted(lines.items())
                if total > 50 * LONGEST and count > total * LARGEST_SHARE]
    return problems + [f"src/{room}: {lines[room]} lines; at most {most}" for room, most in ROOM_LINES.items() if lines.get(room, 0) > most]


def check_system(room: str, header: str) -> list[str]:
    if room in PURE and "/" in header and not header.startswith("fmt/"):
        return [f"includes <{header}>; {room} knows the standard library and base only"]
    if room in NO_ASIO and header.startswith("boost/asio"):
        return [f"includes <{header}>; {room} is pure"]
    if room != "net" and header.startswith("boost/beast"):
        return [f"includes <{header}>; Beast stays inside net"]
    return []


def check_length(where: Path, text: str) -> list[str]:
    lines = text.count("\n")
    return [f"{where}: {lines} lines; at most {LONGEST}"] if lines > LONGEST else []


if __name__ == "__main__":
    sys.exit(main())
