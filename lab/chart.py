"""Renders a Helm chart with Go's templates and sprig from Debian's packages, because Debian has no Helm. tests/integration/render_chart.go."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import yaml

from lab.packages import PackageError, unpack, unpacking

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/integration/render_chart.go"
FOLDER = ROOT / "build/lab/sprig"
PACKAGES = ["golang-1.19-go", "golang-1.19-src", "golang-github-masterminds-sprig-dev", "golang-github-masterminds-semver-dev",
            "golang-github-masterminds-goutils-dev", "golang-github-huandu-xstrings-dev", "golang-github-google-uuid-dev",
            "golang-github-imdario-mergo-dev", "golang-github-shopspring-decimal-dev", "golang-github-mitchellh-copystructure-dev",
            "golang-github-mitchellh-reflectwalk-dev", "golang-github-spf13-cast-dev", "golang-golang-x-crypto-dev",
            "golang-gopkg-yaml.v3-dev"]


def build() -> Path:
    """The renderer, built if it is not there or older than its source. Safe to call from several processes at once."""
    unpack(FOLDER, PACKAGES)
    program = FOLDER / "render_chart"
    with unpacking(FOLDER):
        if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
            return program
        # Go finds `…/sprig/v3` in the folder `…/sprig` only for programs that lie beside it and have a go.mod.
        source = FOLDER / "usr/share/gocode/src/render_chart"
        source.mkdir(exist_ok=True)
        (source / "go.mod").write_text("module render_chart\n", encoding="utf-8")
        shutil.copyfile(SOURCE, source / "main.go")
        go_root = FOLDER / "usr/lib/go-1.19"
        environment = {**os.environ, "GOROOT": str(go_root), "GOPATH": str(FOLDER / "usr/share/gocode"), "GOCACHE": str(FOLDER / "cache"),
                       "GO111MODULE": "off", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0", "HOME": str(FOLDER)}
        done = subprocess.run(["nice", str(go_root / "bin/go"), "build", "-o", str(program), "render_chart"], cwd=source, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PackageError(f"{SOURCE}:\n{done.stderr[-4000:]}")
    return program


def render(chart: Path, values: dict, apis: list[str], namespace: str = "wardmote") -> list[dict]:
    """The objects that `helm template --namespace NAMESPACE` makes of the chart with these values over its own."""
    info = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    own = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    asked = {"chart": str(chart), "values": merged(own, values), "apis": apis, "release": {"Name": "wardmote", "Namespace": namespace},
             "chartInfo": {"Name": info["name"], "Version": info["version"], "AppVersion": info["appVersion"]}}
    done = subprocess.run([str(build())], input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr)
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def merged(own: dict, given: dict) -> dict:
    """As Helm does: maps key by key, all else whole."""
    both = dict(own)
    for key, value in given.items():
        both[key] = merged(own[key], value) if isinstance(value, dict) and isinstance(own.get(key), dict) else value
    return both
