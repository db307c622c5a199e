"""Who runs BIRD on a host of bare metal follows docs/operators/bare-metal.md, and who writes programs docs/developers.md: from the packages
in /root to the first true verdict of a fault."""

import shutil

import pytest
from reader import Clock, Page, Root, until

from tools import package


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    packages = package.make(into=tmp_path_factory.mktemp("packages"))
    with Root(tmp_path_factory.mktemp("host") / "root") as root:
        for one in packages:
            shutil.copy(one, root.folder / "root")
        # As the host is before he comes.
        root.shell("apt-get -qq update && apt-get -qq install -y --no-install-recommends bird2")
        (root.folder / "etc/bird/bird.conf").write_text(
            "router id 10.9.9.9;\nprotocol device {}\nprotocol static { ipv4; }\n", encoding="utf-8")
        root.shell("install -d -o bird -g bird -m 775 /run/bird")    # as bird2's prepare-environment
        yield root


def test_bare_metal(root):
    page = Page("docs/operators/bare-metal.md")
    bird = ("bird", "-f", "-u", "bird", "-g", "bird", "-c", "/etc/bird/bird.conf", "-s", "/run/bird/bird.ctl")

    def status(ends=(0, 1, 2, 3)) -> str:
        return root.shell(page.says("wardmote status"), ends)

    with root.daemon(*bird):
        until((root.folder / "run/bird/bird.ctl").exists, lambda: "no BIRD")
        clock = Clock()
        root.shell(page.says("apt install ./wardmote_0.1.0_amd64.deb").replace("apt install", "apt-get -qq install -y"))
        root.shell(page.says("wardmote init > /etc/wardmote/wardmote.yaml"))
        assert "ok" in root.shell(page.says("wardmoted config check"))
        page.says("systemctl enable --now wardmoted")
        (root.folder / "run/systemd/system").mkdir(parents=True)    # sd_booted(3), for the advice of doctor
        with root.unit():
            until(lambda: "denied" in status(), status)
            told = root.shell(page.says("wardmote doctor"), (0, 1, 2))
            assert "usermod -aG bird wardmote && systemctl restart wardmoted" in told, told
        root.shell("usermod -aG bird wardmote")
        with root.unit():
            until(lambda: "denied" not in status() and "bird" in status(), status)
            clock.stop("bare metal: from the package to the state of the host")
            good = status()
            assert "refused" not in good and "missing" not in good, good
            root.shell("kill $(pidof bird)")
            until(lambda: "refused" in status() or "missing" in status(), status)
            clock.stop("bare metal: from the package to the verdict of a fault")


def test_library(root):
    page = Page("docs/developers.md")
    # His compiler is there before he comes.
    root.shell("apt-get -qq install -y --no-install-recommends clang-19 cmake ninja-build pkg-config")
    clock = Clock()
    root.shell(page.says("apt install --no-install-recommends ./libwardmote-dev_0.1.0_amd64.deb clang-19 cmake ninja-build pkg-config")
               .replace("apt install", "apt-get -qq install -y"))
    root.shell(page.says("cp -r /usr/share/doc/libwardmote-dev/examples/library . && cd library") + " && "
               + page.says("CXX=clang++-19 cmake -G Ninja -S . -B build && ninja -C build"))
    root.shell("apt-get -qq install -y --no-install-recommends ovn-central")
    root.shell("install -d /run/ovn && ovsdb-tool create-cluster /root/nb.db /usr/share/ovn/ovn-nb.ovsschema tcp:127.0.0.1:46645")
    server = ("ovsdb-server", "--unixctl=/run/ovn/ovnnb_db.ctl", "--remote=punix:/run/ovn/ovnnb_db.sock", "/root/nb.db")
    asks = page.says("build/ovn_leader OVN_Northbound /run/ovn/ovnnb_db.ctl")
    with root.daemon(*server):
        until(lambda: "leader itself" in root.shell(f"cd library && {asks}", (0, 2, 3)), lambda: root.shell(f"cd library && {asks}", (0, 2, 3)))
        judged = root.shell("cd library && build/judge_cluster OVN_Northbound 1 ctl-1=/run/ovn/ovnnb_db.ctl")
        assert "1 of 1 voters live" in judged, judged
        shown = root.shell("cd library && build/ovnstatus /run/ovn/ovnnb_db.ctl unix:/run/ovn/ovnnb_db.sock /nowhere unix:/nowhere", (2,))
        assert '"DB":"OVN_Northbound","Local":{"leader":true' in shown and '"Full":null' in shown, shown
    assert "no status" in root.shell(f"cd library && {asks}", (3,))
    assert "RAFT_MEMBER_DOWN" in root.shell("cd library && build/judge_cluster OVN_Northbound 5 ctl-1=/run/ovn/ovnnb_db.ctl", (2,))
    clock.stop("library: from the package to the verdict of a fault")
