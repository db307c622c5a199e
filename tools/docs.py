"""./dev docs: the pages of docs/ as a site with search, in build/docs/site; nothing of it needs a server. A link that leads nowhere, and a
page that no reader is led to, end it with an error."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build/docs"
# What stands at the top of the repository, and is read as a page.
TOP = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md", "SECURITY.md": "SECURITY.md"}
# Folders of which each page explains one thing; the site lists them all.
LISTED = {"findings": "Findings", "probes": "Probes"}
# Who reads what, in this order.
READERS = {
    "First steps": ["index.md", "user-guide.md"],
    "What you operate": ["operators/ovn.md", "operators/calico.md", "operators/bare-metal.md", "operators/openstack.md", "kubernetes.md"],
    "What it watches": ["bgp-mesh.md", "etcd-clusters.md", "guests.md", "reporters.md", "calico-health.md", "migrating-from-plunger.md"],
    "What it tells": ["incidents.md", "notifications.md", "events.md", "metrics.md"],
    "What it does": ["plans.md", "version-gate.md", "reconcile.md", "failover-pacemaker.md", "failover-standalone.md", "coordination.md"],
    "How to run it": ["operations.md", "configuration.md", "import.md", "security.md", "SECURITY.md", "benchmarks.md"],
    "Reference": ["configuration-keys.md", "cli.md", "api.md", "findings/index.md", "probes/index.md", "evidence-files.md"],
    "Developers": ["developers.md", "design.md", "CONTRIBUTING.md", "CHANGELOG.md"],
}
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def main() -> int:
    argparse.ArgumentParser(prog="./dev docs", description=__doc__).parse_args()
    site = build(OUT)
    print(f"==> {site.relative_to(ROOT)}/index.html")
    return 0


def build(out: Path) -> Path:
    """The folder of the site."""
    shutil.rmtree(out, ignore_errors=True)
    pages = stage(out / "pages")
    led_to = {page for names in READERS.values() for page in names}
    lost = sorted(page for page in pages if page not in led_to and page.split("/")[0] not in LISTED)
    if lost or led_to - pages:
        raise SystemExit(f"docs: READERS in tools/docs.py leads to no reader of {lost}, and names what is not there: {sorted(led_to - pages)}")
    settings = out / "mkdocs.yml"
    settings.write_text(yaml.safe_dump({
        "site_name": "Wardmote", "docs_dir": "pages", "site_dir": "site", "theme": {"name": "readthedocs", "highlightjs": False}, "plugins": ["search"],
        "use_directory_urls": False, "strict": True, "nav": [{title: names} for title, names in READERS.items()]}, sort_keys=False),
                        encoding="utf-8")
    done = subprocess.run(["mkdocs", "--quiet", "build", "--config-file", settings], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"docs: mkdocs ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return out / "site"


def stage(folder: Path) -> set[str]:
    """Copies all pages, with links as they are on the site; their names."""
    sources = {f"docs/{path.relative_to(ROOT / 'docs')}": str(path.relative_to(ROOT / "docs"))
               for path in (ROOT / "docs").rglob("*.md") if path.name != "README.md"} | TOP
    for source, page in sources.items():
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(relinked((ROOT / source).read_text(encoding="utf-8"), source, page, sources), encoding="utf-8")
    for name, title in LISTED.items():
        (folder / name / "index.md").write_text(listing(folder / name, title), encoding="utf-8")
    return {*sources.values(), *(f"{name}/index.md" for name in LISTED)}


def relinked(text: str, source: str, page: str, sources: dict[str, str]) -> str:
    def link(found: re.Match) -> str:
        words, target = found.groups()
        path, _, anchor = target.partition("#")
        if not path or ":" in path:
            return found.group()
        to = normal(Path(source).parent / path)
        onto = sources.get(to)
        if to.removeprefix("docs/") in LISTED:
            onto = f"{to.removeprefix('docs/')}/index.md"
        if onto is None:
            # A file of the source tree, which the site does not have.
            if not (ROOT / to).exists():
                raise SystemExit(f"docs: {source} links to {target}, which is not there")
            return words if words.strip("`") == to else f"{words} (`{to}` in the source)"
        up = "../" * page.count("/")
        return f"[{words}]({up}{onto}{'#' + anchor if anchor else ''})"
    return LINK.sub(link, text)


def normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def listing(folder: Path, title: str) -> str:
    lines = [f"# {title}", ""]
    for path in sorted(folder.glob("*.md")):
        if path.name == "index.md":
            continue
        name, rest = heading_and_first(path)
        lines.append(f"- [{name}]({path.name}): {rest}")
    return "\n".join(lines) + "\n"


def heading_and_first(path: Path) -> tuple[str, str]:
    """The title, and the first sentence that says what it is."""
    blocks = [block.replace("\n", " ").strip() for block in path.read_text(encoding="utf-8").split("\n\n")]
    title = blocks[0].lstrip("# ").strip()
    said = next((block for block in blocks[1:] if block and not block.startswith(("Severity:", "#", "|", "```", "-"))), "")
    return title, LINK.sub(r"\1", said).split(". ")[0].rstrip(".") + "."


if __name__ == "__main__":
    sys.exit(main())
