"""Three nodes with the OCF agent, for the tests of it."""

import os

import pytest

from lab.failover import Site
from lab.instance import FOLDER
from lab.packages import fetch
from tools.agent import programs

SUCCESS, GENERIC, CONFIGURED, INSTALLED, NOT_RUNNING, PROMOTED, FAILED_PROMOTED, DEGRADED, DEGRADED_PROMOTED = 0, 1, 6, 5, 7, 8, 9, 190, 191


@pytest.fixture(name="agent", scope="module")
def agent_fixture(tmp_path_factory):
    """The light program under the name by which Pacemaker calls it."""
    link = tmp_path_factory.mktemp("ocf") / "ovndb-servers"
    link.symlink_to(programs() / "wardmote")
    return str(link)


@pytest.fixture(name="site")
def site_fixture(agent):
    with Site(f"o{os.getpid() % 100000}", agent, fetch(FOLDER / "x")) as site:
        yield site


@pytest.fixture(name="cluster")
def cluster_fixture(site):
    """An active node and two backups."""
    first, second, third = site.nodes
    site.start(*site.nodes)
    assert site.promote(first).code == SUCCESS
    site.wait_follow(second, third)
    return site
